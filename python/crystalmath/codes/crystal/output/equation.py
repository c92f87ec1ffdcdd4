"""Volumes, energies and fitted equations of state of an output (``EOS``).

The layout is the one that other readers of such outputs rely on; no real output is at hand:
confirm. What is not understood is left out, and without the table the run is not judged completed.
"""

from __future__ import annotations

import re
from typing import Final

from crystalmath.codes.crystal.output.lines import Taker, at
from crystalmath.codes.crystal.output.numbers import number
from crystalmath.codes.crystal.output.run import Equation, Fit, Run

_REAL: Final = r"([-+]?\d+\.\d*(?:[EeDd][-+]?\d+)?)"
_POINT: Final = re.compile(rf"^ *{_REAL} +{_REAL} *$")
_FIT: Final = re.compile(
    rf"^ *([A-Z][A-Z-]+(?: +ORDER +POLYNOMIAL)?(?: +\d{{4}})?) +{_REAL} +{_REAL} +{_REAL}"
    rf"(?: +{_REAL})? *$"
)
_ALL_POINTS: Final = "FITTING USING ALL POINTS"
MAX_EQUATION_POINTS: Final = 1000
_HEADING_LINES: Final = 8


@at("SORTING VOLUMES/ENERGIES")
def _on_table(run: Run, _line: str) -> Taker:
    equation = run.equation = Equation()
    left = _HEADING_LINES

    def take(line: str) -> bool:
        nonlocal left
        row = _POINT.match(line)
        if row is not None:
            if len(equation.points) < MAX_EQUATION_POINTS:
                equation.points.append((number(row[1]), number(row[2])))
            return True
        left -= 1
        return not equation.points and left > 0

    return take


@at("+++++++ FITTING")
def _on_fits(run: Run, line: str) -> None:
    """Fits that leave points out follow the one of all points, under headings of their own."""
    if run.equation is not None:
        run.equation.of_all_points = _ALL_POINTS in line


@at("MURNAGHAN ", "BIRCH-MURNAGHAN ", "POIRIER-TARANTOLA ", "VINET ")
@at("THIRD ORDER POLYNOMIAL", "FOURTH ORDER POLYNOMIAL", "FIFTH ORDER POLYNOMIAL")
def _on_fit(run: Run, line: str) -> None:
    """A name without numbers is the heading of a table of pressures."""
    row = _FIT.match(line)
    equation = run.equation
    if row is None or equation is None or not equation.of_all_points:
        return
    name = " ".join(row[1].split())
    if all(fit.name != name for fit in equation.fits):
        derivative = None if row[5] is None else number(row[5])
        fit = Fit(name, number(row[2]), number(row[3]), number(row[4]), derivative)
        equation.fits.append(fit)
