"""Files of the formats that every kind of workflow has, and of its structure. JSON in, JSON out.

Run by worker processes for ``workflows.export``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crystalmath.analysis.export.tables import csv_files, json_text
from crystalmath.analysis.results.document import of_json
from crystalmath.structures.structure import of_document


def as_json(results: Mapping[str, Any]) -> dict[str, str]:
    """The whole document."""
    return {"results.json": json_text(of_json(results))}


def as_csv(results: Mapping[str, Any]) -> dict[str, str]:
    """See :func:`tables.csv_files`."""
    return csv_files(of_json(results))


def as_structure(structure: Mapping[str, Any]) -> dict[str, str]:
    """The structure that a workflow ended with, as pymatgen reads it."""
    from crystalmath.analysis.export.pymatgen_files import structure_json

    return {"structure.json": structure_json(of_document(structure))}
