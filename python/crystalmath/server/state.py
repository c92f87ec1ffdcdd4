"""The daemon about itself: implements ``services.ports_server.ServerPort``.

Answers from memory, so that hello and ping work before the database is open. Called by
``services.system``; built by ``daemon``.
"""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from crystalmath import __version__
from crystalmath.contract.event_names import CAPABILITY
from crystalmath.contract.rpc import Call, Method
from crystalmath.contract.system import (
    PROTOCOL_MAX,
    PROTOCOL_MIN,
    CancelParams,
    CancelResult,
    ConfigEntry,
    ConfigResult,
    HelloParams,
    HelloResult,
    InFlight,
    LaneStatus,
    Limits,
    MethodLatency,
    PingResult,
    ShutdownParams,
    ShutdownResult,
    StatusResult,
)
from crystalmath.errors import Conflict, CrystalMathError, ProtocolMismatch
from crystalmath.server.router import Router
from crystalmath.server.settings import KEYS, Settings, value_of
from crystalmath.server.strict_json import encode
from crystalmath.server.transport import Transport
from crystalmath.services.events import EventHub

SERVER: Final = "crystalmath-server"
_log = logging.getLogger(__name__)


class ServerState:
    """See the module docstring.

    Parameters
    ----------
    request_stop
        Begins the stop; the argument is True when nothing is to be waited for.
    run_worker
        Runs a function in a worker process, see ``proc.WorkerPool.run``.
    progress
        Tells whoever waits for the start.
    log_problems
        Number of log lines that could not be written.
    """

    def __init__(
        self,
        settings: Settings,
        instance: str,
        router: Router,
        transport: Transport,
        hub: EventHub,
        *,
        request_stop: Callable[[bool], None],
        run_worker: Callable[[str, Mapping[str, Any], float], Any],
        progress: Callable[[str], None],
        log_problems: Callable[[], int],
    ) -> None:
        self.settings = settings
        self.instance = instance
        self.hub = hub
        self.ssh_auth_sock: str | None = None
        self._router = router
        self._transport = transport
        self._request_stop = request_stop
        self._run_worker = run_worker
        self._progress = progress
        self._log_problems = log_problems
        self._started_at = datetime.now(UTC)
        self._started = time.monotonic()
        self._table: Mapping[str, Method] = {}
        self._document: dict[str, Any] | None = None
        self._schema: str | None = None
        self._job_counts: Callable[[], Mapping[str, int]] = dict
        self._cluster_rows: Callable[[], list[dict[str, Any]]] = list
        self._live_local_jobs: Callable[[], int] = int

    # --- what the daemon tells ------------------------------------------------------------------

    def set_table(self, table: Mapping[str, Method], schema: str | None = None) -> None:
        """Set the method table in force, and its hash when that is known."""
        self._table = table
        self._document = None
        self._schema = schema

    def set_counts(
        self,
        jobs: Callable[[], Mapping[str, int]],
        live_local_jobs: Callable[[], int],
        clusters: Callable[[], list[dict[str, Any]]] = list,
    ) -> None:
        """Set where the numbers of jobs, and the health of the clusters, come from."""
        self._job_counts = jobs
        self._live_local_jobs = live_local_jobs
        self._cluster_rows = clusters

    # --- ServerPort -----------------------------------------------------------------------------

    def hello(self, params: HelloParams, call: Call) -> HelloResult:
        """Introduce both sides; raises ``ProtocolMismatch``."""
        low, high = params.protocol or (PROTOCOL_MIN, PROTOCOL_MAX)
        if low > PROTOCOL_MAX or high < PROTOCOL_MIN:
            older = "server" if low > PROTOCOL_MAX else "client"
            raise ProtocolMismatch(
                f"The server speaks protocol {PROTOCOL_MIN} to {PROTOCOL_MAX}, "
                f"the client {low} to {high}.",
                hint="Run `crystalmath-server stop && crystalmath-server start` with the newer "
                "installation." if older == "server" else "Update the client.",
            )  # fmt: skip
        connection = call.connection
        connection.deadline_cap_s = params.deadline_s
        agent = params.env.SSH_AUTH_SOCK if params.env else None
        if agent and _is_our_socket(agent):
            connection.ssh_auth_sock = agent
            self.ssh_auth_sock = agent
        limits = self.settings.limits
        return HelloResult(
            server=SERVER,
            version=__version__,
            protocol=(PROTOCOL_MIN, PROTOCOL_MAX),
            protocol_used=min(high, PROTOCOL_MAX),
            schema=self.schema(),
            pid=os.getpid(),
            instance=self.instance,
            started_at=self._started_at,
            data_dir=str(self.settings.data_dir),
            log_path=str(self.settings.log_path),
            state=self._router.phase,
            limits=Limits(
                request_bytes=limits.request_bytes,
                response_bytes=limits.response_bytes,
                nesting=limits.nesting,
                batch_items=limits.batch_items,
                batch_response_bytes=limits.batch_response_bytes,
                connections=limits.connections,
                in_flight=limits.in_flight,
                subscriptions=limits.subscriptions,
                unfinished_line_s=limits.unfinished_line_s,
                unwritable_s=limits.unwritable_s,
            ),
            capabilities=[CAPABILITY],
        )

    def ping(self) -> PingResult:
        """The daemon's clock."""
        return PingResult(time=datetime.now(UTC))

    def status(self) -> StatusResult:
        """What the daemon is doing."""
        now = time.monotonic()
        active = self._router.active_calls()
        jobs, live, problem = self._jobs()
        waiting = [f"{c.request.method} ({now - c.received:.1f} s)" for c in active]
        return StatusResult(
            state=self._router.phase,
            version=__version__,
            pid=os.getpid(),
            instance=self.instance,
            socket=self.settings.socket_path,
            data_dir=str(self.settings.data_dir),
            log_path=str(self.settings.log_path),
            uptime_s=now - self._started,
            rss_mib=resident_mib(),
            clients=len(self._transport.clients()),
            lanes=[
                LaneStatus(name=c.name, threads=c.threads, queued=c.queued, running=c.running)
                for c in self._router.lane_counts()
            ],
            in_flight=[
                InFlight(
                    method=c.request.method[:100],
                    connection=c.connection.id,
                    age_s=now - c.received,
                )
                for c in active
            ],
            latencies=[
                MethodLatency(method=r.method, n=r.n, p50_ms=r.p50_s * 1e3, p99_ms=r.p99_s * 1e3)
                for r in self._router.latencies.summary()
            ],
            jobs=jobs,
            live_local_jobs=live,
            jobs_problem=problem,
            waiting_for=waiting,
            log_problems=self._log_problems(),
            clusters=self._clusters(),
        )

    def config(self) -> ConfigResult:
        """Settings in force and where each comes from."""
        path = self.settings.config_path
        return ConfigResult(
            path=str(path),
            present=path.exists(),
            entries=[
                ConfigEntry(
                    key=key,
                    value=value_of(self.settings, key),
                    origin=self.settings.origins.get(key, "default"),
                )
                for key in KEYS
            ],
        )

    def shutdown(self, params: ShutdownParams, call: Call) -> ShutdownResult:
        """Begin to stop; raises ``Conflict`` when another instance was meant."""
        if params.if_instance is not None and params.if_instance != self.instance:
            raise Conflict(
                "Another instance of the daemon is running now.",
                hint="Say hello again and look at its instance.",
                field="if_instance",
            )
        remaining = len(self._router.active_calls())
        _log.info("stop asked for by connection %d", call.connection.id)
        self._request_stop(params.mode == "now")
        return ShutdownResult(remaining=remaining)

    def cancel(self, params: CancelParams, call: Call) -> CancelResult:
        """Cancel a call in flight on the same connection."""
        return CancelResult(outcome=self._router.cancel(call.connection, params.id))  # type: ignore[arg-type]

    def document(self) -> dict[str, Any]:
        """Return the OpenRPC document of the method table in force."""
        if self._document is None:
            from crystalmath.contract.openrpc import document  # not needed to say hello

            self._document = document(self._table)
        return self._document

    def progress(self, text: str) -> None:
        """Tell whoever waits for the start what it is busy with."""
        _log.info("starting: %s", text)
        self._progress(text)

    def encode(self, value: Mapping[str, Any]) -> bytes:
        """JSON as it goes over the wire."""
        return encode(value)

    def run_worker(self, function: str, kwargs: Mapping[str, Any], deadline_s: float) -> Any:
        """Run an allow-listed ``module:function`` in a warm worker process."""
        return self._run_worker(function, kwargs, deadline_s)

    # --- inside ---------------------------------------------------------------------------------

    def schema(self) -> str:
        """Hash of the document."""
        if self._schema is None:
            from crystalmath.contract.openrpc import schema_sha256

            self._schema = schema_sha256(self.document())
        return self._schema

    def _jobs(self) -> tuple[dict[str, int], int, str | None]:
        try:
            return dict(self._job_counts()), self._live_local_jobs(), None
        except CrystalMathError as error:
            _log.warning("cannot count the jobs: %s", error.message)
            return {}, 0, error.message

    def _clusters(self) -> list[dict[str, Any]]:
        try:
            return self._cluster_rows()
        except CrystalMathError as error:
            _log.warning("cannot read the clusters: %s", error.message)
            return []


def resident_mib() -> float:
    """Resident memory of this process in MiB; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _is_our_socket(path: str) -> bool:
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()
