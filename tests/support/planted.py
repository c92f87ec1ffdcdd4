"""Looks for a planted secret in everything that a daemon writes, shows and tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from support.daemon import Daemon, RawSocket, RpcFailure


class Listener:
    """A client that keeps every byte it gets.

    Attributes
    ----------
    heard
        All replies and notifications.
    """

    def __init__(self, daemon: Daemon) -> None:
        self._raw: RawSocket = daemon.connect()
        self.heard: list[Any] = []
        self.error: dict[str, Any] = {}

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Call; the ``data`` of the reply, or None and :attr:`error`."""
        request = self._raw.request(method, params)
        self._raw.send(request)
        while True:
            message = self._raw.reply()
            self.heard.append(message)
            if message.get("id") == request["id"]:
                break
        if "error" in message:
            self.error = message["error"]
            return None
        return message["result"]["data"]

    def answer(self, cluster: str, begun: dict[str, Any], answers: list[str]) -> Any:
        """Answer what a login asks."""
        params = {"id": cluster, "dialogue": begun["dialogue"], "answers": answers}
        return self.call("clusters.login", params)

    def close(self) -> None:
        """Hang up."""
        self._raw.close()


def places_of(secrets: Iterable[str], daemon: Daemon, listener: Listener) -> list[str]:
    """Where one of the secrets is found: files of the daemon, processes, what a client heard."""
    wanted = [secret.encode() for secret in secrets]
    files = (path for path in sorted(daemon.root.rglob("*")) if path.is_file())
    found = [str(path) for path in files if any(one in path.read_bytes() for one in wanted)]
    processes = Path("/proc").glob("[0-9]*")
    shown = (place for process in processes for place in _shown(process, wanted))
    found.extend(map(str, shown))
    heard = repr(listener.heard).encode()
    found += ["what a client heard"] * any(secret in heard for secret in wanted)
    for method in ("system.status", "system.doctor", "system.config", "clusters.list"):
        try:
            said = repr(daemon.call(method)).encode()
        except RpcFailure as error:
            said = repr(error).encode()
        found += [method] * any(secret in said for secret in wanted)
    return found


def _shown(process: Path, wanted: list[bytes]) -> Iterator[Path]:
    for place in (process / "cmdline", process / "environ"):
        # A process may end meanwhile, or be somebody else's.
        with suppress(OSError):
            if any(secret in place.read_bytes() for secret in wanted):
                yield place
