"""``server.json``: where the daemon of a data directory listens, for clients that look elsewhere.

A hint, never proof of life: only a held lock and an answered hello are. Called by ``lifecycle``
(writes), ``claim`` and ``cli`` (read); the clients have their own readers.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from crystalmath.server.instance import Process, boot_id, host_name

NAME: Final = "server.json"


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
    try:
        fd = os.open(data_dir / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) != 0o600:
            return None
        try:
            pointer = Pointer(**json.loads(file.read(65536)))
        except (ValueError, TypeError):
            return None
    if pointer.host != host_name() or pointer.boot_id != boot_id():
        return None
    return pointer


def remove_pointer(data_dir: Path, instance: str) -> None:
    """Remove the file at a clean exit, if it is still this run's."""
    pointer = read_pointer(data_dir)
    if pointer is not None and pointer.instance == instance:
        (data_dir / NAME).unlink(missing_ok=True)
