"""Shells of hosts over SSH: one object for the daemon, handed to runners and services by ``api``.

Nothing is connected, and paramiko is not loaded, before the first call needs a host.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crystalmath.errors import AuthRefused, NotImplementedYet, SshError
from crystalmath.runners.shells.answers import Answers
from crystalmath.runners.shells.authentication import LoggedIn
from crystalmath.runners.shells.breaker import LOGINS_PER_HOUR, Breaker, Health
from crystalmath.runners.shells.connection import (
    Connection,
    Credentials,
    Opened,
    connect,
    offered_key,
)
from crystalmath.runners.shells.host_keys import HostKeyOffer, HostKeys
from crystalmath.runners.shells.hosts import Clock, ClusterHost, Hop
from crystalmath.runners.shells.paramiko_shell import ParamikoShell
from crystalmath.runners.shells.pool import HostPool, Purpose, Tender
from crystalmath.runners.shells.report import ConnectionReport, examine
from crystalmath.runners.shells.ssh_config import SshConfig
from crystalmath.runners.shells.transfer.get import APPEAR_S
from crystalmath.runners.shells.transfer.sftp import Sftp
from crystalmath.runners.shells.transfer.stream import Stream
from crystalmath.runners.shells.transfer.ways import Ways
from crystalmath.services.ports_shell import Ask

if TYPE_CHECKING:
    from paramiko import Channel

IDLE_S: Final = 600.0
LOG_IN_S: Final = 60.0
LOG_IN_BY_HAND_S: Final = 300.0
_STANDS: Final = (
    "another connection would need a login again; the one that stands was tried",
    "When it is lost, log in again with `clusters.login`.",
)
_NO_OPENSSH: Final = "connections through the `ssh` program are not built yet"


@dataclass(slots=True)
class _Known:
    """What is kept of a host: its record, its connections, and what does not work on it.

    Attributes
    ----------
    answers
        What was answered while logging in; gone when the record is another one.
    """

    host: ClusterHost
    pool: HostPool
    broken: dict[str, str]
    answers: Answers


class SshShells:
    """Every host that is reached over SSH.

    Parameters
    ----------
    known_hosts
        Our own file of host keys; only :meth:`accept_host_key` writes it.
    environment
        Where the agent's socket is named; asked at each connection.
    ssh_config
        Another configuration file than OpenSSH's own.
    keep_open
        Whether a cluster's connection stays open while it is idle: jobs live there.
    """

    def __init__(
        self,
        *,
        known_hosts: Path,
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        ssh_config: SshConfig | None = None,
        keep_open: Callable[[str], bool] = lambda _name: False,
        clock: Clock | None = None,
        idle_s: float = IDLE_S,
        logins_per_hour: int = LOGINS_PER_HOUR,
        appear_s: float = APPEAR_S,
    ) -> None:
        self._keys = HostKeys(known_hosts)
        self._environment = environment
        self._config = ssh_config or SshConfig()
        self._clock = clock or Clock()
        self._logins_per_hour = logins_per_hour
        self._appear_s = appear_s
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}
        self._tender = Tender(self._pools, keep=keep_open, idle_s=idle_s)

    def shell(self, host: ClusterHost, *, by_user: bool = False) -> ParamikoShell:
        """Return the shell of a host; shells of one record share its connections.

        Parameters
        ----------
        by_user
            A user waits: a connection is tried at once, whatever happened before.

        Raises
        ------
        NotImplementedYet
            The record asks for ``shell: openssh``.
        """
        _refuse_openssh(host)
        known = self._of(host)
        return ParamikoShell(
            known.pool,
            lambda shell, purpose: _ways(shell, purpose, known.broken),
            setup_commands=host.setup_commands,
            by_user=by_user,
            clock=self._clock,
            appear_s=self._appear_s,
        )

    def health(self, host: ClusterHost) -> Health:
        """How a host is doing, without asking it."""
        return self._of(host).pool.health()

    def known_health(self, host: ClusterHost) -> Health | None:
        """The same of a host that was connected to; None of another one."""
        with self._lock:
            known = self._known.get(host.name)
        return None if known is None or known.host != host else known.pool.health()

    def reset(self, host: ClusterHost) -> None:
        """Forget refusals and back-off: the user has changed something."""
        self._of(host).pool.reset()

    def login(
        self, host: ClusterHost, ask: Ask, *, deadline_s: float = LOG_IN_BY_HAND_S
    ) -> LoggedIn:
        """Connect with a person to answer; what was answered stays in memory.

        A connection that stands needs no answers.

        Raises
        ------
        SshError
        Cancelled
            Nobody has answered.
        NotImplementedYet
            The record asks for ``shell: openssh``.
        """
        _refuse_openssh(host)
        until = time.monotonic() + deadline_s
        connection = self._of(host).pool.current(until, ask, by_user=True)
        return connection.opened.logged_in[-1]

    def host_key(self, host: ClusterHost, *, deadline_s: float = LOG_IN_S) -> HostKeyOffer:
        """Return the first key on the way that is not known, else the host's own.

        Raises
        ------
        SshError
            Among them ``HostKeyChanged``.
        """
        hop, key_type, key = self._offered(host, deadline_s)
        return self._keys.look(hop, key_type, key)

    def accept_host_key(
        self, host: ClusterHost, fingerprint: str, *, deadline_s: float = LOG_IN_S
    ) -> HostKeyOffer:
        """Store the key with this fingerprint, if it is the one that is offered now.

        Raises
        ------
        Conflict
            Another key is offered.
        SshError
        """
        hop, key_type, key = self._offered(host, deadline_s)
        accepted = self._keys.accept(hop, key_type, key, fingerprint)
        self.reset(host)
        return accepted

    def test_connection(
        self, host: ClusterHost, *, deadline_s: float = 30.0, scratch: str | None = None
    ) -> ConnectionReport:
        """Try every part of a connection, on one of its own, and report; never raises SshError.

        Parameters
        ----------
        scratch
            A directory in which a file is written, read and removed.
        """
        until = time.monotonic() + deadline_s
        opened = Opened()
        report = ConnectionReport(config_source=self._config.source)
        if host.shell == "openssh":
            report.problem("session", _NO_OPENSSH, "What follows was tried with paramiko.")
        try:
            route = self._config.route(host)
            if route.needs_openssh is not None:
                report.problem("auth", route.needs_openssh, _NO_OPENSSH)
            connection = connect(
                route, self._keys, self._credentials(host), until=until, opened=opened
            )
        except SshError as err:
            standing = self._of(host).pool.standing()
            if isinstance(err, AuthRefused) and standing is not None:
                report.take_opened(standing.opened)
                report.problem("auth", *_STANDS)
                examine(self.shell(host, by_user=True), report, scratch=scratch, until=until)
                return report
            report.take_opened(opened)
            report.failed(err)
            return report
        report.take_opened(opened)
        pool = HostPool(
            route.target.label, _only(connection), Breaker(route.target.label), self._clock
        )
        shell = ParamikoShell(
            pool, lambda one, purpose: _ways(one, purpose, {}),
            setup_commands=host.setup_commands, by_user=True, clock=self._clock,
        )  # fmt: skip
        try:
            examine(shell, report, scratch=scratch, until=until)
        finally:
            pool.close(for_good=True)
        self.reset(host)
        return report

    def forget(self, name: str) -> None:
        """Close the connections of a cluster whose record was changed or removed."""
        with self._lock:
            known = self._known.pop(name, None)
        if known is not None:
            known.pool.close(for_good=True)

    def close(self) -> None:
        """Close everything."""
        self._tender.stop()
        with self._lock:
            every = list(self._known.values())
            self._known.clear()
        for known in every:
            known.pool.close(for_good=True)

    def _of(self, host: ClusterHost) -> _Known:
        with self._lock:
            known = self._known.get(host.name)
            if known is not None and known.host == host:
                return known
            breaker = Breaker(host.name, logins_per_hour=self._logins_per_hour)
            answers = Answers()
            pool = HostPool(
                host.name, self._opener(host, answers), breaker, self._clock, self._tender.wake
            )
            made = self._known[host.name] = _Known(host, pool, {}, answers)
        if known is not None:
            known.pool.close(for_good=True)
        return made

    def _opener(
        self, host: ClusterHost, answers: Answers
    ) -> Callable[[float, Ask | None], Connection]:
        def open_(until: float, ask: Ask | None) -> Connection:
            route = self._config.route(host)
            credentials = Credentials(dict(self._environment()), answers, ask)
            return connect(route, self._keys, credentials, until=until)

        return open_

    def _offered(self, host: ClusterHost, deadline_s: float) -> tuple[Hop, str, bytes]:
        route = self._config.route(host)
        until = time.monotonic() + deadline_s
        return offered_key(route, self._keys, self._credentials(host), until=until)

    def _credentials(self, host: ClusterHost) -> Credentials:
        """What gets in without anybody to ask."""
        return Credentials(dict(self._environment()), self._of(host).answers)

    def _pools(self) -> list[tuple[str, HostPool]]:
        with self._lock:
            return [(name, known.pool) for name, known in self._known.items()]


def _ways(shell: ParamikoShell, purpose: Purpose, broken: dict[str, str]) -> Ways:
    def lend(until: Callable[[], float]) -> AbstractContextManager[Channel]:
        return shell.moving_channel(purpose, until)

    stream = Stream(lend)
    if purpose == "transfers":
        return Ways({"stream": stream}, stream, broken)
    return Ways({"sftp": Sftp(lend), "stream": stream}, stream, broken)


def _refuse_openssh(host: ClusterHost) -> None:
    if host.shell == "openssh":
        raise NotImplementedYet(
            _NO_OPENSSH,
            hint="`shell: paramiko` handles keys, agents, passwords and jump hosts.",
            field="shell",
        )


def _only(connection: Connection) -> Callable[[float, Ask | None], Connection]:
    """Hand out this one connection."""

    def open_(_until: float, _ask: Ask | None) -> Connection:
        return connection

    return open_
