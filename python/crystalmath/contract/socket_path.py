"""Where the daemon's socket and data directory are: the rule, as a pure function.

The Rust client has the same rule; ``tests/fixtures/socket_paths.json`` holds the cases that both
must agree on. What the file system looks like is handed in as a probe, so nothing here does I/O;
making and opening directories is the caller's work. Called by ``server.paths`` and by ``client``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

SOCKET_NAME: Final = "crystalmath.sock"
TEMPORARY_NAME_BYTES: Final = 9
"""Length of ``.cmXXXXXX``, the name a socket has before it is renamed into place."""

MAX_PATH_BYTES: Final[Mapping[str, int]] = {"linux": 107, "macos": 103}
"""Longest socket path: ``sun_path`` less the terminating NUL (unix(7); macOS sys/un.h)."""

Platform = Literal["linux", "macos"]
Origin = Literal["flag", "environment", "runtime", "run_user", "caches", "tmp"]
Reason = Literal["relative", "no_file_name", "unsafe_directory", "no_home"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What ``lstat`` finds at a path."""

    kind: Literal["dir", "symlink", "file", "other"]
    uid: int
    mode: int
    writable: bool = True


Probe = Callable[[str], Facts | None]
"""Facts about a path; None when nothing is there."""


class PathRefusedError(ValueError):
    """No usable path; ``reason`` is the word of the shared table."""

    def __init__(self, reason: Reason, path: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.path = path


@dataclass(frozen=True, slots=True)
class SocketPath:
    """A usable path and how it was found.

    Attributes
    ----------
    shortened_from
        The path that was wanted, when it is longer than the system allows.
    make_directory
        The directory is the private one in ``/tmp``, to be made with mode 0700.
    """

    path: str
    origin: Origin
    shortened_from: str | None = None
    make_directory: bool = False


def private_directory(uid: int) -> str:
    """Return the directory in ``/tmp`` that holds the socket when there is no better place."""
    return f"/tmp/crystalmath-{uid}"  # noqa: S108 (checked by lstat before use)


def fits(path: str, platform: Platform) -> bool:
    """Whether ``path`` and its temporary name are short enough to bind."""
    directory, _, name = os.fsencode(path).rpartition(b"/")
    return len(directory) + 1 + max(len(name), TEMPORARY_NAME_BYTES) <= MAX_PATH_BYTES[platform]


def socket_path(
    flag: str | None, env: Mapping[str, str], uid: int, probe: Probe, platform: Platform
) -> SocketPath:
    """Choose the socket path; the first usable candidate wins.

    Parameters
    ----------
    flag
        Value of ``--socket``, or None.
    env
        The environment; an empty variable counts as unset.
    uid
        Numeric user id of the caller.
    probe
        Looks at a directory.
    platform
        ``linux`` or ``macos``.

    Raises
    ------
    PathRefusedError
        The explicit path is unusable, or the last candidate is unsafe.
    """
    explicit: tuple[tuple[str, Origin], ...] = (
        (flag or "", "flag"),
        (env.get("CRYSTALMATH_SOCKET", ""), "environment"),
    )
    for value, origin in explicit:
        if value:
            _check_explicit(value)
            return _short_enough(value, origin, uid, probe, platform)
    for directory, origin in _session_directories(env, uid, platform):
        if _usable(probe(directory), uid, shared=origin == "caches"):
            return _short_enough(f"{directory}/{SOCKET_NAME}", origin, uid, probe, platform)
    _check_private(uid, probe)
    return SocketPath(f"{private_directory(uid)}/{SOCKET_NAME}", "tmp", make_directory=True)


def data_directory(flag: str | None, env: Mapping[str, str]) -> str:
    """Choose the data directory: flag, ``CRYSTALMATH_DATA_DIR``, XDG, then below the home.

    Raises
    ------
    PathRefusedError
        The explicit path is relative, or ``HOME`` is not set.
    """
    for value in (flag or "", env.get("CRYSTALMATH_DATA_DIR", "")):
        if value:
            if not value.startswith("/"):
                raise PathRefusedError("relative", value, f"data directory {value!r} is relative")
            return value
    return xdg_directory(env, "XDG_DATA_HOME", ".local/share")


def xdg_directory(env: Mapping[str, str], variable: str, below_home: str) -> str:
    """Return ``$variable/crystalmath``, or the same below the home directory."""
    parent = env.get(variable, "")
    if not parent.startswith("/"):  # also when empty; the XDG rule is to ignore relative ones
        home = env.get("HOME", "")
        if not home.startswith("/"):
            raise PathRefusedError("no_home", home, "HOME is not set to an absolute path")
        parent = f"{home.rstrip('/')}/{below_home}"
    return f"{parent.rstrip('/')}/crystalmath"


def _session_directories(
    env: Mapping[str, str], uid: int, platform: Platform
) -> tuple[tuple[str, Origin], ...]:
    if platform == "macos":
        home = env.get("HOME", "").rstrip("/")
        return ((f"{home}/Library/Caches", "caches"),) if home.startswith("/") else ()
    guessed: tuple[str, Origin] = (f"/run/user/{uid}", "run_user")
    runtime = env.get("XDG_RUNTIME_DIR", "").rstrip("/")
    return ((runtime, "runtime"), guessed) if runtime.startswith("/") else (guessed,)


def _check_explicit(path: str) -> None:
    if not path.startswith("/"):
        raise PathRefusedError("relative", path, f"socket path {path!r} is relative")
    if path.endswith("/"):
        raise PathRefusedError("no_file_name", path, f"socket path {path!r} names a directory")


def _usable(facts: Facts | None, uid: int, *, shared: bool) -> bool:
    if facts is None or facts.kind != "dir" or facts.uid != uid or not facts.writable:
        return False
    forbidden = 0o022 if shared else 0o077
    return facts.mode & 0o700 == 0o700 and facts.mode & forbidden == 0


def _check_private(uid: int, probe: Probe) -> None:
    directory = private_directory(uid)
    facts = probe(directory)
    if facts is not None and not _usable(facts, uid, shared=False):
        raise PathRefusedError(
            "unsafe_directory",
            directory,
            f"{directory} is not a directory of yours alone; somebody else may have made it",
        )


def _short_enough(
    path: str, origin: Origin, uid: int, probe: Probe, platform: Platform
) -> SocketPath:
    if fits(path, platform):
        return SocketPath(path, origin)
    _check_private(uid, probe)
    import hashlib  # rarely needed, and not cheap at every start

    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    return SocketPath(
        f"{private_directory(uid)}/{digest}.sock", origin, shortened_from=path, make_directory=True
    )
