"""One worker of the pool: process, control channel, status page, and its story.

State only; the supervisor changes it, under the lock of the roster.

    queued → connecting → loading → ready → draining → ended
                                  ↘ stopping ↗
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from crystalmath.errors import CrystalMathError
from crystalmath.forces.page import Look, PageView
from crystalmath.forces.pool.control import Control
from crystalmath.forces.pool.key import Place, WorkerKey
from crystalmath.services.ports_forces import HostedProcess
from crystalmath.services.ports_pool import Crash, Wanted, WorkerRow, WorkerState

Stage = Literal["queued", "connecting", "loading", "ready", "draining", "stopping", "ended"]
Why = Literal[
    "drain", "now", "idle", "memory", "replaced", "shutdown", "served",
    "overdue", "load", "broken", "helper", "starving",
]  # fmt: skip
"""Why a worker is ended by us; those of the second row are faults."""

FAULTS: frozenset[Why] = frozenset({"overdue", "load", "broken", "helper", "starving"})


@dataclass(slots=True, eq=False)
class Member:
    """See the module docstring.

    Attributes
    ----------
    since
        Monotonic time at which the stage began.
    created_at
        Seconds since the epoch.
    why
        Why it is being ended; None while it is not.
    kill_at
        When patience with TERM, or with a closed channel, is over.
    replaced
        Another of its place is ready: it serves those who use it until they leave.
    pid
        Of the program, as it says itself: the process that was started is its guard.
    failure
        The error for whoever waits for it or used it.
    serves, helper
        The i-PI server that drives it, and the program in between.
    told
        What listeners were told last.
    """

    id: str
    wanted: Wanted
    key: WorkerKey
    place: Place
    threads: int
    created_at: float
    since: float
    page: PageView
    stage: Stage = "queued"
    process: HostedProcess | None = None
    control: Control | None = None
    pidfd: int | None = None
    phase: str = "waiting to start"
    capabilities: Mapping[str, Any] | None = None
    pid: int | None = None
    rss_bytes: int | None = None
    last_used: float = 0.0
    why: Why | None = None
    kill_at: float | None = None
    killed: bool = False
    replaced: bool = False
    failure: CrystalMathError | None = None
    crash: Crash | None = None
    serves: str | None = None
    helper: HostedProcess | None = None
    told: tuple[Any, ...] = field(default=())

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.stage != "ended"

    @property
    def coming(self) -> bool:
        """Whether it is ready or about to be."""
        return self.stage in ("queued", "connecting", "loading", "ready")

    def look(self) -> Look:
        """What its page says."""
        return self.page.look()

    def idle_since(self) -> float | None:
        """Monotonic time of its last work; None while it loads or computes."""
        if self.stage != "ready":
            return None
        look = self.look()
        if look.started_at or look.waiting:
            return None
        return max(self.since, self.last_used, look.last_done_at)

    def state(self, look: Look) -> WorkerState:
        """Its state for people."""
        if self.stage == "ended":
            return "crashed" if self.crash is not None else "stopped"
        if self.stage in ("draining", "stopping"):
            return "draining"
        if self.stage == "ready":
            return "busy" if look.started_at else "idle"
        return "starting"

    def row(self, now: float, epoch: float) -> WorkerRow:
        """Everything about it.

        Parameters
        ----------
        now, epoch
            The same moment on the monotonic clock and in seconds since the epoch.
        """
        look = self.look()
        used = max(self.last_used, look.last_done_at)
        load_s = (self.capabilities or {}).get("load_s")
        return WorkerRow(
            id=self.id,
            wanted=self.wanted,
            state=self.state(look),
            phase=self.phase if self.stage != "ready" else (look.phase or "ready"),
            pid=self.pid if self.alive else None,
            clients=look.clients if self.alive else 0,
            waiting=look.waiting if self.alive else 0,
            requests=look.done,
            structures=look.structures,
            evaluations=look.evaluations,
            computing_s=look.computing_s,
            rss_bytes=self.rss_bytes if self.alive else None,
            threads=self.threads,
            load_s=load_s if isinstance(load_s, int | float) else None,
            started_at=self.created_at,
            last_used_at=epoch - (now - used) if used else None,
            busy_s=now - look.started_at if look.started_at and self.alive else None,
            serves=self.serves,
            capabilities=self.capabilities,
            crash=self.crash,
        )
