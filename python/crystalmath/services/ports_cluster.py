"""What the services need of clusters: records, jobs there, and the runner that reaches them.

Runners in ``runners`` implement :class:`ClusterRunner`, ``storage`` implements
:class:`ClusterStore`; ``api`` hands them in.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from crystalmath.domain.evidence import Observation
from crystalmath.domain.states import JobState
from crystalmath.domain.task_list import TaskList
from crystalmath.services.ports import EndReceipt, InputFile
from crystalmath.services.ports_shell import Got, ShellFacts
from crystalmath.services.ports_store import Move, NewJob, Row
from crystalmath.services.ports_tasks import Account, TaskRecord, Used

LAUNCHER_VARIABLE = "CRYSTALMATH_LAUNCHER"
"""Tells a program that starts its processes itself what to put before each; empty for one."""


@dataclass(frozen=True, slots=True)
class ClusterRecord:
    """A cluster as its owner has described it; see ``contract.clusters`` for the fields."""

    name: str
    kind: Literal["slurm", "ssh"]
    hostname: str
    remote_workdir: str
    port: int | None = None
    username: str | None = None
    key_file: str | None = None
    proxy_jump: str | None = None
    shell: Literal["auto", "paramiko", "openssh"] = "auto"
    queue_name: str | None = None
    account: str | None = None
    qos: str | None = None
    slurm_cluster: str | None = None
    max_concurrent: int | None = None
    min_poll_s: float = 10.0
    max_retrieve_mib: int = 1024
    query_budget: Mapping[str, float] | None = None
    submit_budget: Mapping[str, float] | None = None
    setup_commands: tuple[str, ...] = ()
    launcher: str = "srun"
    codes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A record with what the daemon has learned of it.

    Attributes
    ----------
    probe
        User, home, version of the scheduler, whether accounting answers.
    """

    id: int
    record: ClusterRecord
    last_error: str | None = None
    unreachable_since: float | None = None
    polled_at: float | None = None
    probe: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RemoteJob:
    """A job's other side.

    Attributes
    ----------
    key
        Beginning of its name in the scheduler.
    directory
        Absolute, on the cluster; None until it is made.
    claim
        Number of the hand-over that counts; 0: none has begun.
    handed_over_at
        When the intention to hand it over was recorded.
    doubted_at
        Since when nobody knows whether the scheduler has it.
    end
        How it ended, as far as scheduler and receipt say.
    array
        The tasks of a job array, as sbatch was asked for them.
    """

    job_id: int
    cluster_id: int
    key: str
    directory: str | None = None
    owner: str | None = None
    scheduler_id: int | None = None
    scheduler_cluster: str | None = None
    claim: int = 0
    handed_over_at: float | None = None
    doubted_at: float | None = None
    adopted: bool = False
    rests_on_words: bool = False
    collected: bool = False
    lost_at: float | None = None
    end: Mapping[str, Any] = field(default_factory=dict)
    array: str | None = None
    usage_asked_at: float | None = None


@dataclass(frozen=True, slots=True)
class JobChange:
    """What one look has found of one job; committed whole, or not at all.

    Attributes
    ----------
    moves
        In this order; if the first finds the job elsewhere, nothing of the change is done.
    remote
        Columns of ``remote_jobs``.
    tasks
        Of a job array: task → columns of its row.
    """

    job_id: int
    moves: tuple[Move, ...] = ()
    remote: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[Observation, ...] = ()
    tasks: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


class ClusterChanges(Protocol):
    """Who wants to know what becomes of clusters; implemented by ``services.cluster_view``."""

    def changed(self, cluster: Cluster) -> None:
        """Called after each commit, in the order of the commits; never waits, never raises."""

    def removed(self, cluster: Cluster) -> None:
        """The same of one that is forgotten."""


class ClusterStore(Protocol):
    """The database as the services of clusters see it; every method is one transaction."""

    def clusters(self) -> list[Cluster]:
        """All of them, by name."""

    def cluster(self, wanted: int | str) -> Cluster:
        """One by id or name; raises ``NotFound``."""

    def create_cluster(self, record: ClusterRecord, now: float) -> Cluster:
        """Raises ``Conflict`` when there is one of that name."""

    def change_cluster(self, cluster_id: int, record: ClusterRecord, now: float) -> Cluster:
        """Replace the record; raises ``NotFound``, ``Conflict``."""

    def delete_cluster(self, cluster_id: int) -> None:
        """Raises ``NotFound``, or ``Conflict`` when unfinished jobs are on it."""

    def set_health(self, cluster_id: int, **columns: object) -> None:
        """``last_error``, ``unreachable_since``, ``polled_at``, ``probe``."""

    def busy_clusters(self) -> list[int]:
        """Ids of clusters with jobs that need the daemon's attention."""

    def remote_rows(
        self,
        name: str,
        states: Iterable[JobState],
        *,
        due: float | None = None,
        after: int = 0,
        limit: int = 100_000,
    ) -> list[Row]:
        """The oldest rows of a cluster in some states, behind a job."""

    def rows_of(self, job_ids: Iterable[int]) -> list[Row]:
        """The rows of these jobs, as far as they are there."""

    def tracked(self, name: str, states: Iterable[JobState]) -> dict[int, tuple[int, int | None]]:
        """The jobs of a cluster in some states: id → revision and the scheduler's number."""

    def remote(self, job_id: int) -> RemoteJob:
        """A job's other side; raises ``NotFound``."""

    def remotes(self, job_ids: Iterable[int]) -> dict[int, RemoteJob]:
        """The same for many."""

    def jobs_of(self, cluster_id: int, scheduler_ids: Iterable[int]) -> dict[int, int]:
        """The scheduler's number → ours, of the jobs that are known; the newest of each."""

    def ended_on_words(self, name: str, since: float, limit: int) -> list[Row]:
        """The newest jobs that FAILED or were CANCELLED by the scheduler's words alone."""

    def tasks_of(self, job_ids: Iterable[int]) -> dict[int, dict[int, TaskRecord]]:
        """The tasks of job arrays, by job and number."""

    def unaccounted(self, name: str, ended_before: float, limit: int) -> list[Row]:
        """The oldest ended jobs of a cluster whose usage nobody has asked for."""

    def record_accounts(self, accounts: Mapping[int, Account], now: float) -> None:
        """What the accounting has told of ended jobs; it is asked once."""

    def fold_evidence(self, ended_before: float, limit: int) -> int:
        """Make one line of history of the evidence of jobs that ended before."""

    def uncollected(self, name: str, limit: int, due: float) -> list[Row]:
        """CANCELLED jobs of a cluster whose files are still there, and whose next try is due."""

    def evidence_of(self, job_ids: Iterable[int]) -> dict[int, list[Observation]]:
        """What was seen of jobs, oldest first."""

    def next_poll(self) -> int:
        """A number for a poll, higher than all before."""

    def commit(self, changes: Sequence[JobChange]) -> list[int]:
        """Carry out what a look has found, in one transaction; returns the jobs that changed."""

    def insert_adopted(self, job: NewJob) -> int:
        """A job that was submitted by others, with its other side; raises ``Conflict``."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a job runs and asks for.

    Attributes
    ----------
    argv
        The code's program, without a launcher.
    resources
        The fields of ``contract.jobs.Resources``.
    starts_processes
        See ``Prepared``.
    """

    uuid: str
    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    resources: Mapping[str, Any]
    starts_processes: bool = False


@dataclass(frozen=True, slots=True)
class Staging:
    """A job to bring to the cluster: its directory here holds the files."""

    work: Work
    directory: Path
    files: tuple[InputFile, ...]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The scheduler has the job; ``cluster`` is carried by every later command when given."""

    job_id: int
    cluster: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """The scheduler refuses the job for good; ``text`` is its own."""

    text: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Not submitted, try later: a limit of the site, or a controller that does not answer."""

    text: str
    limit: bool


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody knows whether it was submitted: look for it before anything else.

    Attributes
    ----------
    at_work
        The step that hands it over still runs.
    claimed
        False: nothing was handed over under this claim.
    """

    text: str
    at_work: bool = False
    claimed: bool = True


IDS_PER_QUESTION: Final = 200
"""Jobs that one question to the accounting may name; more are asked in several."""
IDS_PER_CANCEL: Final = 100
"""Jobs that one scancel may name."""

Outcome = Accepted | Rejected | Wait | Unknown
CancelOutcome = Literal["asked", "already_ending", "not_done"]
"""``asked`` proves nothing: scancel says so of unknown and ended jobs too. ``not_done``: again."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A job that a poll asks for.

    Attributes
    ----------
    tasks
        Of a job array: the tasks that are asked for; what is seen of one names it.
    """

    job_id: int
    scheduler_id: int
    key: str | None
    directory: str
    cluster: str | None = None
    since: float | None = None
    tasks: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class QueuePoll:
    """One answer of the scheduler.

    Attributes
    ----------
    complete
        What is neither in ``seen`` nor in ``unsure`` is absent.
    seen
        Scheduler's id → what it says of the job (all tasks of an array together).
    words
        The same, to be compared: equal words of two polls come from observations that differ in
        their time alone.
    tasks
        Scheduler's id of an array → what it says of tasks, each with those that it is about.
    unsure
        Ids whose rows could not be understood.
    rows
        All rows, for people.
    """

    complete: bool
    at: float
    number: int
    seen: Mapping[int, Observation] = field(default_factory=dict)
    words: Mapping[int, Hashable] = field(default_factory=dict)
    tasks: Mapping[int, Sequence[tuple[TaskList, Observation]]] = field(default_factory=dict)
    unsure: frozenset[int] = frozenset()
    rows: Sequence[Mapping[str, Any]] = ()
    rejects: int = 0
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Jobs with a name that begins with a key, and whether everybody could be asked.

    Attributes
    ----------
    asked
        Sources that have answered: ``squeue``, ``sacct``.
    """

    ids: tuple[int, ...]
    asked: frozenset[str]


@dataclass(frozen=True, slots=True)
class Listed:
    """A file in a remote job directory."""

    path: str
    size_bytes: int
    modified_at: float


class ClusterRunner(Protocol):
    """Reaches one cluster. Every call may be repeated at any time; all may raise ``SshError``."""

    def facts(self) -> ShellFacts:
        """What the host is like."""

    def render(self, work: Work, directory: str) -> str:
        """The job script; no connection is needed.

        Raises
        ------
        InvalidParams
            A value that may not stand in an option; the field is named.
        """

    def stage(self, staging: Staging) -> str:
        """Bring the files; returns the absolute remote directory.

        Raises
        ------
        TransferFailed
        """

    def submit(self, directory: str, name: str, claim: int) -> Outcome:
        """Hand the job over; a directory that has been claimed answers what is there."""

    def receipt(self, directory: str, claim: int) -> Outcome:
        """What an earlier :meth:`submit` has left; hands nothing over."""

    def find(self, name: str, since: float) -> Found:
        """Look for a job by its name in the scheduler: its key, then the cleaned title."""

    def queue(self, number: int, *, all_users: bool = False) -> QueuePoll:
        """Ask for all jobs of the user."""

    def history(self, jobs: Sequence[Watched]) -> tuple[dict[int, list[Observation]], str | None]:
        """What the accounting says: our job id → observations; and trouble, if it cannot say."""

    def receipts(self, jobs: Sequence[Watched]) -> dict[int, list[Observation]]:
        """What the jobs have left in their directories: our job id → observations."""

    def usage(self, jobs: Sequence[Watched]) -> dict[int, dict[int | None, Used]] | None:
        """What ended jobs used: our job id → task (None: no array) → usage; None: ask later."""

    def survey(self) -> Mapping[str, Any]:
        """The fields of ``contract.clusters.SchedulerView``; empty when nobody tells."""

    def details(self, job: Watched) -> list[Observation]:
        """What the scheduler's controller knows of one job; empty when it knows it no more."""

    def cancel(self, jobs: Sequence[Watched]) -> dict[int, CancelOutcome]:
        """Ask the scheduler to end jobs: our job id → what it said."""

    def listing(self, directory: str, depth: int | None = None) -> list[Listed] | None:
        """The files of a job, so deep; None when the directory is not there."""

    def fetch(
        self, directory: str, names: Sequence[str], into: Path, max_bytes: int
    ) -> Sequence[Got]:
        """Fetch files, each complete or not at all; raises ``TransferFailed``."""

    def follow(self, wanted: Sequence[tuple[str, Path]], max_bytes: int) -> int:
        """Append what is new in remote files to their local copies; returns the bytes."""

    def close(self) -> None:
        """Close the connection."""


class Scheduler(ClusterRunner, Protocol):
    """A runner behind which a scheduler stands, with what its own users can do."""

    def cancel_ids(self, ids: Sequence[str]) -> dict[str, CancelOutcome]:
        """Ask for jobs to be ended, by the scheduler's ids."""

    def release(self, ids: Sequence[str]) -> str | None:
        """Release held jobs; returns what was said against it. Raises ``SlurmError``."""


def receipt_of(end: Mapping[str, Any]) -> EndReceipt | None:
    """The end of a remote job as the code adapters know it; None when nothing is known."""
    if all(end.get(name) is None for name in ("rc", "signal", "cause")):
        return None
    return EndReceipt(
        attempt=int(end.get("attempt") or 1),
        rc=end.get("rc"),
        signal=end.get("signal"),
        cause=end.get("cause") or "exit",
        failure=end.get("failure"),
        t_start=float(end.get("t_start") or end.get("t_end") or 0.0),
        t_end=float(end.get("t_end") or 0.0),
        max_rss_kib=end.get("max_rss_kib"),
        cpu_s=end.get("cpu_s"),
    )
