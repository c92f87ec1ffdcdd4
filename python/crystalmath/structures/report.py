"""What a structure is: cell, dimensions, symmetry, sites, neighbours, identity.

Run by a worker process of the ``proc`` lane for ``materials.inspect`` and ``materials.import``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.cell import cell_parameters
from crystalmath.structures.formula import cell_formula
from crystalmath.structures.identity import content_hash, fingerprint
from crystalmath.structures.neighbours import shells
from crystalmath.structures.read import structure_of
from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry.crystal import (
    SYMPREC_A,
    Symmetry,
    find_layer_symmetry,
    find_symmetry,
)
from crystalmath.structures.symmetry.dimensionality import (
    Dimensionality,
    Kind,
    dimensionality,
    isolate,
)
from crystalmath.structures.symmetry.primitive import conventional_structure

MOST_ATOMS: Final = 3000
"""More than this, and the search for symmetry would outlast the deadline of a call."""
_SITES: Final = 60
"""Sites whose neighbours are told; a structure without symmetry has one per atom."""
_GRAMS_PER_CM3: Final = 1.66053906892
"""Of one atomic mass unit per Å³ (CODATA 2022)."""


def inspect_structure(
    structure: Mapping[str, Any],
    symprec_angstrom: float = SYMPREC_A,
    dimension: Kind | None = None,
    atoms: str | None = None,
) -> dict[str, Any]:
    """Describe a structure as JSON: the fields of ``contract.materials.InspectResult``.

    Parameters
    ----------
    structure
        As ``read.structure_of`` takes it.
    dimension
        What the user says that it is; None lets the empty space in the cell decide.
    atoms
        ``as_given`` or ``conventional``: which cell's atoms to return; None for none.

    Raises
    ------
    InputRejected
    """
    given = structure_of(structure)
    found = dimensionality(given, dimension)
    warnings = [*given.warnings, *found.warnings()]
    symmetry = _symmetry(given, found, symprec_angstrom, warnings)
    if symmetry is not None:
        warnings += symmetry.warnings()
    return {
        "formula": given.formula,
        "cell_formula": cell_formula(given.symbols),
        "n_atoms": len(given.symbols),
        "elements": sorted(set(given.symbols)),
        "dimensionality": _dimensionality(found),
        "cell": None if given.lattice is None else _cell(given, found),
        "symmetry": None if symmetry is None else _of_symmetry(symmetry),
        "sites": _sites(given, symmetry),
        "content_hash": content_hash(given),
        "source": {**given.source, "reader": given.reader},
        "warnings": list(dict.fromkeys(warnings)),
        "atoms": None if atoms is None else _atoms(given, found, symmetry, atoms),
    }


def material_of(structure: Mapping[str, Any]) -> dict[str, Any]:
    """What is stored of a structure that is taken in: ``structure``, and what it is found by.

    Raises
    ------
    InputRejected
    """
    given = structure_of(structure)
    print_ = None if len(given.symbols) > MOST_ATOMS else asdict(fingerprint(given))
    return {
        "structure": given.document(),
        "content_hash": content_hash(given),
        "fingerprint": print_,
        "cell_formula": cell_formula(given.symbols),
    }


def _symmetry(
    given: Structure, found: Dimensionality, symprec: float, warnings: list[str]
) -> Symmetry | None:
    if found.dimensions < 2:
        return None
    if len(given.symbols) > MOST_ATOMS:
        warnings.append(
            f"{len(given.symbols)} atoms: the symmetry of more than {MOST_ATOMS} is not looked for"
        )
        return None
    if found.dimensions == 3:
        return find_symmetry(given, symprec)
    try:
        return find_layer_symmetry(isolate(given, found), symprec)
    except InputRejected as error:
        warnings.append(error.message)
        return None


def _atoms(
    given: Structure, found: Dimensionality, symmetry: Symmetry | None, wanted: str
) -> dict[str, Any] | None:
    """Every atom of a cell; what does not repeat in three directions is made whole."""
    cell, shown = "as_given", given
    if found.dimensions < 3:
        cell, shown = "isolated", isolate(given, found)
    elif wanted == "conventional" and symmetry is not None:
        cell, shown = "conventional", conventional_structure(given, symmetry)
    if len(shown.symbols) > MOST_ATOMS:
        return None
    return {
        "cell": cell,
        "lattice_angstrom": None if shown.lattice is None else shown.lattice.tolist(),
        "periodic": list(shown.pbc),
        "symbols": shown.symbols,
        "positions_angstrom": shown.positions.tolist(),
    }


def _dimensionality(found: Dimensionality) -> dict[str, Any]:
    gaps = None
    if found.gaps_angstrom is not None:
        gaps = [round(gap, 6) if np.isfinite(gap) else None for gap in found.gaps_angstrom]
    return {
        "kind": found.kind,
        "periodic": list(found.periodic),
        "gaps_angstrom": gaps,
        "decided_by": found.decided_by,
    }


def _cell(given: Structure, found: Dimensionality) -> dict[str, Any]:
    from ase.data import atomic_masses

    density = None
    if found.dimensions == 3:
        density = float(atomic_masses[given.numbers].sum()) / given.volume * _GRAMS_PER_CM3
    return {
        **_parameters(given.cell),
        "volume_angstrom3": given.volume if all(given.pbc) else None,
        "density_g_per_cm3": density,
    }


def _parameters(lattice: Any) -> dict[str, float]:
    a, b, c, alpha, beta, gamma = cell_parameters(lattice)
    return {
        "a_angstrom": a,
        "b_angstrom": b,
        "c_angstrom": c,
        "alpha_degrees": alpha,
        "beta_degrees": beta,
        "gamma_degrees": gamma,
    }


def _of_symmetry(symmetry: Symmetry) -> dict[str, Any]:
    return {
        "kind": symmetry.kind,
        "number": symmetry.number,
        "symbol": symmetry.symbol,
        "hall": symmetry.hall,
        "choice": symmetry.choice or None,
        "point_group": symmetry.point_group,
        "symprec_angstrom": symmetry.symprec_angstrom,
        "max_displacement_angstrom": symmetry.max_displacement_angstrom,
        "max_strain": symmetry.max_strain,
        "tighter": None if symmetry.tighter is None else asdict(symmetry.tighter),
        "transformation": symmetry.transformation.tolist(),
        "origin_shift": symmetry.origin_shift.tolist(),
        "standard_cell": _parameters(symmetry.lattice),
        "atoms_primitive_cell": symmetry.atoms_primitive_cell,
        "atoms_conventional_cell": len(symmetry.symbols),
    }


def _sites(given: Structure, symmetry: Symmetry | None) -> list[dict[str, Any]]:
    """The independent sites, or all atoms where no group was looked for."""
    if symmetry is None:
        atoms = list(range(min(len(given.symbols), _SITES)))
        rows: list[dict[str, Any]] = [
            {"symbol": given.symbols[atom], "atom": int(given.order[atom]) + 1} for atom in atoms
        ]
    else:
        shown = symmetry.orbits[:_SITES]
        atoms = [symmetry.input_atoms[orbit.atom][0] for orbit in shown]
        rows = [
            {
                "symbol": symmetry.symbols[orbit.atom],
                "atom": int(given.order[atom]) + 1,
                "fraction": [round(float(x), 10) for x in symmetry.fractions[orbit.atom]],
                "multiplicity": orbit.multiplicity,
                "wyckoff": symmetry.wyckoffs[orbit.atom],
                "site_symmetry": symmetry.site_symmetries[orbit.atom],
            }
            for orbit, atom in zip(shown, atoms, strict=True)
        ]
    for row, near in zip(rows, shells(given, atoms), strict=True):
        row["neighbours"] = near
    data = given.sites
    for name, values in (
        ("oxidation_state_e", data.oxidation_states),
        ("moment_mub", data.moments),
        ("mass_number", data.mass_numbers),
        ("label", data.labels),
    ):
        for row, atom in zip(rows, atoms, strict=True):
            if values is not None and values[atom] is not None:
                row[name] = values[atom]
    return rows
