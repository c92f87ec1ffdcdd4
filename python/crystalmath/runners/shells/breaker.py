"""When a host may be connected to: back-off, breaker, log-ins per hour. Pure: takes its clock.

Sites ban those who knock too often, and a host that is down is not helped by more knocking.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from crystalmath.errors import AuthRefused, HostKeyChanged, HostKeyUnknown, SshError, Unreachable

FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 600.0
FAILURES_TO_OPEN: Final = 5
LOGINS_PER_HOUR: Final = 6
_HOUR_S: Final = 3600.0
_STOPPING: Final = (AuthRefused, HostKeyChanged, HostKeyUnknown)


State = Literal["ok", "backing_off", "open", "needs_user"]


@dataclass(frozen=True, slots=True)
class Health:
    """How a host is doing.

    Attributes
    ----------
    unreachable_since
        Wall-clock time of the first of the failures in a row.
    next_try_in_s
        None when it may be tried at once, or only the user can go on.
    """

    state: State
    failures: int
    unreachable_since: float | None
    last_error: SshError | None
    next_try_in_s: float | None


class Breaker:
    """The gate before each connection to one host.

    Parameters
    ----------
    jitter
        Returns a number from 0 to 1.
    """

    def __init__(
        self,
        label: str,
        *,
        logins_per_hour: int = LOGINS_PER_HOUR,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._label = label
        self._per_hour = logins_per_hour
        self._jitter = jitter
        self._failures = 0
        self._next_at = 0.0
        self._since: float | None = None
        self._last: SshError | None = None
        self._stopped = False
        self._logins: deque[float] = deque()

    def pass_or_raise(self, now: float, *, by_user: bool) -> None:
        """Let a connection begin, or say why not.

        Parameters
        ----------
        now
            The monotonic clock.
        by_user
            A user waits for it: it may be tried at once, and also after a refusal.
        """
        if by_user:
            return
        if self._stopped and self._last is not None:
            raise self._last
        if now < self._next_at and self._last is not None:
            wait = self._next_at - now
            raise Unreachable(
                f"{self._last.message} (tried {self._failures} times, again in {wait:.0f} s)",
                hint=self._last.hint,
                host=self._last.host,
                stage=self._last.stage,
            )
        self._forget_old_logins(now)
        if len(self._logins) >= self._per_hour:
            wait = self._logins[0] + _HOUR_S - now
            raise Unreachable(
                f"{self._label} was logged in to {len(self._logins)} times within an hour "
                f"without being asked to; again in {wait / 60:.0f} min",
                hint="The connection does not hold: look at the network. "
                "`clusters.test` tries at once.",
                host=self._label,
                stage="connect",
            )

    def failed(self, error: SshError, now: float, wall: float) -> None:
        """A connection could not be made."""
        self._failures += 1
        self._since = self._since if self._since is not None else wall
        self._last = error
        self._stopped = isinstance(error, _STOPPING)
        wait = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (self._failures - 1))
        self._next_at = now + wait * (0.9 + 0.2 * self._jitter())

    def succeeded(self, now: float, *, by_user: bool) -> None:
        """A connection stands."""
        self.reset()
        if not by_user:
            self._forget_old_logins(now)
            self._logins.append(now)

    def reset(self) -> None:
        """The user has changed something: everything may be tried again."""
        self._failures = 0
        self._next_at = 0.0
        self._since = None
        self._last = None
        self._stopped = False

    def health(self, now: float) -> Health:
        """How the host is doing."""
        waits = self._last is not None and not self._stopped
        state: State = "ok" if self._last is None else "backing_off"
        if self._failures >= FAILURES_TO_OPEN:
            state = "open"
        if self._stopped:
            state = "needs_user"
        left = max(0.0, self._next_at - now) if waits else None
        return Health(state, self._failures, self._since, self._last, left)

    def _forget_old_logins(self, now: float) -> None:
        while self._logins and self._logins[0] <= now - _HOUR_S:
            self._logins.popleft()
