"""Checks what an engine gives and writes it into the bytes of the answer. Needs numpy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import wire
from .faults import Fault
from .structures import Floats

_VOIGT = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
"""Place of each component of a 3 by 3 tensor in (xx, yy, zz, yz, xz, xy)."""
_TENSORS = frozenset({"stress", "stresses"})


class Target:
    """Where one property of one structure goes.

    Attributes
    ----------
    view
        Over the bytes of the answer, in the shape that is expected; one number for a scalar.
    scalar
        The property is one number.
    """

    __slots__ = ("name", "scalar", "shape", "view")

    def __init__(self, name: str, view: Floats, *, scalar: bool) -> None:
        self.name = name
        self.view = view
        self.shape = view.shape
        self.scalar = scalar


def shape_of(name: str, atoms: int, members: int) -> tuple[int, ...]:
    """Shape of a property of one structure; ``(1,)`` for a scalar."""
    if name == "stress":
        return (3, 3)
    if name == "stresses":
        return (atoms, 3, 3)
    per_structure, per_atom = wire.SIZES[name]
    shape = (per_structure,) if per_structure else (atoms,) if per_atom == 1 else (atoms, per_atom)
    if not wire.BITS[name] & wire.COMMITTEE_MASK:
        return shape
    return (members,) if per_structure else (members, *shape)


def write(results: Mapping[str, Any], targets: list[Target]) -> None:
    """Write the results of one structure; what is not finite is found by :func:`check_finite`.

    Raises
    ------
    Fault
        Something is missing or has another shape.
    """
    for target in targets:
        try:
            value = results[target.name]
        except KeyError:
            raise _missing(target.name) from None
        if target.scalar:
            target.view[0] = _number(target.name, value)
        elif isinstance(value, np.ndarray) and value.shape == target.shape:
            np.copyto(target.view, value, casting="same_kind")
        else:
            np.copyto(target.view, _array(target, value), casting="same_kind")


def _missing(name: str) -> Fault:
    return Fault("bad_result", f"the engine gave no {name} for this structure", property=name)


def _number(name: str, value: Any) -> float:
    if isinstance(value, float):
        return value
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "fiu":
        raise _misshapen(name, array, "one number")
    return float(array.reshape(()))


def _array(target: Target, value: Any) -> npt.NDArray[Any]:
    """Bring lists and Voigt tensors into the expected shape."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise _misshapen(target.name, array, "numbers")
    if target.name in _TENSORS and array.shape == (*target.shape[:-2], 6):
        return array[..., _VOIGT]
    if array.shape != target.shape:
        raise _misshapen(target.name, array, f"the shape {target.shape}")
    return array


def _misshapen(name: str, array: npt.NDArray[Any], wanted: str) -> Fault:
    return Fault(
        "bad_result",
        f"the engine gave {name} as {array.dtype} of shape {array.shape} instead of {wanted}",
        property=name,
    )


def is_finite(numbers: Floats) -> bool:
    """Whether all of a flat array is finite: a sum of it is, or at worst has overflowed."""
    return math.isfinite(np.add.reduce(numbers)) or bool(np.isfinite(numbers).all())


def check_finite(targets: list[Target]) -> None:
    """Find what is not finite.

    Raises
    ------
    Fault
        Names the property, and the atom where the property has one.
    """
    for target in targets:
        wrong = np.argwhere(~np.isfinite(target.view))
        if not len(wrong):
            continue
        value = target.view[tuple(wrong[0])]
        details: dict[str, Any] = {"property": target.name}
        where = ""
        if wire.SIZES[target.name][1]:
            committee = wire.BITS[target.name] & wire.COMMITTEE_MASK
            details["atom"] = int(wrong[0][1 if committee else 0])
            where = f" of atom {details['atom']}"
        raise Fault(
            "bad_result",
            f"the engine gave {value} as {target.name}{where}",
            hint="look at the geometry: atoms may have come too close",
            **details,
        )
