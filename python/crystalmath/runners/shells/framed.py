"""What every shell does with framed commands, however they get to the host."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from crystalmath.errors import SetupFailed, TransferFailed
from crystalmath.runners.shells.facts import noise_lines, read_facts
from crystalmath.runners.shells.framing import new_token
from crystalmath.runners.shells.setup_lines import diagnosis_script, read_diagnosis
from crystalmath.runners.shells.tails import (
    read_tails,
    read_unchanged,
    sizes_script,
    tail_script,
)
from crystalmath.runners.shells.transfer.carriers import Progress
from crystalmath.runners.shells.transfer.get import Download
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

_COMMAND_S: Final = 30.0
_FEW_FILES: Final = 8
_SIZE_BYTES: Final = 8 * 1024
"""Room for what is said of one file: its path may be this long."""
_DIAGNOSIS_S: Final = 20.0


class FramedShell(ABC):
    """Commands, transfers and tails of one host; how a frame gets there is the subclass's.

    Parameters
    ----------
    label
        The host in messages.
    host
        The host in errors; None for this machine.
    setup_commands
        Lines that run before every command of :meth:`run`.
    appear_s
        So long a file that must be there may take to appear.
    """

    def __init__(
        self, label: str, host: str | None, setup_commands: tuple[str, ...], appear_s: float
    ) -> None:
        self._label = label
        self._host = host
        self._setup = setup_commands
        self._appear_s = appear_s

    @abstractmethod
    def _run(self, script: str, until: float, cap_bytes: int, setup: tuple[str, ...] = ()) -> Ran:
        """Run a script in a frame, until a monotonic time."""

    @abstractmethod
    def _choose(self, sizes: Sequence[int]) -> Ways:
        """How files of these sizes are moved."""

    def run(
        self, script: str, *, deadline_s: float, cap_bytes: int = 8 * MIB, setup: bool = True
    ) -> Ran:
        """Run a POSIX sh script; its standard input is empty.

        Parameters
        ----------
        setup
            Run ``setup_commands`` before it.

        Raises
        ------
        SetupFailed
            A line of ``setup_commands`` ends the shell; the script was not begun.
        """
        until = time.monotonic() + deadline_s
        ran = self._run(script, until, cap_bytes, self._setup if setup else ())
        if ran.ended_in_setup:
            raise self._setup_failed(min(until, time.monotonic() + _DIAGNOSIS_S))
        return ran

    def _setup_failed(self, until: float) -> SetupFailed:
        """Find the line that ends the shell: run the first, the first two, and so on."""
        ran = self._run(diagnosis_script(self._setup), until, MIB)
        found = read_diagnosis(ran, self._setup)
        if found is None:
            message, where = "a setup line ends the shell", "one of the lines"
        else:
            number, said = found
            message = f"the setup line {number}, `{self._setup[number - 1]}`, ends the shell"
            message += f": {said}" if said else ""
            where = "the line"
        return SetupFailed(
            f"{self._label}: {message}",
            hint=f"Correct {where} in `setup_commands`: an `exit`, an `exec` or the `.` of a file "
            "that is not there ends the shell before any command.",
            field="setup_commands",
            host=self._host,
            stage="session",
        )

    def put(
        self,
        files: Sequence[Put],
        into: PurePosixPath,
        *,
        deadline_s: float,
        on_bytes: Callable[[int], None] = lambda _n: None,
    ) -> None:
        """Bring files, each complete or not at all, verified."""
        until = time.monotonic() + deadline_s
        upload = Upload(self._label, self._runner(until), self._choose, Progress(until, on_bytes))
        upload.bring(files, into)

    def get(
        self,
        files: Sequence[Get],
        into: Path,
        *,
        deadline_s: float,
        on_bytes: Callable[[int], None] = lambda _n: None,
    ) -> Sequence[Got]:
        """Fetch files, each complete or not at all, resuming parts."""
        until = time.monotonic() + deadline_s
        download = Download(
            self._label,
            self._runner(until),
            self._choose,
            Progress(until, on_bytes),
            self._appear_s,
        )
        return download.fetch(files, into)

    def tail(self, wants: Sequence[TailFrom], *, deadline_s: float) -> Sequence[Tail]:
        """Read on in all watched files in one round trip; of many, in those alone that have grown.

        Looking into each takes a process of the host; looking at all takes one.
        """
        until = time.monotonic() + deadline_s
        if len(wants) <= _FEW_FILES:
            return self._tail(wants, until)
        looked = self._run(sizes_script(wants), until, len(wants) * _SIZE_BYTES)
        same = read_unchanged(looked.out, wants) if looked.complete else {}
        grown = self._tail([want for want in wants if want.path not in same], until)
        found = same | {tail.path: tail for tail in grown}
        return [found[want.path] for want in wants]

    def _tail(self, wants: Sequence[TailFrom], until: float) -> Sequence[Tail]:
        if not wants:
            return []
        token = new_token()
        room = sum(want.max_bytes + 1024 for want in wants)
        ran = self._run(tail_script(wants, token), until, room)
        tails = read_tails(ran.out, wants, token) if ran.complete else None
        if tails is None:
            raise TransferFailed(
                f"{self._label}: the files could not be read on", host=self._host, stage="transfer"
            )
        return tails

    def _runner(self, until: float) -> Callable[[str], Ran]:
        """Commands around a transfer: without ``setup_commands``, within its deadline.

        Checksums of large files take their time, so there is no other limit.
        """

        def run(script: str) -> Ran:
            return self._run(script, max(until, time.monotonic() + _COMMAND_S), 8 * MIB)

        return run


def shell_facts(ran: Ran, *, sftp: bool, clock_offset_s: float, **more: str) -> ShellFacts:
    """What the answer of ``facts.PROBE`` says, and what else was found."""
    facts = read_facts(ran) | more
    return ShellFacts(
        home=facts.pop("home", ""),
        user=facts.pop("user", ""),
        shell=facts.pop("shell", ""),
        sftp=sftp,
        rsync="rsync" in facts,
        clock_offset_s=clock_offset_s,
        latency_ms=ran.seconds * 1000,
        noise=noise_lines(ran.noise),
        facts=facts,
    )
