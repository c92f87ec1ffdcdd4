"""Trouble with a step: written beside the state, and the step comes again later.

Used by ``pump``, ``cluster_lane``, ``cluster_steps`` and ``workflows.conduct``.
"""

from __future__ import annotations

from typing import Any, Final

from crystalmath.domain.states import STATES, JobState
from crystalmath.errors import CrystalMathError
from crystalmath.services.ports_store import Move, Row, Store

RETRY_AFTER_S: Final = (30.0, 300.0, 1200.0, 1800.0)


def postpone(store: Store, row: Row, trouble: str, waits_s: tuple[float, ...], now: float) -> None:
    """Have a job's next step tried again later."""
    store.move(postponement(row, trouble, waits_s, now))


def postponement(
    row: Row,
    trouble: str,
    waits_s: tuple[float, ...],
    now: float,
    *,
    expected: tuple[JobState, ...] = STATES,
    progress: str | None = None,
) -> Move:
    """What has a job's next step tried again later.

    Parameters
    ----------
    waits_s
        After the first try, the second, …; the last one stands for all further ones.
    progress
        What the job is said to do meanwhile, if that changes.
    """
    tries = row["tries"] + 1
    wait_s = wait_after(tries, waits_s)
    changes: dict[str, Any] = {
        "tries": tries,
        "last_error": trouble,
        "next_try_at": now + wait_s,
        "attention": trouble,
    }
    if progress is not None:
        changes["progress_text"] = progress
    return Move(
        job_id=row["id"],
        expected=expected,
        state=None,
        at=now,
        why=f"{trouble}; next try in {wait_s:g} s",
        evidence={"tries": tries},
        changes=changes,
    )


def wait_after(tries: int, waits_s: tuple[float, ...]) -> float:
    """Seconds before the next try, after so many."""
    return waits_s[min(tries, len(waits_s)) - 1]


def sentence(error: Exception) -> str:
    """What the user is told of an error of a step."""
    if isinstance(error, CrystalMathError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return f"this machine refused: {error.strerror}"
    if isinstance(error, OSError) and error.args and error.errno is None:
        return str(error)  # our own words: the system's have a number
    return "an internal error; the log has the details"
