"""All workers, alive and lately dead, under one lock.

Whoever waits for a worker waits on :attr:`Roster.changed`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator

from crystalmath.errors import NotFound
from crystalmath.forces.pool.key import Place, WorkerKey
from crystalmath.forces.pool.member import Member
from crystalmath.forces.pool.memory import Occupant, Peaks


class Roster:
    """See the module docstring; every method is called under the lock.

    Parameters
    ----------
    reports
        Dead workers that are kept.
    """

    def __init__(self, reports: int) -> None:
        self.changed = threading.Condition()
        self.requests = 0
        self.structures = 0
        self.crashes = 0
        self._reports = reports
        self._numbers = 0
        self._alive: dict[str, Member] = {}
        self._dead: OrderedDict[str, Member] = OrderedDict()

    def next_id(self) -> str:
        """Name a new worker: ``w1``, ``w2`` and so on."""
        self._numbers += 1
        return f"w{self._numbers}"

    def add(self, member: Member) -> None:
        """Take in a new worker."""
        self._alive[member.id] = member
        self.changed.notify_all()

    def buried(self, member: Member) -> None:
        """Keep the story of a worker that has ended."""
        if self._alive.pop(member.id, None) is None:
            return
        look = member.look()
        self.requests += look.done
        self.structures += look.structures
        self._dead[member.id] = member
        while len(self._dead) > self._reports:
            self._dead.popitem(last=False)
        self.changed.notify_all()

    def alive(self) -> list[Member]:
        """The workers that have not ended."""
        return list(self._alive.values())

    def dead(self) -> list[Member]:
        """The last that have ended, oldest first."""
        return list(self._dead.values())

    def occupants(self, peaks: Peaks) -> list[Occupant]:
        """The workers as the memory sees them: one that loads will take what its like has taken."""
        found = []
        for member in self.alive():
            rss = member.rss_bytes or 0
            if member.capabilities is None or member.rss_bytes is None:
                rss = max(rss, peaks.expected_bytes(member.key))
            found.append(Occupant(member.id, rss, member.idle_since()))
        return found

    def current(self, key: WorkerKey) -> Member | None:
        """The worker of a key that is ready or coming, and serves no other master."""
        for member in self._alive.values():
            if member.key == key and member.coming and member.serves is None:
                return member
        return None

    def others_of(self, place: Place, member: Member) -> Iterator[Member]:
        """Workers of the same place that a new one replaces."""
        for other in self.alive():
            if other is not member and other.place == place and other.serves is None:
                yield other

    def find(self, worker: str) -> Member:
        """A worker by its name, alive or dead.

        Raises
        ------
        NotFound
            Names those that run.
        """
        member = self._alive.get(worker) or self._dead.get(worker)
        if member is None:
            names = ", ".join(self._alive) or "none runs"
            raise NotFound(f"there is no worker {worker[:64]!r}", hint=f"workers: {names}",
                           field="worker")  # fmt: skip
        return member
