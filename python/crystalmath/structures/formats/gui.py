"""The geometry file of CRYSTAL: ``.gui``, or ``fort.34`` in a running calculation.

Lists the atoms of the primitive cell with the symmetry operators in Cartesian coordinates; where
the structure does not repeat the lattice vector is 500 Å long. Called in worker processes.
"""

from __future__ import annotations

from typing import Final, NoReturn

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.checks import check_count
from crystalmath.structures.formats.number import number, quoted
from crystalmath.structures.species import element_of_number
from crystalmath.structures.structure import Floats, Integers, Structure

_READER: Final = "crystalmath gui 1"
_NOT_PERIODIC_A: Final = 500.0
_SAME_A: Final = 0.01
"""Å: an image this close to a listed atom is that atom."""
_APART_A: Final = 0.1
"""Å: an image nearer than this to an atom without being it fits no structure."""
CENTRINGS: Final = "PABCFIR"
"""In the order in which CRYSTAL numbers them, from 1."""
_KINDS: Final = ((2, 1), (15, 2), (74, 3), (142, 4), (194, 5), (230, 6))
"""Last number of the groups of a kind of lattice → CRYSTAL's number for it."""


def read_gui(text: str, field: str) -> Structure:
    """Read the text of a ``.gui``.

    Atoms that the operators make of the listed ones are added, with a warning.

    Raises
    ------
    InputRejected
        With the line at fault.
    """
    lines = _Lines(text, field)
    head = lines.words("the dimensions, the centring and the kind of lattice")[:3]
    if len(head) < 3 or head[0] not in {"0", "1", "2", "3"}:
        lines.refuse("a .gui begins with the number of dimensions (0 to 3) and two more integers")
    dimensions = int(head[0])
    lattice = np.array([lines.vector("a lattice vector") for _ in range(3)])
    operators = [
        np.array([lines.vector("an operator") for _ in range(4)])
        for _ in range(lines.count("the number of operators"))
    ]
    symbols, rows = [], []
    for index in range(lines.count("the number of atoms")):
        words = lines.words(f"atom {index + 1}")
        symbol = element_of_number(int(words[0])) if words and words[0].isdigit() else None
        if symbol is None:
            lines.refuse(f"{' '.join(words[:1])!r} is no atomic number of an atom")
        symbols.append(symbol)
        rows.append(lines.vector(f"atom {index + 1}", words[1:]))
    pbc = (dimensions > 0, dimensions > 1, dimensions > 2)
    structure = Structure(
        None if dimensions == 0 else lattice, pbc, symbols, np.array(rows).reshape(-1, 3), _READER
    )
    _complete(structure, operators, lines)
    return structure


def write_gui(
    structure: Structure,
    operators: list[tuple[Floats, Floats]] | None = None,
    *,
    centring: int = 1,
    kind: int = 1,
    group: int = 1,
) -> str:
    """Write a ``.gui``.

    Parameters
    ----------
    structure
        In its primitive cell, periodic along its first axes.
    operators
        Cartesian rotations and translations in Å; the identity when left out.
    centring, kind
        As CRYSTAL numbers them: of the conventional cell, and from triclinic 1 to cubic 6.
    group
        Number of the group, for the last line.
    """
    operators = operators or [(np.eye(3), np.zeros(3))]
    dimensions = sum(structure.pbc)
    lattice = np.eye(3) * _NOT_PERIODIC_A
    lattice[:dimensions] = structure.cell[:dimensions] if dimensions else lattice[:0]
    lines = [f"{dimensions:4d}{centring:4d}{kind:4d}", *(_row(row) for row in lattice)]
    lines.append(f"{len(operators):5d}")
    for rotation, translation in operators:
        lines += [_row(row) for row in (*rotation, translation)]
    lines.append(f"{len(structure.symbols):5d}")
    for atomic_number, position in zip(structure.numbers, structure.positions, strict=True):
        lines.append(f"{atomic_number:5d}" + "".join(f"{value:20.12f}" for value in position))
    lines.append(f"{group:5d}{len(operators):5d}")
    return "\n".join(lines) + "\n"


def kind_of_lattice(group: int) -> int:
    """CRYSTAL's number for the kind of lattice of a space group: triclinic 1 to cubic 6."""
    return next(kind for last, kind in _KINDS if group <= last)


def cartesian_operators(
    rotations: Integers, translations: Floats, cell: Floats
) -> list[tuple[Floats, Floats]]:
    """The operators that differ by more than a centring, Cartesian, Å.

    Parameters
    ----------
    rotations, translations
        On fractions of the conventional cell.
    cell
        Row vectors of that cell in Å.
    """
    found: dict[bytes, tuple[Floats, Floats]] = {}
    back = np.linalg.inv(cell)
    for rotation, translation in zip(rotations, translations, strict=True):
        key = np.asarray(rotation, dtype=np.int64).tobytes()
        if key not in found:
            found[key] = (cell.T @ rotation @ back.T, translation @ cell)
    return list(found.values())


class _Lines:
    """The lines, with their numbers for error messages."""

    def __init__(self, text: str, field: str) -> None:
        self._lines = text.split("\n")
        self._field = field
        self._number = 0

    def words(self, what: str) -> list[str]:
        if self._number >= len(self._lines) or not self._lines[self._number].strip():
            raise InputRejected(
                f"line {self._number + 1}: the .gui ends before {what}",
                hint="is it cut off?",
                field=self._field,
            )
        self._number += 1
        return self._lines[self._number - 1].split()

    def vector(self, what: str, words: list[str] | None = None) -> list[float]:
        words = self.words(what) if words is None else words
        values = [number(word) for word in words[:3]]
        if len(values) < 3 or None in values:
            self.refuse(f"{what} needs three numbers, found {quoted(words)}")
        return [value for value in values if value is not None]

    def count(self, what: str) -> int:
        words = self.words(what)
        if len(words) != 1 or not words[0].isdigit() or int(words[0]) == 0:
            self.refuse(f"expected {what}, found {' '.join(words)!r}")
        check_count(int(words[0]))
        return int(words[0])

    def refuse(self, problem: str) -> NoReturn:
        raise InputRejected(f"line {self._number}: {problem}", field=self._field)


def _complete(structure: Structure, operators: list[Floats], lines: _Lines) -> None:
    """Add what the operators make of the listed atoms."""
    listed = len(structure.symbols)
    inverse: Floats | None = None
    if structure.lattice is not None:
        inverse = np.asarray(np.linalg.inv(structure.lattice), dtype=np.float64)
    for atom in range(listed):
        for operator in operators:
            image = structure.positions[atom] @ operator[:3].T + operator[3]
            distance, nearest = _nearest(structure, inverse, image)
            if distance < _SAME_A and structure.symbols[nearest] == structure.symbols[atom]:
                continue
            if distance < _APART_A:
                lines.refuse(
                    f"atom {atom + 1} ({structure.symbols[atom]}) and its images under the "
                    "operators do not agree"
                )
            structure.symbols.append(structure.symbols[atom])
            structure.positions = np.vstack([structure.positions, image])
            check_count(len(structure.symbols))
    added = len(structure.symbols) - listed
    structure.order = np.arange(len(structure.symbols))
    if added:
        structure.warnings.append(f"{added} atoms were added by the operators of the .gui")


def _nearest(structure: Structure, inverse: Floats | None, image: Floats) -> tuple[float, int]:
    offset = structure.positions - image
    if inverse is not None:
        fractions = offset @ inverse
        offset = (fractions - np.where(structure.pbc, np.rint(fractions), 0.0)) @ structure.cell
    distances = np.linalg.norm(offset, axis=1)
    nearest = int(np.argmin(distances))
    return float(distances[nearest]), nearest


def _row(values: Floats) -> str:
    return "".join(f"{value:20.12E}" for value in values)
