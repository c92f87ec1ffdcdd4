"""The interface of the pool of force workers, as the services see it.

``forces.pool`` implements :class:`ForcePool`; ``api`` hands it over. Plain values only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from crystalmath.services.ports_forces import ReadyEnvironment, ResolvedModel

WorkerState = Literal["starting", "idle", "busy", "draining", "crashed", "stopped"]


class Waiter(Protocol):
    """Who waits: a call of a client, or an installation."""

    def check(self) -> None:
        """Raise ``Cancelled`` or ``DeadlinePassed`` if it should stop here."""

    def remaining_s(self) -> float:
        """Seconds until its deadline."""

    def on_cancel(self, close: Callable[[], None]) -> None:
        """Register what frees its thread when it is cancelled or out of time."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """Every duration and bound of the pool.

    Attributes
    ----------
    memory_mib
        Resident memory of all workers together.
    threads
        Cores that are shared among the workers that compute on the CPU.
    idle_s
        A worker that has answered nothing for so long is stopped.
    connect_s, load_s
        Until it first speaks, and until its model is loaded.
    call_s, first_call_s, first_call_factor
        A request; the first of a shape may take the larger of the other two.
    term_s, kill_s
        Between TERM and KILL, and between KILL and giving up.
    crashes, crashes_within_s, pause_s
        So many crashes in so many seconds: not started again for a while.
    token_s, knock_s
        How long a token is good for, and how long a connection may take to show it.
    look_s
        Between two looks at the workers.
    request_structures, request_atoms
        The size of one turn: what a worker is asked for at once.
    reports
        Dead workers whose story is kept.
    channels
        Data channels of one worker.
    """

    memory_mib: int = 4096
    threads: int = 1
    idle_s: float = 900.0
    connect_s: float = 30.0
    load_s: float = 600.0
    call_s: float = 300.0
    first_call_s: float = 300.0
    first_call_factor: float = 20.0
    term_s: float = 2.0
    kill_s: float = 5.0
    crashes: int = 3
    crashes_within_s: float = 60.0
    pause_s: float = 60.0
    token_s: float = 30.0
    knock_s: float = 5.0
    look_s: float = 0.5
    close_s: float = 2.0
    request_structures: int = 64
    request_atoms: int = 20_000
    reports: int = 64
    channels: int = 256


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which worker is wanted.

    Attributes
    ----------
    dtype
        None: as the model says.
    options
        Keyword arguments of the engine's ``setup``.
    import_first
        Imported in the worker before anything else.
    afresh
        To be examined: without what was learnt about it before.
    """

    environment: ReadyEnvironment
    model: ResolvedModel
    device: str = "cpu"
    dtype: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    import_first: tuple[str, ...] = ()
    afresh: bool = False


@dataclass(frozen=True, slots=True)
class Learnt:
    """What an examination has taught about a worker.

    Attributes
    ----------
    withheld
        Property → why it is switched off.
    reference
        A structure with its numbers, which it must give again.
    """

    withheld: Mapping[str, str] = field(default_factory=dict)
    reference: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Crash:
    """How a worker ended, or why it did not start; ``at`` in seconds since the epoch."""

    at: float
    kind: str
    message: str
    phase: str
    exit_code: int | None
    signal: int | None
    oom_killed: bool | None
    request: str | None
    stderr_tail: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker as it is now; times in seconds since the epoch."""

    id: str
    wanted: Wanted
    state: WorkerState
    phase: str
    pid: int | None
    clients: int
    waiting: int
    requests: int
    structures: int
    evaluations: int
    computing_s: float
    rss_bytes: int | None
    threads: int
    load_s: float | None
    started_at: float
    last_used_at: float | None
    busy_s: float | None
    serves: str | None
    capabilities: Mapping[str, Any] | None
    crash: Crash | None


@dataclass(frozen=True, slots=True)
class Attached:
    """A way into a worker.

    Attributes
    ----------
    path, token
        Socket to connect to, and what to send first; good once, for ``token_s``.
    abi
        Version of what is spoken there.
    """

    path: str
    token: str
    token_s: float
    worker: str
    abi: int
    capabilities: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PlainStructure:
    """A structure as numbers; lattice vectors as rows, Å; no lattice for a molecule."""

    symbols: Sequence[str]
    positions: Sequence[Sequence[float]]
    cell: Sequence[Sequence[float]] | None
    pbc: Sequence[bool]
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Computed:
    """What a worker gave for one structure.

    Attributes
    ----------
    arrays
        Property → little-endian float64 bytes, in the order of the atoms.
    kind, message
        Of the error, when it failed; then there are no arrays.
    """

    n_atoms: int
    arrays: dict[str, bytes] = field(default_factory=dict)
    members: int = 0
    kind: str | None = None
    message: str | None = None


@dataclass(slots=True)
class Evaluation:
    """What a worker gave for one call."""

    worker: str
    capabilities: Mapping[str, Any]
    structures: list[Computed]
    evaluation_s: float


@dataclass(frozen=True, slots=True)
class Paused:
    """What is not started again for a while."""

    wanted: Wanted
    retry_in_s: float
    last_error: str


@dataclass(frozen=True, slots=True)
class PoolTotals:
    """Sums since the daemon started, dead workers included."""

    requests: int
    structures: int
    crashes: int
    paused: Sequence[Paused]


class ForcePool(Protocol):
    """Warm workers, one for each environment, model, precision, device and set of options.

    Everything that waits takes the ``Waiter``, so that a cancel or a deadline frees it.
    """

    limits: PoolLimits

    def attach(self, wanted: Wanted, call: Waiter) -> Attached:
        """Make sure that a worker is ready, and give a way into it.

        Raises
        ------
        WorkerDied, WorkerTimeout, OutOfMemory, InputRejected, Overloaded, ShuttingDown
        """

    def expect(self, wanted: Wanted) -> None:
        """Start a worker that will be wanted soon, if there is none; never waits.

        What goes wrong is told to whoever comes for it.
        """

    def evaluate(
        self,
        wanted: Wanted,
        structures: Sequence[PlainStructure],
        properties: Sequence[str],
        call: Waiter,
        *,
        deadline_s: float | None = None,
    ) -> Evaluation:
        """Let a worker compute some structures, in turns of a limited size."""

    def workers(self, worker: str | None = None) -> Sequence[WorkerRow]:
        """Rows of the workers that run and of the last that died; raises ``NotFound`` for one."""

    def totals(self) -> PoolTotals:
        """Sums, and what is paused."""

    def stop(self, worker: str, mode: Literal["drain", "now"]) -> WorkerRow:
        """Begin to stop a worker; raises ``NotFound``."""

    def serve(self, wanted: Wanted, address: str, template: str | None, call: Waiter) -> WorkerRow:
        """Let a foreign i-PI server drive a worker of its own."""

    def listen(self, on_change: Callable[[WorkerRow], None]) -> None:
        """Be told of each worker that is new, has changed its state, or is gone."""
