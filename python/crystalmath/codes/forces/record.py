"""The files that a running job writes: log, steps, trajectory, checkpoint, result.

Each step is in all of them before the next one starts, and the checkpoint comes last, so a job that
is killed at any moment can go on from its checkpoint. Used by the program of a job only.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Self

from crystalmath.codes.forces.task import CHECKPOINT, RESULT, STEPS, TRAJECTORY


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a relaxation or a molecular dynamics stands.

    Attributes
    ----------
    digest
        Of the ``input.json`` that it belongs to.
    lattice, positions
        Å; the lattice is None for a molecule.
    steps_bytes, trajectory_bytes
        Sizes of the two files up to and with this step; what follows is cut off at a restart.
    motion
        Of a molecular dynamics: momenta, random numbers, barostat.
    """

    digest: str
    step: int
    lattice: list[list[float]] | None
    positions: list[list[float]]
    energy_ev: float
    fmax_ev_per_a: float
    smax_gpa: float | None
    steps_bytes: int
    trajectory_bytes: int
    motion: dict[str, Any] | None = None


def write_atomic(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON document so that a reader, or a power cut, finds the old one or the new one."""
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump(document, stream, allow_nan=False, ensure_ascii=False)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def load_checkpoint(directory: Path, digest: str) -> tuple[Checkpoint | None, str | None]:
    """Return the checkpoint of this very calculation, or why the one that is there is not used."""
    path = directory / CHECKPOINT
    try:
        found = Checkpoint(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError, TypeError) as error:
        return None, f"{CHECKPOINT} cannot be read ({error})"
    if found.digest != digest:
        return None, f"{CHECKPOINT} belongs to another input"
    return found, None


class Record:
    """The open files of one run. Use as a context manager.

    Parameters
    ----------
    directory
        The job directory.
    log
        Name of the main output file.
    resume
        The checkpoint to go on from; without one, steps and trajectory start empty.
    """

    def __init__(self, directory: Path, log: str, resume: Checkpoint | None) -> None:
        self._directory = directory
        # A result of an earlier attempt must not pass for one of this attempt.
        (directory / RESULT).unlink(missing_ok=True)
        cut = (resume.steps_bytes, resume.trajectory_bytes) if resume else (0, 0)
        with ExitStack() as stack:
            self._log = stack.enter_context(self._open(log, None))
            self._steps = stack.enter_context(self._open(STEPS, cut[0]))
            self._trajectory = stack.enter_context(self._open(TRAJECTORY, cut[1]))
            self._stack = stack.pop_all()

    def _open(self, name: str, keep_bytes: int | None) -> IO[str]:
        stream = (self._directory / name).open("a", encoding="utf-8", newline="\n")
        if keep_bytes is not None:
            size = os.fstat(stream.fileno()).st_size
            os.truncate(stream.fileno(), min(size, keep_bytes))
        return stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def say(self, text: str) -> None:
        """Write a line for people."""
        self._log.write(text + "\n")
        self._log.flush()

    def step(self, numbers: dict[str, Any], atoms: Any) -> tuple[int, int]:
        """Append a step to the steps and the trajectory; returns their sizes in bytes."""
        from ase.io import write

        write(self._trajectory, atoms, format="extxyz")
        self._trajectory.flush()
        self._steps.write(json.dumps(numbers, allow_nan=False) + "\n")
        self._steps.flush()
        return os.fstat(self._steps.fileno()).st_size, os.fstat(self._trajectory.fileno()).st_size

    def checkpoint(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint."""
        write_atomic(self._directory / CHECKPOINT, asdict(checkpoint))

    def result(self, document: dict[str, Any]) -> None:
        """Write the result: the last thing a run does."""
        write_atomic(self._directory / RESULT, document)
