"""A shell on this machine: the same frames and files, without a connection.

For a scheduler whose submit host this is.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from crystalmath.errors import SshError, TransferFailed
from crystalmath.runners.shells.facts import PROBE, noise_lines, read_facts
from crystalmath.runners.shells.framing import Streams, frame_script, new_token
from crystalmath.runners.shells.tails import read_tails, tail_script
from crystalmath.runners.shells.transfer.carriers import Progress
from crystalmath.runners.shells.transfer.direct import Direct
from crystalmath.runners.shells.transfer.get import APPEAR_S, Download
from crystalmath.runners.shells.transfer.put import Upload
from crystalmath.runners.shells.transfer.ways import Ways
from crystalmath.services.ports_shell import (
    MIB,
    Get,
    Got,
    Put,
    Ran,
    ShellFacts,
    Tail,
    TailFrom,
)

_LABEL = "this machine"
_READ_BYTES = 256 * 1024


class LocalShell:
    """Commands and files of this machine.

    Parameters
    ----------
    setup_commands
        Lines that run before every command.
    """

    def __init__(self, *, setup_commands: tuple[str, ...] = (), appear_s: float = APPEAR_S) -> None:
        self._setup = setup_commands
        self._appear_s = appear_s
        self._ways = Ways({"direct": Direct()}, Direct())

    def run(self, script: str, *, deadline_s: float, cap_bytes: int = 8 * MIB) -> Ran:
        """Run a POSIX sh script; at the deadline it is killed, with what it has started."""
        return self._run(script, deadline_s, cap_bytes, self._setup)

    def _run(
        self, script: str, deadline_s: float, cap_bytes: int, setup: tuple[str, ...] = ()
    ) -> Ran:
        token = new_token()
        streams = Streams.open(token, cap_bytes)
        began = time.monotonic()
        with subprocess.Popen(
            ["/bin/sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd=Path.home() if Path.home().is_dir() else "/",
        ) as process:
            try:
                _drain(process, frame_script(script, token, setup), streams, began + deadline_s)
            finally:
                if not streams.ended:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        return streams.result(time.monotonic() - began)

    def put(
        self,
        files: Sequence[Put],
        into: PurePosixPath,
        *,
        deadline_s: float,
        on_bytes: Callable[[int], None] = lambda _n: None,
    ) -> None:
        """Copy files, each complete or not at all, verified."""
        until = time.monotonic() + deadline_s
        progress = Progress(until, on_bytes)
        Upload(_LABEL, self._runner(until), lambda _sizes: self._ways, progress).bring(files, into)

    def get(
        self,
        files: Sequence[Get],
        into: Path,
        *,
        deadline_s: float,
        on_bytes: Callable[[int], None] = lambda _n: None,
    ) -> Sequence[Got]:
        """Copy files, each complete or not at all."""
        until = time.monotonic() + deadline_s
        progress = Progress(until, on_bytes)
        download = Download(
            _LABEL, self._runner(until), lambda _sizes: self._ways, progress, self._appear_s
        )
        return download.fetch(files, into)

    def tail(self, wants: Sequence[TailFrom], *, deadline_s: float) -> Sequence[Tail]:
        """Read on in all watched files."""
        if not wants:
            return []
        token = new_token()
        room = sum(want.max_bytes + 1024 for want in wants)
        ran = self._run(tail_script(wants, token), deadline_s, room)
        tails = read_tails(ran.out, wants, token) if ran.complete else None
        if tails is None:
            raise TransferFailed(f"{_LABEL}: the files could not be read on", stage="transfer")
        return tails

    def probe(self, *, deadline_s: float) -> ShellFacts:
        """Look what this machine is like."""
        ran = self._run(PROBE, deadline_s, MIB)
        if ran.rc is None:
            raise SshError(f"{_LABEL} gave no answer in time", stage="session")
        facts = read_facts(ran)
        return ShellFacts(
            home=facts.pop("home", ""),
            user=facts.pop("user", ""),
            shell=facts.pop("shell", ""),
            sftp=False,
            rsync="rsync" in facts,
            clock_offset_s=0.0,
            latency_ms=ran.seconds * 1000,
            noise=noise_lines(ran.noise),
            facts=facts,
        )

    def close(self) -> None:
        """Nothing is open."""

    def _runner(self, until: float) -> Callable[[str], Ran]:
        def run(script: str) -> Ran:
            return self._run(script, max(30.0, until - time.monotonic()), 8 * MIB)

        return run


def _drain(process: subprocess.Popen[bytes], script: bytes, streams: Streams, until: float) -> None:
    """Feed the script and read both streams at the same time, until both end marks came."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    sinks = {process.stdout: streams.out, process.stderr: streams.err}
    with selectors.DefaultSelector() as selector:
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        for stream in sinks:
            selector.register(stream, selectors.EVENT_READ)
        while not streams.ended and selector.get_map():
            left = until - time.monotonic()
            if left <= 0:
                return
            for key, _events in selector.select(left):
                if key.fileobj is process.stdin:
                    script = _write(process, script)
                    if not script:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                data = os.read(key.fd, _READ_BYTES)
                if not data:
                    selector.unregister(key.fileobj)
                else:
                    sinks[key.fileobj].feed(data)  # type: ignore[index]


def _write(process: subprocess.Popen[bytes], script: bytes) -> bytes:
    """Write what fits; returns the rest."""
    assert process.stdin is not None
    try:
        return script[os.write(process.stdin.fileno(), script) :]
    except BlockingIOError:
        return script
    except BrokenPipeError:
        return b""  # it has ended before it read everything; the end marks tell the rest
