"""Which host, and the way to it: what a cluster's record says, and what became of it. Pure."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

DEFAULT_PORT: Final = 22


@dataclass(frozen=True, slots=True)
class ClusterHost:
    """The part of a cluster's record that concerns the connection; None is "as ``ssh`` has it".

    Attributes
    ----------
    name
        The cluster's name: limits, back-off and pool are per name.
    hostname
        Host name, address or alias of the ssh configuration.
    proxy_jump
        Hosts on the way, separated by commas; ``none`` overrides the ssh configuration.
    setup_commands
        Lines that run before every command.
    """

    name: str
    hostname: str
    port: int | None = None
    username: str | None = None
    key_file: Path | None = None
    proxy_jump: str | None = None
    shell: Literal["auto", "paramiko", "openssh"] = "auto"
    setup_commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hop:
    """One host to log in to, everything settled.

    Attributes
    ----------
    asked
        The name under which it was asked for.
    key_name
        The name to look for in known_hosts files (``HostKeyAlias``, else the host name).
    identity_agent
        Socket of the agent, ``none``, or None for the one of the environment.
    proxy_command
        Program whose standard streams are the connection, instead of TCP.
    """

    asked: str
    host: str
    port: int
    user: str
    key_name: str
    known_hosts: tuple[Path, ...] = ()
    identities: tuple[Path, ...] = ()
    identities_only: bool = False
    identity_agent: str | None = None
    proxy_command: str | None = None
    address_family: str = "any"
    alive_interval_s: int = 60

    @property
    def label(self) -> str:
        """How messages call it."""
        port = "" if self.port == DEFAULT_PORT else f":{self.port}"
        where = f"{self.host}{port}"
        return where if self.asked == self.host else f"{self.asked} ({where})"


@dataclass(frozen=True, slots=True)
class Route:
    """The hops to a host, the last one is the host itself.

    Attributes
    ----------
    source
        Who read the configuration: ``ssh -G`` or ``paramiko``.
    needs_openssh
        Why only OpenSSH can make this connection; None if nothing says so.
    """

    hops: tuple[Hop, ...]
    source: str
    needs_openssh: str | None = None

    @property
    def target(self) -> Hop:
        """The host itself."""
        return self.hops[-1]


class Clock:
    """Both clocks: they part when the machine has slept."""

    def monotonic(self) -> float:
        """Seconds that only go forward."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since the epoch."""
        return time.time()
