"""From the end of a worker to an error for people: what it was doing, how it died, what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from crystalmath.errors import (
    CrystalMathError,
    EngineChanged,
    InputRejected,
    NotFound,
    OutOfMemory,
    UnsupportedSpecies,
    WorkerDied,
    WorkerTimeout,
)
from crystalmath.forces.page import Look
from crystalmath.forces.pool.member import FAULTS, Member
from crystalmath.forces.reported import how_it_ended, last_words
from crystalmath.services.ports_forces import CrashReport
from crystalmath.services.ports_pool import Crash

OWN_FAULT: Final = (InputRejected, UnsupportedSpecies, NotFound, EngineChanged)
"""Errors of whoever asked: trying again gives the same, and says nothing about the engine."""


def doing(member: Member, look: Look) -> str:
    """What it was doing, in a word or two."""
    if member.stage in ("queued", "connecting"):
        return "starting"
    if member.capabilities is None:
        return f"loading ({member.phase})" if member.phase else "loading"
    return look.phase or ("computing" if look.started_at else "idle")


def failure_of(member: Member, look: Look, report: CrashReport | None) -> CrystalMathError:
    """The error for whoever used it or waited for it."""
    if member.failure is not None:
        return member.failure
    name = named(member)
    if member.why == "overdue":
        seconds = f"{look.allowance_s:.3g}"
        return WorkerTimeout(
            f"{name} took longer than {seconds} s for {_atoms(look)} and was ended",
            hint="ask for less at once, or give a longer deadline",
        )
    if member.why == "starving":
        return OutOfMemory(
            f"{name} was ended because this machine ran out of memory while it was "
            f"{doing(member, look)}",
            hint="look at the structure: atoms that are too close have very many neighbours; "
            "else ask for fewer atoms at once",
        )
    if member.why is not None and member.why not in FAULTS:
        return WorkerDied(f"{name} was stopped: {_REASONS.get(member.why, 'on request')}",
                          hint="ask again: another one will be started")  # fmt: skip
    if report is not None and report.oom_killed:
        return OutOfMemory(
            f"{name} was ended by the system for lack of memory while it was {doing(member, look)}",
            hint="ask for fewer atoms at once, or free some memory",
        )
    how = "it closed its channel" if report is None else how_it_ended(report)
    return WorkerDied(
        f"{name} died while it was {doing(member, look)}: {how}",
        hint=None if report is None else last_words(report.stderr_tail),
    )


def crash_of(
    member: Member, look: Look, report: CrashReport | None, error: CrystalMathError, at: float
) -> Crash:
    """The story that is kept."""
    crash = Crash(
        at=at,
        kind=error.kind,
        message=error.message,
        phase=doing(member, look),
        exit_code=None,
        signal=None,
        oom_killed=None,
        request=_atoms(look) if look.started_at else None,
        stderr_tail="",
        hint=error.hint,
    )
    if report is None:
        return crash
    return replace(
        crash,
        exit_code=report.exit_code,
        signal=report.signal,
        oom_killed=report.oom_killed,
        stderr_tail=report.stderr_tail,
    )


def named(member: Member) -> str:
    """The worker for people."""
    return f"the worker of {member.wanted.environment.engine} ({member.wanted.model.id})"


_REASONS: Final = {
    "idle": "nobody has used it for a while",
    "memory": "its memory was needed",
    "replaced": "a newer version took its place",
    "shutdown": "the daemon is stopping",
}


def _atoms(look: Look) -> str:
    return f"{look.atoms} atom{'s' if look.atoms != 1 else ''}" if look.atoms else "its request"
