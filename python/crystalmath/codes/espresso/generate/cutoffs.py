"""The cutoffs of a calculation: from the request, the table, or the pseudopotentials themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from crystalmath.codes.espresso.options import DeckOptions
from crystalmath.codes.espresso.upf.choice import Chosen
from crystalmath.errors import InputRejected, InvalidParams

DUAL_NC: Final = 4.0
"""Density over wave functions with norm-conserving pseudopotentials;"""
DUAL: Final = 8.0
"""with ultrasoft ones and PAW, whose augmentation charges are hard."""


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """Ry, and why they are these."""

    wfc_ry: float
    rho_ry: float
    wfc_from: str
    rho_from: str


def cutoffs(options: DeckOptions, chosen: Sequence[Chosen]) -> Cutoffs:
    """Choose them.

    Raises
    ------
    InputRejected
        Nothing says how large the cutoff of the wave functions has to be.
    InvalidParams
        That of the density is too small.
    """
    wfc_ry, wfc_from = _of_wave_functions(options, chosen)
    if options.ecutrho_ry is not None:
        if options.ecutrho_ry < DUAL_NC * wfc_ry * (1 - 1e-9):
            raise InvalidParams(
                f"ecutrho {options.ecutrho_ry:g} Ry is less than 4 × ecutwfc = "
                f"{DUAL_NC * wfc_ry:g} Ry, which the density of the wave functions needs",
                hint="leave it out, or raise it",
                field="options.ecutrho_ry",
            )
        return Cutoffs(wfc_ry, options.ecutrho_ry, wfc_from, "as asked for")
    rho_ry, rho_from = _of_density(wfc_ry, chosen)
    return Cutoffs(wfc_ry, rho_ry, wfc_from, rho_from)


def _of_wave_functions(options: DeckOptions, chosen: Sequence[Chosen]) -> tuple[float, str]:
    if options.ecutwfc_ry is not None:
        return options.ecutwfc_ry, "as asked for"
    found: list[tuple[float, str]] = []
    silent: list[str] = []
    for one in chosen:
        in_table = None if one.row is None else one.row.wfc_cutoff_ry
        suggested = one.header.wfc_cutoff_ry
        if in_table is not None:
            found.append((in_table, f"of {one.name} in the table"))
        elif suggested is not None:
            found.append((math.ceil(suggested - 1e-6), f"suggested by {one.name}"))
        else:
            silent.append(one.name)
    if silent:
        raise InputRejected(
            f"no cutoff is known for {', '.join(silent)}: neither a table nor the file has one",
            hint="give `options.ecutwfc_ry`, from a convergence test",
            field="options.ecutwfc_ry",
        )
    return max(found)


def _of_density(wfc_ry: float, chosen: Sequence[Chosen]) -> tuple[float, str]:
    found: list[tuple[float, str]] = []
    for one in chosen:
        row = one.row
        if row is not None and row.wfc_cutoff_ry is not None and row.rho_cutoff_ry is not None:
            dual = max(DUAL_NC, row.rho_cutoff_ry / row.wfc_cutoff_ry)
            found.append((dual * wfc_ry, f"{dual:g} × ecutwfc, as for {one.name} in the table"))
        elif one.header.kind == "NC":
            found.append((DUAL_NC * wfc_ry, "4 × ecutwfc, norm-conserving"))
        else:
            kind = "ultrasoft" if one.header.kind == "US" else "PAW"
            found.append((DUAL * wfc_ry, f"8 × ecutwfc, {kind}"))
        suggested = one.header.rho_cutoff_ry
        if row is None and suggested is not None:
            found.append((math.ceil(suggested - 1e-6), f"suggested by {one.name}"))
    return max(found)
