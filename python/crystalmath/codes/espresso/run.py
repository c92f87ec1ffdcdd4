"""What was found in an output of pw.x, in the units of pw.x. Data only; filled by ``output``."""

from __future__ import annotations

from dataclasses import dataclass, field

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]


@dataclass(slots=True)
class Pseudo:
    """A pseudopotential as it is printed."""

    element: str
    path: str
    md5: str | None = None


@dataclass(slots=True)
class Scf:
    """One self-consistent calculation.

    Attributes
    ----------
    energies_ry, accuracies_ry
        One per iteration that came to its end.
    converged
        None while it has not said so.
    energy_ry
        The final one, behind the exclamation mark.
    cell, positions
        The geometry it belongs to, as printed; None where only the program knows it.
    """

    energies_ry: list[float] = field(default_factory=list)
    accuracies_ry: list[float] = field(default_factory=list)
    iterations: int = 0
    converged: bool | None = None
    energy_ry: float | None = None
    total_force_ry_per_bohr: float | None = None
    forces_ry_per_bohr: list[Vector] = field(default_factory=list)
    pressure_kbar: float | None = None
    stress_ry_per_bohr3: list[Vector] = field(default_factory=list)
    magnetisation: float | None = None
    absolute_magnetisation: float | None = None
    volume_bohr3: float | None = None
    cell: Cell | None = None
    positions: Positions | None = None
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell vectors in a unit: ``alat``, ``bohr`` or ``angstrom``."""

    vectors: Matrix
    unit: str
    alat_bohr: float | None


@dataclass(frozen=True, slots=True)
class Positions:
    """Atoms in a unit: ``alat``, ``bohr``, ``angstrom`` or ``crystal``; the lines as printed."""

    labels: tuple[str, ...]
    coordinates: tuple[Vector, ...]
    unit: str
    lines: tuple[str, ...]


@dataclass(slots=True)
class Run:
    """Everything that was found.

    Attributes
    ----------
    from_save
        The geometry was read from an earlier run's files and is not printed yet.
    errors
        Routine and message of each error.
    closed
        The line that ends every complete output is there.
    partial
        Only the beginning and the end of the output were read.
    """

    version: str | None = None
    started: str | None = None
    deck: str | None = None
    processes: int | None = None
    alat_bohr: float | None = None
    volume_bohr3: float | None = None
    n_atoms: int | None = None
    n_electrons: float | None = None
    n_bands: int | None = None
    n_kpoints: int | None = None
    pseudos: list[Pseudo] = field(default_factory=list)
    cell: Cell | None = None
    positions: Positions | None = None
    from_save: bool = False
    scfs: list[Scf] = field(default_factory=list)
    fermi_ev: float | None = None
    highest_occupied_ev: float | None = None
    lowest_unoccupied_ev: float | None = None
    bands_started: bool = False
    bands_ended: bool = False
    bfgs_steps: int | None = None
    relaxes_atoms: bool = False
    relaxes_cell: bool = False
    bfgs_converged: bool = False
    bfgs_failed: bool = False
    max_steps_reached: bool = False
    final_energy_ry: float | None = None
    final_enthalpy_ry: float | None = None
    final_coordinates: bool = False
    final_scf_started: bool = False
    md_steps: int = 0
    md_ended: bool = False
    temperature_k: float | None = None
    stopped_by_time: bool = False
    max_seconds: float | None = None
    errors: list[tuple[str, str]] = field(default_factory=list)
    wall_s: float | None = None
    job_done: bool = False
    closed: bool = False
    partial: bool = False

    @property
    def has_started(self) -> bool:
        """Whether it came past reading its input."""
        return bool(self.scfs) or self.bands_started

    @property
    def scf(self) -> Scf | None:
        """The last self-consistent calculation."""
        return self.scfs[-1] if self.scfs else None
