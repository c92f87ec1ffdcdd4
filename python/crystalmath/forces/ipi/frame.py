"""Two ends that see one structure differently: order of atoms, lie of the cell, virial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from crystalmath.errors import BadResult, InputRejected
from crystalmath.forces.ipi.quirks import Quirks
from crystalmath.forces.ipi.words import Array, Order

_FLAT: Final = 1e-12
_ONE_SIDED: Final = 1e-6


def order_for(ours: Sequence[str], theirs: Sequence[str]) -> Order:
    """Return for every atom of the other end which of ours it is.

    Atoms of one species may stand for each other, as positions are sent anew every time; so species
    is all that must agree.

    Raises
    ------
    InputRejected
        The two do not have the same atoms.
    """
    left, right = sorted(ours), sorted(theirs)
    if left != right:
        raise InputRejected(
            f"the program's input has {_formula(theirs)}, the structure {_formula(ours)}",
            hint="both must have the same atoms; LAMMPS files tell species by their masses",
            field="species",
        )
    order = np.empty(len(theirs), np.intp)
    order[np.argsort(np.asarray(theirs), kind="stable")] = np.argsort(
        np.asarray(ours), kind="stable"
    )
    return order


def _formula(symbols: Sequence[str]) -> str:
    counts = {symbol: list(symbols).count(symbol) for symbol in sorted(set(symbols))}
    return " ".join(f"{symbol}{count}" for symbol, count in counts.items()) or "no atoms"


class Turn:
    """The rotation after which a cell is lower triangular, as LAMMPS wants it, and back.

    Kept while the cell stays the same.

    Attributes
    ----------
    cell
        The turned cell.
    """

    def __init__(self, cell: Array) -> None:
        self._of = np.array(cell, float)
        self._rotation: Array | None = None
        self.cell = self._of
        if np.linalg.det(cell) <= _FLAT:
            raise InputRejected(
                "the cell is flat or left-handed, which this program cannot describe",
                hint="give three vectors that form a right-handed system",
                field="cell",
            )
        if (np.diag(cell) > 0.0).all() and not np.triu(cell, 1).any():
            return
        orthogonal, upper = np.linalg.qr(self._of.T)
        self._rotation = orthogonal * np.sign(np.diag(upper))
        self.cell = np.tril(self._of @ self._rotation)

    def is_for(self, cell: Array) -> bool:
        """Whether it was made for this cell."""
        return bool((self._of == cell).all())

    def there(self, positions: Array) -> Array:
        """Turn positions."""
        return positions if self._rotation is None else positions @ self._rotation

    def back(self, forces: Array, virial: Array) -> tuple[Array, Array]:
        """Turn forces and virial back."""
        if self._rotation is None:
            return forces, virial
        rotation = self._rotation
        return forces @ rotation.T, rotation @ virial @ rotation.T


def whole_virial(virial: Array, record: Quirks) -> Array:
    """Complete a virial of which the program fills one triangle; detect one that does unannounced.

    Raises
    ------
    BadResult
        One triangle is zero, or the two contradict each other.
    """
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = virial.tolist()
    if record.virial == "full":
        if (xy == xz == yz == 0.0) is (yx == zx == zy == 0.0):
            return virial
        if max(map(abs, (xy, xz, yz, yx, zx, zy))) <= _ONE_SIDED * np.abs(virial).max():
            return virial
        raise BadResult(
            f"{record.title} filled only one triangle of the virial",
            hint="its shear stress cannot be trusted; a record with virial='upper' would mirror it",
        )
    # what it sends as the upper triangle is our lower one
    if (xy, xz, yz) != (0.0, 0.0, 0.0) and not np.allclose(virial, virial.T, rtol=1e-6, atol=1e-9):
        raise BadResult(f"the two triangles of the virial of {record.title} contradict each other")
    lower = np.tril(virial, -1)
    whole: Array = lower + lower.T + np.diag(np.diag(virial))
    return whole
