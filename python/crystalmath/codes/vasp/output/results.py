"""The results document of a run of VASP: eV, Å and GPa beside what VASP printed.

Units stand in the names. The stress has the sign of ASE: positive under tension, the opposite of
what VASP prints. Pure; used by ``verdict``.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, Final

from crystalmath.codes.lattice import cartesian, lattice_parameters, volume_angstrom3
from crystalmath.codes.vasp.output.run import Run, Step
from crystalmath.structures.formula import reduced_formula
from crystalmath.units import EV_PER_ANGSTROM3_GPA, KBAR_PER_GPA

_AT_A_DENSITY: Final = ("bands", "dos")
"""What they print as an energy belongs to a given density and their own k points, not to the
crystal."""
MAX_ARRAY_ATOMS: Final = 1000
"""Arrays per atom of larger systems stay in the output."""


def build_results(run: Run, task: str) -> dict[str, Any]:
    """Return what the output holds; what it does not say is left out."""
    step = run.steps[-1] if run.steps else None
    document: dict[str, Any] = {
        "format": 1,
        "task": task,
        "engine": _known({"name": "VASP", "version": run.version or None}),
        "n_atoms": run.n_atoms,
        "n_kpoints": run.n_kpoints,
        "n_bands": run.integer("NBANDS"),
        "n_electrons": run.number("NELECT"),
        "cutoff_ev": run.number("ENMAX") or run.number("ENCUT"),
        "started": run.started,
        "titles": run.titles or None,
    }
    if step is not None:
        document["scf"] = {"iterations": len(step.scf_energies_ev), "cycles": len(run.steps)}
        if task not in _AT_A_DENSITY:
            document |= _energy(step, run.n_atoms)
            document |= _forces(step, run.n_atoms)
            document |= _stress(step)
    document |= _levels(run)
    if task in ("relax", "md"):
        document["n_ionic_steps"] = len(run.steps)
    document |= _geometry(run, step)
    return _known(document)


def gap_ev(run: Run) -> float | None:
    """The gap of the k points of this run; None of a metal, or where it is not known."""
    edges = _edges(run)
    if edges is None or any(one.partly for one in run.levels):
        return None
    gap = edges[1] - edges[0]
    return round(gap, 6) if gap > 0 else None


def _edges(run: Run) -> tuple[float, float] | None:
    occupied = [one.occupied_ev for one in run.levels if one.occupied_ev is not None]
    empty = [one.empty_ev for one in run.levels if one.empty_ev is not None]
    return (max(occupied), min(empty)) if occupied and empty else None


def _levels(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = {"fermi_ev": run.fermi_ev}
    edges, gap = _edges(run), gap_ev(run)
    if edges is not None and gap is not None:
        found |= {"highest_occupied_ev": edges[0], "lowest_unoccupied_ev": edges[1], "gap_ev": gap}
        at = [
            next(one.occupied_at for one in run.levels if one.occupied_ev == edges[0]),
            next(one.empty_at for one in run.levels if one.empty_ev == edges[1]),
        ]
        found["gap_is_direct"] = at[0] == at[1]
    return found


def _known(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not None}


def _energy(step: Step, n_atoms: int | None) -> dict[str, Any]:
    energy = step.free_energy_ev
    if energy is None:
        return {}
    return {
        "energy_ev": energy,
        "energy_per_atom_ev": energy / n_atoms if n_atoms else None,
        "energy_sigma0_ev": step.energy_sigma0_ev,
    }


def _forces(step: Step, n_atoms: int | None) -> dict[str, Any]:
    forces = step.forces_ev_per_a
    if not n_atoms or len(forces) != n_atoms:
        return {}
    document: dict[str, Any] = {
        "fmax_ev_per_a": max(sqrt(sum(c * c for c in force)) for force in forces)
    }
    if n_atoms <= MAX_ARRAY_ATOMS:
        document["forces_ev_per_a"] = [list(force) for force in forces]
    return document


def _stress(step: Step) -> dict[str, Any]:
    if len(step.stress_kbar) != 3:
        return {}
    to_ev_per_a3 = 1 / KBAR_PER_GPA / EV_PER_ANGSTROM3_GPA
    stress = [[0.0 - value * to_ev_per_a3 for value in row] for row in step.stress_kbar]
    pressure = sum(step.stress_kbar[i][i] for i in range(3)) / 3
    return {
        "pressure_kbar": pressure,
        "pressure_gpa": pressure / KBAR_PER_GPA,
        "stress_ev_per_a3": stress,
        "smax_gpa": max(abs(value) for row in step.stress_kbar for value in row) / KBAR_PER_GPA,
    }


def _geometry(run: Run, step: Step | None) -> dict[str, Any]:
    """The geometry that energy and forces belong to: of the last step that was finished."""
    known = step is not None and step.lattice is not None and len(step.fractions) == run.n_atoms
    lattice = step.lattice if step is not None and known else run.final_lattice
    fractions = step.fractions if step is not None and known else run.final_fractions
    if lattice is None or len(fractions) != len(run.symbols) or "" in run.symbols:
        return {}
    formula = reduced_formula(run.symbols)
    document: dict[str, Any] = {
        "formula": formula,
        "lattice": lattice_parameters(lattice),
        "volume_angstrom3": volume_angstrom3(lattice),
    }
    if len(run.symbols) <= MAX_ARRAY_ATOMS and run.symbols:
        document["structure"] = {
            "lattice": [list(vector) for vector in lattice],
            "pbc": [True, True, True],
            "symbols": list(run.symbols),
            "positions": [list(cartesian(place, lattice)) for place in fractions],
        }
    return document
