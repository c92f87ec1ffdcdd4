"""The relaxation: move atoms and cell until forces and stress are small.

Converged means both criteria at once: a strained cubic crystal has no forces at all. Used by the
program of a job only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crystalmath.codes.forces.options import RelaxOptions
from crystalmath.codes.forces.point import Point, evaluate, step_numbers
from crystalmath.codes.forces.record import Checkpoint, Record
from crystalmath.codes.forces.task import Task

SYMMETRY_A = 0.01
"""Atoms within this distance (Å) of their symmetric places count as being there."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a relaxation ended.

    Attributes
    ----------
    steps
        Moves made, those before a restart included.
    stopped
        It was asked to stop; the checkpoint holds its last geometry.
    """

    point: Point
    steps: int
    converged: bool
    stopped: bool


def relax(
    task: Task,
    atoms: Any,
    record: Record,
    resume: Checkpoint | None,
    stop_asked: Callable[[], bool],
) -> Outcome:
    """Relax ``atoms`` in place.

    Parameters
    ----------
    atoms
        With its calculator, in the geometry to start from.
    resume
        The checkpoint that geometry came from, if any.
    stop_asked
        Looked at after each step.

    Raises
    ------
    BadResult
        The engine gave a number that is not finite.
    """
    options = task.relax
    step = first = resume.step if resume else 0
    strain = options.cell if options.cell in ("isotropic", "constant_volume") else "full"
    point = evaluate(atoms, strain=strain)
    record.say(_HEADER)
    # The criterion of ase mixes forces and stress in one number, so it is set out of reach and ours
    # is tested between its steps.
    moves = _optimizer(atoms, options).irun(fmax=0.0, steps=max(0, options.max_steps - first))
    for step, _ in enumerate(moves, start=first):
        point = evaluate(atoms, strain=strain)
        if resume is None or step > resume.step:
            _write(task, atoms, point, step, record)
        converged = is_converged(point, options)
        if converged or stop_asked():
            return Outcome(point, step, converged, stopped=not converged)
    return Outcome(point, step, converged=False, stopped=False)


def is_converged(point: Point, options: RelaxOptions) -> bool:
    """Whether forces and stress are both within the criteria."""
    if point.fmax_ev_per_a > options.fmax_ev_per_a:
        return False
    if options.cell == "fixed":
        return True
    return point.smax_gpa is not None and point.smax_gpa <= options.smax_gpa


def fix_symmetry(task: Task, atoms: Any) -> str:
    """Let only what keeps the symmetry of the input move; returns the space group.

    Of the input, and not of the geometry to start from: after a restart it must be the same.
    """
    import spglib
    from ase import Atoms
    from ase.constraints import FixSymmetry

    first = Atoms(task.symbols, positions=task.positions, cell=task.lattice, pbc=task.pbc)
    moved = not (
        np.array_equal(first.positions, atoms.positions) and np.array_equal(first.cell, atoms.cell)
    )
    constraint = FixSymmetry(first, symprec=SYMMETRY_A)
    if not moved:  # it has put the input exactly in place
        atoms.set_cell(first.cell)
        atoms.positions[:] = first.positions
    atoms.set_constraint(constraint)
    cell = (first.cell.array, first.get_scaled_positions(), first.numbers)
    found = spglib.get_symmetry_dataset(cell, symprec=SYMMETRY_A)
    return f"{found.international} ({found.number})" if found is not None else "P1 (1)"


def _optimizer(atoms: Any, options: RelaxOptions) -> Any:
    from ase.filters import FrechetCellFilter
    from ase.optimize import BFGS, FIRE, LBFGS

    kinds: dict[str, Any] = {"LBFGS": LBFGS, "BFGS": BFGS, "FIRE": FIRE}
    target = atoms
    if options.cell != "fixed":
        target = FrechetCellFilter(
            atoms,
            hydrostatic_strain=options.cell == "isotropic",
            constant_volume=options.cell == "constant_volume",
        )
    return kinds[options.optimizer](target, logfile=None)


_HEADER = (
    f"{'step':>5} {'energy / eV':>16} {'fmax / eV/Å':>12} {'smax / GPa':>11} {'volume / Å³':>13}"
)


def _write(task: Task, atoms: Any, point: Point, step: int, record: Record) -> None:
    numbers = step_numbers(atoms, point, step)
    smax, volume = point.smax_gpa, numbers["volume_angstrom3"]
    sizes = record.step(numbers, atoms)
    record.checkpoint(
        Checkpoint(
            digest=task.digest,
            step=step,
            lattice=None if task.lattice is None else atoms.cell.tolist(),
            positions=atoms.positions.tolist(),
            energy_ev=point.energy_ev,
            fmax_ev_per_a=point.fmax_ev_per_a,
            smax_gpa=smax,
            steps_bytes=sizes[0],
            trajectory_bytes=sizes[1],
        )
    )
    stress = f"{smax:11.4f}" if smax is not None else f"{'-':>11}"
    size = f"{volume:13.4f}" if volume is not None else f"{'-':>13}"
    record.say(f"{step:5d} {point.energy_ev:16.8f} {point.fmax_ev_per_a:12.5f} {stress} {size}")
