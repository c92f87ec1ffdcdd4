"""The services in the process of somebody else, without a daemon: the other side of ``bench-pyo3``.

The same controller on the same database, the same checks of the params, the same functions and the
same encoding as in the daemon. What is left out is what a daemon is for: socket, framing, envelope,
lanes, deadlines, and other clients. Imported by the crate in ``scripts/bench-pyo3``.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from oslash.either import Right

from bench.launcher import LOADS
from crystalmath import api
from crystalmath.contract.system import PingResult
from crystalmath.server.calls import InlineCall
from crystalmath.server.dispatch import bind
from crystalmath.server.envelope import Request
from crystalmath.server.settings import load_settings
from crystalmath.server.strict_json import decode
from crystalmath.services.events import EventHub


class Host:
    """What there is of a server here: its clock and its hub. Implements part of ``ServerPort``."""

    def __init__(self) -> None:
        self.hub = EventHub("embedded")

    def ping(self) -> PingResult:
        """The clock."""
        return PingResult(time=datetime.now(UTC))

    def progress(self, text: str) -> None:
        """Nobody waits for the start."""

    def run_worker(self, function: str, kwargs: Mapping[str, Any], deadline_s: float) -> Any:
        """Nothing that is compared needs a worker."""
        raise NotImplementedError(function)


class Embedded:
    """See the module docstring.

    Parameters
    ----------
    data_dir
        Where the database is. No daemon may have it open.
    """

    trace_prefix = ""

    def __init__(self, data_dir: str) -> None:
        settings = load_settings(os.environ, data_dir=data_dir, started="foreground")
        self._nesting = settings.limits.nesting
        sys.setswitchinterval(settings.switch_interval_s)
        self._controller = api.build(settings, Host())  # type: ignore[arg-type]
        self._controller.start()
        services = self._controller.namespaces()
        self._functions = {
            name: bind(method, services.get(method.namespace)).function
            for name, method in api.method_table().items()
        }
        gc.collect()
        gc.freeze()  # as the daemon does

    def call(self, method: str, params: bytes) -> bytes:
        """Call a method; returns its ``result`` in JSON.

        Raises
        ------
        RuntimeError
            The method refuses.
        """
        given = decode(params, self._nesting)
        request = Request({"method": method, "params": given}, method, 1)
        outcome = self._functions[method](InlineCall(request, self), **given)  # type: ignore[arg-type]
        if type(outcome) is not Right:
            raise RuntimeError(f"{method}: {outcome._error}")  # noqa: SLF001 - the library's only way
        result: bytes = outcome._value.result  # noqa: SLF001
        return result

    def burden(self, load: str) -> None:
        """Let a thread work, as long as the process lives."""
        threading.Thread(target=LOADS[load], args=(lambda: True,), daemon=True).start()
