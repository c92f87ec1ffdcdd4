"""After the end of a job on a cluster: its files are fetched, then it is judged.

A file that should be there is looked for during a minute, since the cluster's file system may show
it late. Called by ``services.cluster_lane`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crystalmath.domain.evidence import Observation
from crystalmath.domain.licensed import is_licensed
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.ports import CodeAdapter, Verdict
from crystalmath.services.ports_cluster import (
    ClusterRunner,
    ClusterStore,
    JobChange,
    Listed,
    RemoteJob,
    Watched,
    receipt_of,
)
from crystalmath.services.ports_shell import MIB, Got
from crystalmath.services.ports_store import Documents, Move, Row, Store
from crystalmath.services.remote_verdict import combine, is_memory_kill
from crystalmath.services.submission import decode_prepared
from crystalmath.services.verdicts import judged

WAIT_FOR_FILES_S: Final = 60.0
ADOPTED_DEPTH: Final = 2
"""An adopted job's directory may be somebody's home: no deeper is looked for its files."""
LOOK_AGAIN_S: Final = 5.0
_LOG_TAIL: Final = 64 * 1024
STDOUT: Final = "stdout.log"
"""Written by the job script of every job that has begun."""


@dataclass(frozen=True, slots=True)
class Collecting:
    """Collect and judge, for one cluster.

    Attributes
    ----------
    max_retrieve_mib
        Larger files stay on the cluster.
    may_ask
        Whether the cluster's budget allows another question to the scheduler.
    """

    jobs: Store
    store: ClusterStore
    runner: ClusterRunner
    codes: Mapping[str, CodeAdapter]
    directories: JobDirectories
    clock: Callable[[], float]
    max_retrieve_mib: int
    may_ask: Callable[[], bool] = lambda: True

    def collect(self, row: Row, remote: RemoteJob, watched: Watched) -> None:
        """FINISHED → COMPLETED | FAILED; CANCELLED stays what it is, with its files."""
        end = self._completed_end(row, remote, watched)
        listed = None if end is None else self._listing(remote)
        if end is None or self._is_early(row, remote, end, listed):
            changes = {"next_try_at": self.clock() + LOOK_AGAIN_S}
            self.jobs.move(Move(row["id"], (row["state"],), None, self.clock(), changes=changes))
            return
        documents = self.jobs.documents(row["id"])
        noticed = self._fetch(row, remote, end, listed, documents)
        if row["state"] == "CANCELLED":
            self._keep(row, end, noticed, documents)
            return
        verdict = self._verdict(row, end)
        move = judged(row, documents, verdict, noticed, self.clock())
        self.store.commit([JobChange(row["id"], (move,), {"collected": True, "end": end})])

    def _completed_end(
        self, row: Row, remote: RemoteJob, watched: Watched
    ) -> dict[str, Any] | None:
        """What is known of the end; without receipt and exit code, both are asked for again.

        None: the budget does not allow that now.
        """
        end = dict(remote.end)
        if end.get("rc") is not None or end.get("signal") is not None:
            return end
        if end.get("cause") == "not_started":
            return end
        found = {} if remote.adopted else self.runner.receipts([watched])
        receipts = found.get(row["id"], [])
        attempt = row["attempt"]
        left = [seen for seen in receipts if (seen.source, seen.attempt) == ("end", attempt)]
        if left:
            return end | of_receipt(left[-1])
        if not self.may_ask():
            return None
        past, _ = self.runner.history([watched])
        words = [seen for seen in past.get(row["id"], []) if seen.phase in ("ended", "cancelled")]
        if words:
            return end | of_words(latest_attempt(words))
        return end

    def _listing(self, remote: RemoteJob) -> list[Listed] | None:
        """Its files; of an adopted job those that it has written itself."""
        if not remote.adopted:
            return self.runner.listing(str(remote.directory))
        since = (remote.handed_over_at or 0.0) + self.runner.facts().clock_offset_s
        listed = self.runner.listing(str(remote.directory), ADOPTED_DEPTH)
        if listed is None:
            return None
        return [file for file in listed if file.modified_at >= since]

    def _is_early(
        self, row: Row, remote: RemoteJob, end: Mapping[str, Any], listed: list[Listed] | None
    ) -> bool:
        """Whether something is missing that may still appear."""
        waited_s = self.clock() - (row["finished_at"] or 0.0)
        if waited_s > WAIT_FOR_FILES_S or end.get("reason") == "did_not_start":
            return False
        if row["state"] == "CANCELLED" and end.get("t_start") is None:
            return False  # it had not begun
        names = {file.path for file in listed or ()}
        unknown = end.get("rc") is None and end.get("signal") is None
        return (STDOUT not in names and not remote.adopted) or unknown

    def _fetch(
        self,
        row: Row,
        remote: RemoteJob,
        end: Mapping[str, Any],
        listed: list[Listed] | None,
        documents: Documents,
    ) -> list[str]:
        """Fetch what the job has written; returns what the user should know."""
        if listed is None:
            return [f"its directory on {row['cluster']} is gone; nothing could be fetched"]
        directory = self.directories.path(row["uuid"])
        prepared = decode_prepared(documents.prepared)
        inputs = {file.path for file in prepared.files} | {"job.sh"}
        begun = float(end.get("t_start") or 0.0)
        names = [
            file.path
            for file in listed
            if is_wanted(file, inputs=inputs, begun=begun, directory=directory)
        ]
        limit = self.max_retrieve_mib * MIB
        got = self.runner.fetch(str(remote.directory), names, directory, limit) if names else ()
        return [left_there(one, row, remote) for one in got if one.outcome != "fetched"]

    def _verdict(self, row: Row, end: Mapping[str, Any]) -> Verdict:
        return self.judge(row["code"], self.directories.path(row["uuid"]), end)

    def judge(self, code: str, directory: Path, end: Mapping[str, Any]) -> Verdict:
        """The verdict on what has run in a directory, with the scheduler's words."""
        adapter = self.codes.get(code)
        if adapter is None:
            raise LookupError(f"no adapter for code {code}")
        verdict = adapter.judge(directory, receipt_of(end))
        words = _tail(directory / "scheduler.log") + _tail(directory / "stderr.log")
        return combine(verdict, end, memory_kill=is_memory_kill(words))

    def _keep(
        self, row: Row, end: Mapping[str, Any], noticed: list[str], documents: Documents
    ) -> None:
        kept = {"warnings_json": [*documents.warnings, *noticed]} if noticed else {}
        move = Move(row["id"], (row["state"],), None, self.clock(), documents=kept)
        self.store.commit([JobChange(row["id"], (move,), {"collected": True, "end": end})])


def is_wanted(file: Listed, *, inputs: set[str], begun: float, directory: Path) -> bool:
    """Whether a file on the cluster is to be fetched: no input that the job left alone.

    A licensed potential is none, whatever the job did with it or left of it when it was killed.
    """
    if file.path.startswith(".cm/") and not file.path.endswith(".json"):
        return False
    if is_licensed(file.path):
        return False
    if file.path not in inputs or file.modified_at >= begun > 0:
        return True
    here = directory / file.path
    return not here.is_file() or here.stat().st_size != file.size_bytes


def of_receipt(seen: Observation) -> dict[str, Any]:
    """The end as a receipt has it."""
    limit = {"reason": "walltime", "cause": "walltime"} if seen.reason == "walltime" else {}
    return limit | {
        "attempt": seen.attempt,
        "rc": seen.rc,
        "signal": seen.signal,
        "warned": seen.warned,
        "t_start": seen.start_at,
        "t_end": seen.end_at,
    }


def latest_attempt(words: Sequence[Observation]) -> Observation:
    """Of several ends of one job the last: a requeue renews the time of submission.

    Its start does not tell: an attempt that never began has none.
    """
    return max(words, key=lambda one: (one.submit_at or 0.0, one.start_at or 0.0, one.seen_at))


def of_words(seen: Observation) -> dict[str, Any]:
    """The end as the scheduler has it; where it knows no exit code, none is made up."""
    found: dict[str, Any] = {"raw": seen.raw}
    if seen.reason is not None:
        found["reason"] = seen.reason
    if seen.reason == "did_not_start":
        found |= {"cause": "not_started", "failure": f"the scheduler says {seen.raw}"}
    elif seen.reason == "walltime":
        found["cause"] = "walltime"
    elif seen.phase == "cancelled":
        found["cause"] = "cancel"
    if seen.raw.startswith("COMPLETED"):
        found["rc"] = 0  # what the word means
    elif seen.source == "sacct":
        found |= {"rc": seen.rc if not seen.signal else None, "signal": seen.signal}
    found |= {"t_start": seen.start_at, "t_end": seen.end_at}
    return {name: value for name, value in found.items() if value is not None}


def left_there(got: Got, row: Row, remote: RemoteJob) -> str:
    """What the user should know of a file that was not fetched."""
    if got.outcome == "too_large":
        size = (got.size_bytes or 0) / MIB
        return (
            f"{got.get.name} ({size:.0f} MiB) is larger than `max_retrieve_mib` and stays on "
            f"{row['cluster']}, in {remote.directory}"
        )
    return f"{got.get.name} was there and could not be fetched: it is gone now"


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - _LOG_TAIL))
            return stream.read(_LOG_TAIL).decode("utf-8", "replace")
    except OSError:
        return ""
