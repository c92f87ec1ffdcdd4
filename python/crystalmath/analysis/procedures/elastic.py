"""The computations of the workflow ``elastic``: which strains, and the fit.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crystalmath.analysis.elastic.fit import ElasticConstants, fit_elastic
from crystalmath.analysis.elastic.strains import Strain, strains_of
from crystalmath.analysis.point_group import periodic
from crystalmath.analysis.procedures.relaxed import (
    basis_doubt,
    changed_basis,
    changed_group,
    changed_mesh,
    engine_provenance,
    forces_and_stress,
    lattice_quantities,
    mesh_of,
    same_cell,
    structure_of_step,
    symmetry_of,
)
from crystalmath.analysis.relaxed import check_relaxed
from crystalmath.analysis.results.document import provenance_of
from crystalmath.analysis.results.elastic import elastic_document
from crystalmath.errors import BadResult
from crystalmath.services.workflows.content import bare_structure
from crystalmath.structures.structure import Floats, of_document


def strained(relaxed: Mapping[str, Any], sizes: Sequence[float]) -> dict[str, Any]:
    """Strained cells, as few as the symmetry allows.

    Parameters
    ----------
    relaxed
        What the relaxation gave, or the calculation of the structure as it is.
    sizes
        Of the strains; each is applied with both signs.

    Returns
    -------
    dict
        ``structures``, ``strains`` in the same order, and the ``k_mesh`` of the calculation.

    Raises
    ------
    NotRelaxed, InputRejected
    """
    structure = periodic(structure_of_step(relaxed), "elastic constants")
    forces, stress = forces_and_stress(relaxed)
    check_relaxed(forces, None if changed_basis(relaxed) else stress, "elastic")
    each = sorted({sign * size for size in sizes for sign in (-1, 1)})
    strains = strains_of(structure, tuple(each))
    return {
        "structures": [bare_structure(one.applied(structure).document()) for one in strains],
        "strains": [
            {
                "name": one.name,
                "strain": one.strain.tolist(),
                "deformation": one.deformation.tolist(),
            }
            for one in strains
        ],
        "k_mesh": mesh_of(relaxed),
    }


def constants_of(
    relaxed: Mapping[str, Any], strained: Mapping[str, Any], points: Sequence[Mapping[str, Any]]
) -> ElasticConstants:
    """The elastic constants of a workflow's strained cells and what their calculations gave.

    Raises
    ------
    BadResult, InputRejected, Underdetermined
    """
    strains = [
        Strain(one["name"], np.array(one["strain"]), np.array(one["deformation"]))
        for one in strained["strains"]
    ]
    stresses = [
        _stress(strain.name, wanted, point)
        for strain, wanted, point in zip(strains, strained["structures"], points, strict=True)
    ]
    return fit_elastic(structure_of_step(relaxed), strains, stresses)


def fitted(
    before: Mapping[str, Any],
    relaxed: Mapping[str, Any],
    strained: Mapping[str, Any],
    points: Sequence[Mapping[str, Any]],
    provenance: Mapping[str, str],
) -> dict[str, Any]:
    """Fit the elastic constants; the results document of the workflow.

    Parameters
    ----------
    before
        The structure that was asked for.
    strained
        What :func:`strained` gave.
    points
        What the relaxation in each strained cell gave.

    Raises
    ------
    BadResult, InputRejected, Underdetermined
    """
    structure = structure_of_step(relaxed)
    found = constants_of(relaxed, strained, points)
    symmetry = symmetry_of(structure)
    known = {
        **provenance,
        **engine_provenance(relaxed),
        "strained_cells": str(len(points)),
        "relaxed_with": "forces and stress; atoms alone in each strained cell",
    }
    document = elastic_document(found, provenance_of(("numpy", "spglib"), **known))
    changed = changed_group(symmetry_of(of_document(before)), symmetry)
    return replace(
        document,
        quantities=(*document.quantities, *lattice_quantities(structure, symmetry)),
        flags=(*document.flags, *basis_doubt(relaxed), *changed, *changed_mesh(points)),
    ).document()


def _stress(name: str, wanted: Mapping[str, Any], point: Mapping[str, Any]) -> Floats:
    """Stress of a strained cell in eV/Å³, after making sure that it is that cell's."""
    what = f"the calculation of the strain {name}"
    same_cell(structure_of_step(point), of_document(wanted), what)
    stress = forces_and_stress(point)[1]
    if stress is None:
        raise BadResult(f"{what} gave no stress")
    return stress
