"""An SSH server in this process that lets in whom a test wants; it runs no commands."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paramiko

from crystalmath.runners.shells.hosts import ClusterHost
from crystalmath.runners.shells.ssh_config import SshConfig

Prompts = Sequence[tuple[str, bool]]


@dataclass
class Doorkeeper:
    """Who is let in.

    Attributes
    ----------
    password
        The one of everybody; None: the method is not offered.
    rounds
        The questions of ``keyboard-interactive`` and their right answers, round by round.
    key
        The public key that is let in.
    tried
        Method and what was given, of everything that was tried.
    """

    password: str | None = None
    rounds: Sequence[tuple[Prompts, Sequence[str]]] = ()
    key: paramiko.PKey | None = None
    tried: list[tuple[str, Any]] = field(default_factory=list)


class _Interface(paramiko.ServerInterface):
    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper
        self._round = 0

    def get_allowed_auths(self, username: str) -> str:
        keeper = self._keeper
        offered = {
            "publickey": keeper.key,
            "password": keeper.password,
            "keyboard-interactive": keeper.rounds or None,
        }
        return ",".join(name for name, there in offered.items() if there is not None)

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        self._keeper.tried.append(("publickey", key.get_base64()))
        good = self._keeper.key is not None and key.asbytes() == self._keeper.key.asbytes()
        return paramiko.AUTH_SUCCESSFUL if good else paramiko.AUTH_FAILED

    def check_auth_password(self, username: str, password: str) -> int:
        self._keeper.tried.append(("password", password))
        good = password == self._keeper.password
        return paramiko.AUTH_SUCCESSFUL if good else paramiko.AUTH_FAILED

    def check_auth_interactive(self, username: str, submethods: str) -> Any:
        return self._ask()

    def check_auth_interactive_response(self, responses: list[str]) -> Any:
        self._keeper.tried.append(("keyboard-interactive", list(responses)))
        if list(responses) != list(self._keeper.rounds[self._round][1]):
            return paramiko.AUTH_FAILED
        self._round += 1
        if self._round == len(self._keeper.rounds):
            return paramiko.AUTH_SUCCESSFUL
        return self._ask()

    def _ask(self) -> paramiko.InteractiveQuery:
        return paramiko.InteractiveQuery("", "", *self._keeper.rounds[self._round][0])

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED


@contextmanager
def ssh_server(root: Path, keeper: Doorkeeper) -> Iterator[tuple[ClusterHost, SshConfig]]:
    """Serve on a free port; gives the host, and a configuration that knows its key."""
    host_key = paramiko.ECDSAKey.generate()
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    transports: list[paramiko.Transport] = []

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            transport = paramiko.Transport(peer)
            transport.add_server_key(host_key)
            transports.append(transport)
            with suppress(paramiko.SSHException, EOFError, OSError):
                transport.start_server(server=_Interface(keeper), event=threading.Event())

    threading.Thread(target=serve, daemon=True).start()
    known = root / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {host_key.get_name()} {host_key.get_base64()}\n")
    config = root / "ssh_config"
    config.write_text(
        f"Host *\n UserKnownHostsFile {known}\n IdentityFile none\n IdentityAgent none\n"
    )
    try:
        yield ClusterHost("c", "127.0.0.1", port, "ada"), SshConfig(config_file=config)
    finally:
        listener.close()
        for transport in transports:
            transport.close()
