"""The computation of the workflow ``relax``: its results document. Run by a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crystalmath.analysis.procedures.relaxed import (
    basis_doubt,
    changed_basis,
    changed_group,
    engine_provenance,
    lattice_quantities,
    structure_of_step,
    symmetry_of,
)
from crystalmath.analysis.results.document import (
    Column,
    Quantity,
    ResultsDocument,
    Table,
    provenance_of,
)
from crystalmath.structures.structure import Structure, of_document
from crystalmath.structures.symmetry.crystal import Symmetry


def report(
    before: Mapping[str, Any],
    relaxed: Mapping[str, Any],
    provenance: Mapping[str, str],
    cell: str | None = None,
) -> dict[str, Any]:
    """What a relaxation changed, as a results document.

    Parameters
    ----------
    before
        The structure that it started from.
    relaxed
        What it gave.
    cell
        What the cell was free to do; None: everything.
    """
    first, last = of_document(before), structure_of_step(relaxed)
    groups = (symmetry_of(first), symmetry_of(last)) if last.is_crystal else (None, None)
    quantities = _energies(relaxed)
    if last.is_crystal:
        quantities += lattice_quantities(last, groups[1])
        quantities.append(Quantity("volume", "volume of the cell", last.volume, "Å³"))
    quantities.append(Quantity("fmax", "largest force left", relaxed["fmax_ev_per_a"], "eV/Å"))
    if relaxed.get("smax_gpa") is not None:
        quantities.append(Quantity("smax", "largest stress left", relaxed["smax_gpa"], "GPa"))
    steps = relaxed.get("n_steps", relaxed.get("n_ionic_steps"))
    if steps is not None:
        quantities.append(Quantity("steps", "steps", float(steps)))
    return ResultsDocument(
        kind="relax",
        title="Relaxation",
        quantities=tuple(quantities),
        tables=(_table(first, last, groups),) if last.is_crystal else (),
        flags=(*changed_group(*groups), *basis_doubt(relaxed, cell)),
        provenance=provenance_of(
            ("numpy", "spglib"), **{**provenance, **engine_provenance(relaxed)}
        ),
    ).document()


def _energies(relaxed: Mapping[str, Any]) -> list[Quantity]:
    """The energy; of a cell that was relaxed with the plane waves of another one, both."""
    found = [
        Quantity("energy", "energy per cell", relaxed["energy_ev"], "eV"),
        Quantity("energy_per_atom", "energy per atom", relaxed["energy_per_atom_ev"], "eV"),
    ]
    enthalpy = (relaxed.get("relaxation") or {}).get("final_enthalpy_ev")
    if changed_basis(relaxed) and enthalpy is not None:
        label = "last enthalpy of the relaxation"
        found.append(Quantity("relaxation_enthalpy", label, enthalpy, "eV"))
    return found


def _table(
    first: Structure, last: Structure, groups: tuple[Symmetry | None, Symmetry | None]
) -> Table:
    named = tuple("none found" if g is None else f"{g.symbol} ({g.number})" for g in groups)
    return Table(
        "change",
        "Before and after",
        (
            Column("", "", ("before", "after")),
            Column("volume", "Å³", (first.volume, last.volume)),
            Column("space group", "", named),
        ),
    )
