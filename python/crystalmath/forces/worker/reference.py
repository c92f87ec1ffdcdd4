"""Compares one structure with what the same engine gave when it was examined. Needs numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .faults import Fault
from .outputs import Target, shape_of, write
from .structures import Structure
from .trial import warm_structure


def check_reference(engine: Any, reference: Mapping[str, Any]) -> None:
    """Refuse an engine whose numbers are not those of its examination.

    Parameters
    ----------
    reference
        As ``forces.doctor.reference`` makes it, with ``at``: when that was.

    Raises
    ------
    Fault
        With the difference.
    """
    structure = warm_structure(reference["structure"])
    assert structure is not None
    forces = reference.get("forces_ev_per_a")
    names = ["energy"] if forces is None else ["energy", "forces"]
    found = _evaluate(engine, structure, names)
    off = abs(float(found["energy"][0]) - reference["energy_ev"])
    if not off <= reference["energy_tolerance_ev"]:
        raise _changed(reference, f"its energy is off by {off:.3g} eV")
    if forces is not None:
        off = float(np.abs(found["forces"] - np.asarray(forces)).max())
        if not off <= reference["force_tolerance_ev_per_a"]:
            raise _changed(reference, f"a force is off by {off:.3g} eV/Å")


def _evaluate(engine: Any, structure: Structure, names: list[str]) -> dict[str, Any]:
    results = engine.evaluate(structure, names)
    found = {}
    for name in names:
        shape = shape_of(name, len(structure), 0)
        target = Target(name, np.empty(shape), scalar=shape == (1,))
        write(results, [target])
        found[name] = target.view
    return found


def _changed(reference: Mapping[str, Any], how: str) -> Fault:
    return Fault(
        "engine_changed",
        f"it gives other numbers than when it was examined on {reference['at']}: {how}",
        hint=f"{reference.get('hint') or 'examine it again'}",
    )
