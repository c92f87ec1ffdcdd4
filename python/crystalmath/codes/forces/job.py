"""The program of a forces job: ``python -P -m crystalmath.codes.forces.job input.json``.

Runs in the job directory, in a process of its own, and tells what it did by its files and its exit
code (``task.EXIT_*``). It knows nothing of the daemon. Run again in the same directory, it goes on
from its checkpoint.
"""

from __future__ import annotations

import errno
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crystalmath.codes.forces import task as files
from crystalmath.codes.forces.record import Checkpoint, Record, load_checkpoint
from crystalmath.codes.forces.result import build_result, failed_result
from crystalmath.codes.forces.task import Task, parse_task
from crystalmath.errors import CrystalMathError, InputRejected

if TYPE_CHECKING:
    from crystalmath.codes.forces.relax import Outcome

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def main(arguments: list[str]) -> int:
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
        return _run(task, directory, started)
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        sys.stderr.write(f"{error.strerror}\n")
        return files.EXIT_DISK_FULL


def _run(task: Task, directory: Path, started: float) -> int:
    resume, problem = load_checkpoint(directory, task.digest)
    if task.name != "relax":
        resume = None
    with Record(directory, files.log_name(task.name), resume) as record:
        if problem is not None:
            record.say(f"{problem}; starting from the input")
        try:
            return _calculate(task, record, resume, started)
        except CrystalMathError as error:
            record.say(f"failed: {error.message}")
            reason = "input_rejected" if isinstance(error, InputRejected) else "crashed"
            record.result(failed_result(reason, error.message, error.hint))
            return files.EXIT_FAILED


def _calculate(task: Task, record: Record, resume: Checkpoint | None, started: float) -> int:
    from crystalmath.codes.forces.engines import calculator
    from crystalmath.codes.forces.point import evaluate, geometry_warnings, step_numbers

    calc, engine = calculator(task.engine)
    atoms = _atoms(task, resume)
    atoms.calc = calc
    record.say(f"{task.name} of {task.formula}, {len(atoms)} atoms, with {engine['name']}")
    record.say(f"{engine['version']}, parameters {engine['parameters']}")
    if task.name == "relax":
        outcome = _relax(task, atoms, record, resume)
        if outcome.stopped:
            record.say(f"stopped by SIGTERM after step {outcome.steps}")
            return files.EXIT_STOPPED
        point, cell_moves = outcome.point, task.relax.cell != "fixed"
    else:
        outcome, point, cell_moves = None, evaluate(atoms), False
        record.step(step_numbers(atoms, point, 0), atoms)
    document = build_result(
        task=task,
        engine=engine,
        atoms=atoms,
        point=point,
        outcome=outcome,
        warnings=geometry_warnings(atoms, cell_moves=cell_moves),
        elapsed_s=time.monotonic() - started,
    )
    _say_result(document, record)
    record.result(document)
    if outcome is not None and not outcome.converged:
        return files.EXIT_NOT_CONVERGED
    return files.EXIT_OK


def _relax(task: Task, atoms: Any, record: Record, resume: Checkpoint | None) -> Outcome:
    from crystalmath.codes.forces.point import refuse_gas
    from crystalmath.codes.forces.relax import relax

    _say_criteria(task, record, resume)
    if task.relax.cell != "fixed":
        refuse_gas(atoms)
    with _term_noted() as stop_asked:
        return relax(task, atoms, record, resume, stop_asked)


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
