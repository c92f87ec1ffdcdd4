"""One look at a cluster: a poll, what is missing from it, and what follows for each job.

Everything that was seen goes through the reducer of ``domain.evidence``; its findings, the evidence
that is new and the moves of the jobs are committed in one transaction. Called by
``services.cluster_lane``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crystalmath.domain.evidence import (
    Finding,
    Identity,
    Known,
    Observation,
    corrects,
    filled,
    is_same,
    reduce,
    split_misses,
)
from crystalmath.domain.polling import lost_look_at
from crystalmath.domain.states import JobState
from crystalmath.services.cluster_collect import latest_attempt, of_receipt, of_words
from crystalmath.services.ports_cluster import JobChange, QueuePoll, RemoteJob
from crystalmath.services.ports_store import Move, Row

_ENDS: Final = frozenset({15, 9})
"""Signals by which scancel ends a job."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A job with everything that is known of it."""

    row: Row
    remote: RemoteJob
    before: Sequence[Observation]
    new: Sequence[Observation]


def in_poll(remote: RemoteJob, poll: QueuePoll) -> tuple[Observation, ...]:
    """What a complete poll says of a job: its row, its absence, or nothing.

    A row that says what the last one said is not new: it stands for this poll too, see
    :func:`conclude`.
    """
    ident = int(remote.scheduler_id or 0)
    if ident in poll.unsure:
        return ()
    seen = poll.seen.get(ident)
    if seen is None:
        return (Observation("squeue", poll.at, "absent", poll=poll.number),)
    return (seen,)


def worth_keeping(
    before: Sequence[Observation], new: Sequence[Observation]
) -> tuple[Observation, ...]:
    """The observations that say something new; each absence counts for itself."""
    last = before[-1] if before else None
    kept = []
    for seen in new:
        repeats = last is not None and seen.phase != "absent" and is_same(last, seen)
        if seen.source == "squeue" and repeats:
            continue
        if seen.source != "squeue" and any(is_same(seen, old) for old in before):
            continue
        kept.append(seen)
    return tuple(kept)


def conclude(looked: Looked, offset_s: float, known: Known | None = None) -> Finding:
    """What follows from everything that was seen of a job, or of a task that is ``known``."""
    row, remote = looked.row, looked.remote
    observations, polls = split_misses([*looked.before, *looked.new])
    ours = Identity(
        owner=str(remote.owner or ""),
        key=None if remote.adopted else remote.key,
        workdir=remote.directory,
        submit_at=(remote.handed_over_at or 0.0) + offset_s,
    )
    return reduce(observations, polls, ours, known or known_of(row, remote))


def known_of(row: Row, remote: RemoteJob) -> Known:
    """What the job's row says before this look."""
    return Known(row["state"], row["attempt"], row["started_at"], remote.rests_on_words)


def change_of(looked: Looked, now: float, offset_s: float) -> JobChange | None:
    """What a look changes of a job; None when nothing does."""
    finding = conclude(looked, offset_s)
    evidence = worth_keeping(looked.before, looked.new)
    row = looked.row
    if row["state"] in ("FAILED", "CANCELLED") and not corrects(
        finding, known_of(row, looked.remote)
    ):
        return JobChange(row["id"], evidence=evidence) if evidence else None
    moves, remote = _moves(looked, finding, now)
    if not moves and not evidence and not remote:
        return None
    return JobChange(row["id"], moves, remote, evidence)


def _moves(
    looked: Looked, finding: Finding, now: float
) -> tuple[tuple[Move, ...], Mapping[str, Any]]:
    state: JobState = looked.row["state"]
    if finding.phase in ("waiting", "running"):
        return _alive(looked, finding, now)
    by_cancel = finding.phase == "ended" and state == "CANCELLING" and is_by_cancel(finding)
    if finding.phase == "cancelled" or by_cancel:
        return _cancelled(looked, finding, now)
    if finding.phase == "ended":
        return _ended(looked, finding, now)
    if finding.phase == "lost":
        return _lost(looked, now)
    if finding.attention and finding.attention != looked.row["attention"]:
        changes: dict[str, Any] = {"attention": finding.attention, **_words(finding)}
        return (_move(looked.row, state, None, now, finding, None, changes),), {}
    return (), {}


def _alive(
    looked: Looked, finding: Finding, now: float
) -> tuple[tuple[Move, ...], Mapping[str, Any]]:
    row = looked.row
    state: JobState = row["state"]
    running = finding.phase == "running"
    changes: dict[str, Any] = {"attention": finding.attention, **_words(finding)}
    wanted: JobState | None = "RUNNING" if running else "SUBMITTED"
    why: str | None = "the program runs" if running else "waiting in the queue"
    if state in ("CANCELLING", wanted):
        wanted, why = None, None
    if running and finding.because is not None:
        changes["started_at"] = finding.because.start_at or row["started_at"]
    if running:
        changes["attempt"] = finding.attempt
        if row["progress_text"] in ("waiting in the queue", "waiting to run again"):
            changes["progress_text"] = "running"
    if state == "RUNNING" and not running and _is_array(finding):
        wanted, why = None, None  # others of its tasks wait: it has begun all the same
    elif state == "RUNNING" and not running:
        again = {"started_at": None, "progress_text": "waiting to run again"}
        changes |= again | {"attempt": max(row["attempt"] + 1, finding.attempt)}
        why = "requeued by the scheduler: it will run again"
    elif finding.restarted and why is None:
        why = f"runs again, attempt {finding.attempt}"
    if state == "LOST":
        why = "evidence returned: the scheduler has it"
    if why is None and all(row[name] == value for name, value in changes.items()):
        return (), {}
    remote: dict[str, Any] = {"lost_at": None} if state == "LOST" else {}
    return (_move(row, state, wanted, now, finding, why, changes),), remote


def _is_array(finding: Finding) -> bool:
    """Whether tasks of an adopted array are looked at together."""
    return finding.because is not None and "tasks" in finding.because.details


def _ended(
    looked: Looked, finding: Finding, now: float
) -> tuple[tuple[Move, ...], Mapping[str, Any]]:
    row = looked.row
    end = end_of(looked, finding)
    why = "the program ended" if finding.rule == "E5" else f"ended: {_raw(finding)}"
    if row["state"] == "CANCELLING":
        why = "it ended by itself before the cancel reached it"
    elif row["state"] in ("LOST", "FAILED", "CANCELLED"):
        why = "better evidence: the job has left a receipt of its end"
    changes = {**_times(row, end, now), "progress_text": "fetching its files"}
    # What it said while the job lived is no word about its end.
    changes |= {"scheduler_state": last_word([*looked.before, *looked.new])}
    changes |= {"scheduler_reason": None, **_words(finding)}
    changes |= {"attempt": finding.attempt, "attention": None, "next_try_at": None, "tries": 0}
    remote = {
        "end": end,
        "rests_on_words": finding.rests_on_words,
        "collected": False,
        "lost_at": None,
    }
    return (_move(row, row["state"], "FINISHED", now, finding, why, changes),), remote


def _cancelled(
    looked: Looked, finding: Finding, now: float
) -> tuple[tuple[Move, ...], Mapping[str, Any]]:
    row = looked.row
    end = end_of(looked, finding)
    asked = row["state"] == "CANCELLING"
    why = "its end is seen" if asked else f"cancelled on the cluster: {_raw(finding)}"
    changes = {**_times(row, end, now), **_words(finding), "progress_text": "cancelled"}
    changes |= {"attention": None, "next_try_at": None, "tries": 0}
    remote = {"end": end, "rests_on_words": finding.rests_on_words, "lost_at": None}
    last = _move(row, "CANCELLING", "CANCELLED", now, finding, why, changes)
    if asked:
        return (last,), remote
    first = _move(row, row["state"], "CANCELLING", now, finding, why, {})
    return (first, last), remote


def _lost(looked: Looked, now: float) -> tuple[tuple[Move, ...], Mapping[str, Any]]:
    row, remote = looked.row, looked.remote
    if row["state"] == "CANCELLING":
        gone = {"progress_text": "cancelled", "attention": None, "next_try_at": None}
        why = "the scheduler does not know it any more"
        found = Finding("cancelled", "E7", row["attempt"])
        move = _move(row, "CANCELLING", "CANCELLED", now, found, why, gone)
        return (move,), {"rests_on_words": True}
    since = remote.lost_at or now
    changes: dict[str, Any] = {"next_try_at": lost_look_at(since, now)}
    if row["state"] == "LOST":
        return (Move(row["id"], ("LOST",), None, now, changes=changes),), {}
    changes |= {
        "attention": "neither the scheduler nor the job's directory says what became of it",
        "progress_text": "lost from sight",
    }
    why = "the scheduler has not known it for minutes, and nothing tells of its end"
    finding = Finding("lost", "E7", row["attempt"])
    return (_move(row, row["state"], "LOST", now, finding, why, changes),), {"lost_at": since}


def end_of(looked: Looked, finding: Finding) -> dict[str, Any]:
    """How the job ended: the scheduler's reason, and exit code and times of its receipt."""
    seen = [*looked.before, *looked.new]
    end: dict[str, Any] = {"attempt": finding.attempt}
    words = [one for one in seen if one.source == "sacct" and one.phase in ("ended", "cancelled")]
    if words:
        end |= of_words(latest_attempt(words))
    if finding.because is not None and finding.because.source != "end":
        end |= of_words(finding.because)
    if _never_started(seen, finding, end):
        end |= {"reason": "did_not_start", "cause": "not_started"}
        end["failure"] = f"attempt {finding.attempt} never began: {end.get('raw')}"
    left = [one for one in seen if one.source == "end" and one.attempt == finding.attempt]
    if left:
        end |= {name: value for name, value in of_receipt(left[-1]).items() if value is not None}
        if left[-1].rc is not None:
            end.pop("signal", None)
        if left[-1].signal is not None:
            end.pop("rc", None)
    return end


def _never_started(seen: Sequence[Observation], finding: Finding, end: Mapping[str, Any]) -> bool:
    """Whether a requeued job failed before its script began: no receipt tells of its start."""
    begun = any(one.source in ("start", "end") and one.attempt == finding.attempt for one in seen)
    return finding.attempt > 1 and not begun and end.get("reason") == "crashed"


def last_word(seen: Sequence[Observation]) -> str | None:
    """The scheduler's last word of an end; None where only a receipt tells of it."""
    words = [one for one in seen if one.phase in ("ended", "cancelled") and one.raw]
    return max(words, key=lambda one: one.seen_at).raw if words else None


def is_by_cancel(finding: Finding) -> bool:
    """Whether a receipt tells of the end that a cancel makes."""
    because = finding.because
    return because is not None and because.source == "end" and because.signal in _ENDS


def _times(row: Row, end: Mapping[str, Any], now: float) -> dict[str, Any]:
    return {
        "started_at": end.get("t_start") or row["started_at"],
        "finished_at": end.get("t_end") or now,
    }


def _raw(finding: Finding) -> str:
    return finding.because.raw if finding.because is not None else ""


def _words(finding: Finding) -> dict[str, Any]:
    """The scheduler's own words, for the row."""
    because = finding.because
    if because is None or not because.raw:
        return {}
    details = because.details
    return {"scheduler_state": because.raw, "scheduler_reason": details.get("why")}


def _move(  # noqa: PLR0917 - a row, where from and where to, and why
    row: Row,
    expected: JobState,
    state: JobState | None,
    now: float,
    finding: Finding,
    why: str | None,
    changes: Mapping[str, Any],
) -> Move:
    because = finding.because
    evidence: dict[str, Any] = {}
    if why is not None:
        seen = {} if because is None else filled(because)
        evidence = {"rule": finding.rule, **{name: v for name, v in seen.items() if v}}
    return Move(row["id"], (expected,), state, now, why, evidence, changes)
