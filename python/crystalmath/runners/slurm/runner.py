"""SLURM behind a shell: puts the commands of this folder on it and reads the answers.

Implements ``services.ports_cluster.ClusterRunner``. Built by ``api``; used by the cluster's lane
and by the calls of users, at the same time.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, overload

from crystalmath.domain.evidence import Observation
from crystalmath.domain.task_list import TaskList, parse_array
from crystalmath.errors import SlurmError
from crystalmath.runners.remote.host import QUERY_S, RemoteHost
from crystalmath.runners.slurm import (
    control,
    history,
    observe,
    script,
    submission,
)
from crystalmath.runners.slurm.advice import advise
from crystalmath.runners.slurm.queue import QueueRow, queue_command, read_queue
from crystalmath.runners.slurm.survey import parts_of, scheduler_of, survey_script
from crystalmath.services.cluster_key import key_of
from crystalmath.services.ports_cluster import (
    IDS_PER_CANCEL,
    CancelOutcome,
    Found,
    Outcome,
    QueuePoll,
    Staging,
    Watched,
    Work,
)
from crystalmath.services.ports_shell import MIB, Ran
from crystalmath.services.ports_tasks import FOLDER, Used

SUBMIT_S: Final = 180.0
_QUEUE_CAP: Final = 32 * MIB
_CLEAN: Final = """for cm_v in $(env | sed -n 's/^\\([A-Z_0-9]*\\)=.*/\\1/p'); do
  case $cm_v in SLURM_CONF) ;; SQUEUE_*|SACCT_*|SINFO_*|SBATCH_*|SCANCEL_*|SLURM_*) unset "$cm_v" ;;
  esac
done
"""
"""The user's own settings of SLURM's commands must not change what they print."""
_ASK: Final = f"{_CLEAN}export LC_ALL=C.UTF-8 TZ=UTC SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=0\n"


class SlurmRunner(RemoteHost):
    """One cluster."""

    name = "slurm"

    def render(self, work: Work, directory: str) -> str:
        """See ``ClusterRunner.render``."""
        record = self._record
        return script.render_script(
            script.request_of(record, work.resources),
            script.Work(
                uuid=work.uuid,
                title=work.name,
                directory=directory,
                argv=work.argv,
                launcher=record.launcher,
                env=work.env,
                setup_commands=record.setup_commands,
                starts_processes=work.starts_processes,
            ),
        )

    def stage(self, staging: Staging) -> str:
        """See ``ClusterRunner.stage``; the folders of tasks too, for their logs stand in them."""
        directory = super().stage(staging)
        array = staging.work.resources.get("array")
        if array is not None:
            self.run_there(_folders(directory, parse_array(array)), "the folders of its tasks")
        return directory

    def submit(self, directory: str, name: str, claim: int) -> Outcome:
        """See ``ClusterRunner.submit``."""
        step = submission.submit_script(
            directory, name, cluster=self._record.slurm_cluster, claim=claim
        )
        return self.read_step(self.on().run(_CLEAN + step, deadline_s=SUBMIT_S))

    def read_step(self, ran: Ran) -> Outcome:
        """See ``RemoteHost.read_step``."""
        return submission.read_step(ran)

    def find(self, name: str, since: float) -> Found:
        """See ``ClusterRunner.find``."""
        key = key_of(name) or name
        asked: set[str] = set()
        ids: list[int] = []
        poll = self.queue(0)
        if poll.complete:
            asked.add("squeue")
            ids += [job for job, seen in poll.seen.items() if (seen.name or "").startswith(key)]
        command = history.find_command(name, self.user(), since, self._record.slurm_cluster)
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
        user = None if all_users else self.user()
        command = queue_command(user, tag, self._record.slurm_cluster)
        at = self._clock()
        poll = read_queue(self._ask(command, cap=_QUEUE_CAP), tag)
        rows_of = observe.by_job(poll.rows)
        return QueuePoll(
            complete=poll.complete,
            at=at,
            number=number,
            seen=observe.of_queue(rows_of, number, at),
            words=observe.words(rows_of),
            tasks=observe.of_tasks(poll.rows, number, at),
            unsure=poll.rejected_ids(),
            rows=_Shown(poll.rows),
            rejects=len(poll.rejects),
            trouble=poll.trouble,
        )

    def history(self, jobs: Sequence[Watched]) -> tuple[dict[int, list[Observation]], str | None]:
        """See ``ClusterRunner.history``."""
        ours = {job.scheduler_id: job for job in jobs}
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
                    rows.setdefault(row.ref.job, []).append(row)
        at = self._clock()
        told: dict[int, list[Observation]] = {}
        for ident, found in rows.items():
            job = ours[ident]
            told[job.job_id] = (
                observe.of_history(found, at)
                if job.tasks is None
                else observe.of_task_history(found, job.tasks, at)
            )
        return told, trouble

    def usage(self, jobs: Sequence[Watched]) -> dict[int, dict[int | None, Used]] | None:
        """See ``ClusterRunner.usage``."""
        ours = {job.scheduler_id: job.job_id for job in jobs}
        since = [job.since for job in jobs if job.since is not None]
        start = min(since) if len(since) == len(jobs) else None
        command = history.usage_command(sorted(ours), start, self._record.slurm_cluster)
        found = history.read_usage(self._ask(command))
        if found is None:
            return None
        return {
            ours[ident]: {task: _used(one) for task, one in by_task.items()}
            for ident, by_task in found.items()
            if ident in ours
        }

    def details(self, job: Watched) -> list[Observation]:
        """See ``ClusterRunner.details``."""
        found = self.detail(str(job.scheduler_id))
        at = self._clock()
        seen = [one for part in found.jobs if (one := observe.of_detail(part, at)) is not None]
        if job.tasks is None:
            return [replace(one, task=None) for one in seen]
        wanted = set(job.tasks)
        return [one for one in seen if one.task in wanted]

    def survey(self) -> dict[str, Any]:
        """See ``ClusterRunner.survey``."""
        ran = self._ask(survey_script(self._record.slurm_cluster))
        found = scheduler_of(parts_of(ran.out_text()))
        return {} if found.name is None or not ran.complete else found.model_dump(mode="json")

    def cancel(self, jobs: Sequence[Watched]) -> dict[int, CancelOutcome]:
        """See ``ClusterRunner.cancel``."""
        said = self.cancel_ids([str(job.scheduler_id) for job in jobs])
        return {job.job_id: said[str(job.scheduler_id)] for job in jobs}

    def cancel_ids(self, ids: Sequence[str]) -> dict[str, CancelOutcome]:
        """See ``Scheduler.cancel_ids``."""
        found: dict[str, CancelOutcome] = {}
        for at in range(0, len(ids), IDS_PER_CANCEL):
            some = ids[at : at + IDS_PER_CANCEL]
            [command] = control.cancel_commands(some, self._record.slurm_cluster)
            found |= control.read_cancel(self._ask(command), some)
        return found

    def _ask(self, command: str, cap: int = 8 * MIB) -> Ran:
        return self.on().run(_ASK + command, deadline_s=QUERY_S, cap_bytes=cap)

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


class _Shown(Sequence[Mapping[str, Any]]):
    """Rows as ``slurm.queue`` shows them, each made when somebody looks at it."""

    def __init__(self, rows: Sequence[QueueRow]) -> None:
        self._rows = rows

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Mapping[str, Any]]: ...

    def __getitem__(self, at: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        return _Shown(self._rows[at]) if isinstance(at, slice) else _shown(self._rows[at])

    def __len__(self) -> int:
        return len(self._rows)


def _folders(directory: str, tasks: TaskList) -> str:
    """Make a folder for each task, with few processes."""
    counting = "\n".join(
        f"seq -f '{FOLDER}/%.0f' {first} {step} {last}" for first, last, step in tasks.ranges
    )
    return f"cd {shlex.quote(directory)} || exit 1\n{{ {counting}\n}} | xargs mkdir -p -m 700"


def _used(usage: history.Usage) -> Used:
    known = usage.elapsed_s is not None and usage.n_cpus is not None
    return Used(
        cpu_s=usage.cpu_s,
        max_rss_kib=usage.max_rss_kib,
        elapsed_s=usage.elapsed_s,
        n_cpus=usage.n_cpus,
        core_s=float(usage.elapsed_s or 0.0) * int(usage.n_cpus or 0) if known else None,
    )


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
