"""Frequencies, elastic constants and equations of state in a results document. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from crystalmath.codes.crystal.output.run import Elastic, Equation, Mode
from crystalmath.codes.vibrations import count_modes

_SIZE: Final = 6


def frequencies_document(modes: Sequence[Mode]) -> dict[str, Any]:
    """The groups of modes, expanded counts, and how many are imaginary (printed negative)."""
    groups = []
    for mode in modes:
        row = asdict(mode)
        first, last = row.pop("first"), row.pop("last")
        raman = row.pop("raman")
        groups.append(
            {"modes": [first, last]}
            | {name: value for name, value in row.items() if value is not None}
            | ({"raman": raman} if raman else {})
        )
    expanded = [mode.cm1 for mode in modes for _ in range(mode.first, mode.last + 1)]
    acoustic, negative = count_modes(expanded)
    return {
        "modes": max(mode.last for mode in modes),
        "groups": groups,
        "frequencies_cm1": expanded,
        "acoustic": acoustic,
        "negative": negative,
    }


def elastic_document(elastic: Elastic) -> dict[str, Any]:
    """The constants by name, in the unit that the block states."""
    unit = elastic.unit.lower()
    values: dict[str, Any] = {}
    for i, row in enumerate(elastic.rows):
        for j, value in enumerate(row, start=i):
            if value != 0.0:
                values[f"C{i + 1}{j + 1}"] = value
    values |= elastic.moduli
    if elastic.bulk is not None:
        values["bulk_modulus"] = elastic.bulk
    document: dict[str, Any] = {f"elastic_{unit}": values, "elastic_unit": elastic.unit}
    if len(elastic.rows) == _SIZE:
        document["elastic_tensor"] = _full(elastic.rows)
    return document


def equation_document(equation: Equation) -> dict[str, Any]:
    """The volumes with their energies, and every fit to all of them, as printed."""
    fits = [
        {
            "name": fit.name,
            "volume_angstrom3": fit.volume,
            "energy_hartree": fit.energy,
            "bulk_modulus_gpa": fit.bulk_modulus,
            "bulk_modulus_derivative": fit.derivative,
        }
        for fit in equation.fits
    ]
    return {
        "points": [
            {"volume_angstrom3": volume, "energy_hartree": energy}
            for volume, energy in equation.points
        ],
        "fits": [{key: value for key, value in fit.items() if value is not None} for fit in fits],
    }


def _full(rows: Sequence[Sequence[float]]) -> list[list[float]] | None:
    """The symmetric matrix of the printed upper triangle."""
    if any(len(row) != _SIZE - i for i, row in enumerate(rows)):
        return None
    return [[rows[min(i, j)][max(i, j) - min(i, j)] for j in range(_SIZE)] for i in range(_SIZE)]
