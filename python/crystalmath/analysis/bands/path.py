"""The path of a band structure, on the cell that it is made for.

Points and path of HPKOT by seekpath: Y. Hinuma, G. Pizzi, Y. Kumagai, F. Oba, I. Tanaka, Comput.
Mater. Sci. 128, 140 (2017), doi:10.1016/j.commatsci.2016.10.015. The points are fractions of the
reciprocal vectors of the standard primitive cell; the bands of any other cell are folded, so the
calculation takes the structure that comes with the path.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from crystalmath.analysis.point_group import periodic
from crystalmath.domain.elements import NUMBERS, SYMBOLS
from crystalmath.domain.moments import starting_moments
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats, SiteData, Structure
from crystalmath.structures.symmetry.crystal import SYMPREC_A
from crystalmath.structures.symmetry.layers import no_symmetry

SPACING_INV_ANGSTROM: Final = 0.02
"""Largest distance of neighbouring points, with the factor 2π."""
GAMMA: Final = "GAMMA"


@dataclass(frozen=True, slots=True, eq=False)
class BandPath:
    """Points of high symmetry and the lines between them.

    Attributes
    ----------
    structure
        The standard primitive cell, which the calculation must use.
    rotation
        Turns Cartesian columns of the structure that was given into those of ``structure``.
    points
        Fractions of the reciprocal vectors of ``structure`` by label.
    lines
        Label at each end. Where one line does not begin at the end of the line before, the path
        has a break.
    lattice
        The Bravais lattice and the case of it, in the words of HPKOT: ``cF2``.
    given_cells
        How many primitive cells the cell that was given holds.
    """

    structure: Structure
    rotation: Floats
    points: dict[str, tuple[float, float, float]]
    lines: tuple[tuple[str, str], ...]
    lattice: str
    given_cells: int
    warnings: tuple[str, ...]

    @property
    def title(self) -> str:
        """The path as people write it: ``Γ–X–U | K–Γ–L``."""
        return joined([(shown(start), shown(end)) for start, end in self.lines], "–", " | ")


@dataclass(frozen=True, slots=True, eq=False)
class SampledPath:
    """A path with its points.

    Attributes
    ----------
    fractions
        Shape (n, 3), of the reciprocal vectors of the standard primitive cell.
    distances
        Along the path, 1/Å with the factor 2π; a break has no length.
    lines
        First and last index of each line; lines that meet share a point.
    ticks
        Index and label of the points of high symmetry.
    """

    fractions: Floats
    distances: Floats
    lines: tuple[tuple[int, int], ...]
    ticks: tuple[tuple[int, str], ...]


def joined(lines: Sequence[tuple[str, str]], dash: str, gap: str) -> str:
    """Lines between points as one text: ``dash`` along each line, ``gap`` at each break."""
    text, last = "", None
    for start, end in lines:
        if start != last:
            text += (gap if text else "") + start
        text += f"{dash}{end}"
        last = end
    return text


def shown(label: str) -> str:
    """A label as it is printed: ``Γ`` for ``GAMMA``, without the underscore of an index."""
    return label.replace(GAMMA, "Γ").replace("SIGMA", "Σ").replace("DELTA", "Δ").replace("_", "")


def band_path(
    structure: Structure, symprec_angstrom: float = SYMPREC_A, *, time_reversal: bool = True
) -> BandPath:
    """Find the path of a crystal.

    Parameters
    ----------
    time_reversal
        False for a magnetic crystal without inversion: the lines of −k are added.

    Raises
    ------
    InputRejected
        The structure is no crystal, or no symmetry can be found with this tolerance.
    """
    kinds = _kinds(periodic(structure, "band paths"))
    numbers = {pair: number for number, pair in kinds.items()}
    moments = structure.moments or (0.0,) * len(structure.symbols)
    types = [numbers[pair] for pair in zip(structure.symbols, moments, strict=True)]
    cell = structure.cell, structure.fractions, types
    found, said = _asked(cell, symprec_angstrom, time_reversal)
    pairs = [kinds[int(number)] for number in found["primitive_types"]]
    standard = replace(
        structure,
        lattice=np.array(found["primitive_lattice"], dtype=float),
        symbols=[symbol for symbol, _ in pairs],
        positions=np.array(found["primitive_positions"]) @ np.array(found["primitive_lattice"]),
        sites=SiteData(moments=starting_moments([moment for _, moment in pairs])),
        order=np.empty(0, dtype=np.int64),
        source=dict(structure.source),
        warnings=list(structure.warnings),
    )
    return BandPath(
        structure=standard,
        rotation=np.array(found["rotation_matrix"], dtype=float),
        points={label: tuple(at) for label, at in found["point_coords"].items()},
        lines=tuple((start, end) for start, end in found["path"]),
        lattice=str(found["bravais_lattice_extended"]),
        given_cells=round(abs(float(found["volume_original_wrt_prim"]))),
        warnings=tuple(said),
    )


def _kinds(structure: Structure) -> dict[int, tuple[str, float]]:
    """Element and moment of each kind of atom, by a number for the search.

    Atoms of one element with different moments are different ones: the standard cell of an
    antiferromagnet is that of its moments. The first of an element has the atomic number.
    """
    moments = structure.moments or (0.0,) * len(structure.symbols)
    kinds: dict[int, tuple[str, float]] = {}
    taken: dict[str, int] = {}
    for pair in dict.fromkeys(zip(structure.symbols, moments, strict=True)):
        symbol = pair[0]
        kinds[NUMBERS[symbol] + len(SYMBOLS) * taken.get(symbol, 0)] = pair
        taken[symbol] = taken.get(symbol, 0) + 1
    return kinds


def _asked(cell: Any, symprec: float, time_reversal: bool) -> tuple[dict[str, Any], list[str]]:
    """Ask seekpath; its warnings are about cells at the border of two cases."""
    import seekpath

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = seekpath.get_path(cell, with_time_reversal=time_reversal, symprec=symprec)
        except seekpath.SymmetryDetectionError as error:
            raise no_symmetry(symprec) from error
    said = [str(item.message) for item in caught if "EdgeCase" in item.category.__name__]
    return found, said


def sampled(path: BandPath, spacing_inv_angstrom: float = SPACING_INV_ANGSTROM) -> SampledPath:
    """Put points on a path, its ends included.

    Parameters
    ----------
    spacing_inv_angstrom
        Largest distance of neighbouring points, with the factor 2π.

    Raises
    ------
    InputRejected
    """
    if not spacing_inv_angstrom > 0:
        raise InputRejected("the spacing must be positive", field="spacing_inv_angstrom")
    reciprocal = 2 * np.pi * np.linalg.inv(path.structure.cell).T
    fractions: list[Floats] = []
    distances: list[float] = []
    ticks: list[tuple[int, str]] = []
    lines: list[tuple[int, int]] = []
    last: str | None = None
    at = 0.0
    for start, end in path.lines:
        one, other = np.array(path.points[start]), np.array(path.points[end])
        length = float(np.linalg.norm((other - one) @ reciprocal))
        steps = max(1, int(np.ceil(length / spacing_inv_angstrom - 1e-9)))
        if start != last:
            ticks.append((len(fractions), start))
            fractions.append(one)
            distances.append(at)
        first = len(fractions) - 1
        for step in range(1, steps + 1):
            fractions.append(one + (other - one) * step / steps)
            distances.append(at + length * step / steps)
        lines.append((first, len(fractions) - 1))
        ticks.append((len(fractions) - 1, end))
        at, last = at + length, end
    return SampledPath(np.array(fractions), np.array(distances), tuple(lines), tuple(ticks))


@dataclass(frozen=True, slots=True, eq=False)
class OwnPath:
    """A path in the reciprocal vectors of the cell that was given.

    Attributes
    ----------
    fractions
        Of every point, shape (n, 3).
    labels
        Index of a point → its label, as it is printed.
    why
        Which path it is, in a sentence.
    """

    path: BandPath
    fractions: Floats
    labels: dict[int, str]
    why: str


def own_path(structure: Structure, symprec_angstrom: float = SYMPREC_A) -> OwnPath:
    """The path of a crystal for a calculation that keeps the cell as it is given.

    Raises
    ------
    InputRejected
        The cell is not primitive, or there is no path.
    """
    path = band_path(structure, symprec_angstrom)
    if path.given_cells != 1:
        raise InputRejected(
            f"bands need the primitive cell, and this cell holds {path.given_cells} of them: its "
            "bands would be folded",
            hint="convert it to the primitive cell (`materials.convert.cell: primitive`), and use "
            "that for the run before, too",
            field="structure",
        )
    along = sampled(path)
    fractions = in_cell(path, along.fractions, structure.cell)
    why = f"{path.title} of {path.lattice}, {len(fractions)} points: the path of HPKOT by seekpath"
    labels = {index: shown(label) for index, label in along.ticks}
    return OwnPath(path, fractions, labels, why)


def in_cell(path: BandPath, fractions: Floats, lattice: Floats) -> Floats:
    """The same points as fractions of the reciprocal vectors of another cell of the crystal.

    Parameters
    ----------
    fractions
        Of the reciprocal vectors of ``path.structure``, shape (n, 3).
    lattice
        Row vectors (Å) of a cell in the axes of the structure that ``path`` was made of.

    Raises
    ------
    InputRejected
        The vectors are no lattice vectors of the crystal.
    """
    turned = lattice @ path.rotation.T
    combination = turned @ np.linalg.inv(path.structure.cell)  # rows: vectors in standard ones
    whole = np.rint(combination)
    if np.abs(combination - whole).max() > 0.05:
        raise InputRejected("the cell does not belong to the crystal of the path", field="lattice")
    return np.asarray(fractions @ whole.T, dtype=np.float64)
