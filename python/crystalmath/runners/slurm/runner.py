"""SLURM behind a shell: puts the commands of this folder on it and reads the answers.

Implements ``services.ports_cluster.ClusterRunner``. Built by ``api``; used by the cluster's lane
and by the calls of users, at the same time.
"""

from __future__ import annotations

import secrets
import shlex
import threading
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

from crystalmath.domain.evidence import Observation
from crystalmath.errors import SlurmError, TransferFailed, Unreachable
from crystalmath.runners.slurm import (
    control,
    history,
    observe,
    receipts,
    script,
    submission,
)
from crystalmath.runners.slurm.advice import advise
from crystalmath.runners.slurm.queue import QueueRow, queue_command, read_queue
from crystalmath.services.cluster_key import job_key
from crystalmath.services.ports_cluster import (
    CancelOutcome,
    ClusterRecord,
    Found,
    Listed,
    Outcome,
    QueuePoll,
    Staging,
    Watched,
    Work,
)
from crystalmath.services.ports_shell import MIB, Get, Got, Put, Ran, Shell, ShellFacts, TailFrom

COMMAND_S: Final = 30.0
QUERY_S: Final = 60.0
SUBMIT_S: Final = 180.0
TRANSFER_S: Final = 3600.0
_ASKED: Final = (
    "nodes",
    "ntasks",
    "cpus_per_task",
    "memory_mib",
    "memory_per_cpu_mib",
    "walltime_s",
    "partition",
    "account",
    "qos",
    "constraint",
    "gpus",
    "exclusive",
    "begin",
    "extra",
)
_QUEUE_CAP: Final = 32 * MIB
_RECEIPTS_AT_ONCE: Final = 200
_CLEAN: Final = """for cm_v in $(env | sed -n 's/^\\([A-Z_0-9]*\\)=.*/\\1/p'); do
  case $cm_v in SLURM_CONF) ;; SQUEUE_*|SACCT_*|SINFO_*|SBATCH_*|SCANCEL_*|SLURM_*) unset "$cm_v" ;;
  esac
done
"""
"""The user's own settings of SLURM's commands must not change what they print."""
_ASK: Final = f"{_CLEAN}export LC_ALL=C.UTF-8 TZ=UTC SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0\n"


class SlurmRunner:
    """One cluster.

    Parameters
    ----------
    open_shell
        Makes the connection; called on first use.
    """

    name = "slurm"

    def __init__(
        self, record: ClusterRecord, open_shell: Callable[[], Shell], clock: Callable[[], float]
    ) -> None:
        self._record = record
        self._open_shell = open_shell
        self._clock = clock
        self._opening = threading.Lock()
        self._shell: Shell | None = None
        self._facts: ShellFacts | None = None
        self._identities: dict[str, str | None] = {}

    def facts(self) -> ShellFacts:
        """See ``ClusterRunner.facts``."""
        if self._facts is None:
            self._facts = self._on().probe(deadline_s=COMMAND_S)
        return self._facts

    def render(self, work: Work, directory: str) -> str:
        """See ``ClusterRunner.render``."""
        record = self._record
        asked = {name: work.resources.get(name) for name in _ASKED}
        given = {name: value for name, value in asked.items() if value is not None}
        defaults = {"partition": record.queue_name, "account": record.account, "qos": record.qos}
        given = {name: value for name, value in defaults.items() if value is not None} | given
        given["extra"] = tuple(given.get("extra") or ())
        return script.render_script(
            script.Request(**given),
            script.Work(
                uuid=work.uuid,
                title=work.name,
                directory=directory,
                argv=work.argv,
                launcher=record.launcher,
                env=work.env,
                setup_commands=record.setup_commands,
            ),
        )

    def full_name(self, work: Work) -> str:
        """See ``ClusterRunner.full_name``."""
        return submission.job_name(work.uuid, work.name)

    def stage(self, staging: Staging) -> str:
        """See ``ClusterRunner.stage``."""
        directory = self._make_directory(job_key(staging.work.uuid))
        text = self.render(staging.work, directory).encode()
        puts = [
            Put(
                PurePosixPath(file.path),
                source=staging.directory / file.path,
                mode=0o700 if file.executable else 0o600,
            )
            for file in staging.files
        ]
        puts.append(Put(PurePosixPath("job.sh"), content=text, mode=0o700))
        self._on().put(puts, PurePosixPath(directory), deadline_s=TRANSFER_S)
        return directory

    def submit(self, directory: str, name: str, claim: int) -> Outcome:
        """See ``ClusterRunner.submit``."""
        step = submission.submit_script(
            directory, name, cluster=self._record.slurm_cluster, claim=claim
        )
        return submission.read_step(self._on().run(_CLEAN + step, deadline_s=SUBMIT_S))

    def receipt(self, directory: str, claim: int) -> Outcome:
        """See ``ClusterRunner.receipt``."""
        step = submission.receipt_script(directory, claim)
        return submission.read_step(self._on().run(step, deadline_s=COMMAND_S))

    def find(self, name: str, since: float) -> Found:
        """See ``ClusterRunner.find``."""
        key = submission.key_of(name) or name
        asked: set[str] = set()
        ids: list[int] = []
        poll = self.queue(0)
        if poll.complete:
            asked.add("squeue")
            ids += [job for job, seen in poll.seen.items() if (seen.name or "").startswith(key)]
        command = history.find_command(name, self._user(), since, self._record.slurm_cluster)
        past = history.read_history(self._ask(command))
        if past.available:
            asked.add("sacct")
            # Refused submissions stand there too, as FAILED: only what started or lives counts.
            ids += [
                row.raw_id
                for row in past.rows
                if row.name.startswith(key)
                and (row.start_at is not None or row.state.meaning.phase in ("waiting", "running"))
            ]
        return Found(tuple(dict.fromkeys(ids)), frozenset(asked))

    def queue(self, number: int, *, all_users: bool = False) -> QueuePoll:
        """See ``ClusterRunner.queue``."""
        tag = "cm" + secrets.token_hex(8)
        user = None if all_users else self._user()
        command = queue_command(user, tag, self._record.slurm_cluster)
        at = self._clock()
        poll = read_queue(self._ask(command, cap=_QUEUE_CAP), tag)
        return QueuePoll(
            complete=poll.complete,
            at=at,
            number=number,
            seen=observe.of_queue(poll.rows, number, at),
            unsure=poll.rejected_ids(),
            rows=[_shown(row) for row in poll.rows],
            rejects=len(poll.rejects),
            trouble=poll.trouble,
        )

    def history(self, jobs: Sequence[Watched]) -> tuple[dict[int, list[Observation]], str | None]:
        """See ``ClusterRunner.history``."""
        ours = {job.scheduler_id: job.job_id for job in jobs}
        since = [job.since for job in jobs if job.since is not None]
        start = min(since) if len(since) == len(jobs) else None
        rows: dict[int, list[history.HistoryRow]] = {}
        trouble = None
        commands = history.history_commands(sorted(ours), start, self._record.slurm_cluster)
        for command in commands:
            past = history.read_history(self._ask(command))
            trouble = past.trouble or trouble
            for row in past.rows:
                if row.ref.job in ours:
                    rows.setdefault(ours[row.ref.job], []).append(row)
        at = self._clock()
        return {job: observe.of_history(found, at) for job, found in rows.items()}, trouble

    def receipts(self, jobs: Sequence[Watched]) -> dict[int, list[Observation]]:
        """See ``ClusterRunner.receipts``."""
        found: dict[int, list[Observation]] = {}
        for at in range(0, len(jobs), _RECEIPTS_AT_ONCE):
            tag = "cm" + secrets.token_hex(8)
            some = {job.job_id: job.directory for job in jobs[at : at + _RECEIPTS_AT_ONCE]}
            ran = self._on().run(receipts.receipts_script(some, tag), deadline_s=QUERY_S)
            found |= receipts.read_receipts(ran, tag, self._clock())
        return found

    def cancel(self, jobs: Sequence[Watched]) -> dict[int, CancelOutcome]:
        """See ``ClusterRunner.cancel``."""
        said = self.cancel_ids([str(job.scheduler_id) for job in jobs])
        return {job.job_id: said[str(job.scheduler_id)] for job in jobs}

    def cancel_ids(self, ids: Sequence[str]) -> dict[str, CancelOutcome]:
        """See ``Scheduler.cancel_ids``."""
        found: dict[str, CancelOutcome] = {}
        for at in range(0, len(ids), control.MAX_IDS):
            some = ids[at : at + control.MAX_IDS]
            [command] = control.cancel_commands(some, self._record.slurm_cluster)
            found |= control.read_cancel(self._ask(command), some)
        return found

    def listing(self, directory: str, depth: int | None = None) -> list[Listed] | None:
        """See ``ClusterRunner.listing``."""
        ran = self._on().run(receipts.listing_script(directory, depth), deadline_s=QUERY_S)
        try:
            return receipts.read_listing(ran)
        except ValueError as error:
            raise TransferFailed(str(error)) from error

    def fetch(
        self, directory: str, names: Sequence[str], into: Path, max_bytes: int
    ) -> Sequence[Got]:
        """See ``ClusterRunner.fetch``."""
        wanted = [Get(PurePosixPath(directory) / name, name, max_bytes) for name in names]
        return self._on().get(wanted, into, deadline_s=TRANSFER_S)

    def follow(self, wanted: Sequence[tuple[str, Path]], max_bytes: int) -> int:
        """See ``ClusterRunner.follow``."""
        wants = [
            TailFrom(
                PurePosixPath(remote),
                local.stat().st_size if local.exists() else 0,
                max_bytes,
                self._identities.get(remote),
            )
            for remote, local in wanted
        ]
        done = 0
        for (remote, local), tail in zip(
            wanted, self._on().tail(wants, deadline_s=QUERY_S), strict=True
        ):
            if tail.size is None:
                continue
            self._identities[remote] = tail.identity
            done += _append(local, tail.offset, tail.data)
        return done

    def close(self) -> None:
        """See ``ClusterRunner.close``."""
        with self._opening:
            if self._shell is not None:
                self._shell.close()
            self._shell = self._facts = None

    def _on(self) -> Shell:
        with self._opening:
            if self._shell is None:
                self._shell = self._open_shell()
            return self._shell

    def _ask(self, command: str, cap: int = 8 * MIB) -> Ran:
        return self._on().run(_ASK + command, deadline_s=QUERY_S, cap_bytes=cap)

    def _user(self) -> str:
        return self.facts().user

    def _make_directory(self, key: str) -> str:
        """Make the job's directory; the work directory's variables are expanded there."""
        making = (
            f"d={expandable(self._record.remote_workdir)}/{shlex.quote(key)}\n"
            'mkdir -p -m 700 "$d" && mkdir -p -m 700 "$d/.cm" && cd "$d" && pwd -P'
        )
        ran = self._on().run(making, deadline_s=COMMAND_S)
        lines = ran.out_text().splitlines()
        if ran.rc is None or not ran.complete:
            raise Unreachable("the connection was lost while the job's directory was made")
        if ran.rc != 0 or not lines or not lines[-1].startswith("/"):
            said = ran.err_text().strip().splitlines()
            raise TransferFailed(
                f"the job's directory on {self._record.name} cannot be made: "
                f"{said[-1] if said else 'no reason was given'}",
                hint="check `remote_workdir` of the cluster, and its free space and permissions",
            )
        return lines[-1]

    def release(self, ids: Sequence[str]) -> str | None:
        """Release held jobs; returns what scontrol said against it.

        Raises
        ------
        SlurmError
        """
        ran = self._ask(control.release_command(ids, self._record.slurm_cluster))
        if ran.rc is None or not ran.complete:
            raise SlurmError("nobody knows whether the jobs were released: the answer was cut")
        said = ran.err_text().strip()
        return said[:300] or f"scontrol ended with {ran.rc}" if ran.rc else None

    def detail(self, job_id: str) -> control.Detail:
        """Ask for everything about one job."""
        return control.read_detail(
            self._ask(control.detail_command(job_id, self._record.slurm_cluster))
        )


def expandable(path: str) -> str:
    """Quote a path for the shell so that a leading ``~`` and ``$NAME`` are expanded, only."""
    if path.startswith("~"):
        return '"$HOME"' + _quoted(path[1:])
    return _quoted(path)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
    return '"' + escaped.replace("$(", "\\$(") + '"'


def _append(local: Path, offset: int, data: bytes) -> int:
    local.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with local.open("r+b" if local.exists() else "wb") as copy:
        copy.seek(offset)
        copy.write(data)
        copy.truncate()
    return len(data)


def _shown(row: QueueRow) -> dict[str, Any]:
    """A row as ``slurm.queue`` shows it."""
    advice = advise(row.reason) if row.state.meaning.phase == "waiting" else None
    tasks = row.ref.tasks
    return {
        "job_id": row.id_text,
        "base_id": row.ref.job,
        "task": row.ref.task,
        "n_tasks": None if tasks is None else tasks.count,
        "at_least": tasks is not None and tasks.at_least,
        "part": row.ref.part,
        "name": row.name,
        "user": row.user,
        "state": row.state.raw,
        "phase": row.state.meaning.phase,
        "attention": row.state.meaning.attention,
        "reason": row.reason,
        "advice": None if advice is None else advice.text,
        "outlook": None if advice is None else advice.outlook,
        "offer": None if advice is None else advice.offer,
        "warning": None if advice is None else advice.warning,
        "nodes": row.nodes,
        "n_nodes": row.n_nodes,
        "n_cpus": row.n_cpus,
        "partition": row.partition,
        "account": row.account,
        "qos": row.qos,
        "submitted_at": row.submit_at,
        "started_at": row.start_at if row.state.meaning.phase != "waiting" else None,
        "expected_at": row.start_at if row.state.meaning.phase == "waiting" else None,
        "elapsed_s": row.used_s,
        "limit_s": row.limit_s,
        "workdir": row.workdir,
    }
