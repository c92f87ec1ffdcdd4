"""Structures that the user has taken in: one row each, told apart by their content.

Uses the connections and the writer's lock of ``JobStore``.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import RowMapping, insert, select

from crystalmath.errors import NotFound
from crystalmath.services.ports_materials import Material, NewMaterial
from crystalmath.storage.moves import encode
from crystalmath.storage.store import JobStore
from crystalmath.storage.tables import materials


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
            raise NotFound(f"there is no structure local:{material_id}")
        return _material(row)


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
