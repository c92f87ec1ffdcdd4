"""The results document of a pw.x run: eV, Å and GPa beside the numbers that pw.x printed.

Units stand in the names. The stress has the sign of ASE: positive under tension, the opposite of
what pw.x prints. Pure; used by ``verdict``.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, Final

from crystalmath.codes.espresso.geometry import structure_document
from crystalmath.codes.espresso.options import MOVING, RELAXING
from crystalmath.codes.espresso.run import Cell, Positions, Run, Scf
from crystalmath.codes.lattice import lattice_parameters, volume_angstrom3
from crystalmath.units import (
    BOHR_ANGSTROM,
    EV_PER_ANGSTROM3_GPA,
    KBAR_PER_GPA,
    RYDBERG_EV,
    RYDBERG_PER_BOHR_EV_PER_ANGSTROM,
)

MAX_ARRAY_ATOMS: Final = 1000
"""Arrays per atom of larger systems stay in the output, and are read from there where needed."""
ARRAYS: Final = ("structure", "forces_ev_per_a")


def build_results(
    run: Run, task: str, *, most_atoms: int | None = MAX_ARRAY_ATOMS
) -> dict[str, Any]:
    """Return what the output holds; what it does not say is left out.

    Parameters
    ----------
    most_atoms
        Structure and forces of more are left out; None for all.
    """
    scf = last_complete(run)
    document: dict[str, Any] = {
        "format": 1,
        "task": task,
        "engine": _known(
            {"name": "pw.x", "version": run.version, "processes": run.processes},
        ),
        "n_atoms": run.n_atoms,
        "n_electrons": run.n_electrons,
        "n_bands": run.n_bands,
        "n_kpoints": run.n_kpoints,
        "fermi_ev": run.fermi_ev,
        "highest_occupied_ev": run.highest_occupied_ev,
        "lowest_unoccupied_ev": run.lowest_unoccupied_ev,
        "gap_ev": _gap(run),
        "started": run.started,
        "wall_s": run.wall_s,
    }
    if run.scfs:
        last = run.scfs[-1]
        document["scf"] = _known(
            {"converged": last.converged, "iterations": last.iterations, "cycles": len(run.scfs)}
        )
    if scf is not None:
        document |= _energy(scf, run.n_atoms)
        document |= _forces(scf, run.n_atoms)
        document |= _stress(scf)
        document["magnetisation_mu_b"] = scf.magnetisation
        document["absolute_magnetisation_mu_b"] = scf.absolute_magnetisation
    if task in RELAXING:
        document |= _relaxation(run, task)
    if run.md_steps:
        document["md"] = _known({"steps": run.md_steps, "temperature_k": run.temperature_k})
    document |= _geometry(run, task, scf)
    if most_atoms is not None and (run.n_atoms or 0) > most_atoms:
        for name in ARRAYS:
            document.pop(name, None)
    return _known(document)


def last_complete(run: Run) -> Scf | None:
    """The last self-consistent calculation that gave its final energy."""
    return next((scf for scf in reversed(run.scfs) if scf.energy_ry is not None), None)


def final_geometry(run: Run, task: str) -> tuple[Cell | None, Positions | None]:
    """The geometry that the results belong to."""
    scf = last_complete(run)
    if run.final_coordinates or scf is None or task not in MOVING:
        return run.cell, run.positions
    return scf.cell, scf.positions


def _known(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not None}


def _gap(run: Run) -> float | None:
    if run.fermi_ev is not None or run.highest_occupied_ev is None:
        return None
    if run.lowest_unoccupied_ev is None:
        return None
    return round(run.lowest_unoccupied_ev - run.highest_occupied_ev, 6)


def _energy(scf: Scf, n_atoms: int | None) -> dict[str, Any]:
    assert scf.energy_ry is not None
    energy_ev = scf.energy_ry * RYDBERG_EV
    return {
        "energy_ry": scf.energy_ry,
        "energy_ev": energy_ev,
        "energy_per_atom_ev": energy_ev / n_atoms if n_atoms else None,
    }


def _forces(scf: Scf, n_atoms: int | None) -> dict[str, Any]:
    total = scf.total_force_ry_per_bohr
    document: dict[str, Any] = {"total_force_ry_per_bohr": total}
    if total is not None:
        document["total_force_ev_per_a"] = total * RYDBERG_PER_BOHR_EV_PER_ANGSTROM
    if n_atoms and len(scf.forces_ry_per_bohr) == n_atoms:
        forces = [
            [component * RYDBERG_PER_BOHR_EV_PER_ANGSTROM + 0.0 for component in force]
            for force in scf.forces_ry_per_bohr
        ]
        document["fmax_ev_per_a"] = max(sqrt(sum(c * c for c in force)) for force in forces)
        document["forces_ev_per_a"] = forces
    return document


def _stress(scf: Scf) -> dict[str, Any]:
    if scf.pressure_kbar is None or not scf.stress_ry_per_bohr3:
        return {}
    to_ev_per_a3 = RYDBERG_EV / BOHR_ANGSTROM**3
    stress = [[0.0 - value * to_ev_per_a3 for value in row] for row in scf.stress_ry_per_bohr3]
    return {
        "pressure_kbar": scf.pressure_kbar,
        "pressure_gpa": scf.pressure_kbar / KBAR_PER_GPA,
        "stress_ev_per_a3": stress,
        "smax_gpa": max(abs(value) for row in stress for value in row) * EV_PER_ANGSTROM3_GPA,
    }


def _relaxation(run: Run, task: str) -> dict[str, Any]:
    """The relaxation itself; its last enthalpy and the final SCF are two different numbers."""
    final = run.scf if run.scf is not None and run.scf.is_final else None
    cycles = len(run.scfs) - (1 if final is not None else 0)
    enthalpy, energy = run.final_enthalpy_ry, run.final_energy_ry
    relaxation = _known(
        {
            "converged": run.bfgs_converged and not run.max_steps_reached,
            "scf_cycles": cycles,
            "bfgs_steps": run.bfgs_steps,
            "final_energy_ry": energy,
            "final_energy_ev": None if energy is None else energy * RYDBERG_EV,
            "final_enthalpy_ry": enthalpy,
            "final_enthalpy_ev": None if enthalpy is None else enthalpy * RYDBERG_EV,
        }
    )
    document: dict[str, Any] = {"relaxation": relaxation, "n_ionic_steps": max(0, cycles - 1)}
    if task == "vc-relax" and final is not None and final.energy_ry is not None:
        document["final_scf"] = _known(
            {
                "energy_ry": final.energy_ry,
                "energy_ev": final.energy_ry * RYDBERG_EV,
                "pressure_kbar": final.pressure_kbar,
            }
        )
    return document


def _geometry(run: Run, task: str, scf: Scf | None) -> dict[str, Any]:
    structure = structure_document(*final_geometry(run, task))
    moved = scf is not None and task in MOVING
    volume_bohr3 = scf.volume_bohr3 if scf is not None and moved else run.volume_bohr3
    document: dict[str, Any] = {"volume_bohr3": volume_bohr3}
    if structure is None:
        return document
    a, b, c = (tuple(vector) for vector in structure["lattice"])
    document["formula"] = structure.pop("formula")
    document["lattice"] = lattice_parameters((a, b, c))
    document["volume_angstrom3"] = volume_angstrom3((a, b, c))
    document["structure"] = structure
    return document
