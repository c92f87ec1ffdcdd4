"""What may be started within the memory, and what must be stopped for it. Pure."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crystalmath.forces.pool.machine import Machine

MIB: Final = 1024 * 1024
UNKNOWN_BYTES: Final = 512 * MIB
"""What a worker is taken to need that has never run: an engine with torch, and a small model."""


_MOST_POINTS: Final = 64
SPARE: Final = 0.08
"""Share of the machine's memory that must be left."""
BLAME: Final = 0.25


@dataclass(frozen=True, slots=True)
class Occupant:
    """A worker that takes memory.

    Attributes
    ----------
    idle_since
        Monotonic time of its last answer; None while it is loading or computing.
    """

    id: str
    rss_bytes: int
    idle_since: float | None


@dataclass(frozen=True, slots=True)
class Room:
    """Whether there is room, and who would have to go."""

    fits: bool
    victims: tuple[str, ...]
    free_bytes: int


def make_room(needed_bytes: int, budget_bytes: int, occupants: Sequence[Occupant]) -> Room:
    """Choose the idle workers, least recently used first, that must go for a new one.

    A worker alone may be larger than the budget: refusing it would make the engine unusable, and
    nothing else is harmed.
    """
    used = sum(occupant.rss_bytes for occupant in occupants)
    free = budget_bytes - used
    if free >= needed_bytes or not occupants:
        return Room(fits=True, victims=(), free_bytes=free)
    idle = [o for o in occupants if o.idle_since is not None]
    victims = []
    for occupant in sorted(idle, key=lambda o: (o.idle_since or 0.0, o.id)):
        victims.append(occupant.id)
        free += occupant.rss_bytes
        if free >= needed_bytes:
            return Room(fits=True, victims=tuple(victims), free_bytes=free)
    alone = len(victims) == len(occupants)
    return Room(fits=alone, victims=tuple(victims) if alone else (), free_bytes=free)


def over_budget(budget_bytes: int, occupants: Sequence[Occupant]) -> str | None:
    """Name the idle worker to stop because all of them have grown beyond the budget."""
    if sum(occupant.rss_bytes for occupant in occupants) <= budget_bytes:
        return None
    idle = [o for o in occupants if o.idle_since is not None]
    return min(idle, key=lambda o: (o.idle_since or 0.0, o.id)).id if idle else None


def starving(machine: Machine, workers: Mapping[str, int]) -> str | None:
    """Name the worker to end at once because the machine itself runs out of memory.

    A worker may be larger than the budget, so one that computes is left alone until then. One that
    has less than a quarter of the machine is not to blame.

    Parameters
    ----------
    workers
        Resident bytes of each.
    """
    if machine.available_bytes >= SPARE * machine.total_bytes or not workers:
        return None
    largest = max(workers, key=lambda name: (workers[name], name))
    return largest if workers[largest] >= BLAME * machine.total_bytes else None


class Peaks:
    """What workers of each key have needed so far, and what their structures have."""

    def __init__(self) -> None:
        self._bytes: dict[Hashable, int] = {}
        self._points: dict[Hashable, list[tuple[float, float]]] = {}

    def saw(self, key: Hashable, rss_bytes: int) -> None:
        """Note what a worker takes."""
        self._bytes[key] = max(rss_bytes, self._bytes.get(key, 0))

    def expected_bytes(self, key: Hashable) -> int:
        """What one is taken to need."""
        return self._bytes.get(key, UNKNOWN_BYTES)

    def learnt(self, key: Hashable, points: object) -> None:
        """Note what a worker has measured; anything but pairs of numbers is left alone."""
        if not isinstance(points, list) or len(points) > _MOST_POINTS:
            return
        pairs = [tuple(map(float, p)) for p in points if _is_pair(p)]
        if len(pairs) == len(points):
            self._points[key] = [(edges, size) for edges, size in pairs]

    def points(self, key: Hashable) -> Sequence[tuple[float, float]]:
        """Edges and bytes, for the next worker of a key."""
        return self._points.get(key, ())


def _is_pair(point: object) -> bool:
    return (
        isinstance(point, list)
        and len(point) == 2
        and all(isinstance(x, int | float) and math.isfinite(x) for x in point)
    )


def share_threads(cores: int, active: int) -> int:
    """Threads of a worker beside ``active`` others that compute."""
    return max(1, cores // (active + 1))
