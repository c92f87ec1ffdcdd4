"""After the end of a job array: the files of all tasks are fetched, each task is judged alone.

The job is COMPLETED only if every task is. Called by ``services.cluster_lane`` alone.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from crystalmath.domain.evidence import Observation
from crystalmath.domain.licensed import is_licensed
from crystalmath.domain.task_list import render_tasks
from crystalmath.services.arrays.look import ENDED, Tasks
from crystalmath.services.cluster_collect import (
    LOOK_AGAIN_S,
    STDOUT,
    WAIT_FOR_FILES_S,
    Collecting,
    is_wanted,
    latest_attempt,
    left_there,
    of_receipt,
    of_words,
)
from crystalmath.services.ports import Verdict
from crystalmath.services.ports_cluster import JobChange, Listed, RemoteJob, Watched
from crystalmath.services.ports_shell import MIB
from crystalmath.services.ports_store import Documents, Move, Row
from crystalmath.services.ports_tasks import FOLDER, TaskRecord, task_folder
from crystalmath.services.submission import decode_prepared
from crystalmath.services.verdicts import judged

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class TaskCollecting:
    """Collect and judge the tasks of one array, with what jobs of the cluster are collected by."""

    parts: Collecting

    def collect(self, row: Row, remote: RemoteJob, watched: Watched) -> None:
        """FINISHED → COMPLETED | FAILED; CANCELLED stays what it is, with its files."""
        parts, job_id = self.parts, row["id"]
        tasks = parts.store.tasks_of([job_id]).get(job_id, {})
        ends = self._ends(tasks, watched)
        listed = parts.runner.listing(str(remote.directory))
        if self._is_early(row, tasks, ends, listed):
            changes = {"next_try_at": parts.clock() + LOOK_AGAIN_S}
            parts.jobs.move(Move(job_id, (row["state"],), None, parts.clock(), changes=changes))
            return
        documents = parts.jobs.documents(job_id)
        noticed = self._fetch(row, remote, tasks, listed, documents)
        verdicts = {
            number: self._verdict(row, number, ends[number], documents)
            for number, task in tasks.items()
            if task.state in ENDED and task.state != "CANCELLED"
        }
        changed = {number: _columns(verdict) for number, verdict in verdicts.items()}
        for number, values in changed.items():
            values["end"] = ends[number]
        whole = verdict_of(tasks, verdicts)
        noticed += list(whole.warnings)
        if row["state"] == "CANCELLED":
            kept = {"warnings_json": [*documents.warnings, *noticed]} if noticed else {}
            told = {"message": whole.message, "hint": whole.hint}
            move = Move(job_id, ("CANCELLED",), None, parts.clock(), changes=told, documents=kept)
        else:
            move = judged(row, documents, replace(whole, warnings=()), noticed, parts.clock())
        done = {"collected": True}
        parts.store.commit([JobChange(job_id, (move,), done, tasks=changed)])

    def _ends(self, tasks: Tasks, watched: Watched) -> dict[int, dict[str, Any]]:
        """How each task ended; those without exit code and signal are asked for again."""
        ends = {number: dict(task.end) for number, task in tasks.items()}
        doubtful = tuple(n for n, task in tasks.items() if _is_doubtful(task))
        if not doubtful:
            return ends
        asked = replace(watched, tasks=doubtful)
        job_id = watched.job_id
        left = self.parts.runner.receipts([asked]).get(job_id, [])
        past, _ = self.parts.runner.history([asked])
        for number in doubtful:
            attempt = tasks[number].attempt
            mine = [s for s in left if (s.task, s.source, s.attempt) == (number, "end", attempt)]
            words = [s for s in past.get(job_id, []) if s.task == number and _is_end(s)]
            if words:
                ends[number] |= of_words(latest_attempt(words))
            if mine:
                ends[number] |= of_receipt(mine[-1])
        return ends

    def _is_early(
        self,
        row: Row,
        tasks: Tasks,
        ends: Mapping[int, Mapping[str, Any]],
        listed: Sequence[Listed] | None,
    ) -> bool:
        """Whether something is missing that may still appear."""
        if self.parts.clock() - (row["finished_at"] or 0.0) > WAIT_FOR_FILES_S:
            return False
        names = {file.path for file in listed or ()}
        for number, task in tasks.items():
            end = ends[number]
            if task.state == "CANCELLED" or end.get("reason") == "did_not_start":
                continue
            unknown = end.get("rc") is None and end.get("signal") is None
            if unknown or f"{task_folder(number)}/{STDOUT}" not in names:
                return True
        return False

    def _fetch(
        self,
        row: Row,
        remote: RemoteJob,
        tasks: Tasks,
        listed: Sequence[Listed] | None,
        documents: Documents,
    ) -> list[str]:
        """Fetch what the tasks have written; returns what the user should know."""
        if listed is None:
            return [f"its directory on {row['cluster']} is gone; nothing could be fetched"]
        directory = self.parts.directories.path(row["uuid"])
        prepared = decode_prepared(documents.prepared)
        inputs = {file.path for file in prepared.files} | {"job.sh"}
        sizes = {file.path: file.size_bytes for file in listed}
        names = [file.path for file in listed if _is_wanted(file, tasks, inputs, sizes, directory)]
        _place_inputs(directory, tasks, [file.path for file in prepared.files])
        limit = self.parts.max_retrieve_mib * MIB
        here = str(remote.directory)
        got = self.parts.runner.fetch(here, names, directory, limit) if names else ()
        return [left_there(one, row, remote) for one in got if one.outcome != "fetched"]

    def _verdict(
        self, row: Row, number: int, end: Mapping[str, Any], documents: Documents
    ) -> Verdict:
        folder = self.parts.directories.path(row["uuid"]) / task_folder(number)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.parts.judge(row["code"], folder, end)


def _is_end(seen: Observation) -> bool:
    return seen.phase in ("ended", "cancelled")


def _is_doubtful(task: TaskRecord) -> bool:
    return task.state == "FINISHED" and task.end.get("rc") is None and not task.end.get("signal")


def _is_wanted(
    file: Listed, tasks: Tasks, inputs: set[str], sizes: Mapping[str, int], directory: Path
) -> bool:
    """Whether a file is to be fetched: no task's copy of an input that it left alone."""
    if is_licensed(file.path):
        return False
    parts = PurePosixPath(file.path).parts
    if parts[0] != FOLDER or len(parts) < 3 or not parts[1].isdigit():
        return is_wanted(file, inputs=inputs, begun=0.0, directory=directory)
    task = tasks.get(int(parts[1]))
    own = "/".join(parts[2:])
    begun = 0.0 if task is None else float(task.end.get("t_start") or 0.0)
    if own in inputs and not file.modified_at >= begun > 0 and sizes.get(own) == file.size_bytes:
        return False
    return not own.startswith(".cm/") or own.endswith(".json")


def _place_inputs(directory: Path, tasks: Iterable[int], inputs: Sequence[str]) -> None:
    """Give every task here its inputs, as it had them there."""
    for number in tasks:
        for name in inputs:
            target = directory / task_folder(number) / name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                try:
                    os.link(directory / name, target)
                except FileExistsError:
                    raise
                except OSError:  # a file system without links
                    shutil.copyfile(directory / name, target)


def _columns(verdict: Verdict) -> dict[str, Any]:
    return {
        "state": "COMPLETED" if verdict.completed else "FAILED",
        "reason": verdict.reason,
        "message": verdict.message,
        "energy_ev": verdict.energy_ev,
    }


def verdict_of(tasks: Tasks, verdicts: Mapping[int, Verdict]) -> Verdict:
    """The verdict on the whole array: good only if every task is."""
    failed = {number: one for number, one in verdicts.items() if not one.completed}
    cancelled = [number for number, task in tasks.items() if task.state == "CANCELLED"]
    said = []
    if failed:
        said.append(f"{len(failed)} of {len(tasks)} tasks failed: {_why(failed)}")
    if cancelled:
        said.append(f"{len(cancelled)} of {len(tasks)} cancelled: {render_tasks(cancelled)}")
    reasons = Counter(str(one.reason) for one in failed.values() if one.reason is not None)
    convergence = [one.converged for one in verdicts.values()]
    converged = None
    if convergence and not cancelled and None not in convergence:
        converged = all(convergence)
    hint = "run those again, and no others: `jobs.rerun` with `failed_tasks`" if said else None
    return Verdict(
        completed=not said,
        reason=reasons.most_common(1)[0][0] if reasons else None,
        message="; ".join(said)[:600] or None,
        hint=hint,
        converged=converged,
        warnings=_warnings(verdicts),
    )


def _why(failed: Mapping[int, Verdict]) -> str:
    by_reason: dict[str, list[int]] = {}
    for number, verdict in failed.items():
        by_reason.setdefault(str(verdict.reason), []).append(number)
    return ", ".join(f"{render_tasks(ns)} ({reason})" for reason, ns in by_reason.items())


def _warnings(verdicts: Mapping[int, Verdict]) -> tuple[str, ...]:
    """Each warning once, with the tasks that it is about."""
    by_text: dict[str, list[int]] = {}
    for number, verdict in verdicts.items():
        for text in verdict.warnings:
            by_text.setdefault(text, []).append(number)
    told = [f"tasks {render_tasks(ns)}: {text}" for text, ns in by_text.items()]
    more = len(told) - _SHOWN
    return (*told[:_SHOWN], *([f"{more} more warnings of its tasks"] if more > 0 else []))
