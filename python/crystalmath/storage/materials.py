"""Structures that the user has taken in, one row each, and those that jobs ended with.

Uses the connections and the writer's lock of ``JobStore``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import RowMapping, func, insert, select

from crystalmath.errors import NotFound
from crystalmath.services.ports_materials import Material, NewMaterial
from crystalmath.storage.moves import encode
from crystalmath.storage.store import JobStore
from crystalmath.storage.tables import job_documents, jobs, materials

_WITH_RESULTS = select(jobs.c.id, jobs.c.name, job_documents.c.results_json).join(
    job_documents, job_documents.c.job_id == jobs.c.id
)


class SqliteMaterialStore:
    """Implements ``services.ports_materials.MaterialStore``."""

    def __init__(self, store: JobStore) -> None:
        self._store = store

    def add_material(self, material: NewMaterial, now: float) -> tuple[Material, bool]:
        """See ``MaterialStore.add_material``."""
        values: dict[str, Any] = {
            "name": material.name,
            "formula": material.formula,
            "n_atoms": material.n_atoms,
            "space_group": material.space_group,
            "content_hash": material.content_hash,
            "fingerprint_json": encode(material.fingerprint),
            "structure_json": encode(material.structure),
            "created_at": now,
        }
        same = select(materials).where(materials.c.content_hash == material.content_hash)
        with self._store.writing() as (connection, _):
            known = connection.execute(same).mappings().first()
            if known is not None:
                return _material(known), True
            stored = connection.execute(insert(materials).values(values).returning(materials))
            return _material(stored.mappings().one()), False

    def material(self, material_id: int) -> Material:
        """See ``MaterialStore.material``."""
        with self._store.reading() as connection:
            wanted = select(materials).where(materials.c.id == material_id)
            row = connection.execute(wanted).mappings().first()
        if row is None:
            raise NotFound(
                f"there is no structure local:{material_id}",
                hint="`materials.search` with the provider project finds those that were taken in",
            )
        return _material(row)

    def materials_of(self, allows: Callable[[str], bool], limit: int) -> list[Material]:
        """See ``MaterialStore.materials_of``."""
        with self._store.reading() as connection:
            formulas = connection.execute(select(materials.c.formula).distinct()).scalars()
            wanted = [formula for formula in formulas if allows(formula)]
            rows = connection.execute(
                select(materials)
                .where(materials.c.formula.in_(wanted))
                .order_by(materials.c.id.desc())
                .limit(limit)
            ).mappings()
            return [_material(row) for row in rows]

    def structures_of_jobs(
        self, allows: Callable[[str], bool], limit: int
    ) -> list[tuple[int, str, dict[str, Any]]]:
        """See ``JobStructures.structures_of_jobs``."""
        with self._store.reading() as connection:
            formulas = connection.execute(
                select(jobs.c.formula).where(jobs.c.formula.is_not(None)).distinct()
            ).scalars()
            wanted = [formula for formula in formulas if allows(formula)]
            rows = connection.execute(
                _WITH_RESULTS.where(
                    jobs.c.formula.in_(wanted),
                    jobs.c.state == "COMPLETED",
                    func.json_type(job_documents.c.results_json, "$.structure") == "object",
                )
                .order_by(jobs.c.id.desc())
                .limit(limit)
            ).all()
        return [(row.id, row.name, _structure(json.loads(row.results_json))) for row in rows]

    def structure_of_job(self, job_id: int) -> tuple[str, dict[str, Any]]:
        """See ``JobStructures.structure_of_job``."""
        with self._store.reading() as connection:
            row = connection.execute(_WITH_RESULTS.where(jobs.c.id == job_id)).first()
        results = {} if row is None else json.loads(row.results_json)
        if row is None or not isinstance(results.get("structure"), dict):
            raise NotFound(f"there is no job {job_id} with a final structure")
        return row.name, _structure(results)


def _structure(results: dict[str, Any]) -> dict[str, Any]:
    return {"formula": results.get("formula", ""), **results["structure"]}


def _material(row: RowMapping) -> Material:
    return Material(
        id=row["id"],
        name=row["name"],
        formula=row["formula"],
        n_atoms=row["n_atoms"],
        space_group=row["space_group"],
        content_hash=row["content_hash"],
        fingerprint=json.loads(row["fingerprint_json"]),
        structure=json.loads(row["structure_json"]),
        created_at=row["created_at"],
    )
