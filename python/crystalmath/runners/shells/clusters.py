"""The shell of a cluster, from its record: of this machine, or of a host over SSH.

Built by ``api``; the one place that turns a record into a connection.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from crystalmath.contract.clusters import ClusterReport, ConnectionView, HostKeyView, Problem
from crystalmath.errors import InvalidParams
from crystalmath.runners.shells.hosts import ClusterHost
from crystalmath.runners.shells.local import LocalShell
from crystalmath.runners.shells.report import ConnectionReport
from crystalmath.runners.shells.ssh import SshShells
from crystalmath.runners.shells.ssh_config import SshConfig
from crystalmath.services.job_view import rfc3339
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.services.ports_shell import Ask, Shell


class ClusterShells:
    """Every way to a cluster.

    Parameters
    ----------
    known_hosts
        Our own file of host keys.
    agent
        Socket of the user's ssh agent, as the newest client named it.
    ssh_config
        Another configuration file than OpenSSH's own.
    """

    def __init__(
        self,
        known_hosts: Path,
        agent: Callable[[], str | None],
        ssh_config: SshConfig | None = None,
    ) -> None:
        def environment() -> Mapping[str, str]:
            newest = agent()
            return os.environ if newest is None else {**os.environ, "SSH_AUTH_SOCK": newest}

        self._ssh = SshShells(
            known_hosts=known_hosts, environment=environment, ssh_config=ssh_config
        )

    def open(self, record: ClusterRecord, *, by_user: bool = False) -> Shell:
        """The shell; connects on first use.

        Raises
        ------
        NotImplementedYet
        """
        if is_here(record):
            return LocalShell(setup_commands=record.setup_commands)
        return self._ssh.shell(_host(record), by_user=by_user)

    def test(self, record: ClusterRecord, *, deadline_s: float) -> tuple[ClusterReport, bool]:
        """Try the connection; the report holds that part, and whether commands can be run."""
        if is_here(record):
            return ClusterReport(reachable=True), True
        found = self._ssh.test_connection(_host(record), deadline_s=deadline_s)
        seen = _view(found)
        if record.key_file is not None and not Path(record.key_file).expanduser().is_file():
            absent = Problem(
                what=f"there is no key file {record.key_file} on this machine",
                hint="correct `key_file`; ssh's other keys and the agent were tried without it",
            )
            seen = seen.model_copy(update={"problems": [absent, *seen.problems]})
        return seen, found.facts is not None

    def accept_host_key(self, record: ClusterRecord, fingerprint: str) -> HostKeyView:
        """Store the key with this fingerprint, if it is the one that is offered now.

        Raises
        ------
        Conflict, SshError, InvalidParams
        """
        if is_here(record):
            raise InvalidParams(f"{record.name} is this machine: there is no host key", field="id")
        offer = self._ssh.accept_host_key(_host(record), fingerprint)
        return HostKeyView(type=offer.key_type, fingerprint=offer.sha256, known=True)

    def login(self, record: ClusterRecord, ask: Ask) -> None:
        """See ``services.clusters.Ways.login``."""
        if is_here(record):
            raise InvalidParams(f"{record.name} is this machine: nobody logs in", field="id")
        self._ssh.login(_host(record), ask)

    def changed(self, before: ClusterRecord, after: ClusterRecord | None) -> None:
        """Close connections that another record would not make, and forget what was answered."""
        if after is None or _host(before) != _host(after):
            self._ssh.forget(before.name)

    def connection(self, record: ClusterRecord) -> ConnectionView | None:
        """See ``services.clusters.Ways.connection``."""
        health = None if is_here(record) else self._ssh.known_health(_host(record))
        if health is None:
            return None
        next_try_at = None
        if health.next_try_in_s is not None:
            next_try_at = rfc3339(time.time() + health.next_try_in_s)
        return ConnectionView(state=health.state, failures=health.failures, next_try_at=next_try_at)

    def reset(self, record: ClusterRecord) -> None:
        """Forget refusals and back-off: the user has changed something."""
        if not is_here(record):
            self._ssh.reset(_host(record))

    def close(self) -> None:
        """Close every connection."""
        self._ssh.close()


def is_here(record: ClusterRecord) -> bool:
    """Whether a cluster's login node is this machine itself."""
    way = (record.port, record.username, record.key_file, record.proxy_jump)
    return record.hostname == "localhost" and all(part is None for part in way)


def _host(record: ClusterRecord) -> ClusterHost:
    key = record.key_file
    return ClusterHost(
        name=record.name,
        hostname=record.hostname,
        port=record.port,
        username=record.username,
        key_file=None if key is None else Path(key).expanduser(),
        proxy_jump=record.proxy_jump,
        shell=record.shell,
        setup_commands=record.setup_commands,
    )


def _key(found: ConnectionReport) -> HostKeyView | None:
    """The key that was offered last: of the hop that stopped us, or of the host itself."""
    refused = found.error.facts if found.error is not None else {}
    if refused.get("sha256"):
        return HostKeyView(type=refused.get("key_type"), fingerprint=refused["sha256"], known=False)
    if not found.host_keys:
        return None
    key = found.host_keys[-1]
    return HostKeyView(type=key.key_type, fingerprint=key.sha256, known=key.known)


def _view(found: ConnectionReport) -> ClusterReport:
    key = _key(found)
    auth: dict[str, Any] = {"shell": found.shell, "why": found.why_shell}
    if found.logged_in:
        last = found.logged_in[-1]
        auth |= {"method": last.method, "offered": list(last.offered)}
        auth["allowed"] = list(last.allowed or ())
    return ClusterReport(
        reachable=found.facts is not None,
        host_key=key,
        auth=auth,
        noise=list(found.banner),
        problems=[Problem(what=one.message, hint=one.hint) for one in found.problems],
    )
