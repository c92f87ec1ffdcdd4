"""The head of POSCAR: which elements in which order, and how many of each; and writing one.

Element names are required, on line 6: without them nothing can say that POTCAR is in the same
order. Of whole structures the readers of ``structures`` take care.
https://www.vasp.at/wiki/index.php/POSCAR
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crystalmath.domain.elements import SYMBOLS
from crystalmath.errors import InputRejected

_NAMES_LINE, _COUNTS_LINE = 5, 6


@dataclass(frozen=True, slots=True)
class PoscarHead:
    """The species of a POSCAR, one per block of atoms.

    Attributes
    ----------
    lattice
        Three vectors in Å.
    """

    elements: tuple[str, ...]
    counts: tuple[int, ...]
    lattice: tuple[tuple[float, ...], ...]

    @property
    def symbols(self) -> list[str]:
        """One symbol per atom."""
        pairs = zip(self.elements, self.counts, strict=True)
        return [element for element, count in pairs for _ in range(count)]


def parse_poscar_head(text: str, field: str, name: str = "POSCAR") -> PoscarHead:
    """Read the lines before the positions.

    Raises
    ------
    InputRejected
        A line is missing, is no such line, or the elements are not named.
    """
    lines = text.splitlines()
    if len(lines) <= _COUNTS_LINE:
        raise InputRejected(f"{name} ends before its positions", field=field)
    lattice = _lattice(lines, field, name)
    names = [word.split("/")[0].split("_")[0] for word in lines[_NAMES_LINE].split()]
    if not names or not all(one in SYMBOLS for one in names):
        raise InputRejected(
            f"line 6 of {name} does not name the elements: {lines[_NAMES_LINE].strip()[:60]!r}",
            hint="write them between the cell and the numbers of atoms, as VASP 5 and later have "
            "it: only so can the order of POTCAR be compared",
            field=field,
        )
    try:
        counts = [int(word) for word in lines[_COUNTS_LINE].split()]
    except ValueError:
        counts = []
    if len(counts) != len(names) or any(count < 1 for count in counts):
        raise InputRejected(
            f"line 7 of {name} does not hold one number of atoms for each of {' '.join(names)}",
            field=field,
        )
    return PoscarHead(tuple(names), tuple(counts), lattice)


def _lattice(lines: Sequence[str], field: str, name: str) -> tuple[tuple[float, ...], ...]:
    try:
        scale = [float(word) for word in lines[1].split()[:3]]
        rows = [tuple(float(word) for word in line.split()[:3]) for line in lines[2:5]]
    except ValueError:
        scale, rows = [], []
    if len(scale) not in (1, 3) or [len(row) for row in rows] != [3, 3, 3]:
        raise InputRejected(
            f"{name} has no cell in its lines 2 to 5", hint="is it a POSCAR?", field=field
        )
    if len(scale) == 3:
        factors = scale
    elif scale[0] < 0:  # the volume
        (a, b, c), (d, e, f), (g, h, i) = rows
        volume = abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))
        factors = [(-scale[0] / volume) ** (1 / 3) if volume else 0.0] * 3
    else:
        factors = scale * 3
    return tuple(tuple(x * s for x, s in zip(row, factors, strict=True)) for row in rows)


def blocks(symbols: Sequence[str]) -> list[tuple[str, int]]:
    """Neighbours of one element, as POSCAR counts them."""
    found: list[tuple[str, int]] = []
    for symbol in symbols:
        if found and found[-1][0] == symbol:
            found[-1] = (symbol, found[-1][1] + 1)
        else:
            found.append((symbol, 1))
    return found


def render_poscar(
    title: str,
    lattice: Sequence[Sequence[float]],
    symbols: Sequence[str],
    fractions: Sequence[Sequence[float]],
) -> str:
    """Write a POSCAR: scale 1, elements on line 6, fractions of the cell vectors."""
    groups = blocks(symbols)
    lines = [title, "1.0", *(_row(vector) for vector in lattice)]
    lines.append(" ".join(element for element, _ in groups))
    lines.append(" ".join(str(count) for _, count in groups))
    lines.append("Direct")
    lines += [_row(place) for place in fractions]
    return "\n".join(lines) + "\n"


def _row(values: Sequence[float]) -> str:
    return " ".join(f"{value + 0.0:21.16f}" for value in values)
