"""The calls of spglib: the same answer from every version, None where it finds nothing.

The versions differ in how they tell failures: older ones return None, newer ones warn of that or
raise. Called by the modules of this folder.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import spglib

from crystalmath.structures.structure import Structure

_FAILURES: tuple[type[Exception], ...] = (
    (spglib.SpglibError,) if hasattr(spglib, "SpglibError") else ()
)


def space_dataset(structure: Structure, symprec_angstrom: float, hall: int = 0) -> Any | None:
    """Return the dataset of a crystal, in the setting ``hall`` of spglib's list or any (0)."""
    return _asked(
        spglib.get_symmetry_dataset,
        structure.spglib_cell,
        symprec=symprec_angstrom,
        hall_number=hall,
    )


def layer_dataset(structure: Structure, symprec_angstrom: float) -> Any | None:
    """Return the dataset of a layer with c as its aperiodic axis."""
    return _asked(
        spglib.get_symmetry_layerdataset,
        structure.spglib_cell,
        aperiodic_dir=2,
        symprec=symprec_angstrom,
    )


def setting(hall: int) -> Any | None:
    """Return number, choice and symbols of a setting."""
    return _asked(spglib.get_spacegroup_type, hall)


def table(hall: int) -> Any | None:
    """Return the operators of a setting."""
    return _asked(spglib.get_symmetry_from_database, hall)


def _asked(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return function(*arguments, **named)
        except _FAILURES:
            return None
