"""The computations of the workflow ``eos``: which volumes, and the fit.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from crystalmath.analysis.eos.fit import fit_eos
from crystalmath.analysis.eos.scan import scaled, scan_volumes
from crystalmath.analysis.flags import Flag
from crystalmath.analysis.mesh import mesh_of as spaced_mesh
from crystalmath.analysis.point_group import on_reciprocal, periodic, rotations_of
from crystalmath.analysis.procedures.freedom import CUBIC_FROM, free_at_volume
from crystalmath.analysis.procedures.relaxed import (
    basis_doubt,
    changed_basis,
    changed_group,
    changed_mesh,
    engine_provenance,
    forces_and_stress,
    gradient_doubt,
    lattice_quantities,
    mesh_of,
    structure_of_step,
    symmetry_of,
)
from crystalmath.analysis.relaxed import FORCE_EV_PER_ANGSTROM, check_relaxed
from crystalmath.analysis.results.document import Quantity, provenance_of
from crystalmath.analysis.results.eos import eos_document
from crystalmath.errors import BadResult
from crystalmath.services.workflows.content import bare_structure
from crystalmath.structures.cell import cell_parameters
from crystalmath.structures.structure import Structure, of_document
from crystalmath.structures.symmetry.crystal import Symmetry

PRINTED: Final = 1e-4
"""How far a printed volume may be from the one that was given, relatively."""


def strained(
    points: int,
    reach: float,
    relaxed: Mapping[str, Any] | None = None,
    structure: Mapping[str, Any] | None = None,
    k_spacing_inv_angstrom: float | None = None,
) -> dict[str, Any]:
    """Structures at volumes around the relaxed one, or around that of a structure.

    Parameters
    ----------
    points, reach
        How many volumes, and the largest relative change to each side.
    relaxed
        What the relaxation gave.
    structure
        Instead of it: the structure to strain as it is.
    k_spacing_inv_angstrom
        Of the k points, for a structure that nothing was computed of yet.

    Returns
    -------
    dict
        ``structures``, with ``volumes_angstrom3`` and ``changes`` (relative) in the same order, and
        what is ``free`` at each volume, and the ``k_mesh`` of the relaxation, or of the structure.

    Raises
    ------
    NotRelaxed, InputRejected
    """
    start = of_document(structure or {}) if relaxed is None else structure_of_step(relaxed)
    given = periodic(start, "equations of state")
    if relaxed is not None:
        _check(relaxed)
    mesh = None if relaxed is None else mesh_of(relaxed)
    if relaxed is None and k_spacing_inv_angstrom is not None:
        rotations = on_reciprocal(rotations_of(given))
        mesh = list(spaced_mesh(given.cell, k_spacing_inv_angstrom, rotations, 3))
    volumes = scan_volumes(given.volume, points, reach)
    return {
        "structures": [
            bare_structure(scaled(given, float(volume)).document()) for volume in volumes
        ],
        "volumes_angstrom3": [float(volume) for volume in volumes],
        "changes": [round(float(volume / given.volume - 1), 9) for volume in volumes],
        # atoms that symmetry finds equal need not move alike where their moments differ
        "free": "shape" if given.has_uneven_moments else free_at_volume(given),
        "k_mesh": mesh,
    }


def fitted(
    points: Sequence[Mapping[str, Any]],
    provenance: Mapping[str, str],
    relaxed: Mapping[str, Any] | None = None,
    kept: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Fit the equation of state; the results document of the workflow.

    Energies are those that the calculations ended with, per atom, and so are volumes.

    Parameters
    ----------
    points
        What the calculation at each volume gave.
    provenance
        What is known of the workflow.
    relaxed
        What the relaxation gave, where there was one.
    kept
        Volumes in Å³ that the calculations were given, of a code that prints fewer digits of them.

    Raises
    ------
    NotBracketed, TooFewPoints, InputRejected, BadResult
    """
    cells = [structure_of_step(point) for point in points]
    n = len(cells[0].symbols)
    if any(len(cell.symbols) != n for cell in cells):
        raise BadResult("the calculations at the volumes have different numbers of atoms")
    start = None if relaxed is None else structure_of_step(relaxed)
    found = fit_eos(
        [volume / n for volume in _volumes(cells, kept)],
        [float(point["energy_ev"]) / n for point in points],
        relaxed_volume_angstrom3=None if start is None else start.volume / n,
    )
    known = {**provenance, **engine_provenance(points[0] if relaxed is None else relaxed)}
    document = eos_document(found, provenance_of(("numpy", "scipy", "spglib"), **known), "atom")
    middle = cells[len(cells) // 2] if start is None else start
    symmetry = symmetry_of(middle)
    changed = [
        f for end in (cells[0], cells[-1]) for f in changed_group(symmetry, symmetry_of(end))
    ]
    quantities = [*document.quantities, *_cubic(middle, symmetry, n * found.fit.v0_angstrom3)]
    if start is not None:
        quantities += lattice_quantities(start, symmetry)
    flags = (*document.flags, *dict.fromkeys(changed), *_unrelaxed(points), *basis_doubt(relaxed))
    optimised = points if relaxed is None else (relaxed, *points)
    flags += (*changed_mesh(points), *gradient_doubt(optimised))
    return replace(document, quantities=tuple(quantities), flags=flags).document()


def _check(relaxed: Mapping[str, Any]) -> None:
    """Make sure that a relaxation has ended at a minimum.

    Raises
    ------
    NotRelaxed, BadResult
    """
    if "forces_ev_per_a" in relaxed:
        forces, stress = forces_and_stress(relaxed)
        check_relaxed(forces, None if changed_basis(relaxed) else stress, "eos")
        return
    if not (relaxed.get("optimisation") or {}).get("converged"):
        raise BadResult("the relaxation tells neither forces nor that it converged")


def _volumes(cells: Sequence[Structure], kept: Sequence[float] | None) -> list[float]:
    """Volumes in Å³: those that were given, where the calculations kept them.

    A code may compute, and tell of, the primitive cell of what it was given.
    """
    ended = [cell.volume for cell in cells]
    if kept is None:
        return ended
    volumes = []
    for given, found in zip(kept, ended, strict=True):
        one = given / max(1, round(given / found))
        if abs(found / one - 1) > PRINTED:
            raise BadResult(
                f"a calculation was to keep the volume {one:.4f} Å³ and ended at {found:.4f} Å³"
            )
        volumes.append(one)
    return volumes


def _cubic(cell: Structure, symmetry: Symmetry | None, volume: float) -> list[Quantity]:
    """The lattice constant of a cubic crystal whose cell has this volume."""
    if symmetry is None or symmetry.number < CUBIC_FROM:
        return []
    a = cell_parameters(symmetry.lattice)[0]
    return [Quantity("a0", "a₀", a * float(volume / cell.volume) ** (1 / 3), "Å")]


def _unrelaxed(points: Sequence[Mapping[str, Any]]) -> list[Flag]:
    """A doubt when atoms at a volume are far from their places."""
    left = max((float(point.get("fmax_ev_per_a") or 0.0) for point in points), default=0.0)
    if left <= FORCE_EV_PER_ANGSTROM["relax"]:
        return []
    return [Flag("forces_left", f"a force of {left:.2g} eV/Å is left at one of the volumes")]
