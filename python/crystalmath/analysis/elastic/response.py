"""Stress over strain along each line of strains, as calculated and as fitted. For plots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crystalmath.analysis.elastic.data import StressData
from crystalmath.analysis.elastic.voigt import PAIRS
from crystalmath.structures.structure import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """What one component of the stress does when the same component of the strain grows.

    Attributes
    ----------
    component
        ``xx`` … ``xy``, in the axes of the structure.
    strains
        Green–Lagrange, doubled where it is shear; rising.
    stresses_gpa
        Second Piola–Kirchhoff, of the same component.
    fitted_gpa
        What the fit gives there.
    calculated
        False where a rotation of the crystal gives the value of another calculation.
    """

    component: str
    strains: Floats
    stresses_gpa: Floats
    fitted_gpa: Floats
    calculated: NDArray[np.bool_]

    def curve(self, strains: Floats) -> Floats | None:
        """The fitted stress at other strains, GPa; None where there is one strain only.

        Along a line the fit is a polynomial of second degree at most, so that its own values give
        it.
        """
        degree = min(2, len(self.strains) - 1)
        if degree == 0:
            return None
        size = np.abs(self.strains).max()
        found = np.polyfit(self.strains / size, self.fitted_gpa, degree)
        return np.asarray(np.polyval(found, strains / size), dtype=np.float64)


def responses(data: StressData, residuals_gpa: Floats) -> tuple[Response, ...]:
    """One for each line of strains.

    Parameters
    ----------
    residuals_gpa
        Of all components of all stresses, as ``StressData.solve`` gives them.
    """
    fitted = data.stresses - residuals_gpa.reshape(-1, 6)
    computed = np.arange(len(data.strains)) < data.calculations
    found = []
    for group in np.unique(data.groups):
        members = np.flatnonzero(data.groups == group)
        at = int(np.abs(data.strains[members[0]]).argmax())
        order = members[np.argsort(data.strains[members, at])]
        found.append(
            Response(
                "".join("xyz"[axis] for axis in PAIRS[at]),
                data.strains[order, at],
                data.stresses[order, at],
                fitted[order, at],
                computed[order],
            )
        )
    return tuple(found)
