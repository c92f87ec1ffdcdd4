"""POSCAR and CONTCAR.

Own reader, because the usual ones invent elements for files of VASP 4, which hold none. Velocities,
selective dynamics and what follows them are no part of a structure and are left out. Called by
``structures.read`` in a worker process. The format: https://www.vasp.at/wiki/index.php/POSCAR
"""

from __future__ import annotations

from itertools import groupby
from typing import NoReturn

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.number import number, quoted
from crystalmath.structures.species import LOST_MASS, element, isotope_of, site_data
from crystalmath.structures.structure import Floats, Structure

_READER = "crystalmath poscar 1"


def read_poscar(text: str, field: str) -> Structure:
    """Read the text of a POSCAR.

    Parameters
    ----------
    field
        The request field to name in errors.

    Raises
    ------
    InputRejected
        With the line at fault; also when the file does not name its elements.
    """
    lines = _Lines(text, field)
    comment = lines.take("the comment")
    lattice, scale = _lattice(lines)
    warnings: list[str] = []
    names = _names(lines, comment, warnings)
    symbols = [element(name) or "" for name in names]
    positions = _positions(lines, len(symbols), lattice, scale, warnings)
    return Structure(
        lattice, (True, True, True), symbols, positions, _READER, {}, warnings, site_data(names)
    )


def write_poscar(structure: Structure) -> str:
    """Write a POSCAR with the element names, unscaled, in direct coordinates and the order given.

    A species that comes again after another one begins a block of its own.
    """
    blocks = [(symbol, len(list(same))) for symbol, same in groupby(structure.symbols)]
    lines = [structure.formula, "1.0"]
    lines += [" ".join(f"{value:20.14f}" for value in row) for row in structure.cell]
    lines.append(" ".join(symbol for symbol, _ in blocks))
    lines.append(" ".join(str(count) for _, count in blocks))
    lines.append("Direct")
    lines += [" ".join(f"{value:19.16f}" for value in row) for row in structure.fractions]
    return "\n".join(lines) + "\n"


class _Lines:
    """The lines, with their numbers for error messages."""

    def __init__(self, text: str, field: str) -> None:
        self._lines = text.split("\n")
        self._field = field
        self.number = 0

    def take(self, what: str) -> str:
        if self.number == len(self._lines):
            raise InputRejected(
                f"the POSCAR ends before {what}", hint="is it cut off?", field=self._field
            )
        self.number += 1
        return self._lines[self.number - 1].split("!")[0].split("#")[0].strip()

    def vector(self, what: str) -> list[float]:
        words = self.take(what).split()[:3]
        values = [number(word) for word in words]
        if len(values) < 3 or None in values:
            self.refuse(
                f"{what} needs three numbers, found {quoted(words)}",
                "was the program that wrote it stopped, or did it fail?"
                if len(words) == 3
                else None,
            )
        return [value for value in values if value is not None]

    def refuse(self, problem: str, hint: str | None = None) -> NoReturn:
        raise InputRejected(f"line {self.number}: {problem}", hint=hint, field=self._field)


def _lattice(lines: _Lines) -> tuple[Floats, Floats]:
    """Read scale and vectors; one negative scale is the volume in Å³, three scale x, y and z."""
    words = lines.take("the scale factor").split()[:3]
    scale = [value for value in map(number, words) if value is not None]
    if len(scale) == 2:
        scale = scale[:1]
    if not scale or 0.0 in scale or (len(scale) == 3 and min(scale) < 0):
        lines.refuse(f"the scale {' '.join(words)!r} is neither one number nor three positive")
    vectors = np.array([lines.vector("a lattice vector") for _ in range(3)])
    factors = np.array(scale)
    if scale[0] < 0:
        volume = abs(float(np.linalg.det(vectors)))
        if volume == 0.0:
            lines.refuse("the lattice vectors lie in one plane")
        factors = np.array([np.cbrt(-scale[0] / volume)])
    return vectors * factors, factors


def _names(lines: _Lines, comment: str, warnings: list[str]) -> list[str]:
    """Read what each atom is called; names only from the comment line are taken with a warning."""
    words = lines.take("the element names").split()
    names: list[str] | None = None
    if words and not words[0].isdigit():
        names = words
        words = lines.take("the numbers of atoms").split()
    if not words or not all(word.isdigit() and int(word) > 0 for word in words):
        lines.refuse(f"the numbers of atoms are {' '.join(words)!r}")
    counts = [int(word) for word in words]
    if sum(counts) > 1_000_000:
        lines.refuse(f"{sum(counts)} atoms: no structure of that size is read")
    if names is None:
        names = _names_from_comment(lines, comment, counts)
        warnings.append(f"element names taken from the comment line: {comment}")
    if len(names) != len(counts):
        lines.refuse(f"{len(names)} element names, but {len(counts)} numbers of atoms")
    called: list[str] = []
    for name, count in zip(names, counts, strict=True):
        if element(name) is None:
            lines.number -= 1
            lines.refuse(f"{name!r} is no element")
        if isotope_of(name) is not None:
            warnings.append(f"{name} is read as H: {LOST_MASS}")
        called.extend([name] * count)
    return called


def _names_from_comment(lines: _Lines, comment: str, counts: list[int]) -> list[str]:
    names = comment.split()
    if len(names) != len(counts) or not all(element(name) is not None for name in names):
        groups = f"{len(counts)} groups of {', '.join(map(str, counts))} atoms"
        lines.refuse(
            f"the POSCAR does not name its elements ({groups})",
            "insert a line with the element names above the numbers of atoms",
        )
    return names


def _positions(
    lines: _Lines, n_atoms: int, lattice: Floats, scale: Floats, warnings: list[str]
) -> Floats:
    mode = lines.take("the coordinate mode")
    if mode[:1].lower() == "s":
        warnings.append("selective dynamics is not taken over: all atoms are free")
        mode = lines.take("the coordinate mode")
    if mode[:1].lower() not in {"c", "k", "d"}:
        lines.refuse(f"expected Direct or Cartesian, found {mode!r}")
    rows = np.array([lines.vector(f"atom {index + 1}") for index in range(n_atoms)])
    positions: Floats = rows @ lattice if mode[0].lower() == "d" else rows * scale
    return positions
