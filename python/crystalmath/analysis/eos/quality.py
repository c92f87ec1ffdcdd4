"""What is doubtful about the points of a scan. Called by ``fit``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from crystalmath.analysis.eos.scan import LEAST_POINTS, USUAL_POINTS, WIDEST_RANGE
from crystalmath.analysis.flags import Flag
from crystalmath.errors import NotBracketed
from crystalmath.structures.structure import Floats

OUTLIER: Final = 5.0
"""Times the median residual."""
DECISIVE: Final = 0.10
"""Relative change of the bulk modulus when one point is left out."""
_NOISE: Final = 1e-4
"""Of the depth of the scan: residuals below it are the fit's own error."""
_USUAL_B0_PRIME: Final = (2.0, 7.0)
"""What nearly all solids have."""

BulkModulus = Callable[[Floats, Floats], float]


def doubts(
    volumes: Floats,
    residuals: Floats,
    energies: Floats,
    found: tuple[float, float],
    bulk_modulus: BulkModulus,
) -> list[Flag]:
    """Say what is doubtful.

    Parameters
    ----------
    found
        B₀ in GPa and B₀′ of the fit to all points.
    bulk_modulus
        The fit again, in GPa, for the points without one.
    """
    b0_gpa, b0_prime = found
    flags = _range(volumes)
    flags += _outliers(volumes, residuals, energies)
    flags += _decisive(volumes, energies, b0_gpa, bulk_modulus)
    low, high = _USUAL_B0_PRIME
    if not low <= b0_prime <= high:
        flags.append(
            Flag(
                "unusual_b0_prime",
                f"B₀′ = {b0_prime:.2f} is outside {low:g} to {high:g}, where nearly all solids "
                "are: the energies are not smooth, the volumes reach too far or not far enough, "
                "or what computed them describes compression badly",
            )
        )
    return flags


def _range(volumes: Floats) -> list[Flag]:
    flags = []
    if volumes.size < USUAL_POINTS:
        flags.append(Flag("few_points", f"{volumes.size} points; {USUAL_POINTS} to 11 are usual"))
    reach = float(volumes[-1] - volumes[0]) / float(volumes[-1] + volumes[0])
    if reach > WIDEST_RANGE:
        flags.append(
            Flag(
                "wide_range",
                f"the volumes reach ± {100 * reach:.0f} %: too far for a form of third order, "
                "which lowers the bulk modulus",
            )
        )
    return flags


def _outliers(volumes: Floats, residuals: Floats, energies: Floats) -> list[Flag]:
    size = np.abs(residuals)
    limit = max(OUTLIER * float(np.median(size)), _NOISE * float(np.ptp(energies)))
    return [
        Flag(
            "outlier",
            f"the point at {volumes[i]:.4f} Å³ is {1000 * residuals[i]:+.3f} meV off the curve, "
            f"more than {OUTLIER:g} times the median",
        )
        for i in np.flatnonzero(size > limit)
    ]


def _decisive(
    volumes: Floats, energies: Floats, b0_gpa: float, bulk_modulus: BulkModulus
) -> list[Flag]:
    if volumes.size <= LEAST_POINTS:
        return []
    flags = []
    for i, volume in enumerate(volumes):
        try:
            without = bulk_modulus(np.delete(volumes, i), np.delete(energies, i))
        except NotBracketed:
            without = np.inf
        if abs(without - b0_gpa) > DECISIVE * b0_gpa:
            flags.append(
                Flag(
                    "decisive_point",
                    f"the point at {volume:.4f} Å³ alone changes the bulk modulus by more than "
                    f"{100 * DECISIVE:.0f} %",
                )
            )
    return flags
