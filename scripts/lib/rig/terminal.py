"""A program in a pseudo-terminal: keys in, frames out, each with its time.

The reader is the one thing between the program and its clock, so it is kept short: bytes are
stamped when they are read and looked at afterwards. With a :class:`Link` in between, what was read
arrives no faster than the link carries it. Used by ``bench``.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from rig.place import RigError
from rig.screen import END, Screen

READ_BYTES: Final = 1 << 16
CARRIED_BYTES: Final = 32
"""What a slow link carries at a time."""
PATIENCE_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: when its last byte was read, and how many bytes it had."""

    at: float
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Link:
    """A slow connection between program and terminal, such as a bad SSH link.

    Attributes
    ----------
    bytes_per_s
        What it carries.
    buffer_bytes
        What it takes from the program and keeps until it can be carried, beyond the few thousand
        bytes that the system's own pseudo-terminal keeps.
    """

    bytes_per_s: float
    buffer_bytes: int = 0


class Terminal:
    """See the module docstring; a context manager that ends the program.

    Parameters
    ----------
    command
        Program and arguments; the program by its path.
    size
        Columns and rows.

    Attributes
    ----------
    screen
        What the terminal shows.
    frames
        Every whole frame so far.
    n_bytes, last_at
        Bytes read so far, and when the last of them were.
    spawned_at
        When the program was about to be started, on the clock of ``time.perf_counter``.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        size: tuple[int, int] = (120, 40),
    ) -> None:
        self.screen = Screen(*size)
        self.frames: list[Frame] = []
        self.n_bytes = 0
        self.last_at = 0.0
        self._link: Link | None = None
        self._kept = bytearray()
        self._free_at = 0.0
        self._frame_from = 0
        self._tail = b""
        self._exit: int | None = None
        self._master, slave = pty.openpty()
        try:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
            name = os.ttyname(slave)
            actions = [
                (os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, 0, 1),
                (os.POSIX_SPAWN_DUP2, 0, 2),
            ]
            env = dict(env) | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
            self.spawned_at = time.perf_counter()
            self.pid = os.posix_spawn(
                command[0], list(command), env, file_actions=actions, setsid=True
            )
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._exit is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)

    def use(self, link: Link | None) -> None:
        """Put a link in between from now on; None: everything arrives at once."""
        self._note(bytes(self._kept))
        self._kept.clear()
        self._link, self._free_at = link, time.perf_counter()

    @property
    def under_way(self) -> int:
        """Bytes that the program has written and that have not arrived."""
        waiting = struct.unpack("i", fcntl.ioctl(self._master, termios.FIONREAD, bytes(4)))[0]
        return len(self._kept) + int(waiting)

    def send(self, keys: bytes) -> float:
        """Type; returns when."""
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def read(self, until: float) -> bool:
        """Read once, waiting no longer than ``until``; whether something came."""
        data = self._from_program(READ_BYTES, until) if self._link is None else self._carry(until)
        if data:
            self.last_at = time.perf_counter()
            self._note(data)
        return bool(data)

    def wait_frame(self, count: int, patience_s: float = PATIENCE_S) -> Frame:
        """Read until there are more than ``count`` frames; returns the one after those."""
        deadline = time.perf_counter() + patience_s
        while len(self.frames) <= count:
            if not self.read(deadline) and time.perf_counter() >= deadline:
                raise RigError(f"no frame within {patience_s:g} s:\n{self.screen.text()}")
        return self.frames[count]

    def wait_for(
        self, what: str, shown: Callable[[Screen], bool], patience_s: float = PATIENCE_S
    ) -> float:
        """Read until the screen shows something; returns when it did."""
        deadline = time.perf_counter() + patience_s
        while not shown(self.screen):
            if not self.read(deadline) and time.perf_counter() >= deadline:
                raise RigError(f"not within {patience_s:g} s: {what}:\n{self.screen.text()}")
        return self.last_at

    def settle(self, quiet_s: float = 0.3, patience_s: float = PATIENCE_S) -> None:
        """Read until nothing has come for a while."""
        deadline = time.perf_counter() + patience_s
        while self.read(time.perf_counter() + quiet_s):
            if time.perf_counter() > deadline:
                raise RigError(f"it does not come to rest within {patience_s:g} s")

    def watch(self, seconds: float) -> int:
        """Read for so long; returns how many frames came."""
        before, until = len(self.frames), time.perf_counter() + seconds
        while time.perf_counter() < until:
            self.read(until)
        return len(self.frames) - before

    def leave(self) -> int:
        """Ask the program to end and wait until it has; returns the exit code."""
        os.kill(self.pid, signal.SIGTERM)
        deadline = time.perf_counter() + PATIENCE_S
        try:
            while time.perf_counter() < deadline:
                self.read(deadline)
        except RigError:
            _, status = os.waitpid(self.pid, 0)
            self._exit = os.waitstatus_to_exitcode(status)
            return self._exit
        raise RigError(f"it does not leave:\n{self.screen.text()}")

    def _from_program(self, limit: int, until: float) -> bytes:
        """Read what the program has written; nothing when there is nothing until then."""
        wait_s = max(0.0, until - time.perf_counter())
        if not select.select([self._master], [], [], wait_s)[0]:
            return b""
        try:
            data = os.read(self._master, limit)
        except OSError:  # the program has closed the terminal
            data = b""
        if not data:
            raise RigError(f"the program has ended:\n{self.screen.text()}")
        return data

    def _carry(self, until: float) -> bytes:
        """The next bytes over the link."""
        link = self._link
        assert link is not None
        most = link.buffer_bytes + CARRIED_BYTES
        if not self._kept:
            self._kept += self._from_program(most, 0.0)
        if not self._kept:
            self._kept += self._from_program(most, until)
            # A link that had nothing to carry does not make up for it.
            self._free_at = max(self._free_at, time.perf_counter())
        due = self._free_at + min(len(self._kept), CARRIED_BYTES) / link.bytes_per_s
        while time.perf_counter() < min(due, until):
            room = most - len(self._kept)
            if room <= 0:
                time.sleep(max(0.0, min(due, until) - time.perf_counter()))
            else:
                self._kept += self._from_program(room, min(due, until))
        if not self._kept or due > until:
            return b""
        data = bytes(self._kept[:CARRIED_BYTES])
        del self._kept[:CARRIED_BYTES]
        self._free_at += len(data) / link.bytes_per_s
        return data

    def _note(self, data: bytes) -> None:
        self.screen.feed(data)
        if self.screen.answers:
            self.send(self.screen.answers)
            self.screen.answers = b""
        seen = self._tail + data
        offset = self.n_bytes - len(self._tail)
        at = seen.find(END)
        while at >= 0:
            end = offset + at + len(END)
            self.frames.append(Frame(self.last_at, end - self._frame_from))
            self._frame_from = end
            at = seen.find(END, at + 1)
        self._tail = seen[-(len(END) - 1) :]
        self.n_bytes += len(data)


def client_command() -> list[str]:
    """The ``crystalmath`` of this environment, or the one ``CRYSTALMATH_CLIENT`` names."""
    named = os.environ.get("CRYSTALMATH_CLIENT")
    command = Path(named) if named else Path(sys.executable).parent / "crystalmath"
    if not command.exists():
        raise RigError(f"{command} is not there: run scripts/crystalmath --help once")
    return [str(command)]
