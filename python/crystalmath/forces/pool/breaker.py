"""What has crashed too often is not started again for a while. Takes its clock as an argument."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Story:
    times: deque[float] = field(default_factory=deque)
    until: float = 0.0
    last_error: str = ""


class Breaker:
    """Counts crashes by key.

    Parameters
    ----------
    crashes, within_s
        So many in so many seconds open it,
    pause_s
        for so long.
    """

    def __init__(self, crashes: int, within_s: float, pause_s: float) -> None:
        self._crashes = crashes
        self._within_s = within_s
        self._pause_s = pause_s
        self._stories: dict[Hashable, _Story] = {}

    def crashed(self, key: Hashable, error: str, now: float) -> None:
        """Note a crash."""
        story = self._stories.setdefault(key, _Story())
        story.last_error = error
        story.times.append(now)
        while story.times and story.times[0] <= now - self._within_s:
            story.times.popleft()
        if len(story.times) >= self._crashes:
            story.until = now + self._pause_s
            story.times.clear()

    def remaining_s(self, key: Hashable, now: float) -> float:
        """Seconds until it may be started again; 0 now."""
        story = self._stories.get(key)
        return max(0.0, story.until - now) if story is not None else 0.0

    def last_error(self, key: Hashable) -> str:
        """How it died last."""
        story = self._stories.get(key)
        return story.last_error if story is not None else ""

    def open_keys(self, now: float) -> list[Hashable]:
        """What is not started again for now."""
        return [key for key, story in self._stories.items() if story.until > now]

    def forget_old(self, now: float) -> None:
        """Drop what has no bearing any more."""
        for key, story in list(self._stories.items()):
            newest = story.times[-1] if story.times else 0.0
            if story.until <= now and newest <= now - self._within_s:
                del self._stories[key]
