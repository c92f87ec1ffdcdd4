"""Write a structure in another format, as it is given or in a standard cell.

Run by a worker process of the ``proc`` lane. Nothing is idealised unless a standard cell is asked
for, and then the result says how far.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.structures.formats.cif.writer import write_cif
from crystalmath.structures.formats.gui import (
    CENTRINGS,
    cartesian_operators,
    kind_of_lattice,
    write_gui,
)
from crystalmath.structures.formats.poscar import write_poscar
from crystalmath.structures.formats.written import KEEPS, NEEDS_CELL
from crystalmath.structures.read import structure_of
from crystalmath.structures.structure import Floats, Structure
from crystalmath.structures.symmetry.crystal import Symmetry, find_symmetry
from crystalmath.structures.symmetry.primitive import (
    conventional_structure,
    primitive_structure,
)

_NAMES: Final = {
    "oxidation_states": "the oxidation states",
    "moments": "the magnetic moments",
    "mass_numbers": "the isotopes",
}


def convert_structure(
    structure: Mapping[str, Any],
    format: str,  # noqa: A002 - the word of the contract
    cell: str,
    symprec_angstrom: float,
    vacuum_angstrom: float | None,
) -> dict[str, Any]:
    """Return ``text``, ``warnings`` and, for a standard cell, ``symmetry`` of a conversion.

    Parameters
    ----------
    structure
        As ``read.structure_of`` takes it.
    format
        A value of ``formats.written.WRITTEN``.
    cell
        ``as_given``, ``primitive`` or ``conventional``.
    vacuum_angstrom
        Empty space around what does not repeat, for a format that needs a cell.

    Raises
    ------
    InputRejected, InvalidParams
    """
    given = structure_of(structure)
    symmetry = None
    chosen = given
    if cell != "as_given":
        symmetry, chosen = _in_standard_cell(given, cell, symprec_angstrom)
    chosen = _with_vacuum(chosen, format, vacuum_angstrom)
    text = _WRITERS[format](chosen, symmetry if cell == "conventional" else None)
    if format == "gui" and symmetry is not None:
        text = _gui_with_symmetry(chosen, symmetry, cell)
    warnings = [*chosen.warnings, *_lost(chosen, format)]
    if symmetry is not None:
        warnings += symmetry.warnings()
    return {
        "text": text,
        "n_atoms": len(chosen.symbols),
        "formula": chosen.formula,
        "order": chosen.order.tolist(),
        "warnings": warnings,
        "symmetry": None
        if symmetry is None
        else {
            "number": symmetry.number,
            "symbol": symmetry.symbol,
            "symprec_angstrom": symmetry.symprec_angstrom,
            "max_displacement_angstrom": symmetry.max_displacement_angstrom,
        },
    }


def _in_standard_cell(given: Structure, cell: str, symprec: float) -> tuple[Symmetry, Structure]:
    if not given.is_crystal:
        raise InputRejected(
            f"only what repeats in three directions has a {cell} cell",
            hint="convert it as it is given",
            field="cell",
        )
    symmetry = find_symmetry(given, symprec)
    make = primitive_structure if cell == "primitive" else conventional_structure
    return symmetry, make(given, symmetry)


def _with_vacuum(structure: Structure, format: str, vacuum: float | None) -> Structure:  # noqa: A002
    free = [axis for axis in range(3) if not structure.pbc[axis]]
    if not free:
        if vacuum is not None:
            raise InvalidParams(
                "the structure repeats in three directions, so no vacuum is added",
                hint="leave it out",
                field="vacuum_angstrom",
            )
        return structure
    if vacuum is None:
        if format in NEEDS_CELL:
            raise InvalidParams(
                f"a {format} needs a cell, and the structure does not repeat along "
                f"{', '.join('abc'[axis] for axis in free)}",
                hint="say how much empty space is around it",
                field="vacuum_angstrom",
            )
        return structure
    lattice = np.eye(3) if structure.lattice is None else structure.lattice.copy()
    lattice = _boxed(lattice, free, structure.positions, vacuum)
    boxed = replace(structure, lattice=lattice, warnings=list(structure.warnings))
    fractions = boxed.fractions
    for axis in free:
        fractions[:, axis] += 0.5 - (fractions[:, axis].max() + fractions[:, axis].min()) / 2
    boxed.positions = fractions @ lattice
    if format in NEEDS_CELL:
        boxed.pbc = (True, True, True)
    return boxed


def _boxed(lattice: Floats, free: list[int], positions: Floats, vacuum: float) -> Floats:
    """Give the axes that do not repeat the length of the structure and the empty space."""
    for axis in free:
        others = [lattice[(axis + step) % 3] for step in (1, 2)]
        normal = np.cross(*others)
        normal /= np.linalg.norm(normal)
        lattice[axis] = normal * (float(np.ptp(positions @ normal)) + vacuum)
    return lattice


def _lost(structure: Structure, format: str) -> list[str]:  # noqa: A002
    given = structure.sites.given().keys() - KEEPS.get(format, frozenset())
    lost = [f"a {format} does not hold {_NAMES[name]}" for name in sorted(given & _NAMES.keys())]
    if format == "xyz" and structure.lattice is not None:
        lost.append("an xyz does not hold the cell; an extxyz does")
    return lost


def _gui_with_symmetry(structure: Structure, symmetry: Symmetry, cell: str) -> str:
    if cell != "primitive":
        raise InvalidParams(
            "a .gui lists the primitive cell", hint="ask for the primitive cell", field="cell"
        )
    return write_gui(
        structure,
        cartesian_operators(symmetry.rotations, symmetry.translations, symmetry.lattice),
        centring=CENTRINGS.index(symmetry.symbol[0]) + 1,
        kind=kind_of_lattice(symmetry.number),
        group=symmetry.number,
    )


def _cif(structure: Structure, symmetry: Symmetry | None) -> str:
    return write_cif(structure, symmetry)


def _poscar(structure: Structure, _: Symmetry | None) -> str:
    return write_poscar(structure)


def _gui(structure: Structure, _: Symmetry | None) -> str:
    free = structure.pbc.index(False) if False in structure.pbc else 3
    if any(structure.pbc[free:]):
        raise InputRejected(
            "a .gui repeats along its first axes, and the structure does not",
            hint="name the axes of the structure differently",
            field="structure",
        )
    return write_gui(structure)


def _with_ase(name: str) -> Callable[[Structure, Symmetry | None], str]:
    def write(structure: Structure, _: Symmetry | None) -> str:
        from ase import Atoms
        from ase.io import write as write_file

        atoms = Atoms(
            structure.symbols,
            structure.positions,
            cell=structure.lattice,
            pbc=structure.pbc if structure.lattice is not None else False,
        )
        if structure.sites.moments is not None and name in {"extxyz", "json"}:
            atoms.set_initial_magnetic_moments([m or 0.0 for m in structure.sites.moments])
        stream = io.StringIO()
        write_file(stream, atoms, format=name)
        return stream.getvalue()

    return write


_WRITERS: Final[dict[str, Callable[[Structure, Symmetry | None], str]]] = {
    "cif": _cif,
    "poscar": _poscar,
    "gui": _gui,
    "xyz": _with_ase("xyz"),
    "extxyz": _with_ase("extxyz"),
    "xsf": _with_ase("xsf"),
    "json": _with_ase("json"),
}
