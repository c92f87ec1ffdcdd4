"""A shell on this machine: the same frames and files, without a connection.

For a scheduler whose submit host this is.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from crystalmath.errors import SshError
from crystalmath.runners.shells.facts import PROBE
from crystalmath.runners.shells.framed import FramedShell, shell_facts
from crystalmath.runners.shells.framing import Streams, frame_script, new_token
from crystalmath.runners.shells.transfer.direct import Direct
from crystalmath.runners.shells.transfer.get import APPEAR_S
from crystalmath.runners.shells.transfer.ways import Ways
from crystalmath.services.ports_shell import MIB, Ran, ShellFacts

_READ_BYTES = 256 * 1024


class LocalShell(FramedShell):
    """Commands and files of this machine.

    At its deadline a command is killed, with what it has started.

    Parameters
    ----------
    setup_commands
        Lines that run before every command.
    """

    def __init__(self, *, setup_commands: tuple[str, ...] = (), appear_s: float = APPEAR_S) -> None:
        super().__init__("this machine", None, setup_commands, appear_s)
        self._ways = Ways({"direct": Direct()}, Direct())

    def _run(self, script: str, until: float, cap_bytes: int, setup: tuple[str, ...] = ()) -> Ran:
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
                late = not _drain(process, frame_script(script, token, setup), streams, until)
            finally:
                if not streams.ended:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        return streams.result(time.monotonic() - began, shell_ended=not late)

    def _choose(self, sizes: Sequence[int]) -> Ways:  # noqa: ARG002 - there is one way
        return self._ways

    def probe(self, *, deadline_s: float) -> ShellFacts:
        """Look what this machine is like."""
        ran = self._run(PROBE, time.monotonic() + deadline_s, MIB)
        if ran.rc is None:
            raise SshError("this machine gave no answer in time", stage="session")
        return shell_facts(ran, sftp=False, clock_offset_s=0.0)

    def close(self) -> None:
        """Nothing is open."""


def _drain(process: subprocess.Popen[bytes], script: bytes, streams: Streams, until: float) -> bool:
    """Feed the script and read both streams at the same time, until both end marks came.

    Returns
    -------
    bool
        Whether the end came, of the command or of the shell, before the deadline.
    """
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
                return False
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
    return True


def _write(process: subprocess.Popen[bytes], script: bytes) -> bytes:
    """Write what fits; returns the rest."""
    assert process.stdin is not None
    try:
        return script[os.write(process.stdin.fileno(), script) :]
    except BlockingIOError:
        return script
    except BrokenPipeError:
        return b""  # it has ended before it read everything; the end marks tell the rest
