"""What the commands ask of a running daemon: is it there, stop it, show its log.

Called by ``cli``. Starts nothing.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from crystalmath.server.claim import socket_lock_path
from crystalmath.server.instance import host_name
from crystalmath.server.locks import is_locked
from crystalmath.server.peer import Peer, PeerError, PeerRpcError
from crystalmath.server.pointer import Pointer, read_pointer
from crystalmath.server.settings import Settings

STOP_S: Final = 15.0
KILL_S: Final = 5.0
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Seen:
    """What ``status`` found."""

    outcome: Literal["running", "down", "silent"]
    socket: str
    facts: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return {"outcome": self.outcome, "socket": self.socket, "status": self.facts or None}

    def text(self) -> str:
        """The form for people."""
        if self.outcome == "down":
            return f"not running (socket {self.socket})"
        if self.outcome == "silent":
            return (
                f"the lock of {self.socket} is held, but nobody answers; wait, or "
                "`crystalmath-server stop --force`"
            )
        facts = self.facts
        jobs = ", ".join(f"{n} {state}" for state, n in sorted(facts["jobs"].items())) or "none"
        jobs = facts.get("jobs_problem") or jobs
        return "\n".join(
            (
                (
                    f"running: {facts['state']}, version {facts['version']}, pid {facts['pid']}, "
                    f"up {facts['uptime_s']:.0f} s, {facts['rss_mib']:.0f} MiB"
                ),
                f"socket: {self.socket}",
                f"data:   {facts['data_dir']}",
                f"log:    {facts['log_path']}",
                f"clients: {facts['clients']}, in flight: {len(facts['in_flight'])}, jobs: {jobs}",
            )
        )


@dataclass(frozen=True, slots=True)
class Stopped:
    """What ``stop`` did."""

    gone: bool
    text: str


def candidate_sockets(settings: Settings) -> list[str]:
    """Where the daemon may listen: at the resolved path, else where ``server.json`` points."""
    pointer = read_pointer(settings.data_dir)
    found = [settings.socket_path]
    if pointer is not None and pointer.socket not in found:
        found.append(pointer.socket)
    return found


def look(settings: Settings) -> Seen:
    """Find out whether the daemon runs."""
    for path in candidate_sockets(settings):
        try:
            with Peer(path, settings.hello_s) as peer:
                peer.call("system.hello", {"client": "crystalmath-server status"})
                return Seen("running", path, peer.call("system.status"))
        except (PeerError, PeerRpcError):
            continue
    return Seen("silent" if _is_held(settings) else "down", settings.socket_path)


def stop_daemon(settings: Settings, *, force: bool) -> Stopped:
    """Ask the daemon to stop and wait until its lock is free."""
    pointer = read_pointer(settings.data_dir)  # before the daemon removes it
    deadline = time.monotonic() + STOP_S
    if not _ask(settings) and not _is_held(settings):
        return Stopped(gone=True, text="not running")
    if force:
        deadline = time.monotonic() + settings.hello_s
    while time.monotonic() < deadline:
        if not _is_held(settings):
            return Stopped(gone=True, text="stopped")
        time.sleep(_POLL_S)
        if not _ask_again_needed(settings):
            continue
        _ask(settings)
    if force:
        return _kill(settings, pointer)
    return Stopped(
        gone=False,
        text="crystalmath-server: it is still there after "
        f"{STOP_S:.0f} s; `crystalmath-server stop --force` ends it",
    )


def log_text(path: Path, *, follow: bool, poll_s: float = 0.2) -> Iterator[str]:
    """Yield the log, and what is added to it; follows rotation."""
    while True:
        try:
            file = path.open(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            if not follow:
                return
            time.sleep(poll_s)
            continue
        with file:
            inode = os.fstat(file.fileno()).st_ino
            while True:
                text = file.read(65536)
                if text:
                    yield text
                elif not follow:
                    return
                elif not _is_inode(path, inode):
                    break
                else:
                    time.sleep(poll_s)


def _is_inode(path: Path, inode: int) -> bool:
    try:
        return path.stat().st_ino == inode
    except FileNotFoundError:
        return True  # between two files of a rotation


def _is_held(settings: Settings) -> bool:
    paths = [socket_lock_path(settings.socket_path)]
    paths.append(str(settings.data_dir / f"server.{host_name()}.lock"))
    return any(is_locked(path) for path in paths)


def _ask(settings: Settings) -> bool:
    """Ask for the stop; False when nobody could be asked."""
    for path in candidate_sockets(settings):
        try:
            with Peer(path, settings.hello_s) as peer:
                peer.call("system.shutdown", {"mode": "drain"})
                return True
        except (PeerError, PeerRpcError):
            continue
    return False


def _ask_again_needed(settings: Settings) -> bool:
    """Whether a daemon has come up that was not asked yet (it was still publishing)."""
    for path in candidate_sockets(settings):
        try:
            with Peer(path, settings.hello_s) as peer:
                answer = peer.call("system.hello", {"client": "crystalmath-server stop"})
                return bool(answer["state"] != "stopping")
        except (PeerError, PeerRpcError):
            continue
    return False


def _kill(settings: Settings, pointer: Pointer | None) -> Stopped:
    pointer = pointer or read_pointer(settings.data_dir)
    if pointer is None or not pointer.process.is_alive():
        return Stopped(
            gone=False,
            text="crystalmath-server: server.json names no process that is certainly the daemon; "
            "nothing is signalled",
        )
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pointer.pid, number)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + KILL_S
        while time.monotonic() < deadline:
            if not _is_held(settings):
                return Stopped(gone=True, text=f"ended with signal {number.value}")
            time.sleep(_POLL_S)
    gone = not _is_held(settings)
    return Stopped(gone=gone, text="ended" if gone else "crystalmath-server: it is still there")
