"""The shell of this machine: for the login node that CrystalMath itself runs on.

Implements ``services.ports_shell.Shell`` with ``/bin/sh`` and plain copies.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, Final

from crystalmath.errors import TransferFailed
from crystalmath.runners.shells.framing import Streams, frame_script, new_token
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

_CHUNK: Final = MIB
_READ: Final = 65536


class LocalShell:
    """Runs scripts on this machine.

    Parameters
    ----------
    setup_commands
        Lines that run before every script, e.g. ``module load``.
    """

    def __init__(self, setup_commands: tuple[str, ...] = ()) -> None:
        self._setup_commands = setup_commands

    def run(self, script: str, *, deadline_s: float, cap_bytes: int = 8 * MIB) -> Ran:
        """See ``Shell.run``."""
        token = new_token()
        started = time.monotonic()
        streams = Streams.open(token, cap_bytes)
        with subprocess.Popen(
            ["/bin/sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            start_new_session=True,
        ) as process:
            try:
                _feed(process, frame_script(script, token, self._setup_commands))
                _drain(process, streams, started + deadline_s)
            finally:
                if not streams.ended:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        return streams.result(time.monotonic() - started)

    def put(
        self,
        files: Sequence[Put],
        into: PurePosixPath,
        *,
        deadline_s: float,
        on_bytes: Callable[[int], None] = lambda _n: None,
    ) -> None:
        """See ``Shell.put``."""
        until = time.monotonic() + deadline_s
        for file in files:
            target = Path(into) / file.path
            try:
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                part = target.with_name(f"{target.name}.part")
                if file.source is not None:
                    _copy(file.source, part, until, on_bytes)
                else:
                    part.write_bytes(file.content or b"")
                    on_bytes(len(file.content or b""))
                part.chmod(file.mode)
                part.replace(target)
            except OSError as error:
                raise TransferFailed(f"{file.path}: {error.strerror}") from error

    def get(
        self,
        files: Sequence[Get],
        into: Path,
        *,
        deadline_s: float,
        on_bytes: Callable[[int], None] = lambda _n: None,
    ) -> Sequence[Got]:
        """See ``Shell.get``."""
        until = time.monotonic() + deadline_s
        return [_got(file, into, until, on_bytes) for file in files]

    def tail(self, wants: Sequence[TailFrom], *, deadline_s: float) -> Sequence[Tail]:  # noqa: ARG002 - no waiting here
        """See ``Shell.tail``."""
        return [_tail(want) for want in wants]

    def probe(self, *, deadline_s: float) -> ShellFacts:
        """See ``Shell.probe``."""
        ran = self.run('printf "%s\\n" "$HOME"; id -un; command -v rsync', deadline_s=deadline_s)
        lines = [*ran.out_text().splitlines(), "", "", ""]
        account = pwd.getpwuid(os.getuid())
        return ShellFacts(
            home=lines[0] or account.pw_dir,
            user=lines[1] or account.pw_name,
            shell=account.pw_shell,
            sftp=False,
            rsync=bool(lines[2]),
            clock_offset_s=0.0,
            latency_ms=ran.seconds * 1000,
        )

    def close(self) -> None:
        """See ``Shell.close``."""


def _feed(process: subprocess.Popen[bytes], script: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(script)
        process.stdin.close()


def _drain(process: subprocess.Popen[bytes], streams: Streams, until: float) -> None:
    """Read both streams at the same time, until both ends are seen."""
    with selectors.DefaultSelector() as selector:
        for pipe, deframer in ((process.stdout, streams.out), (process.stderr, streams.err)):
            assert pipe is not None
            selector.register(pipe, selectors.EVENT_READ, deframer)
        while selector.get_map() and not streams.ended:
            left_s = until - time.monotonic()
            if left_s <= 0:
                return
            for key, _ in selector.select(left_s):
                data = os.read(key.fd, _READ)
                if not data:
                    selector.unregister(key.fileobj)
                key.data.feed(data)


def _copy(source: Path, part: Path, until: float, on_bytes: Callable[[int], None]) -> str:
    digest = hashlib.sha256()
    with source.open("rb") as stream, part.open("wb") as copy:
        while chunk := stream.read(_CHUNK):
            if time.monotonic() > until:
                raise TransferFailed(f"{source.name}: the copy took too long")
            digest.update(chunk)
            copy.write(chunk)
            on_bytes(len(chunk))
    return digest.hexdigest()


def _got(file: Get, into: Path, until: float, on_bytes: Callable[[int], None]) -> Got:
    source = Path(file.remote)
    try:
        size = source.stat().st_size
        if file.max_bytes is not None and size > file.max_bytes:
            return Got(file, "too_large", size)
        target = into / file.name
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = target.with_name(f"{target.name}.part")
        digest = _copy(source, part, until, on_bytes)
        shutil.copystat(source, part)
        part.replace(target)
        return Got(file, "fetched", size, digest)
    except (FileNotFoundError, NotADirectoryError):
        return Got(file, "missing")
    except OSError as error:
        raise TransferFailed(f"{file.name}: {error.strerror}") from error


def _tail(want: TailFrom) -> Tail:
    try:
        with Path(want.path).open("rb") as stream:
            return _read_on(stream, want)
    except OSError:
        return Tail(want.path, want.offset, b"", None, None)


def _read_on(stream: IO[bytes], want: TailFrom) -> Tail:
    info = os.fstat(stream.fileno())
    identity = f"{info.st_dev}:{info.st_ino}"
    replaced = want.identity is not None and want.identity != identity
    offset = 0 if replaced or info.st_size < want.offset else want.offset
    stream.seek(offset)
    return Tail(want.path, offset, stream.read(want.max_bytes), info.st_size, identity)
