"""What the services need of the running server; implemented by ``server.state``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from crystalmath.contract.rpc import Call
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
from crystalmath.services.events import EventHub

if TYPE_CHECKING:
    from crystalmath.services.ports_materials import MaterialsSettings
    from crystalmath.services.ports_pool import PoolLimits


class ControllerSettings(Protocol):
    """The settings that concern the services; the server's ``Settings`` has more."""

    @property
    def data_dir(self) -> Path:
        """Directory of the database and the jobs."""

    @property
    def max_concurrent_jobs(self) -> int | None:
        """Processor cores that local jobs may use together; None: all of this machine."""

    @property
    def pump_poll_s(self) -> float:
        """Seconds between two looks at running jobs."""

    @property
    def socket_path(self) -> str:
        """Path of the daemon's socket."""

    @property
    def engines_dir(self) -> Path:
        """Directory of the user's own declarations of engines."""

    @property
    def templates_dir(self) -> Path:
        """Directory of the user's own templates."""

    @property
    def forces_limits(self) -> PoolLimits:
        """Limits of the force workers."""

    @property
    def materials(self) -> MaterialsSettings:
        """Who is asked for structures."""

    @property
    def log_watch_s(self) -> float:
        """Seconds between two looks at the size of a log that somebody watches."""


class ServerPort(Protocol):
    """The server as the services see it."""

    @property
    def hub(self) -> EventHub:
        """Where events are published and subscribed to."""

    @property
    def ssh_auth_sock(self) -> str | None:
        """Socket of the user's ssh agent, as the newest client named it."""

    def hello(self, params: HelloParams, call: Call) -> HelloResult:
        """Introduce both sides; raises ``ProtocolMismatch``."""

    def ping(self) -> PingResult:
        """The daemon's clock."""

    def status(self) -> StatusResult:
        """Counters; ``jobs`` and ``live_local_jobs`` come from :meth:`set_job_counts`."""

    def config(self) -> ConfigResult:
        """Settings in force and where each comes from."""

    def shutdown(self, params: ShutdownParams, call: Call) -> ShutdownResult:
        """Begin to stop; raises ``Conflict`` when another instance was meant."""

    def cancel(self, params: CancelParams, call: Call) -> CancelResult:
        """Cancel a call in flight on the same connection."""

    def document(self) -> dict[str, Any]:
        """The OpenRPC document of the method table in force."""

    def progress(self, text: str) -> None:
        """Tell whoever waits for the start what it is busy with; one line."""

    def encode(self, value: Mapping[str, Any]) -> bytes:
        """JSON as it goes over the wire."""

    def run_worker(self, function: str, kwargs: Mapping[str, Any], deadline_s: float) -> Any:
        """Run an allow-listed ``module:function`` in a warm worker process; JSON in and out."""
