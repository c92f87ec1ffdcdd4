"""What a soak run found, and how it says where it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

Say = Callable[[str], None]
SAY_EVERY_S = 15.0


@dataclass(slots=True)
class Outcome:
    """The result of one run.

    Attributes
    ----------
    facts
        What was done, in one line.
    problems
        What must not have happened; empty when the run is good.
    """

    facts: str
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing went wrong."""
        return not self.problems


class Progress:
    """Says how far a run is, every now and then."""

    def __init__(self, total: int, say: Say) -> None:
        self._total = total
        self._say = say
        self._next = time.monotonic() + SAY_EVERY_S

    def at(self, done: int) -> None:
        """Note that ``done`` of the total are done."""
        if time.monotonic() >= self._next:
            self._say(f"{done} of {self._total}")
            self._next = time.monotonic() + SAY_EVERY_S
