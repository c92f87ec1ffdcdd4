"""The volumes of a scan, and whether points bracket a minimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from crystalmath.analysis.point_group import periodic
from crystalmath.errors import InputRejected, NotBracketed, TooFewPoints
from crystalmath.structures.structure import Floats, Structure

LEAST_POINTS: Final = 5
"""Four unknowns and one point to see whether they fit."""
USUAL_POINTS: Final = 7
USUAL_RANGE: Final = 0.06
"""Of the volume, to each side: ± 2 % of a length."""
WIDEST_RANGE: Final = 0.10
"""Of the volume. Beyond it third order is not enough: EMT copper at ± 12 % of a length loses 3 % of
its bulk modulus."""


def scan_volumes(volume_angstrom3: float, points: int = 9, reach: float = USUAL_RANGE) -> Floats:
    """Volumes in equal steps around a volume.

    Parameters
    ----------
    reach
        Largest relative change of the volume, to each side.

    Raises
    ------
    InputRejected
    """
    if points < LEAST_POINTS:
        raise InputRejected(
            f"an equation of state needs at least {LEAST_POINTS} volumes", field="points"
        )
    if not 0 < reach < 0.5:
        raise InputRejected("the range must be between 0 and 0.5 of the volume", field="reach")
    return volume_angstrom3 * np.linspace(1 - reach, 1 + reach, points)


def scaled(structure: Structure, volume_angstrom3: float) -> Structure:
    """The structure at another volume, with the shape and the fractions it has."""
    factor = (volume_angstrom3 / periodic(structure, "equations of state").volume) ** (1 / 3)
    return replace(
        structure, lattice=structure.cell * factor, positions=structure.positions * factor
    )


def points_of(
    volumes: Sequence[float] | Floats, energies: Sequence[float] | Floats
) -> tuple[Floats, Floats]:
    """Check the points of a scan and sort them by volume.

    Raises
    ------
    InputRejected
        A number is not finite, a volume not positive or there twice, the lists differ in length.
    TooFewPoints
    """
    v, e = np.asarray(volumes, dtype=float), np.asarray(energies, dtype=float)
    if v.ndim != 1 or v.shape != e.shape:
        raise InputRejected(
            f"there are {v.size} volumes and {e.size} energies; each volume needs one energy",
            field="energies",
        )
    for name, values in (("volumes", v), ("energies", e)):
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise InputRejected(
                f"number {bad[0] + 1} of the {name} is {values[bad[0]]}",
                hint="leave out points whose calculation failed",
                field=f"{name}.{bad[0]}",
            )
    order = np.argsort(v)
    v, e = v[order], e[order]
    if v.size and v[0] <= 0:
        raise InputRejected("volumes must be positive", field="volumes")
    twice = np.flatnonzero(np.diff(v) <= 1e-9 * v[1:])
    if twice.size:
        raise InputRejected(f"the volume {v[twice[0]]:g} Å³ is there twice", field="volumes")
    if v.size < LEAST_POINTS:
        raise TooFewPoints(
            f"{v.size} points are too few for an equation of state with four unknowns",
            hint=f"compute at least {LEAST_POINTS} volumes, better {USUAL_POINTS} to 11",
        )
    return v, e


def refuse_unbracketed(volumes: Floats, energies: Floats) -> None:
    """Refuse points whose lowest energy is the first or the last.

    Raises
    ------
    NotBracketed
    """
    lowest = int(energies.argmin())
    if 0 < lowest < volumes.size - 1:
        return
    side = "smaller" if lowest == 0 else "larger"
    raise not_bracketed(volumes, side)


def not_bracketed(volumes: Floats, side: str) -> NotBracketed:
    """What is said of a scan beside its minimum."""
    return NotBracketed(
        f"the minimum of the energy is not between {volumes[0]:.4f} and {volumes[-1]:.4f} Å³: "
        f"it lies at {side} volumes, so neither a volume nor a bulk modulus can be taken from it",
        hint=f"add points at {side} volumes until the energy rises again",
    )
