"""The mesh that ``options.shrink`` asks for, in a deck of a wave function or of properties."""

from __future__ import annotations

from collections.abc import Sequence

from crystalmath.analysis.mesh import flattened, is_invariant, symmetric_mesh
from crystalmath.codes.crystal.deck.shrink import Shrink, repeated, with_net
from crystalmath.errors import InvalidParams
from crystalmath.structures.structure import Integers

_FIELD = "options.shrink"


def asked_mesh(
    given: Sequence[int], axes: int, rotations: Integers | None, *, metal: bool
) -> Shrink:
    """The mesh for IS and ISP, or for three factors.

    Parameters
    ----------
    axes
        Along which the crystal repeats.
    rotations
        The point group on the reciprocal vectors; None where it is not known.

    Raises
    ------
    InvalidParams
        The numbers do not belong together, or break the symmetry.
    """
    if len(given) == 2:
        size, isp = given
        if isp < size:
            raise InvalidParams(
                f"ISP {isp} is smaller than IS {size}",
                hint="ISP is IS, or twice IS for a metal",
                field=_FIELD,
            )
        return Shrink(repeated(size, axes), isp)
    first, second, third = given
    mesh = (first, second, third)
    if any(factor != 1 for factor in mesh[axes:]):
        raise InvalidParams(
            f"only {axes} of the three factors are for axes that repeat; the others are 1",
            hint=f"give {' '.join(map(str, [*mesh[:axes], *[1] * (3 - axes)]))}",
            field=_FIELD,
        )
    flat = None if rotations is None else flattened(rotations, axes)
    if flat is not None and not is_invariant(mesh, flat):
        better = " ".join(map(str, symmetric_mesh(mesh, flat)))
        raise InvalidParams(
            f"the mesh {' '.join(map(str, mesh))} breaks the symmetry of the crystal",
            hint=f"the next mesh that has it is {better}",
            field=_FIELD,
        )
    return with_net(mesh, metal=metal)
