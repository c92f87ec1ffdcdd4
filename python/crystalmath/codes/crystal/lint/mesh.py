"""Meshes of SHRINK and NEWK: the net beside them, the axes that repeat, the symmetry."""

from __future__ import annotations

from collections.abc import Sequence

from crystalmath.analysis.mesh import breaking_rotation, flattened, symmetric_mesh
from crystalmath.codes.crystal.cell.declared import Declared
from crystalmath.codes.crystal.cell.mesh import reciprocal_rotations
from crystalmath.codes.crystal.deck.records import Finding, Record
from crystalmath.codes.crystal.lint.findings import error, warning


def small_net(record: Record, code: str, mesh: Sequence[int], isp: int) -> list[Finding]:
    """Warn of a Gilat net that is coarser than the mesh."""
    if isp >= max(mesh):
        return []
    return [
        warning(record, code, f"ISP {isp} is smaller than IS {max(mesh)}",
                "ISP is IS for insulators, twice IS for metals", 1)
    ]  # fmt: skip


def outside_axes(
    record: Record, code: str, mesh: Sequence[int], kind: str, axes: int
) -> list[Finding]:
    """Factors along axes that do not repeat.

    Parameters
    ----------
    kind, axes
        The dimension, and along how many axes it repeats.
    """
    if all(factor == 1 for factor in mesh[axes:]):
        return []
    right = " ".join(map(str, [*mesh[:axes], *[1] * (3 - axes)]))
    return [
        error(record, code, f"{kind} repeats along {axes} axes; the other factors are 1",
              f"write {right}", axes)
    ]  # fmt: skip


def breaks_symmetry(
    record: Record, code: str, mesh: Sequence[int], crystal: Declared
) -> list[Finding]:
    """A mesh that the point group of the crystal does not map onto itself."""
    rotations = flattened(reciprocal_rotations(crystal.setting), sum(crystal.periodic))
    if breaking_rotation(mesh, rotations) is None:
        return []
    better = symmetric_mesh(mesh, rotations)
    return [
        error(record, f"{code}-symmetry",
              f"the mesh {' '.join(map(str, mesh))} breaks the symmetry of group {crystal.group}",
              f"write {' '.join(map(str, better))}")
    ]  # fmt: skip
