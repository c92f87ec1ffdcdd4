"""The steps that move a job, each safe to repeat from its beginning.

A step looks at the world, acts, and commits its result with the event in one transaction. The
intention is committed before the action: a job is SUBMITTED before its supervisor is started, so a
daemon that is killed in between starts the same step again, and the supervisor's claim on the
directory makes sure that the program still runs only once. Called by ``services.pump`` alone.
"""

from __future__ import annotations

import errno
import platform
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from crystalmath.domain.states import TERMINAL, JobState
from crystalmath.errors import DatabaseError
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.leftovers import left_behind
from crystalmath.services.ports import (
    CodeAdapter,
    EndReceipt,
    Launch,
    Observation,
    Prepared,
    Runner,
    Verdict,
)
from crystalmath.services.ports_store import Documents, Move, Row, Store
from crystalmath.services.submission import decode_prepared
from crystalmath.services.verdicts import judged, step_end, used_by

LAUNCHED = "launched"
"""The scheduler's word for a job whose supervisor has taken it, until it is seen running."""
_GONE: Final = frozenset({errno.ENOENT, errno.EACCES, errno.EISDIR, errno.ENOTDIR})


def _was_launched(row: Row) -> bool:
    """Whether a supervisor has ever had the job: then it must not be started again."""
    return row["state"] == "RUNNING" or row["scheduler_state"] is not None


def missing_input(error: OSError) -> tuple[str, str] | None:
    """Message and hint where an input file is gone or unreadable; None for any other error."""
    if error.errno not in _GONE:
        return None
    name = str(error.filename or "an input file").rpartition("/")[2]
    hint = "the file was there when the job was submitted; put it back and rerun the job"
    return f"{name}: {error.strerror}", hint


def progress_move(adapter: CodeAdapter | None, row: Row, directory: Path, at: float) -> Move | None:
    """What a running job's files tell of its progress, if that is news."""
    found = adapter.progress(directory) if adapter else None
    if found is None:
        return None
    if (found.text, found.fraction) == (row["progress_text"], row["progress_fraction"]):
        return None
    changes = {"progress_text": found.text, "progress_fraction": found.fraction}
    return Move(row["id"], ("RUNNING",), None, at, changes=changes)


def provenance_with(
    documents: Documents, hashes: Mapping[str, str], version: str
) -> dict[str, Any]:
    """What is known of a job's origin when its files are written."""
    environment = documents.provenance.get("environment", {})
    facts = {"host": platform.node(), "python": platform.python_version()}
    return {
        **documents.provenance,
        "input_hashes": dict(hashes),
        "environment": {**environment, **facts, "crystalmath": version},
    }


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps, with what they need."""

    store: Store
    codes: Mapping[str, CodeAdapter]
    runner: Runner
    directories: JobDirectories
    clock: Callable[[], float]
    version: str

    def write(self, row: Row) -> Generator[None, None, None]:
        """CREATED → STAGED: the input files, complete or not at all.

        It pauses between the pieces of large files; a step that is closed there leaves nothing.
        """
        documents = self.store.documents(row["id"])
        prepared = decode_prepared(documents.prepared)
        try:
            hashes = yield from self._placed(row, prepared)
        except OSError as error:
            gone = missing_input(error)
            if gone is None:
                raise
            self._fail(row, "input_rejected", *gone)
            return
        provenance = provenance_with(documents, hashes, self.version)
        if not prepared.argv:
            self._taken_in(row, provenance)
            return
        self._move(
            row,
            "STAGED",
            "its files are written",
            evidence={"files": len(hashes)},
            changes={"progress_text": "waiting for its turn"},
            documents={"provenance_json": provenance},
        )

    def _placed(self, row: Row, prepared: Prepared) -> Generator[None, None, dict[str, str]]:
        with closing(self.directories.creating(row["uuid"], prepared.files)) as creating:
            while True:
                try:
                    done = next(creating)
                except StopIteration as end:
                    hashes: dict[str, str] = end.value
                    return hashes
                text = f"copying its files: {done // 1024**2} MiB so far"
                changes = {"progress_text": text}
                self.store.move(Move(row["id"], ("CREATED",), None, self.clock(), changes=changes))
                yield

    def submit(self, row: Row) -> None:
        """STAGED → SUBMITTED, then the supervisor is started."""
        if self.directories.is_marked_for_cancel(row["uuid"]):
            self.end_unrecorded(row)
            return
        moved = self._move(
            row,
            "SUBMITTED",
            "handed to the local supervisor",
            evidence={"attempt": row["attempt"]},
            changes={"progress_text": "starting"},
        )
        if moved:
            self._launch(row)

    def poll(self, row: Row) -> None:
        """SUBMITTED | RUNNING: look, and write down what has changed."""
        if self.directories.is_marked_for_cancel(row["uuid"]):
            self.end_unrecorded(row)
            return
        seen = self._look(row)
        if seen.phase == "unclaimed":
            # The daemon was killed, or the machine refused, between the two halves of `submit`.
            self._launch(row)
        elif seen.phase == "running":
            if row["state"] == "SUBMITTED":
                self._started(row, seen)
            else:
                self._progress(row)
        elif seen.phase in ("ended", "vanished", "other_boot"):
            self._ended(row, seen)

    def judge(self, row: Row) -> None:
        """FINISHED → COMPLETED | FAILED: the code adapter's verdict."""
        directory = self.directories.path(row["uuid"])
        seen = self._look(row)
        adapter = self.codes.get(row["code"])
        if seen.phase == "other_boot":
            verdict = Verdict(
                completed=False,
                reason="node_failure",
                message="the machine was restarted while the program ran",
                hint="rerun the job",
            )
        elif adapter is None:
            raise LookupError(f"no adapter for code {row['code']}")
        elif seen.phase == "unclaimed":
            verdict = self._read(row, adapter, directory)
        else:
            verdict = adapter.judge(directory, seen.end)
        self._account(row, seen.end)
        self._judged(row, verdict, left_behind(seen.end))

    def _account(self, row: Row, end: EndReceipt | None) -> None:
        if used := used_by(end, self.store.documents(row["id"]).resources):
            self.store.record_usage(row["id"], used)

    def cancel(self, row: Row, *, act: bool = True) -> None:
        """CANCELLING → CANCELLED when its end is seen; the real end wins.

        Parameters
        ----------
        act
            Ask the run to end (again); otherwise only look.
        """
        seen = self._look(row)
        if act and seen.phase in ("unclaimed", "claimed", "running"):
            self.runner.cancel(self.directories.path(row["uuid"]), row["uuid"])
        if seen.phase == "unclaimed":
            # The daemon alone launches, on this thread: what is not claimed now never will be.
            seen = self._look(row)
        if seen.phase == "unclaimed":
            self._cancelled(row, "it had not started", None)
        elif seen.phase == "ended" and seen.end is not None and seen.end.cause != "cancel":
            self._ended(row, seen, why="it ended by itself before the cancel reached it")
        elif seen.phase in ("ended", "vanished", "other_boot"):
            self._cancelled(row, "its processes have ended", seen)

    def end_unrecorded(self, row: Row) -> bool:
        """Any live state → CANCELLING, for a cancel that could not be stored when it was asked.

        If it still cannot be, the run is told to end all the same: the job's directory, or the
        pump's memory, holds the intention meanwhile.

        Returns
        -------
        bool
            Whether the database knows of it now, or needs to know nothing any more.
        """
        if row["state"] in TERMINAL or row["state"] == "CANCELLING":
            return True
        try:
            self._move(
                row,
                "CANCELLING",
                "cancel asked by the user, while the database could not be written",
                evidence={},
                changes={},
            )
        except DatabaseError:
            self.runner.cancel(self.directories.path(row["uuid"]), row["uuid"])
            return False
        return True

    def doom(self, row: Row, parent: int, state: str) -> None:
        """CREATED | STAGED → FAILED: a job that it waits for will never complete."""
        self._fail(
            row,
            "dependency_failed",
            f"job {parent}, which it waits for, is {state}",
            f"rerun job {parent}, then submit this one after the new job",
            evidence={"parent": parent, "parent_state": state},
        )

    def _taken_in(self, row: Row, provenance: Mapping[str, Any]) -> None:
        """CREATED → FINISHED: a calculation that somebody ran by hand is judged, never started."""
        imported = provenance.get("imported") or {}
        self._move(
            row,
            "FINISHED",
            "imported: it had ended before it was known here",
            evidence={"path": imported.get("path"), "files": len(provenance["input_hashes"])},
            changes={
                "finished_at": imported.get("finished_at"),
                "progress_text": "reading the results",
            },
            documents={"provenance_json": provenance},
        )

    def _read(self, row: Row, adapter: CodeAdapter, directory: Path) -> Verdict:
        """The verdict on a job that nothing here has run: an imported one, by its output alone."""
        prepared = decode_prepared(self.store.documents(row["id"]).prepared)
        if prepared.argv or prepared.output is None:
            return adapter.judge(directory, None)
        reading = adapter.read(directory / prepared.output)
        return adapter.judge(directory, None) if reading is None else reading.verdict

    def _look(self, row: Row) -> Observation:
        """What the runner sees of the job, with what the database knows of it."""
        directory = self.directories.path(row["uuid"])
        seen = self.runner.observe(directory, row["uuid"])
        if seen.phase == "vanished":
            # A program between fork and exec does not carry the key yet: one look is no proof.
            seen = self.runner.observe(directory, row["uuid"])
        if seen.phase == "unclaimed" and _was_launched(row):
            # Its bookkeeping is gone, by the job's own doing or a user's. Never start it again.
            return Observation("vanished", t_start=row["started_at"])
        return seen

    def _launch(self, row: Row) -> None:
        documents = self.store.documents(row["id"])
        prepared = decode_prepared(documents.prepared)
        threads = str(documents.resources.get("cpus_per_task", 1))
        self.runner.launch(
            Launch(
                key=row["uuid"],
                attempt=row["attempt"],
                directory=self.directories.path(row["uuid"]),
                argv=prepared.argv,
                env={"OMP_NUM_THREADS": threads, **prepared.env},
                walltime_s=row["walltime_s"],
            )
        )
        self.store.move(
            Move(
                job_id=row["id"],
                expected=("SUBMITTED",),
                state=None,
                at=self.clock(),
                changes={"scheduler_state": LAUNCHED},
            )
        )

    def _started(self, row: Row, seen: Observation) -> None:
        pid = None if seen.handle is None else seen.handle.pid
        self._move(
            row,
            "RUNNING",
            "the program runs",
            evidence={} if seen.handle is None else asdict(seen.handle),
            changes={
                "started_at": seen.t_start,
                "scheduler_id": None if pid is None else str(pid),
                "scheduler_state": "running",
                "progress_text": "running",
            },
        )

    def _progress(self, row: Row) -> None:
        directory = self.directories.path(row["uuid"])
        move = progress_move(self.codes.get(row["code"]), row, directory, self.clock())
        if move is not None:
            self.store.move(move)

    def _ended(self, row: Row, seen: Observation, why: str | None = None) -> None:
        end = seen.end
        reasons = {
            "ended": "the program ended",
            "vanished": "no receipt, and no process of the job is left",
            "other_boot": "the machine was restarted while it ran",
        }
        self._move(
            row,
            "FINISHED",
            why or reasons[seen.phase],
            evidence={"phase": seen.phase, "receipt": None if end is None else asdict(end)},
            changes={
                "started_at": seen.t_start if end is None else end.t_start,
                "finished_at": self.clock() if end is None else end.t_end,
                "scheduler_state": "ended" if end is not None else seen.phase,
                "progress_text": "reading the results",
            },
        )

    def _judged(self, row: Row, verdict: Verdict, noticed: Sequence[str]) -> None:
        documents = self.store.documents(row["id"])
        self.store.move(judged(row, documents, verdict, noticed, self.clock()))

    def _cancelled(self, row: Row, why: str, seen: Observation | None) -> None:
        end = None if seen is None else seen.end
        changes: dict[str, Any] = {"progress_text": "cancelled"}
        if seen is not None:
            changes["scheduler_state"] = "ended"
            changes["started_at"] = seen.t_start if end is None else end.t_start
            changes["finished_at"] = self.clock() if end is None else end.t_end
        evidence = {} if end is None else {"receipt": asdict(end)}
        noticed, documents = left_behind(end), {}
        self._account(row, end)
        if noticed:
            known = self.store.documents(row["id"]).warnings
            documents["warnings_json"] = [*known, *noticed]
        self._move(row, "CANCELLED", why, evidence=evidence, changes=changes, documents=documents)

    def _fail(
        self,
        row: Row,
        reason: str,
        message: str,
        hint: str,
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        self._move(
            row,
            "FAILED",
            message,
            evidence=evidence or {},
            changes={"reason": reason, "message": message, "hint": hint, "progress_text": message},
        )

    def _move(
        self,
        row: Row,
        state: JobState,
        why: str,
        *,
        evidence: Mapping[str, Any],
        changes: Mapping[str, Any],
        documents: Mapping[str, Any] | None = None,
    ) -> bool:
        """Commit the end of a step."""
        return self.store.move(
            step_end(
                row,
                state,
                why,
                self.clock(),
                evidence=evidence,
                changes=changes,
                documents=documents,
            )
        )
