"""The computations of the workflow ``bands``: the path and its cell, and the results document.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from crystalmath.analysis.bands.gap import BandEdges, band_edges, occupied_bands
from crystalmath.analysis.bands.mesh import whole_mesh
from crystalmath.analysis.bands.path import BandPath, SampledPath, band_path, sampled
from crystalmath.analysis.flags import Flag
from crystalmath.analysis.procedures.relaxed import engine_provenance
from crystalmath.analysis.results.bands import bands_document
from crystalmath.analysis.results.document import provenance_of
from crystalmath.analysis.results.size import fitting
from crystalmath.analysis.spectra.dos import DensityOfStates, smeared_dos, tetrahedron_dos
from crystalmath.errors import BadResult, InputRejected
from crystalmath.services.workflows.content import bare_structure
from crystalmath.structures.structure import Floats, of_document

DOS_STEP_EV: Final = 0.02
SMEARING_EV: Final = 0.2
"""Full width at half maximum, where tetrahedra cannot be used."""
_MOMENT: Final = 0.02
"""μB. A total moment this near to a whole number is one: an SCF ends before it is exact."""
_LEFT_FORCE_EV_PER_A: Final = 0.05
_LEFT_STRESS_GPA: Final = 0.5
"""More than this left in the SCF is told."""
_SAME_K: Final = 1e-4
_BELOW_EV: Final = 0.5
"""How far below the lowest level the density of states begins."""


def pathed(structure: Mapping[str, Any], spacing_inv_angstrom: float) -> dict[str, Any]:
    """Find the path of a crystal, and the cell that it belongs to.

    Parameters
    ----------
    spacing_inv_angstrom
        Largest distance of neighbouring k points, with the factor 2π.

    Returns
    -------
    dict
        ``structure``, the standard primitive cell, which must be computed; ``k_path``, the points
        as fractions of its reciprocal vectors; ``path``, of what the rest is made again.
    """
    path = band_path(of_document(structure))
    points = sampled(path, spacing_inv_angstrom)
    return {
        "structure": bare_structure(path.structure.document()),
        "k_path": [[round(float(x), 12) + 0.0 for x in point] for point in points.fractions],
        "path": {
            "points": {label: list(at) for label, at in path.points.items()},
            "lines": [list(line) for line in path.lines],
            "lattice": path.lattice,
            "given_cells": path.given_cells,
            "rotation": path.rotation.tolist(),
            "warnings": list(path.warnings),
            "spacing_inv_angstrom": spacing_inv_angstrom,
        },
    }


def report(
    path: Mapping[str, Any], computed: Mapping[str, Any], provenance: Mapping[str, str]
) -> dict[str, Any]:
    """The results document of the workflow.

    Parameters
    ----------
    path
        What :func:`pathed` gave.
    computed
        What the calculation gave: results with ``levels``, see ``codes.espresso.bands.levels``.

    Raises
    ------
    BadResult
        The levels do not belong to the path.
    Underdetermined
        There is no empty band.
    """
    along = _path_of(path)
    points = sampled(along, path["path"]["spacing_inv_angstrom"])
    levels = computed["levels"]
    bands, mesh = levels["bands"], levels.get("nscf")
    energies = _checked(bands, along, points)
    edges = _edges_of(bands, mesh, levels["magnetisation_mu_b"])
    zero = _zero(edges, mesh, levels)
    dos, doubts = (None, []) if mesh is None else _dos_of(mesh, along, zero, bands["electrons"])
    known = {
        **provenance,
        **engine_provenance(computed),
        "cell": f"standard primitive cell ({along.lattice}), "
        f"of which the given one holds {along.given_cells}",
        "path_points": str(len(points.fractions)),
        **_mesh_provenance(levels, mesh),
    }
    document = bands_document(
        along,
        points,
        energies,
        edges,
        provenance_of(("numpy", "seekpath", "spglib"), **known),
        zero_ev=zero,
        dos=dos,
    )
    doubts += [*_of_path(along), *_not_relaxed(computed), *_fixed(edges, levels)]
    flags = [*document.flags, *doubts]
    return fitting(replace(document, flags=tuple(flags))).document()


def _path_of(document: Mapping[str, Any]) -> BandPath:
    found = document["path"]
    return BandPath(
        structure=of_document(document["structure"]),
        rotation=np.array(found["rotation"]),
        points={label: tuple(at) for label, at in found["points"].items()},
        lines=tuple((start, end) for start, end in found["lines"]),
        lattice=found["lattice"],
        given_cells=found["given_cells"],
        warnings=tuple(found["warnings"]),
    )


def _checked(bands: Mapping[str, Any], path: BandPath, points: SampledPath) -> Floats:
    """The levels of the path; refused when they are those of other points, or of another cell.

    Raises
    ------
    BadResult
    """
    k = np.array(bands["k_points"], dtype=float)
    if k.shape != points.fractions.shape or np.abs(k - points.fractions).max() > _SAME_K:
        raise BadResult("the bands were not computed at the points of the path")
    one, other = np.array(bands["lattice"], dtype=float), path.structure.cell
    if np.abs(one @ one.T - other @ other.T).max() > _SAME_K * np.abs(other @ other.T).max():
        raise BadResult("the bands were not computed for the cell that the path belongs to")
    return np.array(bands["energies_ev"], dtype=float)


def _edges_of(bands: Mapping[str, Any], mesh: Mapping[str, Any] | None, moment: float) -> BandEdges:
    """The edges, of all points that there are; those of the path first."""
    parts = [part for part in (bands, mesh) if part is not None]
    arrays = [np.array(part["energies_ev"], dtype=float) for part in parts]
    least = min(array.shape[2] for array in arrays)
    energies = np.concatenate([array[:, :, :least] for array in arrays], axis=1)
    k = np.concatenate([np.array(part["k_points"], dtype=float) for part in parts])
    spins = energies.shape[0]
    occupied = occupied_bands(bands["electrons"], spins, moment, _MOMENT)
    return band_edges(energies, k, occupied, with_mesh=mesh is not None)


def _zero(edges: BandEdges, mesh: Mapping[str, Any] | None, levels: Mapping[str, Any]) -> float:
    """The valence band edge; of a metal the Fermi energy, of the dense mesh where there is one."""
    if edges.valence is not None:
        return edges.valence.energy_ev
    of_mesh = None if mesh is None else mesh["fermi_ev"]
    fermi = of_mesh if of_mesh is not None else levels["scf_fermi_ev"]
    if fermi is None:
        raise BadResult("the bands overlap, and the calculation gave no Fermi energy")
    return float(fermi)


def _dos_of(
    mesh: Mapping[str, Any], path: BandPath, zero: float, electrons: float
) -> tuple[DensityOfStates, list[Flag]]:
    """By tetrahedra; by smearing where the mesh cannot be put together, which is told."""
    energies = np.array(mesh["energies_ev"], dtype=float)
    k, weights = np.array(mesh["k_points"], dtype=float), np.array(mesh["weights"], dtype=float)
    lowest = energies.min() - zero - _BELOW_EV
    # above the lowest level of the highest band, bands are missing that were not computed
    highest = float(energies[:, :, -1].min()) - zero
    grid = np.arange(np.floor(lowest / DOS_STEP_EV), np.floor(highest / DOS_STEP_EV) + 1)
    grid = grid * DOS_STEP_EV
    rotations = np.array(mesh["rotations"], dtype=float).reshape(-1, 3, 3).transpose(0, 2, 1)
    try:
        sizes = _sizes(mesh["mesh"])
        whole = whole_mesh(energies, k, weights, sizes, rotations, inverts=mesh["inverts"])
    except InputRejected as error:
        said = Flag(
            "smeared_dos",
            f"the density of states is smeared by {SMEARING_EV:g} eV instead of made of "
            f"tetrahedra: {error.message}",
        )
        return smeared_dos(energies, weights, zero, grid, SMEARING_EV, electrons=electrons), [said]
    lattice = path.structure.cell
    return tetrahedron_dos(whole, lattice, zero, grid, electrons=electrons), []


def _sizes(mesh: Sequence[int] | None) -> Sequence[int]:
    if mesh is None or any(mesh[3:]):
        raise InputRejected("its mesh does not contain Γ")
    return mesh[:3]


def _mesh_provenance(levels: Mapping[str, Any], mesh: Mapping[str, Any] | None) -> dict[str, str]:
    found = {}
    for name, sizes in (("scf_mesh", levels["scf_mesh"]), ("dense_mesh", mesh and mesh["mesh"])):
        if sizes:
            shift = ", shifted" if any(sizes[3:]) else ""
            found[name] = " × ".join(str(size) for size in sizes[:3]) + shift
    return found


def _of_path(path: BandPath) -> list[Flag]:
    return [Flag("path", warning) for warning in path.warnings]


def _fixed(edges: BandEdges, levels: Mapping[str, Any]) -> list[Flag]:
    """A doubt about the density of a metal that was computed as an insulator."""
    if not edges.metal or levels["scf_occupations"] != "fixed":
        return []
    return [
        Flag(
            "fixed_occupations",
            "the bands overlap, but the SCF filled a fixed number of them: its density is not that "
            "of a metal; compute it again with a smearing (`inputs.smearing`)",
        )
    ]


def _not_relaxed(computed: Mapping[str, Any]) -> list[Flag]:
    """A doubt when forces or a stress are left that bands would follow."""
    force, stress = computed.get("fmax_ev_per_a"), computed.get("smax_gpa")
    left = []
    if force is not None and force > _LEFT_FORCE_EV_PER_A:
        left.append(f"a force of {force:.2g} eV/Å")
    if stress is not None and stress > _LEFT_STRESS_GPA:
        left.append(f"a stress of {stress:.2g} GPa")
    if not left:
        return []
    return [
        Flag(
            "not_relaxed",
            f"the structure is not relaxed with this method: {' and '.join(left)} is left",
        )
    ]
