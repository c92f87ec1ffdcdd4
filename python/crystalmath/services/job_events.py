"""Turns committed changes of jobs into events. Called by the store, inside its order of commits.

Costs a few microseconds while nobody listens: what goes over the wire is made when it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from crystalmath.domain.states import TERMINAL
from crystalmath.services import job_view
from crystalmath.services.events import EventHub, Happening
from crystalmath.services.ports_store import Change, Row

_FIXED_BYTES: Final = 800
"""About the length of a job's row in JSON without its texts."""


class JobEvents:
    """Implements ``ports_store.Changes``.

    Attributes
    ----------
    on_ended
        Called with the id of a job that has ended or is removed.
    """

    def __init__(self, hub: EventHub, clock: Callable[[], float]) -> None:
        self.on_ended: Callable[[int], None] = lambda _job_id: None
        self._hub = hub
        self._clock = clock

    def publish(self, change: Change) -> None:
        """See ``Changes.publish``."""
        job_id = change.job_id
        own = f"job:{job_id}"
        told = []
        if change.line is not None:
            told.append(_once((own,), change.line))
        if change.row is None:
            told.append(_latest(("jobs", own), job_id, _FIXED_BYTES, _removal(job_id)))
        else:
            weight_bytes = _FIXED_BYTES + _text_bytes(change.row.values())
            content = self._changed(change.row)
            told.append(_latest(("jobs", own), job_id, weight_bytes, content))
        self._hub.publish(told)
        if change.row is None or change.row["state"] in TERMINAL:
            self.on_ended(job_id)

    def _changed(self, row: Row) -> Callable[[], Mapping[str, Any]]:
        return lambda: {"kind": "job", "job": job_view.summary_of(row, self._clock())}


def _latest(
    topics: tuple[str, ...],
    job_id: int,
    weight_bytes: int,
    content: Callable[[], Mapping[str, Any]],
) -> Happening:
    """Of which only the last need be told."""
    return Happening(topics, ("job", job_id), weight_bytes, content)


def _removal(job_id: int) -> Callable[[], Mapping[str, Any]]:
    return lambda: {"kind": "job_removed", "id": job_id}


def _once(topics: tuple[str, ...], line: Row) -> Happening:
    """A line of the history: none replaces another."""
    weight_bytes = _FIXED_BYTES + _text_bytes((line["why"], line["evidence_json"]))
    return Happening(
        topics, None, weight_bytes, lambda: {"kind": "event", "event": job_view.event_of(line)}
    )


def _text_bytes(values: Iterable[Any]) -> int:
    return sum(len(value) for value in values if isinstance(value, str))
