"""Groups as CRYSTAL numbers them: settings of space groups, layer groups, lattice records.

Space groups go by number (IFLAG 0). Layer groups have CRYSTAL's own order, which is not that of the
International Tables, volume E. Which groups have two origins or rhombohedral axes is told by
``structures.symmetry.settings``. Pure data.
"""

from __future__ import annotations

from typing import Final

from crystalmath.structures.symmetry.settings import RHOMBOHEDRAL

HIGHEST: Final = {"CRYSTAL": 230, "SLAB": 80, "POLYMER": 99, "MOLECULE": 47}
"""The last number of each list; 47 point groups in the list of the program's manual."""

SHIFT_UNIT: Final = 24
"""A shift record counts in 1/24 of the axes."""

LAYER_FROM_ITE: Final[dict[int, int]] = {
    **{number: number for number in (*range(1, 16), *range(19, 28))},
    **{number: number for number in (*range(33, 38), *range(47, 81))},
    18: 16, 16: 17, 17: 18, 29: 28, 28: 29, 31: 30, 32: 31, 30: 32, 40: 38, 41: 39, 46: 40, 44: 41,
    38: 42, 42: 43, 45: 44, 43: 45, 39: 46,
}  # fmt: skip
"""Number of a layer group in the International Tables → CRYSTAL's number."""

LAYER_TO_ITE: Final = {crystal: ite for ite, crystal in LAYER_FROM_ITE.items()}

AXES_EXCHANGED: Final = frozenset({20, *range(27, 37)})
"""CRYSTAL's layer groups whose axes a and b are exchanged against the International Tables."""

LAYER_ORIGIN_OPEN: Final = frozenset({40, 46, 52, 62, 64})
"""Layer groups of CRYSTAL (Pmmn, Pban, P4/n, P4/nbm, P4/nmm) with two possible origins, of which no
output at hand tells the one that the program takes. They are written as group 1."""

CENTRED_LAYERS: Final = frozenset({10, 13, 16, 22, 26, 35, 36, 47, 48})
"""CRYSTAL's layer groups with a centred rectangular cell."""

LAYER_HALL: Final = (
    1, 2, 3, 4, 5, 8, 9, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 35, 37, 38, 39, 40, 42, 43,
    44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 64, 65, 67, 68, 70, 72, 74, 76, 77, 79, 80, 81, 82, 83,
    84, 85, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 98, 99, 101, 102, 103, 104, 105, 106, 107, 108,
    109, 110, 111, 112, 113, 114, 115, 116,
)  # fmt: skip
"""spglib's number of the standard setting of layer group 1, 2, … 80 of the International Tables;
negative there. Checked by letting spglib name a layer made with these operators (a test does)."""

MONOCLINIC: Final = range(3, 16)


def space_lattice(group: int, ifhr: int) -> tuple[str, ...]:
    """Names of the numbers of the lattice record of a space group."""
    if group <= 2:
        return ("a", "b", "c", "alpha", "beta", "gamma")
    if group in MONOCLINIC:
        return ("a", "b", "c", "beta")
    if group <= 74:
        return ("a", "b", "c")
    if group in RHOMBOHEDRAL and ifhr == 1:
        return ("a", "alpha")
    return ("a", "c") if group <= 194 else ("a",)


def layer_lattice(group: int) -> tuple[str, ...]:
    """Names of the numbers of the lattice record of a layer group of CRYSTAL."""
    if group <= 7:
        return ("a", "b", "gamma")
    return ("a", "b") if group <= 48 else ("a",)


def lattice_names(dimension: str, group: int, ifhr: int = 0) -> tuple[str, ...]:
    """Names of the numbers of the lattice record; none for a molecule."""
    if dimension == "CRYSTAL":
        return space_lattice(group, ifhr)
    if dimension == "SLAB":
        return layer_lattice(group)
    return ("a",) if dimension == "POLYMER" else ()
