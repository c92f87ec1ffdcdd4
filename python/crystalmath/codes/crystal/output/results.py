"""The results document of a CRYSTAL run: hartree as printed, eV beside it. Pure.

Units stand in the names. What the output does not say is left out. Used by ``verdict``.
"""

from __future__ import annotations

from typing import Any, Final

from crystalmath.codes.crystal.output.echo import deck_facts
from crystalmath.codes.crystal.output.geometries import (
    ECP_LABELS,
    LABELS_PER_ELEMENT,
    MAX_ARRAY_ATOMS,
    formula_of,
    geometry_document,
    labels_of,
    lattice_of,
    structure_document,
)
from crystalmath.codes.crystal.output.groups import number_of
from crystalmath.codes.crystal.output.method import functional_of, method_of
from crystalmath.codes.crystal.output.numbers import behind
from crystalmath.codes.crystal.output.responses import (
    elastic_document,
    equation_document,
    frequencies_document,
)
from crystalmath.codes.crystal.output.run import Gap, Geometry, Run, Scf
from crystalmath.codes.lattice import lattice_parameters
from crystalmath.units import HARTREE_EV

_SCF_NAMES: Final = {
    "optimisation": "scf_first_geometry",
    "elastic": "scf_reference",
    "eos": "scf_first_geometry",
}
"""What the first self-consistent calculation is called by what was asked for."""


def kind_of(run: Run) -> str:
    """What was calculated: one of the adapter's tasks."""
    if run.properties:
        return "properties"
    if run.elastic_asked:
        return "elastic"
    if run.frequencies_asked:
        return "frequencies"
    if run.eos_asked or run.equation is not None:
        return "eos"
    return "optimisation" if run.optimises else "scf"


def final_energy(run: Run, kind: str) -> float | None:
    """The energy that the run ends with (hartree); None unless it converged.

    Of an optimisation the one on its last line. Of calculations that displace atoms or strain the
    cell, the one of the reference, not of the last displacement. A scan of volumes has none: its
    energies stand in its table.
    """
    if kind == "eos":
        return None
    if _moves(run, kind):
        return run.opt_energy if run.opt_ended else None
    scf = reference_scf(run, kind)
    if scf is None or not scf.converged:
        return None
    return scf.energy if scf.corrected is None else scf.corrected


def _moves(run: Run, kind: str) -> bool:
    """Whether the results belong to the last geometry.

    Of a scan of volumes that is the one of the last volume, which nobody asked for.
    """
    return kind == "optimisation" or (run.opt_ended is not None and kind != "eos")


def reference_scf(run: Run, kind: str) -> Scf | None:
    """The self-consistent calculation that the results belong to."""
    if not run.scfs:
        return None
    return run.scfs[-1] if kind in ("scf", "properties") else run.scfs[0]


def build_results(run: Run, status: str) -> dict[str, Any]:
    """Return what the output holds.

    Parameters
    ----------
    status
        ``completed``, ``failed`` or ``incomplete``.
    """
    kind = kind_of(run)
    document: dict[str, Any] = {
        "format": 1,
        "task": kind,
        "kind": kind,
        "status": status,
        "terminated_normally": run.ended and run.error is None,
        "error_line": run.error,
        "settings": _settings(run),
        **_program(run),
        **_method(run),
        **_crystal(run),
        **_energies(run, kind, status),
    }
    document |= _geometries(run, kind, status)
    if "energy_ev" in document and document.get("n_atoms"):
        document["energy_per_atom_ev"] = document["energy_ev"] / document["n_atoms"]
    if run.modes:
        document["frequencies"] = frequencies_document(run.modes)
    if run.thermodynamics:
        document["thermodynamics"] = dict(run.thermodynamics)
    if run.elastic is not None:
        document |= elastic_document(run.elastic)
    if run.equation is not None:
        document["equation_of_state"] = equation_document(run.equation)
    return known(document)


def known(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what is not known."""
    return {key: value for key, value in document.items() if value is not None}


def _settings(run: Run) -> dict[str, str] | None:
    """What the deck beside the output sets, and the functional that was printed."""
    if not run.settings:
        return None
    functional = functional_of(run) or run.functional or method_of(run)
    return {**run.settings, **({} if functional is None else {"functional": functional})}


def _program(run: Run) -> dict[str, Any]:
    words = [word for word in (run.version, run.release) if word]
    version = " ".join(words) or None
    clock = None if run.clock is None else behind(run.clock.decode("latin-1"), "TELAPSE")
    return {
        "version": version,
        "engine": known({"name": "CRYSTAL", "version": version}),
        "wall_s": clock,
    }


def _method(run: Run) -> dict[str, Any]:
    shell = None if run.open_shell is None else "open" if run.open_shell else "closed"
    return {
        "method": method_of(run),
        "functional": functional_of(run),
        "functional_printed": run.functional,
        "exact_exchange_percent": run.exact_exchange,
        "shell": shell,
        "n_ao": run.n_ao,
        "n_electrons": run.n_electrons,
    }


def _crystal(run: Run) -> dict[str, Any]:
    facts = deck_facts(run.echo)
    group = facts.pop("group", None)
    if run.symbol is not None:
        group = number_of(run.symbol) or group
    document = {
        "dimensionality": run.dimensionality,
        "space_group": group if run.dimensionality == 3 else None,
        "space_group_symbol": run.symbol,
        **facts,
    }
    labels = labels_of(run.geometry) if run.geometry is not None else []
    if labels:
        document["deck_nat"] = labels
        document["atomic_numbers"] = [label % LABELS_PER_ELEMENT for label in labels]
        document["ecp"] = True if any(label > ECP_LABELS for label in labels) else None
    return document


def _energies(run: Run, kind: str, status: str) -> dict[str, Any]:
    document: dict[str, Any] = {}
    scf = reference_scf(run, kind)
    if kind != "properties":
        name = _SCF_NAMES.get(kind, "scf")
        document[name] = _scf(scf) if scf is not None else {"converged": False}
    if run.optimises and kind != "eos":
        document["optimisation"] = _optimisation(run)
        document["n_ionic_steps"] = run.opt_points or len(run.points) or None
    energy = final_energy(run, kind) if status == "completed" else None
    if energy is not None:
        document["final_energy_hartree"] = energy
        document["energy_ev"] = energy * HARTREE_EV
    document["total_energy_hartree_read"] = run.total_energy_read
    document |= _states(run, scf, kind, status)
    document["spin"] = _spin(run)
    return document


def _scf(scf: Scf) -> dict[str, Any]:
    """One self-consistent calculation; ``iterations`` is what every code calls its cycles."""
    return known(
        {
            "converged": bool(scf.converged),
            "cycles": scf.cycles,
            "iterations": scf.cycles if scf.cycles is not None else len(scf.energies) or None,
            "energy_hartree": scf.energy,
            "energy_with_correction_hartree": scf.corrected,
            "correction": scf.correction,
        }
    )


def _optimisation(run: Run) -> dict[str, Any]:
    document: dict[str, Any] = {
        "converged": bool(run.opt_ended),
        "points": run.opt_points if run.opt_points is not None else len(run.points) or None,
    }
    if run.opt_ended:
        document["energy_hartree"] = run.opt_energy
    else:
        last = next((p for p in reversed(run.points) if p.energy is not None), None)
        energy = run.opt_energy if run.opt_energy is not None else last and last.energy
        document["last_energy_hartree"] = energy
    tests = next((p.tests for p in reversed(run.points) if p.tests), {})
    gradients: dict[str, float] = {}
    for short in ("max", "rms"):
        test = tests.get(f"{short}_gradient")
        if test is not None:
            gradients |= {short: test.value, f"{short}_threshold": test.threshold}
    document["last_gradients"] = gradients or None
    return known(document)


def _states(run: Run, scf: Scf | None, kind: str, status: str) -> dict[str, Any]:
    """Gap or conducting; a gap only of a geometry that converged."""
    document: dict[str, Any] = {}
    if scf is None:
        return document
    if scf.conducting:
        document["conducting"] = True
    if scf.conducting and scf.fermi is not None:
        document["fermi_hartree"] = scf.fermi
        document["fermi_ev"] = scf.fermi * HARTREE_EV
    if status != "completed" or kind == "eos":
        return document
    moved = _moves(run, kind)
    gaps = run.opt_gaps if moved else scf.gaps
    gap = _gap(gaps, kind)
    if moved and "" in scf.gaps:
        gap["first_geometry_ev"] = scf.gaps[""].ev
    if gap:
        document["gap"] = gap
        values = [one.ev for one in gaps.values()]
        document["gap_ev"] = gap.get("ev", min(values, default=None))
    return document


def _gap(gaps: dict[str, Gap], kind: str) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for channel, gap in gaps.items():
        prefix = f"{channel}_" if channel else ""
        document[f"{prefix}ev"] = gap.ev
        document[f"{prefix}kind"] = gap.kind
        for name, edge in (("vbm", gap.top), ("cbm", gap.bottom)):
            if edge is not None and kind in ("properties", "scf"):
                document[f"{prefix}{name}_band"] = edge.band
                document[f"{prefix}{name}_hartree"] = edge.energy
    return known(document)


def _spin(run: Run) -> dict[str, Any] | None:
    if run.summed_spin is None:
        return None
    spins = run.atomic_spins
    document: dict[str, Any] = {"summed": run.summed_spin}
    if spins and len(spins) <= MAX_ARRAY_ATOMS:
        document["atomic"] = list(spins)
    return document


def _geometries(run: Run, kind: str, status: str) -> dict[str, Any]:
    document: dict[str, Any] = {}
    first, last = run.geometry, run.last_geometry
    dimensionality = run.dimensionality
    if first is not None:
        document["geometry"] = known(geometry_document(first, dimensionality, run.n_operators))
        document["n_atoms"] = first.n_atoms
        document["formula"] = formula_of(first)
    if last is None:
        return document
    moved = _moves(run, kind)
    if moved:
        name = "final_geometry" if run.opt_ended else "last_geometry"
        if last.shortest is None and run.points and run.points[-1].geometry is not None:
            last.shortest = run.points[-1].geometry.shortest
        document[name] = known(geometry_document(last, dimensionality))
    energy = document.get("n_atoms")
    shown = last if moved else first
    if shown is None:
        return document
    return document | _summary(shown, dimensionality, n_atoms=energy, final=status == "completed")


def _summary(
    geometry: Geometry, dimensionality: int | None, *, n_atoms: int | None, final: bool
) -> dict[str, Any]:
    """What clients show of every code's geometry; a structure only where the run completed."""
    document: dict[str, Any] = {"n_atoms": n_atoms}
    lattice = lattice_of(geometry)
    if lattice is not None and dimensionality == 3:
        document["lattice"] = lattice_parameters(lattice)
        document["volume_angstrom3"] = geometry.cell.volume if geometry.cell else None
    if final:
        document["structure"] = structure_document(geometry, dimensionality)
    return document
