"""The way to a host as OpenSSH's configuration has it: ``ssh -G``, hop by hop.

Where there is no ``ssh`` the configuration is read by paramiko, which ignores ``Include``; the
test report says so. Values of the cluster's record win.
"""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from crystalmath.errors import SshError
from crystalmath.runners.shells.hosts import DEFAULT_PORT, ClusterHost, Hop, Route

Values = Mapping[str, Sequence[str]]
"""Lower-case option → the values of each of its lines."""

_SSH_G_S: Final = 10.0
_MAX_HOPS: Final = 8


@dataclass(frozen=True, slots=True)
class JumpHost:
    """One element of ``ProxyJump``: ``[user@]host[:port]`` or ``ssh://…``."""

    host: str
    user: str | None = None
    port: int | None = None


def parse_ssh_g(text: str) -> dict[str, list[str]]:
    """Read what ``ssh -G`` prints."""
    values: dict[str, list[str]] = {}
    for line in text.splitlines():
        option, _, value = line.partition(" ")
        if option:
            values.setdefault(option.lower(), []).append(value.strip())
    return values


def parse_jumps(text: str | None) -> tuple[JumpHost, ...]:
    """Read ``ProxyJump``; ``none`` and nothing are no hops."""
    if text is None or text.strip().lower() in {"", "none"}:
        return ()
    return tuple(_parse_jump(part.strip()) for part in text.split(",") if part.strip())


def _parse_jump(text: str) -> JumpHost:
    text = text.removeprefix("ssh://").rstrip("/")
    user, at, rest = text.rpartition("@")
    host, port = rest, ""
    if rest.startswith("["):
        host, _, port = rest[1:].partition("]")
        port = port.removeprefix(":")
    elif rest.count(":") == 1:
        host, _, port = rest.partition(":")
    if not host or host.startswith("-") or not (port.isdigit() or not port):
        raise SshError(
            f"the jump host {text!r} cannot be read",
            hint="Write it as `user@host:port`.",
            field="proxy_jump",
            stage="config",
        )
    return JumpHost(host, user if at else None, int(port) if port else None)


def hop_of(values: Values, asked: str, key_file: Path | None, home: Path) -> Hop:
    """Make a hop of what the configuration says about it."""
    host = _first(values, "hostname") or asked
    port = int(_first(values, "port") or DEFAULT_PORT)
    user = _first(values, "user") or getpass.getuser()
    tokens = {
        "%": "%", "d": str(home), "h": host, "n": asked, "p": str(port), "r": user,
        "u": getpass.getuser(), "i": "", "l": socket.gethostname(),
        "L": socket.gethostname().partition(".")[0],
        "k": _first(values, "hostkeyalias") or asked, "j": "",
    }  # fmt: skip

    def path(text: str) -> Path:
        text = expand_tokens(text, tokens).strip('"')
        return home / text[2:] if text.startswith("~/") else Path(text)

    identities = [path(one) for one in values.get("identityfile", ()) if one.lower() != "none"]
    if key_file is not None:
        identities = [key_file, *(one for one in identities if one != key_file)]
    known = [
        path(one)
        for option in ("userknownhostsfile", "globalknownhostsfile")
        for one in (_first(values, option) or "").split()
        if one.lower() != "none"
    ]
    agent = _first(values, "identityagent")
    command = _first(values, "proxycommand")
    return Hop(
        asked=asked,
        host=host,
        port=port,
        user=user,
        key_name=_first(values, "hostkeyalias") or host,
        known_hosts=tuple(known),
        identities=tuple(identities),
        identities_only=_first(values, "identitiesonly") == "yes",
        identity_agent=_agent(agent, path),
        proxy_command=expand_tokens(command, tokens)
        if command and command.lower() != "none"
        else None,
        address_family=_first(values, "addressfamily") or "any",
        alive_interval_s=int(_first(values, "serveraliveinterval") or 0) or 60,
    )


def _agent(text: str | None, path: Callable[[str], Path]) -> str | None:
    if text is None or text == "SSH_AUTH_SOCK":
        return None
    if text.lower() == "none" or text.startswith("$"):
        return text
    return str(path(text))


def expand_tokens(text: str, tokens: Mapping[str, str]) -> str:
    """Expand ``%h`` and the like; an unknown one stays as it is."""
    out, at = [], 0
    while at < len(text):
        if text[at] == "%" and at + 1 < len(text):
            out.append(tokens.get(text[at + 1], text[at : at + 2]))
            at += 2
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def _first(values: Values, option: str) -> str | None:
    found = values.get(option)
    return found[0] if found else None


class SshConfig:
    """Finds the way to a host.

    Parameters
    ----------
    config_file
        Another file than OpenSSH's own.
    ssh
        The program; None looks for it in ``PATH``.
    """

    def __init__(
        self, *, config_file: Path | None = None, ssh: str | None = None, home: Path | None = None
    ) -> None:
        self._config_file = config_file
        self._ssh = ssh or shutil.which("ssh")
        self._home = home or Path.home()

    @property
    def source(self) -> str:
        """Who reads the configuration."""
        return "ssh -G" if self._ssh else "paramiko"

    def route(self, host: ClusterHost) -> Route:
        """Return every hop to a host.

        Raises
        ------
        SshError
            OpenSSH refuses its configuration, or the jumps have no end.
        """
        wanted = JumpHost(host.hostname, host.username, host.port)
        jumps = None if host.proxy_jump is None else parse_jumps(host.proxy_jump)
        hops, needs = self._hops(wanted, jumps, host.key_file, 0)
        return Route(hops, self.source, needs)

    def _hops(
        self, to: JumpHost, jumps: tuple[JumpHost, ...] | None, key_file: Path | None, depth: int
    ) -> tuple[tuple[Hop, ...], str | None]:
        if depth >= _MAX_HOPS:
            raise SshError(
                f"the jump hosts on the way to {to.host} have no end",
                hint="Look for a `ProxyJump` that leads back to the same host.",
                host=to.host,
                stage="config",
            )
        values = self._values(to)
        hop = hop_of(values, to.host, key_file, self._home)
        if jumps is None:
            jumps = parse_jumps(_first(values, "proxyjump"))
        if not jumps:
            return (hop,), _needs_openssh(values, hop)
        # As `ssh -J a,b`: the last is reached through the others, the first by its own rules.
        hop = replace(hop, proxy_command=None)
        before, needs = self._hops(jumps[-1], jumps[:-1] or None, None, depth + 1)
        return (*before, hop), needs or _needs_openssh(values, hop)

    def _values(self, to: JumpHost) -> Values:
        if self._ssh is None:
            return self._read_by_paramiko(to)
        argv = [self._ssh, "-G"]
        argv += ["-F", str(self._config_file)] if self._config_file else []
        argv += ["-p", str(to.port)] if to.port else []
        argv += ["-l", to.user] if to.user else []
        try:
            done = subprocess.run(
                [*argv, "--", to.host],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SSH_G_S,
                check=False,
            )
        except subprocess.TimeoutExpired as err:
            raise SshError(
                f"`ssh -G {to.host}` gave no answer within {_SSH_G_S:.0f} s",
                hint="A `Match exec` in the ssh configuration may hang.",
                host=to.host,
                stage="config",
            ) from err
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SshError(
                f"OpenSSH refuses its configuration for {to.host}: {said[0] if said else '?'}",
                hint=f"Try `ssh -G {to.host}`.",
                host=to.host,
                stage="config",
            )
        return parse_ssh_g(done.stdout.decode("utf-8", "surrogateescape"))

    def _read_by_paramiko(self, to: JumpHost) -> Values:
        import paramiko

        place = self._config_file or self._home / ".ssh" / "config"
        config = paramiko.SSHConfig()
        if place.is_file():
            config = paramiko.SSHConfig.from_path(str(place))
        found = config.lookup(to.host)
        values = {k: [v] if isinstance(v, str) else list(v) for k, v in found.items()}
        values.setdefault("userknownhostsfile", ["~/.ssh/known_hosts"])
        values.setdefault("globalknownhostsfile", ["/etc/ssh/ssh_known_hosts"])
        names = ("id_ed25519", "id_ecdsa", "id_rsa")
        values.setdefault("identityfile", [f"~/.ssh/{name}" for name in names])
        values["user"] = [to.user] if to.user else values.get("user", [])
        values["port"] = [str(to.port)] if to.port else values.get("port", [])
        return values


def _needs_openssh(values: Values, hop: Hop) -> str | None:
    if _first(values, "pubkeyauthentication") == "no":
        return f"the ssh configuration turns off keys for {hop.asked}"
    return None
