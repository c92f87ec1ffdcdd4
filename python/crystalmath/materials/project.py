"""Structures that this daemon has: taken in by the user, and what jobs ended with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from crystalmath.domain.material_query import (
    JOB,
    LOCAL,
    OWN_ORIGINS,
    PROJECT,
    Query,
    query_of,
)
from crystalmath.errors import MaterialsError, NotFound
from crystalmath.materials.entries import Raw, entry_of, fitting
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import (
    Answer,
    Asked,
    Entry,
    JobStructures,
    MaterialStore,
)

NAME: Final = PROJECT
DESCRIBE: Final = "crystalmath.materials.project:describe"
_WORK_S: Final = 30.0


class ProjectProvider:
    """Implements ``services.ports_materials.Provider``."""

    name = NAME
    title = "structures taken in here, and those that jobs ended with"
    kind = "project"
    network = False
    address = ""

    def __init__(self, run: RunWorker, materials: MaterialStore, jobs: JobStructures) -> None:
        self._run = run
        self._materials = materials
        self._jobs = jobs

    def problem(self) -> MaterialsError | None:
        """Nothing can be wrong with it beforehand."""
        return None

    def search(self, asked: Asked) -> Answer:
        """See ``Provider.search``."""
        query = asked.query
        if query.prototype is not None:
            return Answer((), notices=("structures of this daemon have no structure types",))
        most = asked.limit + 1
        kept = self._materials.materials_of(query.allows_formula, most)
        items = [_item(f"{LOCAL}:{one.id}", one.name, one.structure) for one in kept]
        ended = self._jobs.structures_of_jobs(query.allows_formula, most)
        items += [_item(f"{JOB}:{job}", name, structure) for job, name, structure in ended]
        if query.text is not None:
            wanted = query.text.casefold()
            items = [item for item in items if wanted in item["name"].casefold()]
        if not items:
            return Answer(())
        found = self._described(items, query, asked.limit)
        return Answer(tuple(found["entries"]), more=found["more"] or len(kept) == most)

    def get(self, key: str, asked: Asked) -> Entry:  # noqa: ARG002 - of the interface
        """See ``Provider.get``."""
        origin, _, number = key.partition(":")
        if origin not in OWN_ORIGINS or not number.isdecimal() or len(number) > 15:
            raise NotFound(
                f"{key!r} names no structure of this daemon", hint="like local:3, job:12"
            )
        if origin == LOCAL:
            kept = self._materials.material(int(number))
            item = _item(key, kept.name, kept.structure)
        else:
            item = _item(key, *self._jobs.structure_of_job(int(number)))
        found: Entry = self._described([item], Query(), 1)["entries"][0]
        return found

    def _described(
        self, items: Sequence[Mapping[str, Any]], query: Query, limit: int
    ) -> dict[str, Any]:
        arguments = {"items": items, "query": query.document(), "limit": limit}
        found: dict[str, Any] = self._run(DESCRIBE, arguments, _WORK_S)
        return found


def _item(key: str, name: str, structure: Mapping[str, Any]) -> dict[str, Any]:
    source = {**(structure.get("source") or {}), "material": key}
    return {"id": key, "name": name, "structure": {**structure, "source": source}}


# -- in a worker process ---------------------------------------------------------------------------


def describe(
    items: Sequence[Mapping[str, Any]], query: Mapping[str, Any], limit: int
) -> dict[str, Any]:
    """Describe structures in their JSON form: see ``entries.fitting``."""
    from crystalmath.structures.structure import of_document

    raws = (Raw(one["id"], of_document(one["structure"]), name=one["name"]) for one in items)
    return fitting(map(entry_of, raws), query_of(dict(query)), limit)
