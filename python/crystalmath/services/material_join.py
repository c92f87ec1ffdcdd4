"""One row for each structure, whoever gave it: the first provider wins, all ids are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from crystalmath.domain.material_query import PROJECT
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import Entry

JOIN: Final = "crystalmath.materials.join:same_as"
JOIN_S: Final = 30.0
_VOLUME: Final = 0.02
"""Relative difference of the volumes per atom of what may be the same; the matcher is stricter."""
_OF_ITSELF: Final = ("embedded",)
"""Providers whose own structures are known to differ."""


@dataclass(frozen=True, slots=True)
class Found:
    """A structure of a provider.

    Attributes
    ----------
    others
        ``provider:id`` of the same structure elsewhere.
    """

    provider: str
    entry: Entry
    retrieved_at: float
    others: tuple[str, ...] = ()

    @property
    def material(self) -> str:
        """What ``structure.material`` takes; the ids of this daemon's own have a colon already."""
        key: str = self.entry["id"]
        return key if self.provider == PROJECT else f"{self.provider}:{key}"


def joined(found: Sequence[Found], run: RunWorker) -> list[Found]:
    """Join what is the same.

    Parameters
    ----------
    found
        The preferred first.
    run
        Runs a function in a worker process.
    """
    others: dict[int, list[int]] = {}
    dropped: set[int] = set()
    for places in _candidates(found):
        documents = [found[place].entry["structure"] for place in places]
        for place, same in zip(places, run(JOIN, {"structures": documents}, JOIN_S), strict=True):
            if places[same] != place:
                others.setdefault(places[same], []).append(place)
                dropped.add(place)
    return [
        replace(one, others=tuple(found[other].material for other in others.get(place, ())))
        for place, one in enumerate(found)
        if place not in dropped
    ]


def _candidates(found: Sequence[Found]) -> list[list[int]]:
    """Places of structures that may be the same as another one, in groups."""
    groups: dict[object, list[list[int]]] = {}
    for place, one in enumerate(found):
        if one.entry["structure"] is None:
            continue
        group = one.entry["space_group"]
        number = None if group is None else group["number"]
        alike = groups.setdefault((one.entry["formula"], number), [])
        near = next((g for g in alike if _near(found[g[0]].entry, one.entry)), None)
        if near is None:
            alike.append([place])
        else:
            near.append(place)
    every = [places for alike in groups.values() for places in alike if len(places) > 1]
    return [places for places in every if not _all_of_one(found, places)]


def _near(one: Entry, other: Entry) -> bool:
    first, second = _per_atom(one), _per_atom(other)
    return abs(first - second) <= _VOLUME * max(first, second)


def _per_atom(entry: Entry) -> float:
    return float(entry["volume_angstrom3"] or 0.0) / max(1, int(entry["n_atoms"]))


def _all_of_one(found: Sequence[Found], places: Sequence[int]) -> bool:
    names = {found[place].provider for place in places}
    return len(names) == 1 and names <= set(_OF_ITSELF)
