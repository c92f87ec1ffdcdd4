"""Properties in the shapes that ASE gives them, and its error for one that there is not."""

from __future__ import annotations

from typing import Any, Final

import numpy.typing as npt

from crystalmath.forces.connection import Floats
from crystalmath.forces.worker import wire

_VOIGT: Final = ((0, 1, 2, 1, 0, 0), (0, 1, 2, 2, 2, 1))


def voigt(tensor: Floats) -> Floats:
    """Tensors as (xx, yy, zz, yz, xz, xy)."""
    rows, columns = _VOIGT
    return (tensor[..., rows, columns] + tensor[..., columns, rows]) / 2


def as_ase(name: str, array: npt.NDArray[Any]) -> Any:
    """One property: a number, a Voigt tensor, or a copy of its array."""
    if name in ("stress", "stresses"):
        return voigt(array)
    if wire.SIZES[name] == (1, 0) and array.shape == (1,):
        return float(array[0])
    return array.copy()


def not_given(message: str) -> Exception:
    """Return ``PropertyNotImplementedError``."""
    from ase.calculators.calculator import PropertyNotImplementedError

    error: Exception = PropertyNotImplementedError(message)
    return error
