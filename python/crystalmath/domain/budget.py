"""How often a cluster may be asked: a bucket of tokens. Pure: the clock is an argument."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class TokenBucket:
    """Holds ``size`` tokens and gets ``refill_per_min`` back each minute.

    Attributes
    ----------
    reserve
        Tokens that only the user's own actions may take.
    """

    size: float
    refill_per_min: float
    reserve: float = 0.0
    tokens: float = -1.0
    at: float = 0.0

    def take(self, now: float, *, n: int = 1, by_user: bool = False, spare: float = 0.0) -> bool:
        """Take tokens, or say that there are not enough.

        Parameters
        ----------
        spare
            So many must be left above the reserve, for what is more important.
        """
        self._fill(now)
        floor = spare + (0.0 if by_user else self.reserve)
        if self.tokens - n < floor:
            return False
        self.tokens -= n
        return True

    def take_up_to(self, now: float, n: int, *, by_user: bool = False) -> int:
        """Take as many of these tokens as there are; returns how many."""
        while n > 0 and not self.take(now, n=n, by_user=by_user):
            n -= 1
        return n

    def wait_s(self, now: float, *, n: int = 1) -> float:
        """Seconds until :meth:`take` succeeds for what happens by itself."""
        self._fill(now)
        missing = n + self.reserve - self.tokens
        return max(0.0, missing / self.refill_per_min * 60.0)

    def _fill(self, now: float) -> None:
        if self.tokens < 0:
            self.tokens, self.at = self.size, now
        passed_s = max(0.0, now - self.at)
        self.tokens = min(self.size, self.tokens + passed_s * self.refill_per_min / 60.0)
        self.at = now
