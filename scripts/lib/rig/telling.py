"""The real daemon, made to change many jobs at once: ``python telling.py PATH OPTION…``.

Listens at PATH beside its own socket. Each line there names jobs and their labels from now on; they
are written in one transaction and told to the hub of the daemon one by one, in the order of the
jobs, by what tells of every other change. So there can be a thousand changes a second and more,
each of which a list of jobs shows as well. What remains of the arguments is the daemon's.

:class:`Teller` is the other end.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from crystalmath.services.job_events import JobEvents

READ_BYTES = 1 << 16


def path_in(root: Path) -> Path:
    """Where the daemon of a place with this root listens."""
    return root / "t"


def program(root: Path) -> list[str]:
    """What is run instead of ``crystalmath-server``."""
    return [sys.executable, __file__, str(path_in(root))]


class Teller:
    """A connection to such a daemon; a context manager."""

    def __init__(self, path: Path) -> None:
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.connect(str(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._sock.close()

    def relabel(self, jobs: Iterable[int], label: str) -> None:
        """Give jobs this one label; returns when that is committed and told."""
        self._sock.sendall(json.dumps({"jobs": list(jobs), "label": label}).encode() + b"\n")
        if self._sock.recv(1) != b"\n":
            raise ConnectionError("the daemon did not change these jobs")


def serve(path: str, engine: Engine, changes: JobEvents) -> None:
    """Change jobs as asked, one connection after the other."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    early = f"{path}~"
    listener.bind(early)
    listener.listen()
    Path(early).rename(path)  # who sees the path can connect
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as lines:
            for line in lines:
                asked = json.loads(line)
                relabel(engine, changes, asked["jobs"], asked["label"])
                connection.sendall(b"\n")


def relabel(engine: Engine, changes: JobEvents, numbers: list[int], label: str) -> None:
    """Write the label of these jobs and tell of each."""
    from sqlalchemy import text, update

    from crystalmath.services.ports_store import Change
    from crystalmath.storage.tables import jobs

    bump = text("UPDATE counters SET value = value + 1 WHERE name = 'rev' RETURNING value")
    with engine.begin() as connection:
        rev = connection.execute(bump).scalar_one()
        stored = connection.execute(
            update(jobs)
            .where(jobs.c.id.in_(numbers))
            .values(tags_json=json.dumps([label]), rev=rev)
            .returning(jobs)
        ).mappings()
        rows = {row["id"]: dict(row) for row in stored}
    for number in numbers:
        changes.publish(Change(number, rows[number]))


def main() -> None:
    """Become the daemon; listen when its database is open."""
    path = sys.argv.pop(1)

    from crystalmath import api
    from crystalmath.server.cli import main as server_main
    from crystalmath.services.job_events import JobEvents
    from crystalmath.storage.store import open_store

    class Controller(api.CrystalController):
        def __init__(self, settings: Any, server: Any) -> None:
            super().__init__(settings, server)
            self._tell = (settings.data_dir / api.DATABASE, JobEvents(server.hub, time.time))

        def start(self) -> None:
            super().start()
            database, changes = self._tell
            arguments = (path, open_store(database).engine, changes)
            threading.Thread(target=serve, args=arguments, name="teller", daemon=True).start()

    api.build = Controller
    server_main()


if __name__ == "__main__":
    main()
