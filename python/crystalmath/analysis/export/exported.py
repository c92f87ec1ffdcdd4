"""Files of the results of workflows for other programs. JSON in, JSON out.

Run by worker processes for ``workflows.export``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def as_phonopy(
    displaced: Mapping[str, Any], points: Sequence[Mapping[str, Any]], options: Mapping[str, Any]
) -> dict[str, str]:
    """See :func:`phonopy_files.phonopy_files`; takes what the results of phonons are made from."""
    from crystalmath.analysis.export.phonopy_files import phonopy_files
    from crystalmath.analysis.procedures.phonon import model_of

    return phonopy_files(model_of(displaced, points, options["born"]))


def as_phonons(
    displaced: Mapping[str, Any], points: Sequence[Mapping[str, Any]], options: Mapping[str, Any]
) -> dict[str, str]:
    """Bands and density of states of phonons, and their crystal, as pymatgen reads them."""
    from crystalmath.analysis.export import pymatgen_files
    from crystalmath.analysis.phonons.spectrum import phonon_bands, phonon_dos
    from crystalmath.analysis.procedures.phonon import model_of

    model = model_of(displaced, points, options["born"])
    return {
        "structure.json": pymatgen_files.structure_json(model.plan.structure),
        "phonon_bands.json": pymatgen_files.phonon_bands_json(phonon_bands(model)),
        "phonon_dos.json": pymatgen_files.phonon_dos_json(phonon_dos(model, options["mesh"])),
    }


def as_elastic(
    relaxed: Mapping[str, Any], strained: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Elastic constants and their crystal, as pymatgen reads them."""
    from crystalmath.analysis.export import pymatgen_files
    from crystalmath.analysis.procedures.elastic import constants_of
    from crystalmath.analysis.procedures.relaxed import structure_of_step

    return {
        "structure.json": pymatgen_files.structure_json(structure_of_step(relaxed)),
        "elastic_tensor.json": pymatgen_files.elastic_json(constants_of(relaxed, strained, points)),
    }
