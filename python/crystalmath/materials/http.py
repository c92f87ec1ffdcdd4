"""JSON over HTTP: one document, in time, not larger than reasonable, with errors in plain words.

Used by the providers that need a network. Nothing here names a URL with its parameters or a header
in a message: they may hold a key.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from crystalmath import __version__
from crystalmath.errors import MaterialsError

MAX_BYTES: Final = 32 * 1024 * 1024
_ROUTES: Final = (Path("/proc/net/route"), Path("/proc/net/ipv6_route"))
_PROXIES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_NOT_BUILT: Final = 501


def get_json(
    provider: str,
    url: str,
    *,
    deadline: float,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    redirects: bool = True,
) -> dict[str, Any]:
    """Fetch a JSON object.

    Parameters
    ----------
    deadline
        On the monotonic clock, for the whole answer.
    redirects
        Follow them; never with a key.

    Raises
    ------
    MaterialsError
    """
    import httpx

    for name in ("httpx", "httpcore"):  # they would log every URL
        logging.getLogger(name).setLevel(logging.WARNING)
    host = urlsplit(url).hostname or ""
    left = deadline - time.monotonic()
    if left <= 0:
        raise _late(provider, host)
    try:
        with (
            httpx.Client(
                timeout=left,
                follow_redirects=redirects,
                max_redirects=5,
                trust_env=not is_loopback(host),
                headers={"User-Agent": f"crystalmath/{__version__}", "Accept": "application/json"},
            ) as client,
            client.stream("GET", url, params=params, headers=headers) as response,
        ):
            content = _read(response, provider, host, deadline)
            code = response.status_code
    except httpx.TimeoutException:
        raise _late(provider, host) from None
    except httpx.TransportError as error:
        raise _unreachable(provider, host, error) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = type(error).__name__
        message = f"{host} could not be asked: {reason}"
        raise MaterialsError(message, provider=provider, status="http_error") from None
    if code != 200:
        raise _refused(provider, host, code, content)
    return _object(provider, host, content)


def is_offline(host: str) -> bool:
    """Whether this machine has no way out at all: no default route and no proxy."""
    if is_loopback(host) or any(os.environ.get(n) or os.environ.get(n.lower()) for n in _PROXIES):
        return False
    known = [path for path in _ROUTES if path.exists()]
    return bool(known) and not any(_has_default(path) for path in known)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def offline_problem(provider: str, host: str, *, allowed: bool) -> MaterialsError | None:
    """Why a provider is not asked: the settings forbid the network, or there is none."""
    if allowed and not is_offline(host):
        return None
    why = "this machine has no network" if allowed else "`materials.offline` is set"
    return MaterialsError(
        f"offline: {why}",
        hint="what is shipped, kept and your own is searched all the same",
        provider=provider,
        status="offline",
    )


def _has_default(path: Path) -> bool:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return True  # it cannot be told
    fields = [line.split() for line in lines]
    if path.name == "route":  # Iface Destination Gateway Flags …
        return any(row[1] == "00000000" and int(row[3], 16) & 1 for row in fields[1:] if row[3:])
    return any(
        row[0] == "0" * 32 and row[1] == "00" and row[-1] != "lo" for row in fields if row[2:]
    )


def _read(response: Any, provider: str, host: str, deadline: float) -> bytes:
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if time.monotonic() > deadline:
            raise _late(provider, host)
        if len(content) > MAX_BYTES:
            size = MAX_BYTES // 1024**2
            message = f"{host} answered with more than {size} MiB"
            raise MaterialsError(
                message, provider=provider, status="bad_json", hint="lower `limit`"
            )
    return bytes(content)


def _object(provider: str, host: str, content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        message = f"{host} answered with what is no JSON object"
        raise MaterialsError(
            message, provider=provider, status="bad_json", hint="is its address right?"
        )
    return found


def _late(provider: str, host: str) -> MaterialsError:
    message = f"{host} did not answer in time"
    return MaterialsError(
        message, provider=provider, status="timeout", hint="give more `timeout_s`"
    )


def _unreachable(provider: str, host: str, error: Exception) -> MaterialsError:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, socket.gaierror):
        why = "its name is not known here"
    elif isinstance(cause, OSError) and cause.strerror:
        why = cause.strerror.lower()
    else:
        why = "the connection broke"
    return MaterialsError(
        f"{host} cannot be reached: {why}",
        provider=provider,
        status="unreachable",
        hint="is there a network, and is its address right?",
    )


def _refused(provider: str, host: str, code: int, content: bytes) -> MaterialsError:
    detail = _detail(content)
    if code == _NOT_BUILT:
        message = f"{host} does not support this query{detail}"
        return MaterialsError(message, provider=provider, status="not_supported", http_status=code)
    message = f"{host} answered with HTTP status {code}{detail}"
    return MaterialsError(message, provider=provider, status="http_error", http_status=code)


def _detail(content: bytes) -> str:
    """The reason that OPTIMADE's errors state, one line."""
    try:
        errors = json.loads(content)["errors"]
        text = " ".join(str(errors[0]["detail"]).split())
    except (ValueError, RecursionError, KeyError, IndexError, TypeError):
        return ""
    return f": {text[:200]}" if text.isprintable() else ""
