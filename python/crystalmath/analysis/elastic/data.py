"""Strains and stresses as one system of linear equations. Called by ``fit``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.analysis.elastic.voigt import (
    strain_tensor,
    stress_tensor,
    stress_vector,
)
from crystalmath.structures.structure import Floats, Integers

_SAME: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class StressData:
    """Strains with their stresses, both signs of each where symmetry gives the other one.

    Attributes
    ----------
    strains, stresses
        Voigt vectors, shape (n, 6); stresses in GPa.
    weights
        1, or ½ for each of two that are one calculation.
    calculations
        How many were computed.
    groups
        Which strains lie on one line, shape (n,).
    """

    strains: Floats
    stresses: Floats
    weights: Floats
    calculations: int
    groups: Integers

    @property
    def one_sided(self) -> bool:
        """Whether a line has strains of one sign only."""
        return any(self._signs(group).min() == self._signs(group).max() for group in self._lines)

    @property
    def _lines(self) -> list[int]:
        return [int(group) for group in np.unique(self.groups)]

    def _signs(self, group: int) -> Floats:
        members = self.strains[self.groups == group]
        return np.asarray(np.sign(members @ members[0]), dtype=np.float64)

    def design(self, stiffness: Floats, stress: Floats) -> Floats:
        """The matrix of the unknowns: constants, residual stress, quadratic stress of each line.

        Parameters
        ----------
        stiffness, stress
            What the symmetry leaves free (``invariants``).
        """
        columns = [np.ravel(self.strains @ constant) for constant in stiffness]
        columns += [np.tile(each, len(self.strains)) for each in stress]
        squares = np.sum(self.strains**2, axis=1)
        for group in self._lines:
            on_line = self.groups == group
            both = self._signs(group).min() < 0
            # with one size the quadratic part cannot be told from the residual stress
            if both and np.unique(squares[on_line].round(12)).size > 1:
                columns += [np.ravel(np.outer(squares * on_line, unit)) for unit in np.eye(6)]
        return np.array(columns).T

    def solve(self, design: Floats) -> tuple[Floats, Floats, Floats]:
        """Least squares: the unknowns, the residuals (GPa) and the covariance of the unknowns."""
        weights = np.sqrt(np.repeat(self.weights, 6))
        scale = np.linalg.norm(design, axis=0)
        weighted = design * weights[:, None] / scale
        found, _, rank, _ = np.linalg.lstsq(weighted, np.ravel(self.stresses) * weights)
        residuals = np.ravel(self.stresses) - design @ (found / scale)
        spare = max(1, 6 * self.calculations - int(rank))
        variance = float(np.sum((residuals * weights) ** 2)) / spare
        covariance = variance * np.linalg.pinv(weighted.T @ weighted) / np.outer(scale, scale)
        return found / scale, residuals, covariance


def with_images(strains: Sequence[Floats], stresses: Floats, turns: Floats) -> StressData:
    """Add the opposite of each strain that a rotation of the crystal makes of it.

    Parameters
    ----------
    strains
        Voigt vectors that were computed.
    stresses
        Their stresses, GPa, shape (n, 6).
    turns
        Rotations of the crystal on Cartesian columns.
    """
    rows = [np.asarray(strain, dtype=float) for strain in strains]
    values, weights = list(stresses), [1.0] * len(rows)
    for index, strain in enumerate(strains):
        if any(np.abs(strain + other).max() < _SAME for other in strains):
            continue
        turn = _opposite(strain_tensor(strain), turns)
        if turn is not None:
            weights[index] = 0.5
            rows.append(-np.asarray(strain, dtype=float))
            values.append(stress_vector(turn @ stress_tensor(stresses[index]) @ turn.T))
            weights.append(0.5)
    all_rows = np.reshape(rows, (-1, 6))
    return StressData(
        all_rows, np.reshape(values, (-1, 6)), np.array(weights), len(strains), _lines_of(all_rows)
    )


def _opposite(tensor: Floats, turns: Floats) -> Floats | None:
    images = turns @ tensor @ np.swapaxes(turns, 1, 2)
    off = np.abs(images + tensor).max(axis=(1, 2))
    at = int(off.argmin())
    return turns[at] if off[at] < _SAME else None


def _lines_of(strains: Floats) -> Integers:
    """A number for each strain, the same for those that differ by a factor only."""
    found = np.zeros(len(strains), dtype=np.int64)
    directions: list[Floats] = []
    for index, strain in enumerate(strains):
        direction = strain / np.linalg.norm(strain)
        for number, known in enumerate(directions):
            if abs(abs(float(direction @ known)) - 1) < _SAME:
                found[index] = number
                break
        else:
            found[index] = len(directions)
            directions.append(direction)
    return found
