"""The processes that a benchmark of the wire needs: a bare echo, and a daemon per JSON library.

Each daemon is the real one with 10,000 finished jobs in its database. Started once, used by every
round, gone at the end.
"""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rig.filled import fill, make_directory
from rig.place import Place, wait_until

JOBS = 10_000
WITH_FILES = 5_000
"""The job whose directory is there."""
_HERE = Path(__file__).resolve().parent


def codecs() -> list[str]:
    """JSON libraries the daemon can use here; ``json`` is the standard library's."""
    return ["json", "orjson"] if importlib.util.find_spec("orjson") else ["json"]


@contextmanager
def filled_database() -> Iterator[Path]:
    """A database of 10,000 jobs, to be copied."""
    with tempfile.TemporaryDirectory(prefix="cm-") as folder:
        database = Path(folder) / "crystalmath.db"
        fill(database, JOBS)
        yield database


@contextmanager
def echo() -> Iterator[socket.socket]:
    """A connection to a bare echo."""
    with tempfile.TemporaryDirectory(prefix="cm-") as folder, ExitStack() as stack:
        path = Path(folder) / "s"
        server = subprocess.Popen([sys.executable, _HERE / "echo.py", path])
        stack.callback(server.wait)
        stack.callback(server.kill)
        connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        wait_until("the echo", lambda: connection.connect_ex(str(path)) == 0, 10.0)
        yield connection


@contextmanager
def daemon(codec: str, database: Path, *, load: str | None = None) -> Iterator[Place]:
    """A daemon on a copy of ``database``.

    Parameters
    ----------
    codec
        One of :func:`codecs`.
    load
        One of ``launcher.LOADS``, which a thread of it does during :func:`loaded`.
    """
    with Place() as place:
        shutil.copyfile(database, place.database)
        make_directory(place.data_dir, WITH_FILES)
        program = [sys.executable, str(_HERE / "launcher.py")]
        if codec == "json":
            program.append("--without-orjson")
        if load is not None:
            program += ["--load", load, str(_flag(place))]
        place.foreground(program=program)
        place.wait_ready()
        yield place


@contextmanager
def loaded(place: Place) -> Iterator[None]:
    """Let a daemon do what it was given as its load."""
    _flag(place).touch()
    try:
        yield
    finally:
        _flag(place).unlink()


@contextmanager
def listing(place: Place) -> Iterator[None]:
    """Let another client list all jobs in a loop."""
    client = subprocess.Popen([sys.executable, _HERE / "lister.py", place.socket])
    try:
        yield
        if client.poll() is not None:
            raise RuntimeError("the client that lists has ended: nothing was measured under load")
    finally:
        client.kill()
        client.wait()


def _flag(place: Place) -> Path:
    return place.root / "load"
