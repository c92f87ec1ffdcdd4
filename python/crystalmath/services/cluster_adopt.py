"""``slurm.adopt``: a job that somebody submitted without us becomes one of ours.

Its directory is read, never written: files are fetched to recognise the code, and again at its end.
From then on it is followed like any other job. Used by ``services.slurm``.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from crystalmath.contract.jobs import SubmitParams
from crystalmath.contract.slurm import AdoptParams
from crystalmath.domain.evidence import Observation
from crystalmath.errors import Conflict, InputRejected, InvalidParams, UnknownJob
from crystalmath.services import job_import
from crystalmath.services.cluster_collect import ADOPTED_DEPTH
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.ports import CodeAdapter, Finished, Prepared
from crystalmath.services.ports_cluster import Cluster, ClusterRunner, ClusterStore, Watched
from crystalmath.services.ports_shell import MIB
from crystalmath.services.ports_store import NewJob
from crystalmath.services.submission import Checked, new_job

_LOOK_AT: Final = 100
_LOOK_AT_BYTES: Final = 8 * MIB
_ANYTHING: Final = "command"
"""The code that judges by the exit code alone: nothing has to be recognised."""


@dataclass(frozen=True, slots=True)
class Adoption:
    """What is needed to adopt jobs of one cluster."""

    store: ClusterStore
    cluster: Cluster
    runner: ClusterRunner
    codes: Mapping[str, CodeAdapter]
    directories: JobDirectories
    now: float

    def adopt(self, params: AdoptParams, seen: Observation | None) -> int:
        """Take a job in; returns our number.

        Parameters
        ----------
        seen
            Its row in the queue, if it is there; the accounting is asked otherwise.

        Raises
        ------
        UnknownJob, Conflict, InvalidParams, InputRejected, SshError
        """
        ident = int(params.job_id)
        found = seen or self._in_history(ident)
        self._refuse_foreign(ident, found)
        workdir = str(found.workdir)
        job = self._described(params, ident, found, workdir)
        try:
            return self.store.insert_adopted(job)
        except Conflict:
            shutil.rmtree(self.directories.path(job.row["uuid"]), ignore_errors=True)
            raise

    def _in_history(self, ident: int) -> Observation:
        asked = Watched(job_id=0, scheduler_id=ident, key=None, directory="")
        past, trouble = self.runner.history([asked])
        rows = past.get(0, [])
        if not rows:
            said = f" ({trouble})" if trouble else ""
            raise UnknownJob(
                f"{self.cluster.record.name} knows no job {ident}{said}",
                hint="`slurm.queue` lists the jobs",
                field="job_id",
            )
        return max(rows, key=lambda seen: (seen.submit_at or 0.0, seen.start_at or 0.0))

    def _refuse_foreign(self, ident: int, seen: Observation) -> None:
        user = self.runner.facts().user
        if seen.owner != user:
            raise InvalidParams(
                f"job {ident} belongs to {seen.owner}, not to {user}", field="job_id"
            )
        if not (seen.workdir or "").startswith("/"):
            raise InvalidParams(
                f"the scheduler does not say where job {ident} works", field="job_id"
            )

    def _described(
        self, params: AdoptParams, ident: int, seen: Observation, workdir: str
    ) -> NewJob:
        name = params.name or _clean(seen.name) or f"job {ident}"
        key = uuid.uuid4().hex
        here = self.directories.path(key)
        try:
            code, found = self._recognised(params.code, workdir, here)
        except BaseException:
            shutil.rmtree(here, ignore_errors=True)
            raise
        prepared = Prepared(
            task="run" if found is None else found.task,
            argv=(),
            files=(),
            engine=None if found is None else found.engine,
            formula=None if found is None else found.formula,
            n_atoms=None if found is None else found.n_atoms,
            output=None if found is None else found.output,
            warnings=() if found is None else found.warnings,
        )
        checked = Checked(SubmitParams(name=name, code=code), None, prepared)
        described = new_job(checked, now=self.now, why=f"adopted: it is job {ident} there")
        row = {
            **described.row,
            "uuid": key,
            "task": None if found is None else found.task,
            "state": "SUBMITTED",
            "runner": "slurm",
            "cluster": self.cluster.record.name,
            "scheduler_id": str(ident),
            "scheduler_state": seen.raw,
            "progress_text": "adopted",
        }
        offset_s = self.runner.facts().clock_offset_s
        remote = {
            "cluster_id": self.cluster.id,
            "key": "",
            "directory": workdir,
            "owner": seen.owner,
            "scheduler_id": ident,
            "handed_over_at": (seen.submit_at or self.now) - offset_s,
            "claim": 1,
            "adopted": 1,
        }
        return replace(described, row=row, remote=remote)

    def _recognised(
        self, code: str | None, workdir: str, here: Path
    ) -> tuple[str, Finished | None]:
        """Which code it is, from copies of its files."""
        here.mkdir(mode=0o700, parents=True)
        (here / ".cm").mkdir(mode=0o700)
        if code == _ANYTHING:
            return code, None
        listed = self.runner.listing(workdir, ADOPTED_DEPTH) or []
        small = [
            file
            for file in listed
            if file.size_bytes <= _LOOK_AT_BYTES and not file.path.startswith(".")
        ]
        newest = sorted(small, key=lambda file: file.modified_at, reverse=True)[:_LOOK_AT]
        self.runner.fetch(workdir, [file.path for file in newest], here, _LOOK_AT_BYTES)
        try:
            return job_import.recognise(self.codes, here, code)
        except InputRejected as error:
            if code is not None:
                return code, None  # it has written nothing yet; its end will tell
            raise InvalidParams(
                f"no code knows the files in {workdir}",
                field="code",
                hint=f"say which it is; `code: {_ANYTHING}` judges by the exit code alone",
            ) from error


def _clean(name: str | None) -> str | None:
    """A name of the scheduler as a name of ours, if it can be one."""
    text = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in name or "")
    text = text.strip()[:100]
    return text if text.strip(". _") else None
