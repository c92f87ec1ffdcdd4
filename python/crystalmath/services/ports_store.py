"""What the services need of the database; implemented by ``storage.store``.

Every method is one transaction. Rows are mappings with the column names of ``storage.tables``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from crystalmath.domain.states import JobState
from crystalmath.services.ports_tasks import TaskRecord, Used

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Documents:
    """The large parts of a job, decoded."""

    submission: Mapping[str, Any]
    prepared: Mapping[str, Any]
    resources: Mapping[str, Any]
    results: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to insert: its row, its documents, and what makes the insertion safe to repeat."""

    row: Row
    documents: Documents
    after: tuple[int, ...]
    why: str
    token: str | None = None
    request_sha256: str = ""
    remote: Mapping[str, Any] | None = None
    """Columns of ``remote_jobs``, for a job on a cluster."""
    tasks: tuple[int, ...] = ()
    """Numbers of the tasks of a job array."""


@dataclass(frozen=True, slots=True)
class Move:
    """A change of one job, carried out only while the job is still in ``expected``.

    Attributes
    ----------
    state
        The new state; None leaves it and records an event only when ``why`` is given.
    changes
        Columns of ``jobs`` to set.
    documents
        Columns of ``job_documents`` to set, values not yet encoded.
    """

    job_id: int
    expected: tuple[JobState, ...]
    state: JobState | None
    at: float
    why: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    documents: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """What a transaction has done to a job.

    Attributes
    ----------
    row
        The job's row as it is now; None: it is removed.
    line
        The line that was added to its history, with ``evidence`` beside ``evidence_json``.
    """

    job_id: int
    row: Row | None
    line: Row | None = None


class Changes(Protocol):
    """Who wants to know what was committed; implemented by ``services.job_events``."""

    def publish(self, change: Change) -> None:
        """Called after each commit, in the order of the commits; never waits, never raises."""


@dataclass(frozen=True, slots=True)
class Query:
    """Filters, order and page of a listing."""

    states: tuple[JobState, ...] = ()
    code: str | None = None
    cluster: str | None = None
    workflow: int | None = None
    search: str | None = None
    sort: str = "id"
    descending: bool = True
    limit: int = 200
    after: tuple[Any, int] | None = None
    now: float = 0.0


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a listing with the revision they belong to.

    Attributes
    ----------
    rows
        The columns :data:`SUMMARY_COLUMNS`; times are RFC 3339 text already.
    last
        Sort value and id of the last row when there are more rows, else None.
    briefs
        Id, revision, start and end of every row, in seconds since the epoch; only where those that
        are known were left out of ``rows``.
    """

    rows: Sequence[Sequence[Any]]
    rev: int
    total: int
    last: tuple[Any, int] | None
    briefs: Sequence[tuple[int, int, float | None, float | None]] = ()


@dataclass(frozen=True, slots=True)
class Everything:
    """All that the database knows of one job, from one snapshot."""

    row: Row
    documents: Documents
    events: Sequence[Row]
    parents: Sequence[int]
    tasks: Sequence[TaskRecord] = ()
    used: Used | None = None


class Store(Protocol):
    """The database as the services see it."""

    def insert(self, job: NewJob) -> tuple[int, bool]:
        """Insert and return ``(id, True)``, or ``(id of the first, False)`` for a known token.

        Raises ``Conflict`` when the token was used for another request.
        """

    def by_token(self, token: str, request_sha256: str) -> int | None:
        """The job of a token; raises ``Conflict`` as :meth:`insert` does."""

    def row(self, job_id: int) -> Row:
        """The job's row; raises ``NotFound``."""

    def rows_in(
        self,
        states: Iterable[JobState],
        limit: int,
        *,
        after: int = 0,
        due: float | None = None,
    ) -> list[Row]:
        """The oldest rows in these states: those behind the job ``after``.

        Jobs of this machine alone. With ``due`` only rows whose step is not postponed beyond that
        time.
        """

    def startable(self, now: float, limit: int, cluster: str | None = None) -> list[Row]:
        """The oldest STAGED rows whose parents are all COMPLETED and whose next try is due.

        Those of a cluster, or (None) of this machine.
        """

    def doomed(self) -> list[tuple[int, int, str]]:
        """``(job, parent, parent's state)`` of waiting jobs whose parent will never complete."""

    def next_try_at(self) -> float | None:
        """When the earliest postponed step of a job of this machine is due."""

    def is_known(self, uuid: str) -> bool:
        """Whether a job has this key."""

    def states_of(self, ids: Iterable[int]) -> dict[int, JobState]:
        """State of each job that exists."""

    def documents(self, job_id: int) -> Documents:
        """The job's documents; raises ``NotFound``."""

    def everything(self, job_id: int) -> Everything:
        """Row, documents, events and parents of a job; raises ``NotFound``."""

    def events(self, job_id: int) -> list[Row]:
        """The job's events, oldest first."""

    def move(self, move: Move) -> bool:
        """Compare-and-set; False when the job was no longer in ``expected``."""

    def delete(self, job_id: int) -> bool:
        """Remove an ended job with everything that hangs on it; False when it has not ended."""

    def rev(self) -> int:
        """Revision of the job table: rises with every change."""

    def page(self, query: Query, is_known: Callable[[int, int], bool] | None = None) -> Page:
        """One page of the list; the columns are :data:`SUMMARY_COLUMNS`.

        Parameters
        ----------
        is_known
            Whether the caller has a job's row of a revision, which is left out then.
        """

    def counts(self) -> dict[str, int]:
        """Number of jobs by state."""

    def core_seconds(self) -> dict[str | None, float]:
        """Core-seconds of ended jobs by cluster; None: this machine."""

    def record_usage(self, job_id: int, used: Used) -> None:
        """Store what a job used; a later word replaces an earlier one."""

    def tasks(self, job_id: int) -> Mapping[int, TaskRecord]:
        """The tasks of a job array, by number; empty for other jobs."""

    def check(self) -> str | None:
        """What the database's own integrity check finds; None when it is good."""


SUMMARY_COLUMNS = (
    "id",
    "uuid",
    "name",
    "code",
    "task",
    "state",
    "reason",
    "scheduler_id",
    "scheduler_state",
    "scheduler_reason",
    "science_status",
    "energy_ev",
    "energy_per_atom_ev",
    "converged",
    "formula",
    "n_atoms",
    "runner",
    "cluster",
    "workflow",
    "progress_fraction",
    "progress_text",
    "attention",
    "created_at",
    "started_at",
    "finished_at",
    "elapsed_s",
    "walltime_s",
    "tags_json",
    "rev",
)
