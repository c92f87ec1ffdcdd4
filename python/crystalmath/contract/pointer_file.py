"""``server.json``: when its content may be believed. One rule for the daemon and the client.

Beside the rule for the socket path, because both sides must agree on it. Reads one small file and
asks the system who this host and boot are; called by ``server.pointer`` and ``client``.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

NAME: Final = "server.json"
_MOST_BYTES: Final = 65536


def read_trusted(data_dir: Path) -> dict[str, Any] | None:
    """Read the file in ``data_dir``; None unless it is ours, 0600, and of this host and boot."""
    try:
        fd = os.open(data_dir / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) != 0o600:
            return None
        try:
            content = json.loads(file.read(_MOST_BYTES))
        except ValueError:
            return None
    if not isinstance(content, dict):
        return None
    here = (content.get("host"), content.get("boot_id")) == (host_name(), boot_id())
    return content if here else None


def host_name() -> str:
    """Return the name of this host, as used in file names."""
    return socket.gethostname().replace("/", "_") or "localhost"


def boot_id() -> str:
    """Return an id that changes at every boot; empty when the system offers none."""
    if sys.platform == "darwin":
        command = ["sysctl", "-n", "kern.bootsessionuuid"]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
