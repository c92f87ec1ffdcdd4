"""Molecular dynamics that can be stopped anywhere and goes on as if it had not been.

Every so many steps the whole state (positions, momenta, cell, barostat, random numbers) is written
and the integrator is made anew from it, as it would be after a restart: a run in one piece and one
in several do the same arithmetic. Used by the program of a job only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from ase import units

from crystalmath.codes.forces.options import MdOptions
from crystalmath.codes.forces.point import GPA_PER_EV_A3
from crystalmath.codes.forces.record import Checkpoint, Record
from crystalmath.codes.forces.task import Task
from crystalmath.errors import BadResult

LEAP_A = 2.0
"""An atom that moves further (Å) in one step has jumped over its neighbours."""


@dataclass(frozen=True, slots=True)
class MdOutcome:
    """How a dynamics ended.

    Attributes
    ----------
    steps
        Steps made, those before a restart included.
    stopped
        It was asked to stop; the checkpoint holds the last written frame.
    """

    steps: int
    stopped: bool


class Dynamics:
    """The moving atoms and what moves them.

    Parameters
    ----------
    atoms
        With its calculator, in the geometry to start from.
    resume
        The checkpoint that geometry came from, if any.
    settle
        Makes the calculator forget what depends on earlier geometries.
    """

    def __init__(
        self, task: Task, atoms: Any, resume: Checkpoint | None, settle: Callable[[], None]
    ) -> None:
        self._task = task
        self._options = task.md
        self._atoms = atoms
        self._settle = settle
        self._random = np.random.default_rng(self._options.seed)
        self._barostat: Any = None
        self.step = 0
        if resume is None or resume.motion is None:
            _set_velocities(atoms, self._options.temperature_k, self._random)
        else:
            self.step = resume.step
            atoms.set_momenta(np.array(resume.motion["momenta"]))
            self._random.bit_generator.state = resume.motion["random"]
            self._barostat = _array_or_number(resume.motion["barostat"])
        self._integrator = self._make()

    def forward(self, steps: int, stop_asked: Callable[[], bool]) -> bool:
        """Make some steps; False when asked to stop in between.

        Raises
        ------
        BadResult
            The atoms fly apart.
        """
        for _ in range(steps):
            if stop_asked():
                return False
            self._refuse_leaps()
            self._integrator.step()
            self.step += 1
        return True

    def _refuse_leaps(self) -> None:
        """Refuse a step that would throw an atom past its neighbours: all after it is noise."""
        dt = self._options.timestep_fs * units.fs
        atoms = self._atoms
        accelerations = np.asarray(atoms.get_forces()) / atoms.get_masses()[:, None]
        leaps = dt * np.abs(atoms.get_velocities() + 0.5 * dt * accelerations)
        if not (leaps < LEAP_A).all():  # also when it is no number
            raise BadResult(
                f"the atoms fly apart at step {self.step}: one would move more than {LEAP_A:g} Å "
                "in one step",
                hint="take a shorter timestep_fs, or relax the structure first",
            )

    def motion(self) -> dict[str, Any]:
        """What a restart needs beside the geometry; the integrator is made anew from it."""
        barostat = getattr(self._integrator, "p_eps", None)
        self._barostat = barostat
        self._settle()
        self._integrator = self._make()
        return {
            "momenta": self._atoms.get_momenta().tolist(),
            "random": self._random.bit_generator.state,
            "barostat": barostat.tolist() if isinstance(barostat, np.ndarray) else barostat,
        }

    def _make(self) -> Any:
        from ase.md.langevinbaoab import LangevinBAOAB
        from ase.md.verlet import VelocityVerlet

        options = self._options
        if options.ensemble == "nve":
            return VelocityVerlet(self._atoms, timestep=options.timestep_fs * units.fs)
        more: dict[str, Any] = {}
        if options.ensemble == "npt":
            more = {
                "externalstress": -options.pressure_gpa / GPA_PER_EV_A3,
                "hydrostatic": options.cell == "isotropic",
                "P_tau": options.barostat_fs * units.fs,
            }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells that it chooses the mass of the cell
            integrator = LangevinBAOAB(
                self._atoms,
                timestep=options.timestep_fs * units.fs,
                temperature_K=options.temperature_k,
                T_tau=options.thermostat_fs * units.fs,
                rng=self._random,
                **more,
            )
        if self._barostat is not None:
            integrator.p_eps = self._barostat
        return integrator


def run_md(
    task: Task,
    atoms: Any,
    record: Record,
    resume: Checkpoint | None,
    stop_asked: Callable[[], bool],
    settle: Callable[[], None],
) -> MdOutcome:
    """Move ``atoms`` in time.

    Raises
    ------
    BadResult
        The engine gave a number that is not finite, or the atoms have flown apart.
    """
    options = task.md
    dynamics = Dynamics(task, atoms, resume, settle)
    record.say(_HEADER)
    if resume is None:
        _write(task, atoms, dynamics, record)
    while dynamics.step < options.steps:
        next_frame = (dynamics.step // options.write_every + 1) * options.write_every
        if not dynamics.forward(min(next_frame, options.steps) - dynamics.step, stop_asked):
            return MdOutcome(dynamics.step, stopped=True)
        _write(task, atoms, dynamics, record)
    return MdOutcome(dynamics.step, stopped=False)


def md_numbers(atoms: Any, step: int, options: MdOptions) -> dict[str, Any]:
    """One line of ``steps.jsonl``."""
    potential = float(atoms.get_potential_energy())
    kinetic = float(atoms.get_kinetic_energy())
    forces = np.asarray(atoms.get_forces(), dtype=float)
    numbers: dict[str, Any] = {
        "step": step,
        "time_fs": step * options.timestep_fs,
        "energy_ev": potential,
        "kinetic_ev": kinetic,
        "total_ev": potential + kinetic,
        "temperature_k": float(atoms.get_temperature()),
        "fmax_ev_per_a": float(np.linalg.norm(forces, axis=1).max()),
    }
    if options.ensemble == "npt":
        stress = np.asarray(atoms.get_stress(voigt=False, include_ideal_gas=True), dtype=float)
        numbers["pressure_gpa"] = -float(np.trace(stress)) / 3 * GPA_PER_EV_A3
        numbers["volume_angstrom3"] = float(atoms.get_volume())
    if not all(np.isfinite(value) for value in numbers.values()):
        raise BadResult(
            f"the dynamics has come apart at step {step}: a number is infinite, or none",
            hint="take a shorter timestep_fs, or relax the structure first",
        )
    return numbers


def _set_velocities(atoms: Any, temperature_k: float, random: Any) -> None:
    from ase.md.velocitydistribution import Stationary, ZeroRotation, thermalize_momenta

    thermalize_momenta(atoms, temperature_k, rng=random)
    if len(atoms) > 1:
        Stationary(atoms)
        if not atoms.pbc.any():
            # Of a linear molecule one moment of inertia is zero; nothing turns about that axis.
            with np.errstate(divide="ignore", invalid="ignore"):
                ZeroRotation(atoms)


def _array_or_number(value: Any) -> Any:
    return np.array(value) if isinstance(value, list) else value


_HEADER = (
    f"{'step':>9} {'time / fs':>12} {'potential / eV':>16} {'total / eV':>16} {'T / K':>9} "
    f"{'p / GPa':>9}"
)


def _write(task: Task, atoms: Any, dynamics: Dynamics, record: Record) -> None:
    motion = dynamics.motion()  # first: what is written is what a restart computes
    numbers = md_numbers(atoms, dynamics.step, task.md)
    sizes = record.step(numbers, atoms)
    record.checkpoint(
        Checkpoint(
            digest=task.digest,
            step=dynamics.step,
            lattice=None if task.lattice is None else atoms.cell.tolist(),
            positions=atoms.positions.tolist(),
            energy_ev=numbers["energy_ev"],
            fmax_ev_per_a=numbers["fmax_ev_per_a"],
            smax_gpa=None,
            steps_bytes=sizes[0],
            trajectory_bytes=sizes[1],
            motion=motion,
        )
    )
    pressure = numbers.get("pressure_gpa")
    record.say(
        f"{dynamics.step:9d} {numbers['time_fs']:12.2f} {numbers['energy_ev']:16.6f} "
        f"{numbers['total_ev']:16.6f} {numbers['temperature_k']:9.2f} "
        + (f"{pressure:9.4f}" if pressure is not None else f"{'-':>9}")
    )
