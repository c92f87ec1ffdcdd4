"""``system.*``, ``rpc.discover`` and ``$/cancel``: the daemon about itself.

Thin: the answers that concern the running server come from the :class:`ServerPort`, so that they
work before the database is open. ``services.diagnosis`` has ``system.doctor`` and
``system.usage``.
"""

from __future__ import annotations

from typing import Any

from crystalmath.contract.rpc import Call, NoParams, rpc
from crystalmath.contract.system import (
    CancelParams,
    CancelResult,
    ConfigResult,
    HelloParams,
    HelloResult,
    PingResult,
    ShutdownParams,
    ShutdownResult,
    StatusResult,
)
from crystalmath.errors import Conflict, ProtocolMismatch
from crystalmath.services.ports_server import ServerPort


class SystemService:
    """What works from the first moment on, before the database is open."""

    def __init__(self, server: ServerPort) -> None:
        self._server = server

    @rpc(errors=(ProtocolMismatch,), lane="inline", read_only=True, before_ready=True)
    def hello(self, params: HelloParams, call: Call) -> HelloResult:
        """Introduce client and daemon to each other.

        Optional. Agrees on the highest protocol version both sides speak and reports the limits.
        """
        return self._server.hello(params, call)

    @rpc(lane="inline", read_only=True, before_ready=True)
    def ping(self, params: NoParams) -> PingResult:
        """Answer at once."""
        return self._server.ping()

    @rpc(lane="inline", read_only=True, before_ready=True)
    def status(self, params: NoParams) -> StatusResult:
        """Tell what the daemon is doing: lanes, calls in flight, latencies, jobs by state."""
        return self._server.status()

    @rpc(lane="inline", read_only=True, before_ready=True)
    def config(self, params: NoParams) -> ConfigResult:
        """List the daemon's settings, each with the place it comes from."""
        return self._server.config()

    @rpc(errors=(Conflict,), lane="inline", before_ready=True)
    def shutdown(self, params: ShutdownParams, call: Call) -> ShutdownResult:
        """Stop the daemon. Local jobs go on; the next daemon finds them again."""
        return self._server.shutdown(params, call)

    @rpc(lane="inline", wire_name="$/cancel", before_ready=True)
    def cancel(self, params: CancelParams, call: Call) -> CancelResult:
        """Cancel a call that is in flight on the same connection.

        The cancelled call itself is answered with -32800, but only if its work did not finish.
        """
        return self._server.cancel(params, call)

    @rpc(read_only=True, before_ready=True, bare_result=True, wire_name="rpc.discover")
    def discover(self, params: NoParams) -> dict[str, Any]:
        """Return the OpenRPC document of every method; the one result that is not wrapped."""
        return self._server.document()
