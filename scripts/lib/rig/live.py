"""A database with many jobs that live on clusters, as a daemon that followed them has left it.

The rows are made up; what was last seen of each job is read from the scripted squeue by the
program's own reader.
"""

from __future__ import annotations

import getpass
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, text

from crystalmath.domain.evidence import Observation
from crystalmath.runners.slurm.observe import by_job, of_queue
from crystalmath.runners.slurm.queue import queue_command, read_queue
from crystalmath.services.cluster_key import job_key, job_name
from crystalmath.services.ports import Prepared
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.services.ports_shell import Ran
from crystalmath.storage.clusters import SqliteClusterStore, evidence_values
from crystalmath.storage.migrate import migrate
from crystalmath.storage.store import open_store
from crystalmath.storage.tables import evidence, job_documents, jobs, remote_jobs
from rig.filled import key_of
from rig.scheduler import SUBMITTED_AT, ScriptedScheduler

LOGS = ("stdout.log", "stderr.log", "scheduler.log")
_TAG = "cm0"


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster of the database, and the scheduler behind it."""

    record: ClusterRecord
    scheduler: ScriptedScheduler
    first: int
    count: int
    running: int

    @property
    def numbers(self) -> range:
        """Our numbers of its jobs."""
        return range(self.first, self.first + self.count)


def make_sites(
    root: Path, clusters: int, jobs_each: int, running: int, **fields: Any
) -> list[Site]:
    """Make the schedulers.

    Parameters
    ----------
    running
        So many jobs of each run.
    fields
        Of ``ClusterRecord``, for all of them.
    """
    sites = []
    for n in range(clusters):
        scheduler = ScriptedScheduler(root / f"c{n}", running=running)
        record = ClusterRecord(
            name=f"c{n}",
            kind="slurm",
            hostname="localhost",
            remote_workdir=str(scheduler.root / "work"),
            setup_commands=scheduler.setup_commands,
            launcher="mpirun",
            **fields,
        )
        sites.append(Site(record, scheduler, 1 + n * jobs_each, jobs_each, running))
        names = [(str(_directory(sites[-1], k)), _name(k)) for k in sites[-1].numbers]
        scheduler.take(names)
    return sites


def fill_live(database: Path, sites: Sequence[Site], *, files: bool = True) -> None:
    """Make the database.

    Parameters
    ----------
    files
        Make the logs of the running jobs too, on the clusters and the copies beside the database.
    """
    store = open_store(database)
    migrate(store.engine, database, lambda _text: None)
    clusters = SqliteClusterStore(store)
    for site in sites:
        ident = clusters.create_cluster(site.record, SUBMITTED_AT).id
        with store.engine.begin() as connection:
            _fill(connection, site, ident)
        for number in site.numbers[: site.running] if files else ():
            for directory in (_directory(site, number), database.parent / "jobs" / key_of(number)):
                directory.mkdir(parents=True)
                for name in LOGS:
                    (directory / name).write_text("step 12 of 200\n", encoding="utf-8")
    last = max(site.numbers[-1] for site in sites)
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE counters SET value = :n WHERE name = 'rev'"), {"n": last})
        connection.execute(text("UPDATE counters SET value = 1 WHERE name = 'poll'"))
    store.close()


def _fill(connection: Connection, site: Site, cluster_id: int) -> None:
    seen = _seen(site.scheduler)
    ids = {number: site.scheduler.first_id + k for k, number in enumerate(site.numbers)}
    last = {number: seen[ident] for number, ident in ids.items()}
    connection.execute(insert(jobs), [_row(site, n, ids[n], last[n]) for n in ids])
    connection.execute(insert(job_documents), [_documents(n) for n in ids])
    remote = [_remote(site, n, ids[n], cluster_id) for n in ids]
    connection.execute(insert(remote_jobs), remote)
    connection.execute(insert(evidence), [evidence_values(n, last[n]) for n in ids])


def _seen(scheduler: ScriptedScheduler) -> Mapping[int, Observation]:
    """The first answer of the scheduler."""
    command = queue_command(getpass.getuser(), _TAG)
    setup = "\n".join(scheduler.setup_commands)
    done = subprocess.run(
        ["/bin/sh", "-c", f"{setup}\n{command}"], capture_output=True, check=True
    )  # fmt: skip
    poll = read_queue(Ran(rc=0, out=done.stdout, err=done.stderr, complete=True), _TAG)
    if poll.rejects:
        raise ValueError(f"rows of the scripted squeue are not understood: {poll.rejects[:1]}")
    scheduler.forget()
    return of_queue(by_job(poll.rows), 1, float(SUBMITTED_AT))


def _directory(site: Site, number: int) -> Path:
    return Path(site.record.remote_workdir) / job_key(key_of(number))


def _name(number: int) -> str:
    return job_name(key_of(number), f"nickel scf {number}")


def _row(site: Site, number: int, ident: int, seen: Observation) -> dict[str, object]:
    running = seen.phase == "running"
    return {
        "id": number,
        "uuid": key_of(number),
        "name": f"nickel scf {number}",
        "code": "command",
        "task": "run",
        "state": "RUNNING" if running else "SUBMITTED",
        "runner": "slurm",
        "cluster": site.record.name,
        "scheduler_id": str(ident),
        "scheduler_state": seen.raw,
        "scheduler_reason": seen.details.get("why"),
        "progress_text": "running" if running else "waiting in the queue",
        "created_at": SUBMITTED_AT - 5.0,
        "started_at": seen.start_at,
        "walltime_s": 86_400.0,
        "tags_json": '["nickel","scan"]',
        "rev": number,
    }


def _documents(number: int) -> dict[str, object]:
    submission = {"name": f"nickel scf {number}", "code": "command", "task": "run"}
    prepared = Prepared(task="run", argv=("true",), files=())
    return {
        "job_id": number,
        "submission_json": json.dumps(submission),
        "prepared_json": json.dumps(asdict(prepared)),
        "resources_json": json.dumps({"nodes": 1, "ntasks": 16, "cpus_per_task": 1}),
        "provenance_json": json.dumps({"code": "command"}),
    }


def _remote(site: Site, number: int, ident: int, cluster_id: int) -> dict[str, object]:
    return {
        "job_id": number,
        "cluster_id": cluster_id,
        "key": job_key(key_of(number)),
        "directory": str(_directory(site, number)),
        "owner": getpass.getuser(),
        "scheduler_id": ident,
        "claim": 1,
        "handed_over_at": SUBMITTED_AT - 1.0,
    }
