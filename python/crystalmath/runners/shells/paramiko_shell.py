"""A :class:`~crystalmath.services.ports_shell.Shell` over paramiko."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crystalmath.errors import SshError, TransferFailed
from crystalmath.runners.shells.exchange import SHELL, converse
from crystalmath.runners.shells.facts import PROBE, clock_offset_s, noise_lines, read_facts
from crystalmath.runners.shells.framed import FramedShell, shell_facts
from crystalmath.runners.shells.framing import Streams, frame_script, new_token
from crystalmath.runners.shells.hosts import Clock
from crystalmath.runners.shells.pool import HostPool, Purpose
from crystalmath.runners.shells.transfer.carriers import (
    CarrierBroken,
    CarrierLost,
)
from crystalmath.runners.shells.transfer.get import APPEAR_S
from crystalmath.runners.shells.transfer.sftp import OPEN_S, open_client
from crystalmath.runners.shells.transfer.ways import Ways, is_large
from crystalmath.services.ports_shell import (
    MIB,
    Ran,
    ShellFacts,
)

if TYPE_CHECKING:
    from paramiko import Channel


class ParamikoShell(FramedShell):
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
        super().__init__(pool.label, pool.label, setup_commands, appear_s)
        self.pool = pool
        self._ways = ways
        self._by_user = by_user
        self._clock = clock or Clock()

    def _run(self, script: str, until: float, cap_bytes: int, setup: tuple[str, ...] = ()) -> Ran:
        token = new_token()
        streams = Streams.open(token, cap_bytes)
        with self.channel("commands", until) as channel:
            began = time.monotonic()
            converse(
                channel, SHELL, [frame_script(script, token, setup)], streams.out, streams.err,
                ended=lambda: streams.ended, until=lambda: until,
            )  # fmt: skip
            # Without a status of its end nobody knows whether the shell or the connection ended.
            ended = channel.exit_status >= 0
            return streams.result(time.monotonic() - began, shell_ended=ended)

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
        offset_s = clock_offset_s(read_facts(ran), sent_at, back_at)
        trouble = self._sftp_trouble(until)
        more = {} if trouble is None else {"sftp_trouble": trouble}
        return shell_facts(ran, sftp=trouble is None, clock_offset_s=offset_s, **more)

    def close(self) -> None:
        """Close every connection to the host."""
        self.pool.close()

    def _choose(self, sizes: Sequence[int]) -> Ways:
        return self._ways(self, "transfers" if is_large(sizes) else "commands")

    def _sftp_trouble(self, until: float) -> str | None:
        try:
            with self.channel("commands", until) as channel:
                open_client(channel, min(OPEN_S, max(0.1, until - time.monotonic())))
        except (CarrierBroken, CarrierLost) as err:
            return str(err)
        return None
