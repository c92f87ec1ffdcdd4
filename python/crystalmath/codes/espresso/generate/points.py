"""The card K_POINTS: a mesh with the symmetry of the crystal, points that were asked for, or Γ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.analysis.bands.path import own_path
from crystalmath.analysis.mesh import breaking_rotation, check_mesh, mesh_of
from crystalmath.codes.espresso.generate.cell import Periodic
from crystalmath.codes.espresso.options import NEEDS_DENSITY, DeckOptions
from crystalmath.errors import InvalidParams, SymmetryBroken

SPACING: Final = 0.30
"""1/Å, with the factor 2π;"""
SPACING_METAL: Final = 0.20
"""of a metal, whose occupations change at the Fermi surface."""


@dataclass(frozen=True, slots=True)
class Points:
    """The card.

    Attributes
    ----------
    mesh, shift
        None where there is no mesh.
    origin
        Why it is this one.
    """

    option: str
    lines: tuple[str, ...]
    mesh: tuple[int, int, int] | None
    shift: tuple[int, int, int] | None
    origin: str
    warnings: tuple[str, ...] = ()


def points(task: str, options: DeckOptions, cell: Periodic, *, metal: bool) -> Points:
    """Choose the points.

    Raises
    ------
    InvalidParams
        Options that exclude one another, or do not belong to the task or the structure.
    """
    _check(task, options)
    if options.k_points is not None:
        return _listed(options.k_points, "the points that were asked for")
    if task == "bands":
        return _along_path(options, cell)
    if cell.dimensions == 0:
        if options.k_mesh is not None and options.k_mesh != [1, 1, 1]:
            raise InvalidParams(
                "a molecule has no reciprocal space",
                hint="leave it out",
                field="options.k_mesh",
            )
        return Points("gamma", (), None, None, "Γ, for a molecule")
    first, second, third = options.k_shift or (0, 0, 0)
    shift = (first, second, third)
    if options.k_mesh is not None:
        a, b, c = options.k_mesh
        return _mesh((a, b, c), shift, "as asked for", _broken((a, b, c), shift, cell))
    spacing = options.k_spacing_inv_angstrom or (SPACING_METAL if metal else SPACING)
    mesh = _with_vacuum(cell, spacing)
    origin = f"points at most {spacing:g} 1/Å apart, with the symmetry of the crystal"
    return _mesh(mesh, shift, origin, _broken(mesh, shift, cell))


def _along_path(options: DeckOptions, cell: Periodic) -> Points:
    """The path of the lattice."""
    for name in ("k_mesh", "k_spacing_inv_angstrom", "k_shift"):
        if getattr(options, name) is not None:
            raise InvalidParams(
                "bands are calculated along a path, not on a mesh",
                hint="leave it out, or give `options.k_points`",
                field=f"options.{name}",
            )
    if not cell.is_crystal:
        raise InvalidParams(
            "bands are calculated at points along a path, which is known for crystals that repeat "
            f"in three directions; this structure repeats in {cell.dimensions}",
            hint="give `options.k_points`",
            field="options.k_points",
        )
    found = own_path(cell.structure, options.symprec_angstrom)
    return _listed(found.fractions.tolist(), found.why, found.path.warnings)


def _listed(
    points: Sequence[Sequence[float]], origin: str, warnings: tuple[str, ...] = ()
) -> Points:
    rows = [" ".join(f"{value + 0.0:.10f}" for value in point) + " 1.0" for point in points]
    return Points("crystal", (str(len(rows)), *rows), None, None, origin, warnings)


def _mesh(
    mesh: tuple[int, int, int],
    shift: tuple[int, int, int],
    origin: str,
    warnings: Sequence[str],
) -> Points:
    line = " ".join(str(number) for number in (*mesh, *shift))
    return Points("automatic", (line,), mesh, shift, origin, tuple(warnings))


def _check(task: str, options: DeckOptions) -> None:
    given = [
        name
        for name in ("k_points", "k_mesh", "k_spacing_inv_angstrom")
        if getattr(options, name) is not None
    ]
    if len(given) > 1:
        raise InvalidParams(
            f"{' and '.join(given)} exclude one another",
            hint="give one of them",
            field=f"options.{given[0]}",
        )
    if options.k_points is None:
        return
    if task not in NEEDS_DENSITY:
        raise InvalidParams(
            f"a {task} needs a mesh: a density is no sum over points of a path",
            hint="give `options.k_mesh` or `options.k_spacing_inv_angstrom`",
            field="options.k_points",
        )
    if options.k_shift is not None or options.smearing == "tetrahedra":
        name = "k_shift" if options.k_shift is not None else "smearing"
        raise InvalidParams(
            f"{name} has a meaning only for a mesh", hint="leave it out", field=f"options.{name}"
        )


def _with_vacuum(cell: Periodic, spacing: float) -> tuple[int, int, int]:
    """The mesh, with one point along what does not repeat."""
    assert cell.rotations is not None
    order = sorted(range(3), key=lambda axis: not cell.repeats[axis])
    rotations = cell.rotations[:, order][:, :, order]
    sorted_mesh = mesh_of(cell.structure.cell[order], spacing, rotations, cell.dimensions)
    mesh = np.ones(3, dtype=int)
    mesh[order] = sorted_mesh
    return int(mesh[0]), int(mesh[1]), int(mesh[2])


def _broken(
    mesh: tuple[int, int, int], shift: tuple[int, int, int], cell: Periodic
) -> tuple[str, ...]:
    """A sentence where the points lack the symmetry; pw.x computes with them all the same."""
    assert cell.rotations is not None
    if breaking_rotation(mesh, cell.rotations, shift) is None:
        return ()
    try:
        check_mesh(mesh, cell.rotations, shift)
    except SymmetryBroken as error:
        return (f"{error.message}; {error.hint}",)
    return ()
