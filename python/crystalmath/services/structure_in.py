"""The structure that a request names: a file, a text, one that is kept, or what a job ended with.

Used by ``services.submission`` for jobs and by ``services.materials``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crystalmath.contract.jobs import StructureIn
from crystalmath.domain.material_query import LOCAL
from crystalmath.errors import InvalidParams, NotFound
from crystalmath.services.job_moments import had_spin
from crystalmath.services.ports import StructureData, StructureReader
from crystalmath.services.ports_materials import MaterialStore
from crystalmath.services.ports_store import Store

FindMaterial = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class StructureInputs:
    """Finds what ``StructureIn`` names.

    Attributes
    ----------
    find
        Finds what ``provider:id`` of a search names; raises ``InvalidParams``.
    """

    store: Store
    reader: StructureReader
    materials: MaterialStore | None = None
    find: FindMaterial | None = None

    def read(self, wanted: StructureIn) -> StructureData:
        """Read a structure of a request.

        Raises
        ------
        InputRejected, MaterialsError
        """
        if wanted.material is not None:
            return decode_structure(self._material(wanted.material))
        if wanted.job is not None:
            return decode_structure(self._of_job(wanted.job))
        return self.reader.read(path=wanted.path, text=wanted.text, format=wanted.format)

    def given(self, wanted: StructureIn) -> dict[str, Any]:
        """What a worker process is told to read the structure from.

        Raises
        ------
        InputRejected, MaterialsError
        """
        if wanted.material is not None:
            return {"document": dict(self._material(wanted.material))}
        if wanted.job is not None:
            return {"document": dict(self._of_job(wanted.job))}
        return {"path": wanted.path, "text": wanted.text, "format": wanted.format}

    def _material(self, wanted: str) -> Mapping[str, Any]:
        provider, _, key = wanted.partition(":")
        if provider != LOCAL and self.find is not None:
            return self.find(wanted)
        if provider != LOCAL or self.materials is None:
            raise InvalidParams(
                f"{wanted!r} names no structure that is kept",
                field="structure.material",
                hint="write it like local:3",
            )
        if not (key.isascii() and key.isdigit()) or len(key) > 15:
            raise InvalidParams(
                f"{wanted!r} names no structure that is kept",
                field="structure.material",
                hint="write it like local:3",
            )
        try:
            found = self.materials.material(int(key))
        except NotFound as error:
            raise InvalidParams(error.message, field="structure.material") from error
        source = {**found.structure["source"], "material": wanted}
        return {**found.structure, "source": source}

    def _of_job(self, job_id: int) -> Mapping[str, Any]:
        try:
            results = self.store.documents(job_id).results
        except NotFound as error:
            raise InvalidParams(f"there is no job {job_id}", field="structure.job") from error
        final = results.get("structure")
        if not isinstance(final, dict):
            raise InvalidParams(
                f"job {job_id} has no final structure",
                field="structure.job",
                hint="name a completed job that works on a structure",
            )
        source = {"job": str(job_id), "kind": "final structure of a job"}
        document = {"formula": results.get("formula", ""), **final, "source": source}
        if had_spin(results) and not document.get("sites"):
            said = f"job {job_id} had spin, and the moments of its atoms are not known: give them"
            document["warnings"] = [*document.get("warnings", ()), said]
        return document


def decode_structure(document: Mapping[str, Any]) -> StructureData:
    """JSON form → value; the inverse of ``dataclasses.asdict``."""
    lattice = document["lattice"]
    return StructureData(
        lattice=None if lattice is None else tuple(tuple(map(float, v)) for v in lattice),  # type: ignore[misc]
        pbc=tuple(bool(p) for p in document["pbc"]),  # type: ignore[arg-type]
        symbols=tuple(document["symbols"]),
        positions=tuple(tuple(map(float, p)) for p in document["positions"]),  # type: ignore[misc]
        formula=document["formula"],
        source=dict(document.get("source", {})),
        warnings=tuple(document.get("warnings", ())),
        sites={name: tuple(values) for name, values in (document.get("sites") or {}).items()},
    )
