"""Private keys: files, and what an agent holds. Secrets pass through and are kept nowhere here."""

from __future__ import annotations

import base64
import binascii
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from crystalmath.runners.shells.hosts import Hop

if TYPE_CHECKING:
    from paramiko import PKey
    from paramiko.agent import AgentKey

_AGENT_S: Final = 30.0
_AGENT_TYPES: Final = ("ssh-ed25519", "ecdsa-sha2-", "ssh-rsa")


@dataclass(frozen=True, slots=True)
class KeyFile:
    """What became of a key file.

    Attributes
    ----------
    outcome
        ``loaded``; ``absent``; ``encrypted`` (a passphrase is needed); ``wrong_passphrase``;
        ``hardware`` (only OpenSSH can use it); ``unreadable``.
    """

    path: Path
    outcome: Literal["loaded", "absent", "encrypted", "wrong_passphrase", "hardware", "unreadable"]
    key: PKey | None = None


def load_key(path: Path, passphrase: str | None) -> KeyFile:
    """Read a private key file and the certificate beside it; never raises for what is in it."""
    import paramiko

    if not path.is_file():
        return KeyFile(path, "absent")
    if (public_blob(path) or b"")[4:7] == b"sk-":
        return KeyFile(path, "hardware")
    encrypted = False
    for cls in (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey):
        try:
            key = cls.from_private_key_file(str(path), passphrase)
        except paramiko.PasswordRequiredException:
            encrypted = True
        except OSError:
            return KeyFile(path, "unreadable")
        except (paramiko.SSHException, ValueError, IndexError, TypeError):
            continue  # a key of another type, or the wrong passphrase
        else:
            certificate = path.with_name(path.name + "-cert.pub")
            if certificate.is_file():
                key.load_certificate(str(certificate))
            return KeyFile(path, "loaded", key)
    if encrypted:
        return KeyFile(path, "encrypted")
    return KeyFile(path, "wrong_passphrase" if passphrase else "unreadable")


def public_blob(path: Path) -> bytes | None:
    """The public key beside a private one, to find it in an agent."""
    try:
        fields = path.with_name(path.name + ".pub").read_text(encoding="utf-8").split()
        return base64.b64decode(fields[1], validate=True)
    except (OSError, IndexError, UnicodeDecodeError, binascii.Error, ValueError):
        return None


class Agent:
    """The keys of an SSH agent; without one there are none."""

    def __init__(self, hop: Hop, environment: Mapping[str, str]) -> None:
        self._socket: socket.socket | None = None
        self.keys: tuple[AgentKey, ...] = ()
        place = agent_socket(hop, environment)
        if place:
            self._open(place)

    def _open(self, place: str) -> None:
        from paramiko import SSHException
        from paramiko.agent import AgentSSH

        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(_AGENT_S)
        try:
            sock.connect(place)
            agent = AgentSSH()
            agent._connect(sock)  # noqa: SLF001  paramiko's own Agent knows one variable only
            found = agent.get_keys()
        except (OSError, SSHException):
            sock.close()
            return
        self._socket = sock
        self.keys = tuple(key for key in found if key.get_name().startswith(_AGENT_TYPES))

    def close(self) -> None:
        """Let go of the agent."""
        if self._socket is not None:
            self._socket.close()


def agent_socket(hop: Hop, environment: Mapping[str, str]) -> str | None:
    """Return the agent's socket for a hop."""
    wanted = hop.identity_agent
    if wanted is None:
        return environment.get("SSH_AUTH_SOCK")
    if wanted == "none":
        return None
    return environment.get(wanted[1:]) if wanted.startswith("$") else wanted
