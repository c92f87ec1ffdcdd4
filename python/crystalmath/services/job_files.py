"""A job's directory as clients see it: listing, reading by offset, the end of a log.

Bounded in memory whatever the size of the file, and closed against paths that lead out of the
directory. No database here.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from crystalmath.contract.jobs import FileEntry
from crystalmath.domain.licensed import is_licensed
from crystalmath.domain.states import JobState
from crystalmath.domain.task_list import render_tasks
from crystalmath.errors import InvalidParams, NotFound
from crystalmath.services.ports_tasks import FOLDER, TaskRecord, task_folder

MAX_FILES = 10_000
LOG_FILES = {"stdout": "stdout.log", "stderr": "stderr.log", "scheduler": ".cm/supervisor.log"}
"""Stream of ``jobs.log`` → file; the output's own name is the code's to choose."""
REMOTE_LOG_FILES = {**LOG_FILES, "scheduler": "scheduler.log"}
"""The same for jobs on a cluster, whose scheduler writes a log of its own."""
_BLOCK = 65536
_IN_TASK = re.compile(rf"^{FOLDER}/\d+/")

Kind = Literal["input", "output", "log", "internal"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a file: bytes ``start`` to ``end`` of ``size``."""

    text: str
    start: int
    end: int
    size: int


def log_files(row: Mapping[str, Any]) -> Mapping[str, str]:
    """Which file each stream of a job is in."""
    return LOG_FILES if row["cluster"] is None else REMOTE_LOG_FILES


def task_log(
    tasks: Mapping[int, TaskRecord], job_id: int, task: int | None
) -> tuple[str, JobState | None]:
    """Folder of the logs that are meant, with its slash, and the state of the task.

    Raises
    ------
    InvalidParams
        A job array has no log of its own, other jobs have no tasks, and this one is not there.
    """
    if task is None and not tasks:
        return "", None
    there = f"it has {render_tasks(tasks)}" if tasks else "leave `task` out"
    if task is None:
        said = f"job {job_id} is a job array, and each of its tasks has its own logs"
        raise InvalidParams(said, field="task", hint=f"say which with `task`: {there}")
    if not tasks:
        raise InvalidParams(f"job {job_id} is no job array", field="task", hint=there)
    if task not in tasks:
        raise InvalidParams(f"job {job_id} has no task {task}", field="task", hint=there)
    return f"{task_folder(task)}/", tasks[task].state


def is_gone(directory: Path, provenance: Mapping[str, Any]) -> bool:
    """Whether a job's directory was deleted or moved by hand: its files were written once."""
    return "input_hashes" in provenance and not directory.is_dir()


def gone(job_id: int) -> NotFound:
    """The refusal of whoever wants to see the files of such a job."""
    return NotFound(
        f"the directory of job {job_id} is gone: it was deleted or moved by hand",
        hint="what the database knows of the job is still there: `jobs.get`; `jobs.delete` takes "
        "it off the list",
        field="id",
    )


@contextmanager
def open_inside(directory: Path, relative: str) -> Iterator[int]:
    """Open a regular file of the job for reading; yields the descriptor.

    Raises
    ------
    NotFound
        There is no such file.
    InvalidParams
        It is not a regular file, or a link leads out of the directory.
    """
    path = directory / relative
    if is_licensed(relative):
        raise InvalidParams(
            f"{relative} is a licensed potential, which is not sent",
            field="path",
            hint="POTCAR.spec and potcar.json say which it is; the file itself lies in the "
            "directory of the job while it runs",
        )
    try:
        if not path.resolve(strict=True).is_relative_to(directory.resolve()):
            raise InvalidParams("the path leads out of the job directory", field="path")
        # O_NONBLOCK: opening a FIFO would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(
            f"the job has no file {relative}", field="path", hint="`jobs.files` lists them"
        ) from error
    except (OSError, RuntimeError) as error:
        raise InvalidParams("the file cannot be opened", field="path") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidParams(f"{relative} is not a regular file", field="path")
        yield descriptor
    finally:
        os.close(descriptor)


def read_piece(descriptor: int, offset: int, limit: int) -> Piece:
    """Read at most ``limit`` bytes from ``offset``, whole UTF-8 characters where there are any."""
    size = os.fstat(descriptor).st_size
    start = min(offset, size)
    data = os.pread(descriptor, limit, start)
    if start + len(data) < size:
        data = _whole_characters(data)
    return Piece(data.decode("utf-8", errors="replace"), start, start + len(data), size)


def read_tail(descriptor: int, lines: int, limit: int) -> Piece:
    """Read the last ``lines`` lines, but at most ``limit`` bytes."""
    size = os.fstat(descriptor).st_size
    if lines == 0:
        return Piece("", size, size, size)
    data = b""
    start = size
    # One newline more than lines asked for: the one that ends the line before them. A newline at
    # the very end of the file ends the last line and does not count.
    while start > 0 and data[:-1].count(b"\n") < lines and len(data) < limit:
        step = min(_BLOCK, start, limit - len(data))
        start -= step
        data = os.pread(descriptor, step, start) + data
    cut = _nth_newline_from_end(data, lines)
    data = data[cut:]
    return Piece(data.decode("utf-8", errors="replace"), start + cut, start + cut + len(data), size)


def list_files(directory: Path, inputs: Collection[str]) -> tuple[list[FileEntry], bool]:
    """Regular files below the directory, sorted by path, and whether there were too many."""
    found: list[FileEntry] = []
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            entries = list(os.scandir(directory / prefix))
        except OSError:
            continue
        for entry in entries:
            relative = f"{prefix}{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{relative}/")
                    continue
                info = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if not stat.S_ISREG(info.st_mode):
                continue
            found.append(
                FileEntry(
                    path=_printable(relative),
                    size=info.st_size,
                    modified_at=datetime.fromtimestamp(info.st_mtime, UTC),
                    kind=_kind(relative, inputs),
                )
            )
            if len(found) > MAX_FILES:
                return sorted(found, key=lambda f: f.path)[:MAX_FILES], True
    return sorted(found, key=lambda f: f.path), False


def _kind(relative: str, inputs: Collection[str]) -> Kind:
    relative = _IN_TASK.sub("", relative)
    if relative.startswith(".cm/"):
        return "internal"
    if relative in inputs:
        return "input"
    return "log" if relative.endswith((".log", ".out", ".err")) else "output"


def _printable(name: str) -> str:
    """File names are bytes; those that are not UTF-8 cannot travel as they are."""
    return name.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")


def _whole_characters(data: bytes) -> bytes:
    """Leave a character that the limit cut in half for the next piece."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = (
            2
            if byte & 0xE0 == 0xC0
            else 3
            if byte & 0xF0 == 0xE0
            else 4
            if byte & 0xF8 == 0xF0
            else 1
        )
        return data[:-back] if needed > back and back < len(data) else data
    return data


def _nth_newline_from_end(data: bytes, lines: int) -> int:
    position = len(data) - 1 if data.endswith(b"\n") else len(data)
    for _ in range(lines):
        position = data.rfind(b"\n", 0, position)
        if position < 0:
            return 0
    return position + 1
