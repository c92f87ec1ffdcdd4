"""The directories and files of the daemon: looks at the file system and makes what is missing.

The rule where the socket is lives in ``contract.socket_path``; here are its probe and the making of
private directories. Called by ``settings`` and ``lifecycle``.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from crystalmath.contract.socket_path import (
    MAX_PATH_BYTES,
    Facts,
    PathRefusedError,
    Platform,
    SocketPath,
    socket_path,
)
from crystalmath.errors import ConfigError

PLATFORM: Platform = "macos" if sys.platform == "darwin" else "linux"


def probe(path: str) -> Facts | None:
    """Look at ``path`` without following a final symbolic link."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    kind = stat.S_IFMT(found.st_mode)
    return Facts(
        kind="dir"
        if kind == stat.S_IFDIR
        else "symlink"
        if kind == stat.S_IFLNK
        else "file"
        if kind == stat.S_IFREG
        else "other",
        uid=found.st_uid,
        mode=stat.S_IMODE(found.st_mode),
        writable=os.access(path, os.W_OK | os.X_OK),
    )


def resolve_socket(flag: str | None, env: Mapping[str, str]) -> SocketPath:
    """Choose the socket path for this user; raises ``ConfigError`` in the user's words."""
    try:
        return socket_path(flag, env, os.getuid(), probe, PLATFORM)
    except PathRefusedError as error:
        raise ConfigError(
            f"{error}.", hint="Give another path with --socket or CRYSTALMATH_SOCKET."
        ) from None


def shortening_notice(chosen: SocketPath) -> str | None:
    """Say that the wanted path is too long, if it is."""
    if chosen.shortened_from is None:
        return None
    return (
        f"socket path {chosen.shortened_from} is longer than the {MAX_PATH_BYTES[PLATFORM]} bytes "
        f"the system allows; using {chosen.path}"
    )


def ensure_socket_directory(chosen: SocketPath) -> None:
    """Make the private directory in ``/tmp`` when the path lies there, and check it again.

    Raises
    ------
    ConfigError
        The directory of the socket is missing, or is not ours alone.
    """
    directory = str(Path(chosen.path).parent)
    if chosen.make_directory:
        with suppress(FileExistsError):  # ours or not: the check below decides
            Path(directory).mkdir(mode=0o700)
        facts = probe(directory)
        if facts is None or facts.kind != "dir" or facts.uid != os.getuid() or facts.mode & 0o077:
            raise ConfigError(
                f"{directory} is not a directory of yours with mode 0700.",
                hint="Somebody else may have made it; give another path with --socket.",
            )
    elif not Path(directory).is_dir():
        raise ConfigError(
            f"The directory of the socket, {directory}, does not exist.",
            hint="Create it or give another path with --socket.",
        )


def ensure_private_directory(path: Path) -> None:
    """Make ``path`` with its parents, the last one 0700; an existing directory is left as it is."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"Cannot make the directory {path}: {error.strerror}.",
            hint="Check the path and its permissions.",
        ) from None
