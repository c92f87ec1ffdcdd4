"""``server.json``: where the daemon of a data directory listens, for clients that look elsewhere.

A hint, never proof of life: only a held lock and an answered hello are. Called by ``lifecycle``
(writes), ``claim`` and ``cli`` (read); ``contract.pointer_file`` says when it is believed.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from crystalmath.contract.pointer_file import NAME, read_trusted
from crystalmath.server.instance import Process


@dataclass(frozen=True, slots=True)
class Pointer:
    """Content of ``server.json``."""

    socket: str
    pid: int
    pid_start: int
    boot_id: str
    host: str
    version: str
    instance: str
    started: str

    @property
    def process(self) -> Process:
        """The process that wrote it."""
        return Process(self.pid, self.pid_start, self.boot_id, self.host)


def write_pointer(data_dir: Path, pointer: Pointer) -> None:
    """Write the file in one step: a reader sees the old content or the new one."""
    fd, temporary = tempfile.mkstemp(prefix=".server-", dir=data_dir)  # mode 0600
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(asdict(pointer), file)
        Path(temporary).replace(data_dir / NAME)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_pointer(data_dir: Path) -> Pointer | None:
    """Read the file; None unless it is ours, 0600, and of this host and boot."""
    content = read_trusted(data_dir)
    try:
        return None if content is None else Pointer(**content)
    except TypeError:
        return None


def remove_pointer(data_dir: Path, instance: str) -> None:
    """Remove the file at a clean exit, if it is still this run's."""
    pointer = read_pointer(data_dir)
    if pointer is not None and pointer.instance == instance:
        (data_dir / NAME).unlink(missing_ok=True)
