"""The steps of an optimisation in an output, and how it ended."""

from __future__ import annotations

import re
from typing import Final

from crystalmath.codes.crystal.output.lines import Taker, at
from crystalmath.codes.crystal.output.numbers import behind, first
from crystalmath.codes.crystal.output.run import Gap, Geometry, Point, Run, Test

_POINT: Final = re.compile(r"OPTIMIZATION - POINT +(\d+)")
_TEST: Final = re.compile(r"(MAX|RMS) (GRADIENT|DISPLAC\.) +(\S+) +THRESHOLD +(\S+)")
_END: Final = re.compile(r"\* OPT END - (\w+) *\* E\(AU\): +(\S+) +POINTS +(\d+)")
_WORDS: Final = {"GRADIENT": "gradient", "DISPLAC.": "displacement"}
MAX_POINTS: Final = 10_000
KEPT_GEOMETRIES: Final = 2
"""Atoms are kept of the last geometries; of earlier ones the cell and the energy."""


@at("COMBINED CELL/ATOM OPTIMIZATION", "ATOMIC POSITIONS OPTIMIZATION CONTROL")
@at("CELL OPTIMIZATION CONTROL", "INFORMATION **** OPTGEOM ****")
def _on_control(run: Run, _line: str) -> None:
    run.optimises = True


@at("COORDINATE ", "CELL OPTIMIZATION - POINT", "ATOM ", "REDUNDANT ")
def _on_point(run: Run, line: str) -> None:
    found = _POINT.search(line)
    if found is None:
        return
    run.optimises = True
    point = Point(int(found[1]))
    if point.number > 1 or run.points:
        # The first point is the geometry printed before.
        point.geometry = run.current = Geometry()
    else:
        point.geometry = run.geometry
    run.points.append(point)
    del run.points[:-MAX_POINTS]
    for earlier in run.points[1:-KEPT_GEOMETRIES][-1:]:
        if earlier.geometry is not None:
            earlier.geometry.atoms = []
            earlier.geometry.complete = False


@at("TOTAL ENERGY(")
def _on_energy(run: Run, line: str) -> None:
    if not run.points or "DE (AU)" not in line:
        return
    run.points[-1].energy = first(line.rpartition(")(")[2].partition(")")[2])


@at("MAX GRADIENT", "RMS GRADIENT", "MAX DISPLAC.", "RMS DISPLAC.")
def _on_test(run: Run, line: str) -> None:
    found = _TEST.search(line)
    if found is None:
        return
    if not run.points:
        # Where the first point has no heading of its own.
        run.points.append(Point(1, geometry=run.geometry))
    value, threshold = first(found[3]), first(found[4])
    if value is not None and threshold is not None:
        name = f"{found[1].lower()}_{_WORDS[found[2]]}"
        run.points[-1].tests[name] = Test(value, threshold)


@at("* OPT END - ")
def _on_end(run: Run, line: str) -> Taker | None:
    found = _END.search(line)
    if found is None:
        return None
    run.optimises = True
    run.opt_ended = found[1] == "CONVERGED"
    run.opt_energy, run.opt_points = first(found[2]), int(found[3])
    return None


@at("BAND GAP:", "ALPHA BAND GAP:", "BETA BAND GAP:")
def _on_gap(run: Run, line: str) -> None:
    value = behind(line, "GAP:")
    if run.opt_ended is not None and value is not None:
        word = line.split(maxsplit=1)[0].lower()
        run.opt_gaps["" if word == "band" else word] = Gap(None, value)
