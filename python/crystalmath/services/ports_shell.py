"""What runners need of a connection to a host: bytes in, bytes out; it knows no scheduler.

Implemented in ``runners.shells``; handed to runners by ``api``. Every call has a wall-clock
deadline, and every call may fail with an ``SshError``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Question:
    """What a host, or the file of a key, wants to know of a person who logs in.

    Attributes
    ----------
    host
        The host that asks, or that the key is for.
    secret
        The answer is not shown while it is typed.
    """

    host: str
    text: str
    secret: bool = True


Ask = Callable[[Sequence[Question]], Sequence[str]]
"""Asks a person: one answer for each question. Raises ``Cancelled`` when there is none."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The end of one command.

    Attributes
    ----------
    rc
        Exit code; None is *unknown* (a lost connection), never a failure.
    complete
        Both streams came to their end and nothing was dropped.
    noise
        What came before the command's own output: banners, messages of start-up files.
    ended_in_setup
        The shell has come to its end among the lines that run before the command, which was never
        begun.
    """

    rc: int | None
    out: bytes = b""
    err: bytes = b""
    complete: bool = True
    seconds: float = 0.0
    noise: bytes = b""
    ended_in_setup: bool = False

    def out_text(self) -> str:
        """Standard output; bytes that are no UTF-8 are replaced."""
        return self.out.decode("utf-8", "replace")

    def err_text(self) -> str:
        """Standard error; bytes that are no UTF-8 are replaced."""
        return self.err.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Put:
    """A file to bring to the host: ``content``, or a local ``source``.

    Attributes
    ----------
    path
        Relative to the directory of the call.
    """

    path: PurePosixPath
    content: bytes | None = None
    source: Path | None = None
    mode: int = 0o600


@dataclass(frozen=True, slots=True)
class Get:
    """A file to fetch.

    Attributes
    ----------
    remote
        Absolute path on the host.
    name
        Relative name in the local directory.
    max_bytes
        A larger file stays there and is reported as ``too_large``.
    """

    remote: PurePosixPath
    name: str
    max_bytes: int | None = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Got:
    """What became of a :class:`Get`: ``fetched``, ``missing`` or ``too_large``."""

    get: Get
    outcome: str
    size_bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class TailFrom:
    """A file to read on from an offset.

    Attributes
    ----------
    identity
        What :class:`Tail` gave last time: another file under the name is read from its start.
    """

    path: PurePosixPath
    offset: int
    max_bytes: int = 256 * 1024
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Tail:
    """What is new in a watched file; ``size`` None when there is no such file."""

    path: PurePosixPath
    offset: int
    data: bytes
    size: int | None
    identity: str | None


@dataclass(frozen=True, slots=True)
class ShellFacts:
    """What the host is like.

    Attributes
    ----------
    clock_offset_s
        The host's clock minus ours.
    noise
        Lines that start-up files print; harmless for commands.
    """

    home: str
    user: str
    shell: str
    sftp: bool
    rsync: bool
    clock_offset_s: float
    latency_ms: float
    noise: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


class Shell(Protocol):
    """One host. Safe in threads: calls of several threads share its connections."""

    def run(
        self, script: str, *, deadline_s: float, cap_bytes: int = 8 * MIB, setup: bool = True
    ) -> Ran:
        """Run a POSIX sh script; its standard input is empty.

        Parameters
        ----------
        setup
            Run the cluster's setup lines before it.

        Raises
        ------
        SshError
            No connection could be made. A connection that is lost during the command gives a
            :class:`Ran` with ``rc`` None.
        """

    def put(
        self,
        files: Sequence[Put],
        into: PurePosixPath,
        *,
        deadline_s: float,
        on_bytes: Callable[[int], None] = lambda _n: None,
    ) -> None:
        """Bring files, each complete or not at all, verified; raises ``TransferFailed``."""

    def get(
        self,
        files: Sequence[Get],
        into: Path,
        *,
        deadline_s: float,
        on_bytes: Callable[[int], None] = lambda _n: None,
    ) -> Sequence[Got]:
        """Fetch files, each complete or not at all, resuming parts; raises ``TransferFailed``."""

    def tail(self, wants: Sequence[TailFrom], *, deadline_s: float) -> Sequence[Tail]:
        """Read on in all watched files in one round trip."""

    def probe(self, *, deadline_s: float) -> ShellFacts:
        """Look what the host is like; changes nothing."""

    def close(self) -> None:
        """Close every connection."""
