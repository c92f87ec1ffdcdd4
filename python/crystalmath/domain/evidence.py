"""What is known of a remote job, from everything that was seen of it. Pure: no I/O, no clock.

Three rules govern it: unknown is not failed; absence is not an end; nothing is sent twice on a
guess. :func:`reduce` looks at all observations of a job together, so their order within one poll
does not matter, and it may be run again at any time with the same result. The numbered rules E1 to
E10 are those of ``docs/adr/014-evidence-and-reducer.md``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

Source = Literal["squeue", "sacct", "scontrol", "start", "end"]
SeenPhase = Literal["waiting", "running", "ended", "cancelled", "unchanged", "unknown", "absent"]
"""``absent``: a complete poll in which the job was missing; see :func:`split_misses`."""

LOST_MISSES: Final = 3
LOST_AFTER_S: Final = 300.0
SETTLE_MISSES: Final = 2
SETTLE_AFTER_S: Final = 60.0
SUBMIT_SLACK_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that was seen of a job.

    Attributes
    ----------
    seen_at
        When, by our clock.
    poll
        Number of the poll it belongs to, for ``squeue``; polls of one cluster count up.
    phase
        What the source says, in the words of the runner's table.
    settles
        An end that a requeue may follow (node failure, preemption).
    submit_at, start_at, end_at
        By the cluster's clock.
    restarts
        Count of requeues, where the source gives one.
    owner, name, workdir
        To tell our job from another one with a recycled id.
    rc, signal
        How the allocation ended, or the program for ``end``.
    attempt
        Of ``start`` and ``end``: which attempt left the receipt; None where it is not told.
    task
        Of a job array: which task it is about.
    """

    source: Source
    seen_at: float
    phase: SeenPhase
    raw: str = ""
    poll: int | None = None
    reason: str | None = None
    attention: str | None = None
    settles: bool = False
    submit_at: float | None = None
    start_at: float | None = None
    end_at: float | None = None
    restarts: int | None = None
    owner: str | None = None
    name: str | None = None
    workdir: str | None = None
    rc: int | None = None
    signal: int | None = None
    attempt: int | None = None
    warned: bool = False
    task: int | None = None
    details: dict[str, Any] = field(default_factory=dict)


_NAMES: Final = tuple(one.name for one in fields(Observation))
_SAID: Final = operator.attrgetter(*(name for name in _NAMES if name not in ("seen_at", "poll")))


def said(seen: Observation) -> tuple[Any, ...]:
    """Everything but its time."""
    told: tuple[Any, ...] = _SAID(seen)
    return told


def is_same(one: Observation, other: Observation) -> bool:
    """Whether two observations differ in their time alone."""
    return said(one) == said(other)


def filled(seen: Observation) -> dict[str, Any]:
    """The fields of an observation that say something."""
    values = ((name, getattr(seen, name)) for name in _NAMES)
    return {name: value for name, value in values if value not in (None, {}, "")}


@dataclass(frozen=True, slots=True)
class PollMark:
    """A poll of the job's cluster in which the job could have been seen."""

    number: int
    at: float
    complete: bool


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a row ours.

    Attributes
    ----------
    key
        Beginning of the name of jobs that we submitted; None for adopted ones.
    submit_at
        When we handed it over, by the cluster's clock as far as it is known.
    """

    owner: str
    key: str | None
    workdir: str | None
    submit_at: float


@dataclass(frozen=True, slots=True)
class Known:
    """What the job's row says before this look."""

    state: str
    attempt: int = 1
    start_at: float | None = None
    rests_on_words: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """The conclusion.

    Attributes
    ----------
    phase
        ``waiting`` | ``running`` | ``ended`` | ``cancelled`` | ``lost`` | ``unchanged``.
    rule
        Which rule decided, for the history.
    attempt
        Number of the attempt that the conclusion is about.
    because
        The observation that decided, where one did.
    rests_on_words
        The end is known from the scheduler's words only, not from a receipt: better evidence may
        correct it.
    """

    phase: Literal["waiting", "running", "ended", "cancelled", "lost", "unchanged"]
    rule: str
    attempt: int
    because: Observation | None = None
    reason: str | None = None
    attention: str | None = None
    rests_on_words: bool = False
    restarted: bool = False


def split_misses(
    history: Sequence[Observation],
) -> tuple[list[Observation], list[PollMark]]:
    """Part a job's history into what was seen of it and the polls in which it was looked for.

    The history keeps a row only where something has changed: a row stands for all polls until the
    next one.
    """
    seen = [one for one in history if one.phase != "absent"]
    polls = [
        PollMark(one.poll, one.seen_at, complete=True)
        for one in history
        if one.source == "squeue" and one.poll is not None
    ]
    return seen, polls


def is_ours(seen: Observation, ours: Identity) -> bool:
    """E1: whether a row is about our job, or about another one that got the same id.

    A later submit time is normal: a requeue renews it. A row that is silent about something (half
    rows are normal for seconds after an end) is not held against it.
    """
    if seen.source in ("start", "end"):
        return True  # a receipt in our own directory
    if seen.owner and seen.owner != ours.owner:
        return False
    if ours.key is not None:
        half = seen.name in (None, "", "allocation")
        if not half and not (seen.name or "").startswith(ours.key):
            return False
    elif seen.workdir and ours.workdir and seen.workdir != ours.workdir:
        return False
    return seen.submit_at is None or seen.submit_at >= ours.submit_at - SUBMIT_SLACK_S


def reduce(
    observations: Sequence[Observation],
    polls: Sequence[PollMark],
    ours: Identity,
    known: Known,
) -> Finding:
    """Conclude from everything that was seen; the first rule that fits decides.

    Parameters
    ----------
    observations
        Of this job, in any order.
    polls
        The polls of its cluster since it was handed over, complete ones and others.
    """
    mine = [seen for seen in observations if is_ours(seen, ours)]  # E1
    attempt, restarted = _attempt(mine, known)
    complete = sorted(
        (p for p in polls if p.complete), key=lambda p: p.number
    )  # E2: others: nothing
    rows = {seen.poll: seen for seen in mine if seen.source == "squeue"}
    last = complete[-1] if complete else None
    in_last = None if last is None else rows.get(last.number)

    live = in_last if in_last is not None else _alive_elsewhere(mine, last)
    if live is not None and live.phase in ("waiting", "running"):
        return Finding(  # E3
            "running" if live.phase == "running" else "waiting",
            "E3",
            attempt,
            live,
            attention=live.attention,
            restarted=restarted,
        )
    attention = None
    if in_last is not None and in_last.phase in ("unknown", "unchanged"):
        attention = in_last.attention  # E9: the word is shown; it is never an end
        return Finding("unchanged", "E9", attempt, in_last, attention=attention)

    misses = _misses(complete, rows)
    end = _receipt(mine, attempt)
    ended = _terminal(mine, rows)
    if ended is not None and _settled(ended, misses):
        return _end(ended, end, attempt, "E4")
    if end is not None and misses:
        return Finding("ended", "E5", attempt, end, reason=None)
    if len(misses) >= LOST_MISSES and misses[-1].at - misses[0].at >= LOST_AFTER_S and not ended:
        return Finding("lost", "E7", attempt)
    return Finding("unchanged", "E2" if not complete else "E6", attempt, attention=attention)


def _attempt(mine: Sequence[Observation], known: Known) -> tuple[int, bool]:
    """E8: a new start time, or more restarts, on the same id is another attempt."""
    restarts = [seen.restarts for seen in mine if seen.restarts is not None]
    attempt = max([known.attempt, *(count + 1 for count in restarts)])
    starts = {
        seen.start_at
        for seen in mine
        # not of receipts: a script begins some seconds after its nodes were given to it
        if seen.source == "squeue" and seen.phase == "running" and seen.start_at
    }
    later = [at for at in starts if known.start_at is not None and at > known.start_at + 1.0]
    if later and attempt == known.attempt and known.state in ("RUNNING", "SUBMITTED"):
        attempt += 1
    attempt = max([attempt, *(seen.attempt for seen in mine if seen.attempt is not None)])
    return attempt, attempt > known.attempt


def _alive_elsewhere(mine: Sequence[Observation], last: PollMark | None) -> Observation | None:
    """What the controller says itself of a job that its queue does not list, if it lives."""
    told = [seen for seen in mine if seen.source == "scontrol"]
    newest = max(told, key=lambda seen: seen.seen_at, default=None)
    if newest is None or (last is not None and newest.seen_at < last.at):
        return None
    return newest if newest.phase in ("waiting", "running") else None


def _misses(complete: Sequence[PollMark], rows: dict[int | None, Observation]) -> list[PollMark]:
    """The complete polls without the job since it was last seen in one, oldest first."""
    found: list[PollMark] = []
    for poll in reversed(complete):
        if poll.number in rows:
            break
        found.append(poll)
    return found[::-1]


def _receipt(mine: Sequence[Observation], attempt: int) -> Observation | None:
    """``end.json`` of this attempt."""
    ends = [s for s in mine if s.source == "end" and s.attempt in (None, attempt)]
    return max(ends, key=lambda s: s.seen_at, default=None)


def _terminal(
    mine: Sequence[Observation], rows: dict[int | None, Observation]
) -> Observation | None:
    """The latest word of an end, unless the job was seen alive after it.

    sacct -D lists earlier attempts too: of several rows the one with the latest start counts.
    """
    live = [
        seen.seen_at for seen in rows.values() if seen.phase in ("waiting", "running", "unknown")
    ]
    alive_at = max(live, default=float("-inf"))
    words = [
        seen
        for seen in mine
        if seen.source in ("squeue", "sacct", "scontrol") and seen.phase in ("ended", "cancelled")
    ]
    fresh = [seen for seen in words if seen.seen_at >= alive_at]
    if not fresh:
        return None
    latest = max(fresh, key=lambda s: (s.seen_at, s.start_at or 0.0, s.end_at or 0.0))
    of_latest_poll = [s for s in fresh if s.seen_at == latest.seen_at and s.source == latest.source]
    best = max(of_latest_poll, key=lambda s: (s.start_at or 0.0, s.end_at or 0.0))
    siblings = [
        s
        for s in mine
        if s.source == "sacct"
        and s.seen_at >= best.seen_at
        and s.phase in ("waiting", "running")
        and (s.start_at or 0.0) > (best.start_at or 0.0)
    ]
    if siblings and best.source == "sacct":
        return None  # the accounting knows a later attempt that has not ended
    return best


def _settled(ended: Observation, misses: Sequence[PollMark]) -> bool:
    """E4: a node failure or a preemption may be followed by a requeue."""
    if not ended.settles:
        return True
    return len(misses) >= SETTLE_MISSES and misses[-1].at - misses[0].at >= SETTLE_AFTER_S


def _end(ended: Observation, receipt: Observation | None, attempt: int, rule: str) -> Finding:
    return Finding(
        "ended" if ended.phase == "ended" else "cancelled",
        rule,
        attempt,
        ended,
        reason=ended.reason,
        rests_on_words=receipt is None,
    )


def corrects(finding: Finding, known: Known) -> bool:
    """E10: whether a conclusion corrects LOST, or an end that rested on scheduler words alone."""
    if known.state == "LOST":
        return finding.phase in ("waiting", "running", "ended", "cancelled")
    if known.state in ("FAILED", "CANCELLED") and known.rests_on_words:
        return finding.phase == "ended" and not finding.rests_on_words
    return False
