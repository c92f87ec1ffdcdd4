"""What the tests with real engines share: installing them, and calls that take long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.daemon import Daemon, RawSocket, wait_until

INSTALL_S = 1500.0
CALL_S = 1700.0


def install(daemon: Daemon, engine: str) -> Path:
    """Install an engine; return its environment."""
    daemon.call("forces.install", {"engine": engine})

    def done() -> bool:
        (info,) = [e for e in daemon.call("forces.engines") if e["name"] == engine]
        task = info["install"]
        assert task is None or task["state"] != "failed", task
        return bool(info["installed"]) and task is None  # examined, too

    # seldom: what is waited for needs the processor
    wait_until(done, f"{engine} is installed", INSTALL_S, every_s=0.5)
    (info,) = [e for e in daemon.call("forces.engines") if e["name"] == engine]
    return daemon.data / "environments" / info["environment"]


def call(daemon: Daemon, method: str, params: dict[str, Any]) -> Any:
    """Loading torch takes long on a busy machine."""
    with RawSocket(daemon.socket, timeout_s=CALL_S) as raw:
        return raw.data(method, params)
