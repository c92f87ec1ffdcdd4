"""The steps of an optimisation in an output, and how it ended."""

from __future__ import annotations

import re
from typing import Final

from crystalmath.codes.crystal.output.lines import Taker, at
from crystalmath.codes.crystal.output.numbers import behind, first
from crystalmath.codes.crystal.output.run import Gap, Geometry, Point, Run, Test

_POINT: Final = re.compile(r"OPTIMIZATION - POINT +(\d+)")
_END: Final = re.compile(r"\* OPT END - (\w+) *\* E\(AU\): +(\S+) +POINTS +(\d+)")
_NAMES: Final = {
    ("MAX", "GRADIENT"): "max_gradient",
    ("RMS", "GRADIENT"): "rms_gradient",
    ("MAX", "DISPLAC."): "max_displacement",
    ("RMS", "DISPLAC."): "rms_displacement",
}
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
    if len(run.points) > 2 * MAX_POINTS:
        del run.points[:-MAX_POINTS]
    if len(run.points) > KEPT_GEOMETRIES + 1:
        earlier = run.points[-KEPT_GEOMETRIES - 1].geometry
        if earlier is not None and earlier is not run.geometry:
            earlier.forget_atoms()


@at("TOTAL ENERGY(")
def _on_energy(run: Run, line: str) -> None:
    if not run.points or "DE (AU)" not in line:
        return
    run.points[-1].energy = first(line.rpartition(")(")[2].partition(")")[2])


@at("MAX GRADIENT", "RMS GRADIENT", "MAX DISPLAC.", "RMS DISPLAC.")
def _on_test(run: Run, line: str) -> None:
    words = line.split()
    if len(words) < 5 or words[3] != "THRESHOLD":
        return
    if not run.points:
        # Where the first point has no heading of its own.
        run.points.append(Point(1, geometry=run.geometry))
    try:
        value, threshold = float(words[2]), float(words[4])
    except ValueError:  # stars: the number did not fit its columns
        return
    run.points[-1].tests[_NAMES[words[0], words[1]]] = Test(value, threshold)


@at("* OPT END - ")
def _on_end(run: Run, line: str) -> Taker | None:
    found = _END.search(line)
    if found is None:
        return None
    run.optimises = True
    run.opt_ended = found[1] == "CONVERGED"
    run.opt_failures += not run.opt_ended
    run.opt_energy, run.opt_points = first(found[2]), int(found[3])
    return None


@at("BAND GAP:", "ALPHA BAND GAP:", "BETA BAND GAP:")
def _on_gap(run: Run, line: str) -> None:
    value = behind(line, "GAP:")
    if run.opt_ended is not None and value is not None:
        word = line.split(maxsplit=1)[0].lower()
        run.opt_gaps["" if word == "band" else word] = Gap(None, value)
