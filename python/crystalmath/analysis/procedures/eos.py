"""The computations of the workflow ``eos``: which volumes, and the fit.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from crystalmath.analysis.eos.fit import fit_eos
from crystalmath.analysis.eos.scan import scaled, scan_volumes
from crystalmath.analysis.point_group import periodic
from crystalmath.analysis.procedures.relaxed import (
    changed_group,
    engine_provenance,
    forces_and_stress,
    lattice_quantities,
    structure_of_step,
    symmetry_of,
)
from crystalmath.analysis.relaxed import check_relaxed
from crystalmath.analysis.results.document import provenance_of
from crystalmath.analysis.results.eos import eos_document
from crystalmath.services.workflows.content import bare_structure


def strained(relaxed: Mapping[str, Any], points: int, reach: float) -> dict[str, Any]:
    """Structures at volumes around the relaxed one.

    Parameters
    ----------
    relaxed
        What the relaxation gave.
    points, reach
        How many volumes, and the largest relative change to each side.

    Returns
    -------
    dict
        ``structures``, with ``volumes_angstrom3`` and ``changes`` (relative) in the same order.

    Raises
    ------
    NotRelaxed, InputRejected
    """
    structure = periodic(structure_of_step(relaxed), "equations of state")
    check_relaxed(*forces_and_stress(relaxed), "eos")
    volumes = scan_volumes(structure.volume, points, reach)
    return {
        "structures": [
            bare_structure(scaled(structure, float(volume)).document()) for volume in volumes
        ],
        "volumes_angstrom3": [float(volume) for volume in volumes],
        "changes": [round(float(volume / structure.volume - 1), 9) for volume in volumes],
    }


def fitted(
    relaxed: Mapping[str, Any], points: Sequence[Mapping[str, Any]], provenance: Mapping[str, str]
) -> dict[str, Any]:
    """Fit the equation of state; the results document of the workflow.

    Volumes and energies are those that the calculations ended with, per atom.

    Parameters
    ----------
    points
        What the calculation at each volume gave.
    provenance
        What is known of the workflow.

    Raises
    ------
    NotBracketed, TooFewPoints, InputRejected
    """
    start = structure_of_step(relaxed)
    n = len(start.symbols)
    volumes = [structure_of_step(point).volume / n for point in points]
    energies = [float(point["energy_ev"]) / n for point in points]
    found = fit_eos(volumes, energies, relaxed_volume_angstrom3=start.volume / n)
    symmetry = symmetry_of(start)
    known = {
        **provenance,
        **engine_provenance(relaxed),
        "relaxed_with": "forces and stress; atoms and shape at each volume",
    }
    document = eos_document(found, provenance_of(("numpy", "scipy", "spglib"), **known), "atom")
    ends = [symmetry_of(structure_of_step(point)) for point in (points[0], points[-1])]
    flags = [flag for end in ends for flag in changed_group(symmetry, end)]
    return replace(
        document,
        quantities=(*document.quantities, *lattice_quantities(start, symmetry)),
        flags=(*document.flags, *dict.fromkeys(flags)),
    ).document()
