"""Tells subscribers of topic ``engines`` about engines, installations and workers.

Of the same thing only the last state need be told.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from crystalmath.contract.force_rows import EngineInfo, InstallTask, WorkerInfo
from crystalmath.services.events import EventHub, Happening

_TOPIC: Final = ("engines",)


class ForceEvents:
    """Publishes to the hub."""

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub

    def engine(self, engine: EngineInfo) -> None:
        """An engine has become usable, or is no longer."""
        self._publish("engine", engine.name, engine)

    def install(self, task: InstallTask) -> None:
        """An installation goes on."""
        self._publish("install", task.id, task)

    def worker(self, worker: WorkerInfo) -> None:
        """A worker is new, has another state, or is gone."""
        self._publish("worker", worker.id, worker)

    def _publish(self, kind: str, name: str, row: BaseModel) -> None:
        body = row.model_dump(mode="json")
        weight_bytes = len(str(body))
        self._hub.publish(
            [Happening(_TOPIC, (kind, name), weight_bytes, lambda: {"kind": kind, kind: body})]
        )
