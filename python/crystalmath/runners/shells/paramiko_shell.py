"""A :class:`~crystalmath.services.ports_shell.Shell` over paramiko."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from crystalmath.errors import SshError, TransferFailed
from crystalmath.runners.shells.exchange import SHELL, converse
from crystalmath.runners.shells.facts import PROBE, clock_offset_s, noise_lines, read_facts
from crystalmath.runners.shells.framing import Streams, frame_script, new_token
from crystalmath.runners.shells.hosts import Clock
from crystalmath.runners.shells.pool import HostPool, Purpose
from crystalmath.runners.shells.tails import read_tails, tail_script
from crystalmath.runners.shells.transfer.carriers import (
    CarrierBroken,
    CarrierLost,
    Progress,
)
from crystalmath.runners.shells.transfer.get import APPEAR_S, Download
from crystalmath.runners.shells.transfer.put import Upload
from crystalmath.runners.shells.transfer.sftp import OPEN_S, open_client
from crystalmath.runners.shells.transfer.ways import Ways, is_large
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

if TYPE_CHECKING:
    from paramiko import Channel

_COMMAND_S = 30.0


class ParamikoShell:
    """Commands and files of one host, over the connections of its pool.

    Parameters
    ----------
    setup_commands
        Lines that run before every command.
    ways
        How bytes are moved; shared by all shells of a host.
    by_user
        A user waits for what this shell does: connections are tried at once.
    """

    def __init__(
        self,
        pool: HostPool,
        ways: Callable[[ParamikoShell, Purpose], Ways],
        *,
        setup_commands: tuple[str, ...] = (),
        by_user: bool = False,
        clock: Clock | None = None,
        appear_s: float = APPEAR_S,
    ) -> None:
        self.pool = pool
        self._ways = ways
        self._setup = setup_commands
        self._by_user = by_user
        self._clock = clock or Clock()
        self._appear_s = appear_s

    def run(self, script: str, *, deadline_s: float, cap_bytes: int = 8 * MIB) -> Ran:
        """Run a POSIX sh script; its standard input is empty."""
        until = time.monotonic() + deadline_s
        return self._run(script, until, cap_bytes, self._setup)

    def _run(self, script: str, until: float, cap_bytes: int, setup: tuple[str, ...] = ()) -> Ran:
        token = new_token()
        streams = Streams.open(token, cap_bytes)
        with self.channel("commands", until) as channel:
            began = time.monotonic()
            converse(
                channel, SHELL, [frame_script(script, token, setup)], streams.out, streams.err,
                ended=lambda: streams.ended, until=lambda: until,
            )  # fmt: skip
            return streams.result(time.monotonic() - began)

    @contextmanager
    def channel(self, purpose: Purpose, until: float) -> Iterator[Channel]:
        """Lend a channel of the host."""
        with self.pool.channel(purpose, until, by_user=self._by_user) as channel:
            yield channel

    @contextmanager
    def moving_channel(self, purpose: Purpose, until: Callable[[], float]) -> Iterator[Channel]:
        """Lend a channel for a transfer, whose deadline moves while bytes do."""
        try:
            with self.pool.channel(purpose, until(), by_user=self._by_user) as channel:
                self.pool.extend(channel, until)
                yield channel
        except SshError as err:
            if isinstance(err, TransferFailed):
                raise
            raise CarrierLost(err.message) from err

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
        upload = Upload(
            self.pool.label, self._runner(until), self._choose, Progress(until, on_bytes)
        )
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
            self.pool.label,
            self._runner(until),
            self._choose,
            Progress(until, on_bytes),
            self._appear_s,
        )
        return download.fetch(files, into)

    def tail(self, wants: Sequence[TailFrom], *, deadline_s: float) -> Sequence[Tail]:
        """Read on in all watched files in one round trip."""
        if not wants:
            return []
        token = new_token()
        room = sum(want.max_bytes + 1024 for want in wants)
        until = time.monotonic() + deadline_s
        ran = self._run(tail_script(wants, token), until, room)
        tails = read_tails(ran.out, wants, token) if ran.complete else None
        if tails is None:
            raise TransferFailed(
                f"{self.pool.label}: the files could not be read on",
                host=self.pool.label,
                stage="transfer",
            )
        return tails

    def probe(self, *, deadline_s: float) -> ShellFacts:
        """Look what the host is like; changes nothing."""
        until = time.monotonic() + deadline_s
        self._run(":", until, MIB)  # connects, so that only the command is timed
        sent_at = self._clock.wall()
        ran = self._run(PROBE, until, MIB)
        back_at = self._clock.wall()
        if ran.rc is None:
            said = noise_lines(ran.noise)
            raise SshError(
                f"{self.pool.label} runs no commands" + (f"; it says: {said[0]}" if said else ""),
                hint="The account may be restricted, e.g. to forwarding.",
                host=self.pool.label,
                stage="session",
            )
        facts = read_facts(ran)
        sftp_trouble = self._sftp_trouble(until)
        if sftp_trouble:
            facts["sftp_trouble"] = sftp_trouble
        return ShellFacts(
            home=facts.pop("home", ""),
            user=facts.pop("user", ""),
            shell=facts.pop("shell", ""),
            sftp=sftp_trouble is None,
            rsync="rsync" in facts,
            clock_offset_s=clock_offset_s(facts, sent_at, back_at),
            latency_ms=ran.seconds * 1000,
            noise=noise_lines(ran.noise),
            facts=facts,
        )

    def close(self) -> None:
        """Close every connection to the host."""
        self.pool.close()

    def _runner(self, until: float) -> Callable[[str], Ran]:
        """Commands around a transfer: without ``setup_commands``, within its deadline.

        Checksums of large files take their time, so there is no other limit.
        """

        def run(script: str) -> Ran:
            return self._run(script, max(until, time.monotonic() + _COMMAND_S), 8 * MIB)

        return run

    def _choose(self, sizes: Sequence[int]) -> Ways:
        return self._ways(self, "transfers" if is_large(sizes) else "commands")

    def _sftp_trouble(self, until: float) -> str | None:
        try:
            with self.channel("commands", until) as channel:
                open_client(channel, min(OPEN_S, max(0.1, until - time.monotonic())))
        except (CarrierBroken, CarrierLost) as err:
            return str(err)
        return None
