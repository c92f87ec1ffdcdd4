"""Makes this process the only daemon of its socket and data directory, or finds the one that is.

Two locks, in this order: beside the socket, and in the data directory (one daemon per database and
host, even from two runtime directories). Called by ``lifecycle``.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any, Final

from crystalmath.errors import Conflict
from crystalmath.server.instance import host_name
from crystalmath.server.locks import FileLock
from crystalmath.server.peer import hello
from crystalmath.server.pointer import read_pointer
from crystalmath.server.settings import Settings

_log = logging.getLogger(__name__)
_RETRY_S: Final = 0.03


@dataclass(frozen=True, slots=True)
class Claim:
    """The locks of the daemon; held until :meth:`release`."""

    locks: tuple[FileLock, ...]

    def release(self) -> None:
        """Give up the locks; their files stay."""
        for lock in self.locks:
            lock.release()


@dataclass(frozen=True, slots=True)
class Running:
    """Another daemon that is up.

    Attributes
    ----------
    elsewhere
        It listens at another path than the one asked for.
    """

    socket: str
    pid: int
    version: str
    instance: str
    elsewhere: bool


def socket_lock_path(socket_path: str) -> str:
    """Path of the lock beside a socket."""
    return f"{socket_path}.lock"


def claim(settings: Settings, deadline: float) -> Claim | Running:
    """Take both locks, or report the daemon that holds one.

    A holder that is starting or stopping, or whose socket is gone, is waited for.

    Parameters
    ----------
    deadline
        On the monotonic clock.

    Raises
    ------
    Conflict
        The holder of a lock does not answer until the deadline.
    """
    beside = FileLock(socket_lock_path(settings.socket_path))
    running = _take(beside, settings.socket_path, settings, deadline)
    if running is not None:
        return running
    inside = FileLock(str(settings.data_dir / f"server.{host_name()}.lock"))
    running = _take(inside, None, settings, deadline)
    if running is not None:
        beside.release()
        return running
    for lock in (beside, inside):
        if lock.degraded:
            _log.warning("no file locks at %s; relying on the socket alone", lock.path)
    return Claim((beside, inside))


def _take(
    lock: FileLock, socket_path: str | None, settings: Settings, deadline: float
) -> Running | None:
    """Take one lock (None), or find its holder: at ``socket_path``, else where the pointer says."""
    while not lock.try_acquire():
        path = socket_path
        if path is None:
            pointer = read_pointer(settings.data_dir)
            path = pointer.socket if pointer is not None else None
        if path is not None:
            answer = hello(path, min(settings.hello_s, max(0.05, deadline - time.monotonic())))
            if answer is not None and answer.get("state") == "ready":
                return _running(answer, path, settings)
        if time.monotonic() >= deadline:
            raise Conflict(
                f"Another daemon holds {lock.path}, but it does not answer.",
                hint="`crystalmath-server status` tells more; `stop --force` ends it.",
            )
        time.sleep(_RETRY_S)
    return None


def _running(answer: dict[str, Any], path: str, settings: Settings) -> Running:
    return Running(
        socket=path,
        pid=int(answer["pid"]),
        version=str(answer["version"]),
        instance=str(answer["instance"]),
        elsewhere=path != settings.socket_path,
    )
