"""The computations of the workflow ``phonon``: a first look, the displacements, the results.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crystalmath.analysis.flags import Flag
from crystalmath.analysis.phonons.born import polar_of
from crystalmath.analysis.phonons.displacements import (
    plan_displacements,
    plan_of_document,
)
from crystalmath.analysis.phonons.model import PhononModel, phonons_of
from crystalmath.analysis.phonons.nac import symmetrised
from crystalmath.analysis.phonons.phonopy_object import phonopy_of
from crystalmath.analysis.phonons.spectrum import phonon_bands, phonon_dos, thermodynamics
from crystalmath.analysis.phonons.supercell import (
    EDGE_ANGSTROM,
    check_size,
    check_supercell,
    image_distance,
    supercell_sizes,
)
from crystalmath.analysis.point_group import periodic
from crystalmath.analysis.procedures.bulk import empty_space
from crystalmath.analysis.procedures.relaxed import (
    basis_doubt,
    changed_basis,
    changed_group,
    engine_provenance,
    forces_and_stress,
    lattice_quantities,
    mesh_of,
    same_structure,
    structure_of_step,
    symmetry_of,
)
from crystalmath.analysis.relaxed import STRESS_GPA, check_relaxed, remainder
from crystalmath.analysis.results.document import Quantity, provenance_of
from crystalmath.analysis.results.phonon import phonon_document
from crystalmath.errors import BadResult
from crystalmath.services.workflows.content import bare_structure
from crystalmath.structures.structure import Floats, Structure, of_document

ROOM_K = 300.0


def checked(structure: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Look at what is asked for before anything runs.

    Returns
    -------
    dict
        ``warnings``: what a referee would ask about.

    Raises
    ------
    SymmetryBroken
        The supercell loses rotations of the crystal.
    InputRejected
        No supercell is possible, or the Born charges do not belong to the crystal.
    """
    crystal = periodic(of_document(structure), "phonons")
    given = options["supercell"]
    if given is None:
        sizes = supercell_sizes(crystal, options["edge_angstrom"] or EDGE_ANGSTROM)
    else:
        check_supercell(crystal, given)
        sizes = (given[0], given[1], given[2])
    if options["born"] is not None:
        plan = plan_displacements(crystal, (1, 1, 1))
        symmetrised(phonopy_of(plan), polar_of(plan, options["born"]))
    check_size(crystal, sizes, "edge_angstrom" if given is None else "supercell")
    small = _small(crystal, sizes, options["edge_angstrom"])
    return {"warnings": [*empty_space(crystal), *(flag.message for flag in small)]}


def displaced(
    relaxed: Mapping[str, Any],
    supercell: Sequence[int] | None,
    edge_angstrom: float,
    distance_angstrom: float,
    was_relaxed: bool,
) -> dict[str, Any]:
    """Supercells with one atom displaced, as few as the symmetry allows.

    Parameters
    ----------
    relaxed
        What the relaxation gave, or the calculation of the structure as it is.
    supercell, edge_angstrom
        Repetitions of the cell; None: the smallest with this edge.
    was_relaxed
        Whether the cell was relaxed, too: then no stress may be left.

    Returns
    -------
    dict
        ``plan``, in the same order ``structures`` and ``titles``, and the ``k_mesh`` of the
        calculation.

    Raises
    ------
    NotRelaxed, SymmetryBroken, InputRejected
    """
    structure = periodic(structure_of_step(relaxed), "phonons")
    forces, stress = forces_and_stress(relaxed)
    check_relaxed(forces, stress if was_relaxed and not changed_basis(relaxed) else None, "phonon")
    sizes = supercell or supercell_sizes(structure, edge_angstrom)
    check_size(structure, sizes, "supercell")
    plan = plan_displacements(structure, sizes, distance_angstrom)
    document = plan.document()
    document["structure"] = bare_structure(document["structure"])
    document["edge_angstrom"] = edge_angstrom
    symbols = plan.supercell().symbols
    return {
        "plan": document,
        "k_mesh": mesh_of(relaxed),
        "structures": [bare_structure(cell.document()) for cell in plan.displaced()],
        "titles": [
            f"{symbols[item.atom]} (atom {item.atom + 1} of {len(symbols)}) moved by "
            f"{' '.join(f'{round(component, 4) + 0.0:+.4f}' for component in item.vector)} Å"
            for item in plan.displacements
        ],
    }


def model_of(
    displaced: Mapping[str, Any],
    points: Sequence[Mapping[str, Any]],
    born: Mapping[str, Any] | None,
) -> PhononModel:
    """The harmonic crystal of a workflow's displacements and what their calculations gave.

    Parameters
    ----------
    displaced
        ``plan`` of :func:`displaced`.

    Raises
    ------
    BadResult
        A calculation was of another structure than that of its displacement, or gave no forces.
    InputRejected
    """
    plan = plan_of_document(displaced)
    forces = [
        _forces(number, wanted, point)
        for number, (wanted, point) in enumerate(zip(plan.displaced(), points, strict=True), 1)
    ]
    return phonons_of(plan, forces, None if born is None else polar_of(plan, born))


def result(
    before: Mapping[str, Any],
    relaxed: Mapping[str, Any],
    displaced: Mapping[str, Any],
    points: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    provenance: Mapping[str, str],
) -> dict[str, Any]:
    """Force constants and what follows from them; the results document of the workflow.

    Parameters
    ----------
    before
        The structure that was asked for.
    options
        ``mesh``, ``temperature_max_k``, ``temperature_step_k`` and ``born`` of the workflow.

    Raises
    ------
    BadResult, InputRejected
    """
    mesh, born = options["mesh"], options["born"]
    model = model_of(displaced, points, born)
    plan = model.plan
    known = {
        **provenance,
        **engine_provenance(relaxed),
        "supercell": " × ".join(map(str, plan.sizes)),
        "displacements": str(len(plan.displacements)),
        "displaced_by": f"{np.linalg.norm(plan.displacements[0].vector):g} Å",
        "mesh": f"{mesh} × {mesh} × {mesh}",
        "born_charges": "none" if born is None else "given",
    }
    steps = np.arange(0.0, options["temperature_max_k"] + 1e-9, options["temperature_step_k"])
    document = phonon_document(
        phonon_bands(model),
        phonon_dos(model, mesh),
        thermodynamics(model, np.union1d(steps, [ROOM_K]), mesh),
        provenance_of(("numpy", "phonopy", "seekpath", "spglib"), **known),
    )
    symmetry = symmetry_of(plan.structure)
    flags = (
        *document.flags,
        *_small(plan.structure, plan.sizes, displaced["edge_angstrom"]),
        *(basis_doubt(relaxed) or _under_stress(relaxed)),
        *changed_group(symmetry_of(of_document(before)), symmetry),
    )
    left = remainder(*forces_and_stress(relaxed)).force_ev_per_angstrom
    return replace(
        document,
        quantities=(
            *document.quantities,
            *lattice_quantities(plan.structure, symmetry),
            Quantity("fmax", "largest force at rest", left, "eV/Å"),
        ),
        flags=flags,
    ).document()


def _forces(number: int, wanted: Structure, point: Mapping[str, Any]) -> Floats:
    """Forces of a displacement, after making sure that they are those of its structure."""
    name = f"displacement {number}"
    same_structure(structure_of_step(point), wanted, f"the calculation of {name}")
    if point.get("forces_ev_per_a") is None:
        raise BadResult(f"the calculation of {name} gave no forces")
    return np.array(point["forces_ev_per_a"], dtype=float)


def _small(
    structure: Structure, sizes: tuple[int, int, int], edge_angstrom: float | None
) -> list[Flag]:
    edge = edge_angstrom or EDGE_ANGSTROM
    found = image_distance(structure.cell, sizes)
    if found >= edge - 1e-6:
        return []
    return [
        Flag(
            "small_supercell",
            f"in the {' × '.join(map(str, sizes))} supercell an atom is {found:.1f} Å from its "
            f"image, less than {edge:g} Å: force constants that reach further are cut",
        )
    ]


def _under_stress(relaxed: Mapping[str, Any]) -> list[Flag]:
    left = remainder(*forces_and_stress(relaxed)).stress_gpa
    if left is None or left <= STRESS_GPA:
        return []
    return [
        Flag(
            "under_stress",
            f"the cell is under {left:.2g} GPa: these are phonons at this cell, not those of the "
            "relaxed crystal",
        )
    ]
