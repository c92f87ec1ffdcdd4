"""The program of a forces job: ``python -P -m crystalmath.codes.forces.job input.json``.

Runs in the job directory, in a process of its own, and tells what it did by its files and its exit
code (``task.EXIT_*``). It knows nothing of the daemon: ``crystalmath.calculators.job`` is the same
program with engines that the daemon runs, and hands in how they are made. Run again in the same
directory, it goes on from its checkpoint.
"""

from __future__ import annotations

import errno
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crystalmath.codes.forces import task as files
from crystalmath.codes.forces.record import Checkpoint, Record, load_checkpoint
from crystalmath.codes.forces.result import build_result, dynamics_summary, failed_result
from crystalmath.codes.forces.task import Task, parse_task
from crystalmath.errors import CrystalMathError, InputRejected

if TYPE_CHECKING:
    from crystalmath.codes.forces.md import MdOutcome
    from crystalmath.codes.forces.point import Point
    from crystalmath.codes.forces.relax import Outcome

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


MakeEngine = Callable[[Task, Callable[[str], None]], tuple[Any, dict[str, Any]]]
"""Of a task, and of what writes a line into the log: an ase calculator and its identity."""


def own_engine(task: Task, _say: Callable[[str], None]) -> tuple[Any, dict[str, Any]]:
    """Make an engine that runs in this very process."""
    from crystalmath.codes.forces.engines import calculator

    return calculator(task.engine, task.engine_options)


def main(arguments: list[str], make_engine: MakeEngine = own_engine) -> int:
    """Run the calculation that the given ``input.json`` describes; returns the exit code."""
    started = time.monotonic()
    path = Path(arguments[0] if arguments else files.INPUT)
    try:
        task = parse_task(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"{path.name} cannot be used: {error!r}\n")
        return files.EXIT_BAD_INPUT
    directory = path.absolute().parent
    try:
        return _run(task, directory, started, make_engine)
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        sys.stderr.write(f"{error.strerror}\n")
        return files.EXIT_DISK_FULL


def _run(task: Task, directory: Path, started: float, make_engine: MakeEngine) -> int:
    resume, problem = load_checkpoint(directory, task.digest)
    if task.name == "single_point":
        resume = None
    with Record(directory, files.log_name(task.name), resume) as record:
        if problem is not None:
            record.say(f"{problem}; starting from the input")
        try:
            return _calculate(Run(task, record, directory, started), resume, make_engine)
        except CrystalMathError as error:
            record.say(f"failed: {error.message}")
            reason = "input_rejected" if isinstance(error, InputRejected) else "crashed"
            record.result(failed_result(reason, error.message, error.hint))
            return files.EXIT_FAILED


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the program."""

    task: Task
    record: Record
    directory: Path
    started: float


def _calculate(run: Run, resume: Checkpoint | None, make_engine: MakeEngine) -> int:
    from crystalmath.codes.forces.point import evaluate, step_numbers

    task, record = run.task, run.record
    calc, engine = make_engine(task, record.say)
    atoms = _atoms(task, resume)
    atoms.calc = calc
    _say_engine(run, atoms, engine)
    if task.name == "relax":
        return _relax(run, atoms, engine, resume)
    if task.name == "md":
        return _move(run, atoms, engine, resume)
    point = evaluate(atoms)
    record.step(step_numbers(atoms, point, 0), atoms)
    _finish(run, atoms, engine, point, None, cell_moves=False)
    return files.EXIT_OK


def _relax(run: Run, atoms: Any, engine: dict[str, Any], resume: Checkpoint | None) -> int:
    from crystalmath.codes.forces.point import refuse_gas
    from crystalmath.codes.forces.relax import fix_symmetry, relax

    task, record = run.task, run.record
    _say_criteria(task, record, resume)
    if task.relax.cell != "fixed":
        refuse_gas(atoms)
    if task.relax.keep_symmetry:
        record.say(f"keeping the space group {fix_symmetry(task, atoms)}")
    with _term_noted() as stop_asked:
        outcome = relax(task, atoms, record, resume, stop_asked)
    if outcome.stopped:
        record.say(f"stopped by SIGTERM after step {outcome.steps}")
        return files.EXIT_STOPPED
    moves = task.relax.cell != "fixed"
    _finish(run, atoms, engine, outcome.point, outcome, cell_moves=moves)
    return files.EXIT_OK if outcome.converged else files.EXIT_NOT_CONVERGED


def _move(run: Run, atoms: Any, engine: dict[str, Any], resume: Checkpoint | None) -> int:
    from crystalmath.codes.forces.md import run_md
    from crystalmath.codes.forces.point import evaluate

    task, record = run.task, run.record
    _say_dynamics(task, record, resume)
    # The calculators of ase keep lists of neighbours from earlier geometries; ours keep nothing.
    settle = atoms.calc.reset if not task.parts else _nothing
    with _term_noted() as stop_asked:
        outcome = run_md(task, atoms, record, resume, stop_asked, settle)
    if outcome.stopped:
        record.say(f"stopped by SIGTERM after step {outcome.steps}")
        return files.EXIT_STOPPED
    point = evaluate(atoms, stress=task.md.ensemble == "npt")
    _finish(run, atoms, engine, point, outcome, cell_moves=False)
    return files.EXIT_OK


def _nothing() -> None:
    return


def _finish(
    run: Run,
    atoms: Any,
    engine: dict[str, Any],
    point: Point,
    outcome: Outcome | MdOutcome | None,
    *,
    cell_moves: bool,
) -> None:
    """Write what came out."""
    from crystalmath.codes.forces.outcome import load_steps
    from crystalmath.codes.forces.point import geometry_warnings

    document = build_result(
        task=run.task,
        engine=engine,
        atoms=atoms,
        point=point,
        outcome=outcome,
        warnings=geometry_warnings(atoms, cell_moves=cell_moves),
        elapsed_s=time.monotonic() - run.started,
    )
    if run.task.name == "md":
        document |= dynamics_summary(run.task, load_steps(run.directory))
    _say_result(document, run.record)
    run.record.result(document)


@contextmanager
def _term_noted() -> Iterator[Callable[[], bool]]:
    """Note SIGTERM instead of dying of it, so that the step in hand reaches its checkpoint."""
    asked: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: asked.append(number))
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGTERM, before)


def _atoms(task: Task, resume: Checkpoint | None) -> Any:
    from ase import Atoms

    return Atoms(
        task.symbols,
        positions=resume.positions if resume else task.positions,
        cell=resume.lattice if resume else task.lattice,
        pbc=task.pbc,
    )


def _say_engine(run: Run, atoms: Any, engine: dict[str, Any]) -> None:
    task, say = run.task, run.record.say
    say(f"{task.name} of {task.formula}, {len(atoms)} atoms, with {engine['name']}")
    if "parameters" in engine:
        say(f"{engine['version']}, parameters {engine['parameters']}")
        return
    for part in engine.get("parts", [engine]):
        say(
            f"{part['version']}, model {part['model']} ({part['model_key']}), {part['dtype']} on "
            f"{part['device']}" + (f", options {part['options']}" if part["options"] else "")
        )


def _say_dynamics(task: Task, record: Record, resume: Checkpoint | None) -> None:
    options = task.md
    kept = {
        "nve": "constant energy",
        "nvt": f"{options.temperature_k:g} K (Langevin, {options.thermostat_fs:g} fs)",
        "npt": f"{options.temperature_k:g} K (Langevin, {options.thermostat_fs:g} fs) and "
        f"{options.pressure_gpa:g} GPa ({options.cell} cell, {options.barostat_fs:g} fs)",
    }[options.ensemble]
    record.say(
        f"{options.steps} steps of {options.timestep_fs:g} fs at {kept}; velocities of "
        f"{options.temperature_k:g} K, seed {options.seed}"
    )
    if resume is not None:
        record.say(f"going on from the checkpoint of step {resume.step}")


def _say_criteria(task: Task, record: Record, resume: Checkpoint | None) -> None:
    options = task.relax
    stress = "" if options.cell == "fixed" else f", smax <= {options.smax_gpa} GPa"
    record.say(
        f"{options.optimizer}, cell {options.cell}, fmax <= {options.fmax_ev_per_a} eV/Å{stress}, "
        f"at most {options.max_steps} steps"
    )
    if resume is not None:
        record.say(f"going on from the checkpoint of step {resume.step}")


def _say_result(document: dict[str, Any], record: Record) -> None:
    if "converged" in document:
        word = "converged" if document["converged"] else "NOT converged"
        record.say(f"{word} after {document['n_steps']} steps")
    if document["task"] == "md":
        mean = document["temperature_mean_k"]
        record.say(f"{document['n_steps']} steps; mean temperature of the second half {mean:.1f} K")
    record.say(f"energy  {document['energy_ev']:.8f} eV")
    record.say(f"        {document['energy_per_atom_ev']:.8f} eV per atom")
    record.say(f"fmax    {document['fmax_ev_per_a']:.6f} eV/Å")
    if "smax_gpa" in document:
        record.say(f"smax    {document['smax_gpa']:.6f} GPa")
    if "lattice" in document:
        lengths = "  ".join(f"{document['lattice'][f'{n}_angstrom']:.5f}" for n in "abc")
        angles = "  ".join(
            f"{document['lattice'][f'{n}_deg']:.3f}" for n in ("alpha", "beta", "gamma")
        )
        record.say(f"a b c   {lengths} Å")
        record.say(f"angles  {angles}°")
    for warning in document["warnings"]:
        record.say(f"warning: {warning}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
