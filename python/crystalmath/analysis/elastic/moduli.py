"""Moduli of a polycrystal, anisotropy and stability, from the stiffness of the crystal. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.errors import Underdetermined
from crystalmath.structures.structure import Floats

_SHEAR: Final = (3, 4, 5)


@dataclass(frozen=True, slots=True)
class Moduli:
    """Averages over all directions, GPa.

    Upper bound (equal strain): W. Voigt, Lehrbuch der Kristallphysik (1928). Lower bound (equal
    stress): A. Reuss, Z. Angew. Math. Mech. 9, 49 (1929), doi:10.1002/zamm.19290090104. Their mean:
    R. Hill, Proc. Phys. Soc. A 65, 349 (1952), doi:10.1088/0370-1298/65/5/307.

    Attributes
    ----------
    young_gpa, poisson
        Of the Hill average.
    pugh
        Bulk over shear modulus, Hill; S. F. Pugh, Philos. Mag. 45, 823 (1954).
    universal_anisotropy
        5 G_V/G_R + K_V/K_R − 6, zero for an isotropic crystal; S. I. Ranganathan, M.
        Ostoja-Starzewski, Phys. Rev. Lett. 101, 055504 (2008), doi:10.1103/PhysRevLett.101.055504.
    """

    bulk_voigt_gpa: float
    bulk_reuss_gpa: float
    bulk_hill_gpa: float
    shear_voigt_gpa: float
    shear_reuss_gpa: float
    shear_hill_gpa: float
    young_gpa: float
    poisson: float
    pugh: float
    universal_anisotropy: float


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of mechanical stability: what must be positive, and its value in GPa."""

    expression: str
    value_gpa: float

    @property
    def holds(self) -> bool:
        """Whether it is fulfilled."""
        return self.value_gpa > 0


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """Born's stability: every strain costs energy.

    M. Born, K. Huang, Dynamical Theory of Crystal Lattices (1954); the conditions of each crystal
    system: F. Mouhat, F.-X. Coudert, Phys. Rev. B 90, 224104 (2014),
    doi:10.1103/PhysRevB.90.224104.

    Attributes
    ----------
    eigenvalues_gpa
        Of the stiffness, rising. All positive is necessary and sufficient in every system.
    conditions
        The same said with elastic constants, where the crystal is cubic.
    """

    eigenvalues_gpa: Floats
    conditions: tuple[Condition, ...]

    @property
    def stable(self) -> bool:
        """Whether the crystal resists every strain."""
        return bool(self.eigenvalues_gpa[0] > 0)


def stability(stiffness_gpa: Floats) -> Stability:
    """Judge a stiffness (6×6, Voigt, GPa).

    The eigenvalues are those of the tensor: shear counts √2 in each index (Mandel's notation), so
    that they do not depend on the axes.
    """
    factor = np.array([1, 1, 1, *[np.sqrt(2)] * 3])
    eigenvalues = np.linalg.eigvalsh(stiffness_gpa * np.outer(factor, factor))
    return Stability(np.asarray(eigenvalues, dtype=np.float64), _cubic_conditions(stiffness_gpa))


def moduli(stiffness_gpa: Floats) -> Moduli:
    """Average a stiffness (6×6, Voigt, GPa).

    Raises
    ------
    Underdetermined
        The crystal is not stable: averages of such constants mean nothing.
    """
    judged = stability(stiffness_gpa)
    if not judged.stable:
        raise Underdetermined(
            f"the crystal is not stable: a strain lowers its energy (smallest eigenvalue "
            f"{judged.eigenvalues_gpa[0]:.3g} GPa), so it has no moduli",
            hint="relax it further, or look for the phase it wants to become",
        )
    c, s = stiffness_gpa, np.asarray(np.linalg.inv(stiffness_gpa), dtype=np.float64)
    bulk_voigt, shear_voigt = _voigt(c)
    bulk_reuss = 1 / float(s[:3, :3].sum())
    diagonal, beside, shear = _parts(s)
    shear_reuss = 15 / (4 * diagonal - 4 * beside + 3 * shear)
    bulk, rigid = (bulk_voigt + bulk_reuss) / 2, (shear_voigt + shear_reuss) / 2
    return Moduli(
        bulk_voigt_gpa=bulk_voigt,
        bulk_reuss_gpa=bulk_reuss,
        bulk_hill_gpa=bulk,
        shear_voigt_gpa=shear_voigt,
        shear_reuss_gpa=shear_reuss,
        shear_hill_gpa=rigid,
        young_gpa=9 * bulk * rigid / (3 * bulk + rigid),
        poisson=(3 * bulk - 2 * rigid) / (2 * (3 * bulk + rigid)),
        pugh=bulk / rigid,
        universal_anisotropy=5 * shear_voigt / shear_reuss + bulk_voigt / bulk_reuss - 6,
    )


def zener(stiffness_gpa: Floats) -> float | None:
    """Zener's ratio 2 C44 / (C11 − C12), or None when the matrix is not that of cubic axes."""
    if not _is_cubic(stiffness_gpa):
        return None
    return float(2 * stiffness_gpa[3, 3] / (stiffness_gpa[0, 0] - stiffness_gpa[0, 1]))


def _voigt(c: Floats) -> tuple[float, float]:
    diagonal, beside, shear = _parts(c)
    return (diagonal + 2 * beside) / 9, (diagonal - beside + 3 * shear) / 15


def _parts(matrix: Floats) -> tuple[float, float, float]:
    """Sums of the first three diagonal terms, of what stands beside them, and of the last three."""
    diagonal = float(np.trace(matrix[:3, :3]))
    beside = float(matrix[0, 1] + matrix[0, 2] + matrix[1, 2])
    return diagonal, beside, float(sum(matrix[i, i] for i in _SHEAR))


def _is_cubic(c: Floats) -> bool:
    cubic = np.zeros((6, 6))
    cubic[:3, :3] = np.mean([c[0, 1], c[0, 2], c[1, 2]])
    cubic[np.arange(3), np.arange(3)] = np.mean(np.diag(c)[:3])
    cubic[np.arange(3, 6), np.arange(3, 6)] = np.mean(np.diag(c)[3:])
    return bool(np.abs(c - cubic).max() < 1e-4 * np.abs(c).max())


def _cubic_conditions(c: Floats) -> tuple[Condition, ...]:
    if not _is_cubic(c):
        return ()
    c11, c12, c44 = float(c[0, 0]), float(c[0, 1]), float(c[3, 3])
    return (
        Condition("C11 − C12", c11 - c12),
        Condition("C11 + 2 C12", c11 + 2 * c12),
        Condition("C44", c44),
    )
