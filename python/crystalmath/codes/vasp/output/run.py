"""What was read of a run of VASP. Plain values, in the units of VASP: eV, Å, kbar."""

from __future__ import annotations

from dataclasses import dataclass, field

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]


@dataclass(slots=True)
class Step:
    """One ionic step.

    Attributes
    ----------
    scf_energies_ev
        Free energy after each electronic step.
    free_energy_ev
        The energy whose derivative the forces are (``e_fr_energy``).
    energy_sigma0_ev
        Extrapolated to no smearing. Of the last electronic step and the free energy, because the
        ``e_0_energy`` of the ionic step itself is wrong in files of many versions.
    stress_kbar
        With VASP's sign: positive where the cell wants to grow.
    """

    scf_energies_ev: list[float] = field(default_factory=list)
    free_energy_ev: float | None = None
    energy_sigma0_ev: float | None = None
    forces_ev_per_a: list[Vector] = field(default_factory=list)
    stress_kbar: list[Vector] = field(default_factory=list)
    lattice: Matrix | None = None
    fractions: list[Vector] = field(default_factory=list)
    temperature_energy_ev: float | None = None


@dataclass(slots=True)
class Levels:
    """Eigenvalues by what is needed of them, of one spin.

    Attributes
    ----------
    occupied_ev, empty_ev
        Highest occupied and lowest empty one, each with its k point, counted from 0.
    partly
        A level is partly filled, or the k points have different numbers of filled ones: a metal.
    filled
        Number of filled levels of each k point so far.
    """

    occupied_ev: float | None = None
    occupied_at: int | None = None
    empty_ev: float | None = None
    empty_at: int | None = None
    partly: bool = False
    filled: int | None = None


@dataclass(slots=True)
class Run:
    """A run, as far as its vasprun.xml goes.

    Attributes
    ----------
    closed
        The file is whole: it ends as it should.
    broken
        Why it cannot be read to its end.
    steps
        Ionic steps that were finished; of long runs the arrays of all but the first and the last
        are dropped.
    mesh, mesh_style
        What the mesh of k points was made of, by VASP's names, and how: ``Gamma`` …
    titles
        Of the potentials, one per block of atoms.
    """

    version: str = ""
    started: str | None = None
    closed: bool = False
    broken: str | None = None
    symbols: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    n_kpoints: int | None = None
    steps: list[Step] = field(default_factory=list)
    unfinished: Step | None = None
    final_lattice: Matrix | None = None
    final_fractions: list[Vector] = field(default_factory=list)
    fermi_ev: float | None = None
    levels: list[Levels] = field(default_factory=list)
    kpoints: list[Vector] = field(default_factory=list)
    mesh: dict[str, Vector] = field(default_factory=dict)
    mesh_style: str = ""

    def integer(self, name: str) -> int | None:
        """A parameter of the run, as VASP used it."""
        text = self.parameters.get(name, self.given.get(name, ""))
        try:
            return int(float(text))
        except (ValueError, OverflowError):
            return None

    def number(self, name: str) -> float | None:
        """A parameter of the run as a number."""
        try:
            return float(self.parameters.get(name, self.given.get(name, "")))
        except ValueError:
            return None

    def word(self, name: str) -> str:
        """A parameter of the run as a word."""
        return self.parameters.get(name, self.given.get(name, "")).strip()

    @property
    def n_atoms(self) -> int | None:
        """Atoms of the cell."""
        return len(self.symbols) or None
