"""Forces and stress against differences of the energy.

No single step fits every engine: a large one meets the kinks of a cut-off, a small one the noise of
single precision or of a self-consistent cycle. A derivative that is right agrees for some step; one
that is wrong agrees for none. So steps are tried until one agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from crystalmath.forces.connection import Floats
from crystalmath.forces.doctor.finding import Finding, measured
from crystalmath.forces.doctor.specimens import strained
from crystalmath.forces.doctor.subject import Subject

RELATIVE: Final = 1e-3
COMPONENTS: Final = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("yz", 1, 2), ("xz", 0, 2),
                     ("xy", 0, 1))  # fmt: skip
_DIRECTIONS: Final = 2
_GPA_EV_A3: Final = 160.21766208
"""Pressure of 1 eV/Å³ in GPa."""
_UNITS: Final = (
    (-1.0, "the sign is the opposite one"),
    (_GPA_EV_A3, "it is in GPa"),
    (-_GPA_EV_A3, "it is in GPa, with the opposite sign"),
    (10 * _GPA_EV_A3, "it is in kbar"),
    (-10 * _GPA_EV_A3, "it is in kbar, with the opposite sign"),
    (1 / 51.4220675, "it is in hartree/bohr"),
    (1 / 27.2113862, "its energy is in hartree"),
)


class Scheme(NamedTuple):
    """Weights of the energies at multiples of a step."""

    step: float
    weights: tuple[tuple[int, float], ...]

    def derivative(self, energies: Sequence[float]) -> float:
        """From the energies, in the order of the weights."""
        return sum(w * e for (_, w), e in zip(self.weights, energies, strict=True)) / self.step

    def noise(self, energy: float, epsilon: float) -> float:
        """What rounding of the energies does to the derivative."""
        return 4 * epsilon * abs(energy) / self.step


_TWO: Final = ((-1, -0.5), (1, 0.5))
_FOUR: Final = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))


def _schemes(subject: Subject, double: tuple[float, float], single: tuple[float, float]) -> Any:
    if subject.dtype == "float64":
        return (Scheme(double[0], _TWO), Scheme(double[1], _FOUR))
    return (Scheme(single[0], _FOUR), Scheme(single[1], _FOUR))


class _Slope(NamedTuple):
    """A derivative by differences, and how far it is from the one that was expected."""

    found: float
    off: float
    noise: float


class _Differentiator:
    """Differentiates the energy of structures that are moved along something.

    Parameters
    ----------
    schemes
        Tried in turn until one agrees.
    tolerance
        What agreeing means.
    per
        Every derivative is divided by it.
    energy
        Of the structure that is moved, for what rounding does.
    """

    def __init__(
        self,
        subject: Subject,
        schemes: Sequence[Scheme],
        tolerance: float,
        energy: float,
        per: float = 1.0,
    ) -> None:
        self._subject = subject
        self._schemes = schemes
        self._tolerance = tolerance
        self._energy = energy
        self._per = per

    def slope(self, move: Callable[[float], Any], expected: float) -> _Slope:
        """Differentiate along ``move``; stop at the first step that agrees."""
        best: _Slope | None = None
        for scheme in self._schemes:
            energies = self._subject.energies([move(n * scheme.step) for n, _ in scheme.weights])
            found = scheme.derivative(energies) / self._per
            noise = scheme.noise(self._energy, self._subject.bounds.epsilon) / self._per
            slope = _Slope(found, abs(found - expected), noise)
            if best is None or slope.off < best.off:
                best = slope
            if slope.off <= max(self._tolerance, noise):
                break
        assert best is not None
        return best


# --- forces ---------------------------------------------------------------------------------------


def check_forces(subject: Subject, name: str, atoms: Any) -> Iterator[Finding]:
    """Compare forces with differences: one atom along its force, all atoms in some directions."""
    computed = subject.compute(atoms, subject.energy, "forces")
    forces: Floats = computed["forces"]
    largest = float(np.abs(forces).max())
    tolerance = max(RELATIVE * largest, subject.bounds.forces)
    schemes = _schemes(subject, (1e-4, 1e-2), (0.03, 0.015))
    differences = _Differentiator(subject, schemes, tolerance, computed[subject.energy])
    slopes, expected = [], []
    for direction in _directions(forces):

        def move(by: float, direction: Floats = direction) -> Any:
            moved = atoms.copy()
            moved.positions += by * direction
            return moved

        expected.append(float(-(forces * direction).sum()))
        slopes.append(differences.slope(move, expected[-1]))
    worst = max(slope.off for slope in slopes)
    allowed = max(tolerance, *(slope.noise for slope in slopes))
    detail = f"largest difference of {len(slopes)} directions; largest force {largest:.3g} eV/Å"
    if not worst <= allowed:
        detail = f"forces are not the gradient of the {subject.energy.replace('_', ' ')}" + _why(
            np.array(expected), np.array([slope.found for slope in slopes])
        )
    yield measured("forces", worst, allowed, "eV/Å", detail, name)


def _directions(forces: Floats) -> Iterator[Floats]:
    """Unit vectors in the space of all positions."""
    atom = int(np.argmax(np.linalg.norm(forces, axis=1)))
    one = np.zeros_like(forces)
    one[atom] = forces[atom] if forces[atom].any() else 1.0
    yield one / np.linalg.norm(one)
    random = np.random.default_rng(1)
    for _ in range(_DIRECTIONS):
        one = random.normal(size=forces.shape)
        yield one / np.linalg.norm(one)


# --- stress ---------------------------------------------------------------------------------------


class _Strains:
    """A strained structure with its stress, to be compared with energies around it."""

    def __init__(self, subject: Subject, unstrained: Any) -> None:
        self._atoms = strained(unstrained)
        computed = subject.compute(self._atoms, subject.energy, "stress")
        self.stress: Floats = computed["stress"]
        self.volume = abs(float(np.linalg.det(self._atoms.cell.array)))
        self.largest = float(np.abs(self.stress).max())
        self.tolerance = max(RELATIVE * self.largest, subject.bounds.stress)
        self._differences = _Differentiator(
            subject,
            _schemes(subject, (1e-5, 2e-3), (8e-3, 4e-3)),
            self.tolerance,
            computed[subject.energy],
            self.volume,
        )

    def slopes(self, tensors: Sequence[Floats]) -> list[_Slope]:
        """Derivatives of the energy along symmetric strains, per volume."""
        return [self._slope(tensor) for tensor in tensors]

    def _slope(self, tensor: Floats) -> _Slope:
        atoms = self._atoms

        def strain(by: float) -> Any:
            changed = atoms.copy()
            changed.set_cell(atoms.cell.array @ (np.eye(3) + by * tensor), scale_atoms=True)
            return changed

        return self._differences.slope(strain, float((self.stress * tensor).sum()))

    def allowed(self, slopes: Sequence[_Slope]) -> float:
        """What they may be off by."""
        return max(self.tolerance, *(slope.noise for slope in slopes))


def check_stress(subject: Subject, name: str, atoms: Any) -> Iterator[Finding]:
    """Compare the stress with energies of strained cells.

    Each of the six components on skewed cells and slabs. On crystals with right angles, two strains
    that have all components at once: one that is wrong shows, and then all six are looked at.
    """
    strains = _Strains(subject, atoms)
    sampled = atoms.pbc.all() and np.allclose(atoms.cell.angles(), 90)
    slopes = strains.slopes(_mixtures() if sampled else _components())
    what = f"{len(slopes)} mixed strains" if sampled else "six components"
    worst, allowed = max(slope.off for slope in slopes), strains.allowed(slopes)
    if sampled and not worst <= allowed:
        slopes = strains.slopes(_components())
        worst, allowed = max(worst, *(slope.off for slope in slopes)), strains.allowed(slopes)
    detail = f"largest difference of {what}; largest stress {strains.largest:.3g} eV/Å³"
    if not worst <= allowed:
        detail = _wrong_stress(strains, slopes)
    yield measured("stress", worst, allowed, "eV/Å³", detail, name)
    stress = strains.stress
    yield measured(
        "stress symmetry",
        float(np.abs(stress - stress.T).max()),
        strains.tolerance,
        "eV/Å³",
        "largest difference of two components that should be equal",
        name,
    )


def _components() -> list[Floats]:
    found = []
    for _, i, j in COMPONENTS:
        tensor = np.zeros((3, 3))
        tensor[i, j] += 0.5
        tensor[j, i] += 0.5
        found.append(tensor)
    return found


def _mixtures() -> list[Floats]:
    """Symmetric strains of length one with all components."""
    random, found = np.random.default_rng(5), []
    for _ in range(2):
        tensor = random.normal(size=(3, 3))
        tensor += tensor.T
        found.append(tensor / np.linalg.norm(tensor))
    return found


def _wrong_stress(strains: _Strains, slopes: Sequence[_Slope]) -> str:
    """Say which component is wrong most of all, and what all of it looks like."""
    right = np.zeros((3, 3))
    for (_, i, j), slope in zip(COMPONENTS, slopes, strict=True):
        right[i, j] = right[j, i] = slope.found
    at, _, _ = COMPONENTS[int(np.argmax([slope.off for slope in slopes]))]
    why = _why(strains.stress, right, strains.volume)
    return f"the stress is not the derivative of the energy, most of all {at}{why}"


def _why(given: Floats, right: Floats, volume: float | None = None) -> str:
    """Whether all of it is off by one factor, and which unit or sign that would be."""
    scale = float((right * right).sum())
    if scale == 0.0:
        return ""
    factor = float((given * right).sum()) / scale
    if not np.allclose(given, factor * right, atol=0.02 * float(np.abs(given).max()), rtol=0):
        return ""
    if float(np.abs(given).max()) == 0.0:
        return ": all of it is zero"
    units = _UNITS if volume is None else (
        *_UNITS,
        (volume, "it was not divided by the volume"),
        (-volume, "it is the virial: not divided by the volume, and of the opposite sign"),
    )  # fmt: skip
    for known, what in units:
        if abs(factor / known - 1) < 0.02:
            return f": {what}"
    return f": it is {factor:.4g} times what it should be"
