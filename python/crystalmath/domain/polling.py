"""When a cluster is asked again. Pure: clock and dice are arguments."""

from __future__ import annotations

from typing import Final

FRESH_S: Final = 10.0
CALM_S: Final = 30.0
IDLE_S: Final = 180.0
_FRESH_FOR_S: Final = 60.0
_CALM_FOR_S: Final = 600.0
_JITTER: Final = 0.1
_FIRST_BACK_OFF_S: Final = 10.0
_LONGEST_BACK_OFF_S: Final = 600.0
_DAY_S: Final = 86_400.0
_NEVER_S: Final = 3650 * _DAY_S


def interval_s(
    quiet_s: float, *, watched: bool, failures: int, floor_s: float, dice: float
) -> float:
    """Seconds between two polls.

    Parameters
    ----------
    quiet_s
        Since the last submission or change of a job of this cluster.
    watched
        Somebody looks at it.
    failures
        Polls in a row that failed.
    floor_s
        What the site allows (``min_poll_s``); nothing goes below it.
    dice
        0 to 1, for the jitter.
    """
    if failures:
        wait = min(_LONGEST_BACK_OFF_S, _FIRST_BACK_OFF_S * 2.0 ** min(failures - 1, 10))
    elif watched or quiet_s < _FRESH_FOR_S:
        wait = FRESH_S
    elif quiet_s < _CALM_FOR_S:
        wait = CALM_S
    else:
        wait = IDLE_S
    return max(floor_s, wait * (1.0 + _JITTER * (2.0 * dice - 1.0)))


def lost_look_at(lost_at: float, now: float) -> float:
    """When a LOST job is looked for again; after a month, in effect never."""
    wait_s = lost_look_s(now - lost_at)
    return now + (_NEVER_S if wait_s is None else wait_s)


def lost_look_s(lost_for_s: float) -> float | None:
    """Seconds until a LOST job is looked for again: hourly for 3 days, daily for 30, then never."""
    if lost_for_s < 3 * _DAY_S:
        return 3600.0
    return _DAY_S if lost_for_s < 30 * _DAY_S else None
