"""What was found in an output of CRYSTAL, in the units that it prints. Data only.

Filled by the handlers of ``lines``; energies in hartree, lengths in Å, angles in degrees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

Vector = tuple[float, float, float]

MAX_ATOMS: Final = 20_000
"""Atoms of a geometry that are kept; more stay in the output."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Lengths (Å), angles (degrees) and the volume (Å³), where it is printed."""

    lengths: Vector
    angles: Vector
    volume: float | None = None


@dataclass(frozen=True, slots=True)
class Atom:
    """An atom as it is printed.

    Attributes
    ----------
    label
        The number in the deck: the atomic number is its rest by 100.
    place
        Fractions along the periodic directions, Å along the others.
    """

    label: int
    place: Vector
    irreducible: bool


_ATOM: Final = re.compile(r"^ *\d+ ([TF]) +(\d+) *[A-Z]{0,2} ")
_PLACE: Final = re.compile(r"[-+]?\d+\.\d+E[-+]\d+")


def _atom(row: str) -> Atom | None:
    found, place = _ATOM.match(row), _PLACE.findall(row)
    if found is None or len(place) != 3:
        return None
    x, y, z = (float(value) for value in place)
    return Atom(int(found[2]), (x, y, z), found[1] == "T")


@dataclass(slots=True)
class Geometry:
    """One printed geometry: the primitive cell, and the conventional one behind it.

    Attributes
    ----------
    centring
        Code of the centring; 1 where the primitive cell is the conventional one.
    rows
        The lines of its atoms, read when they are needed: of most geometries they are not.
    shortest
        Distance to the nearest neighbour, of the table of neighbours behind it (Å).
    """

    cell: Cell | None = None
    conventional: Cell | None = None
    centring: int | None = None
    n_asymmetric: int | None = None
    n_atoms: int | None = None
    rows: list[str] = field(default_factory=list)
    vectors: list[Vector] = field(default_factory=list)
    shortest: float | None = None

    @property
    def atoms(self) -> list[Atom]:
        """The atoms whose line could be read."""
        found = (_atom(row) for row in self.rows)
        return [atom for atom in found if atom is not None]

    @property
    def complete(self) -> bool:
        """Whether all its atoms were read."""
        return self.n_atoms is not None and len(self.rows) == self.n_atoms

    def forget_atoms(self) -> None:
        """Keep the cell alone."""
        self.rows = []


@dataclass(slots=True)
class Level:
    """The edge of a band: its number and energy relative to the program's zero (hartree)."""

    band: int
    energy: float


@dataclass(slots=True)
class Gap:
    """A band gap as printed: ``direct``, ``indirect`` or not said, in eV."""

    kind: str | None
    ev: float
    top: Level | None = None
    bottom: Level | None = None


@dataclass(slots=True)
class Scf:
    """One self-consistent calculation.

    Attributes
    ----------
    energies, changes
        One per cycle (hartree), counted from ``first``.
    converged
        None while it has not ended.
    energy
        Of the line that ends it.
    corrected, correction
        Energy with what is added behind the SCF (dispersion, gCP), and what that is.
    gaps
        By spin channel: ``""`` where there is none, else ``alpha`` and ``beta``.
    conducting
        Channels that were called conducting in the last cycle.
    """

    energies: list[float] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    first: int = 0
    converged: bool | None = None
    cycles: int | None = None
    energy: float | None = None
    corrected: float | None = None
    correction: str | None = None
    gaps: dict[str, Gap] = field(default_factory=dict)
    conducting: set[str] = field(default_factory=set)
    fermi: float | None = None
    stated: bool = False


@dataclass(slots=True)
class Test:
    """A convergence test of an optimisation step."""

    value: float
    threshold: float


@dataclass(slots=True)
class Point:
    """One step of an optimisation; ``tests`` by ``max_gradient``, ``rms_gradient``, and so on."""

    number: int
    energy: float | None = None
    geometry: Geometry | None = None
    tests: dict[str, Test] = field(default_factory=dict)


@dataclass(slots=True)
class Mode:
    """A group of degenerate modes; activities and intensity as far as they are printed."""

    first: int
    last: int
    cm1: float
    thz: float
    irrep: str | None = None
    ir_active: bool | None = None
    ir_km_per_mol: float | None = None
    raman_active: bool | None = None
    raman: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Elastic:
    """The symmetrised elastic tensor, its unit, and the moduli behind it."""

    unit: str
    rows: list[list[float]] = field(default_factory=list)
    moduli: dict[str, float] = field(default_factory=dict)
    bulk: float | None = None


@dataclass(slots=True)
class Fit:
    """An equation of state: volume (Å³), energy (hartree), bulk modulus (GPa), its derivative."""

    name: str
    volume: float
    energy: float
    bulk_modulus: float
    derivative: float | None


@dataclass(slots=True)
class Equation:
    """Volumes (Å³) with their energies (hartree), sorted as printed, and what was fitted to all."""

    points: list[tuple[float, float]] = field(default_factory=list)
    fits: list[Fit] = field(default_factory=list)
    of_all_points: bool = False


@dataclass(slots=True)
class Run:
    """Everything that was found.

    Attributes
    ----------
    echo
        Lines before the banner that look like the deck.
    settings
        What the deck beside the output sets.
    started, ended
        Whether the program began and printed its last line.
    error
        The program's error line; nothing overrules it.
    eos_asked
        Volumes are scanned: by the deck, which the output need not tell.
    opt_failures
        Optimisations that did not converge.
    """

    version: str | None = None
    release: str | None = None
    echo: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    started: bool = False
    title: str | None = None
    ended: bool = False
    error: str | None = None
    warnings: list[str] = field(default_factory=list)
    properties: bool = False
    frequencies_asked: bool = False
    elastic_asked: bool = False
    eos_asked: bool = False
    optimises: bool = False
    dimensionality: int | None = None
    symbol: str | None = None
    group: int | None = None
    n_operators: int | None = None
    n_ao: int | None = None
    n_electrons: int | None = None
    hamiltonian: str | None = None
    open_shell: bool | None = None
    functional: str | None = None
    exact_exchange: float | None = None
    weights: list[float] = field(default_factory=list)
    geometry: Geometry | None = None
    final_geometry: Geometry | None = None
    current: Geometry | None = None
    scfs: list[Scf] = field(default_factory=list)
    spin: str = ""
    points: list[Point] = field(default_factory=list)
    opt_ended: bool | None = None
    opt_energy: float | None = None
    opt_points: int | None = None
    opt_failures: int = 0
    opt_gaps: dict[str, Gap] = field(default_factory=dict)
    summed_spin: float | None = None
    atomic_spins: list[float] = field(default_factory=list)
    atomic_charges: list[float] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    thermodynamics: dict[str, Any] = field(default_factory=dict)
    elastic: Elastic | None = None
    equation: Equation | None = None
    total_energy_read: float | None = None
    fermi_read: float | None = None
    clock: bytes | None = None

    @property
    def scf(self) -> Scf | None:
        """The last self-consistent calculation."""
        return self.scfs[-1] if self.scfs else None

    @property
    def last_geometry(self) -> Geometry | None:
        """The last geometry that was printed completely."""
        found = [self.final_geometry, *(p.geometry for p in reversed(self.points)), self.geometry]
        return next((one for one in found if one is not None and one.complete), None)
