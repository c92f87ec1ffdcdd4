"""Symmetry operators, and the atoms that they make of the listed sites.

Operators come from the loop of a CIF, or from the tables of gemmi for a group and setting that
are certain. Nothing here searches for symmetry. Called by ``structures.cif``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import gemmi
import numpy as np
import numpy.typing as npt

from crystalmath.structures.structure import Floats

SPECIAL_POSITION_A = 0.01
"""A site this close (Å) to a special position is taken to be on it: 0.333 means 1/3."""


class SymmetryProblem(ValueError):
    """The operators do not fit the cell, a site, or each other."""


@dataclass(frozen=True, slots=True)
class Operators:
    """Rotations (n, 3, 3) and translations (n, 3), fractional."""

    rotations: npt.NDArray[np.int64]
    translations: Floats

    def check_metric(self, lattice: Floats) -> None:
        """Raise when an operator would distort the cell, i.e. the setting is another one."""
        metric = lattice @ lattice.T
        # x' = R x for columns of fractions, so lengths are kept when RᵀGR = G.
        turned = np.einsum("nji,jk,nkl->nil", self.rotations, metric, self.rotations)
        if np.abs(turned - metric).max() > 0.01 * np.abs(metric).max():
            raise SymmetryProblem("the cell does not have the symmetry of its operators")


def parse_operators(texts: list[str]) -> Operators:
    """Read ``x, -y+1/2, z`` and the like."""
    from ase.spacegroup.spacegroup import parse_sitesym

    for text in texts:
        allowed = re.fullmatch(r"[xyzXYZ0-9+\-/., ]+", text) and text.count(",") == 2
        if not allowed or re.search(r"[0-9.][xyzXYZ]", text):
            raise SymmetryProblem(f"{text!r} is no symmetry operator")
    rotations, translations = parse_sitesym([text.replace(" ", "") for text in texts])
    determinants = np.abs(np.linalg.det(rotations))
    if np.abs(determinants - 1).max() > 1e-9:
        raise SymmetryProblem(f"{texts[int(np.argmax(np.abs(determinants - 1)))]!r} is no operator")
    # Some programs list an operator twice; each must count once.
    keys = np.hstack([rotations.reshape(-1, 9), np.rint(translations % 1.0 * 10_000) % 10_000])
    once = np.sort(np.unique(keys, axis=0, return_index=True)[1])
    return Operators(rotations[once], translations[once])


def operators_of(group: gemmi.GroupOps) -> Operators:
    """All operators of a group in its setting, centrings included."""
    found = list(group)
    rotations = np.array([operator.rot for operator in found], dtype=np.int64) // gemmi.Op.DEN
    translations = np.array([operator.tran for operator in found], dtype=float) / gemmi.Op.DEN
    return Operators(rotations, translations)


def orbit(site: Floats, operators: Operators, lattice: Floats) -> tuple[Floats, float]:
    """Return all fractions equivalent to ``site``, and how far (Å) the site was moved.

    A site within :data:`SPECIAL_POSITION_A` of a special position is put on it.

    Raises
    ------
    SymmetryProblem
        The site is near a special position, but too far to be on it.
    """
    images = operators.rotations @ site + operators.translations
    offset = images - site
    offset -= np.rint(offset)
    # Moving the site by d moves its image by up to 2d against it, and rounding hits both.
    same = np.linalg.norm(offset @ lattice, axis=1) < 3 * SPECIAL_POSITION_A
    shift = offset[same].mean(axis=0)
    moved = float(np.linalg.norm(shift @ lattice))
    exact = operators.rotations @ (site + shift) + operators.translations
    members = [exact[0]]
    for image in exact[1:]:
        difference = image - np.array(members)
        difference -= np.rint(difference)
        if np.linalg.norm(difference @ lattice, axis=1).min() > SPECIAL_POSITION_A / 10:
            members.append(image)
    if len(members) * int(same.sum()) != len(exact) or moved > SPECIAL_POSITION_A:
        raise SymmetryProblem("is close to a special position, but not on it")
    return np.array(members) % 1.0, moved
