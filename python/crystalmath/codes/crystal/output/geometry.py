"""The geometries of an output: cells, atoms, lattice vectors, neighbours, and the space group."""

from __future__ import annotations

import re
from typing import Final

from crystalmath.codes.crystal.output.lines import Taker, at
from crystalmath.codes.crystal.output.numbers import behind, numbers
from crystalmath.codes.crystal.output.run import MAX_ATOMS, Cell, Geometry, Run

_COUNTS: Final = re.compile(
    r"ATOMS IN THE ASYMMETRIC UNIT +(\d+) +- +ATOMS IN THE UNIT CELL: +(\d+)"
)
_NEIGHBOUR: Final = re.compile(r"^ +\d+ [A-Z]{1,2} +\d+ +(\d+\.\d+) +\d+\.\d+ ")


@at("GEOMETRY FOR WAVE FUNCTION - DIMENSIONALITY OF THE SYSTEM")
def _on_first(run: Run, line: str) -> None:
    run.dimensionality = _dimensionality(line)
    run.current = Geometry()
    # Displaced geometries of a calculation of frequencies are printed the same way.
    if run.geometry is None or not run.geometry.complete:
        run.geometry = run.current


@at("FINAL OPTIMIZED GEOMETRY - DIMENSIONALITY OF THE SYSTEM")
def _on_final(run: Run, line: str) -> None:
    run.dimensionality = _dimensionality(line)
    run.final_geometry = run.current = Geometry()


def _dimensionality(line: str) -> int | None:
    value = behind(line, "SYSTEM")
    return None if value is None else int(value)


@at("PRIMITIVE CELL")
def _on_primitive(run: Run, line: str) -> Taker | None:
    # "LATTICE PARAMETERS … - PRIMITIVE CELL" begins otherwise.
    geometry = run.current
    if geometry is None or geometry.cell is not None:
        return None
    code = behind(line, "CODE")
    geometry.centring = None if code is None else int(code)
    return _cell(geometry, behind(line, "VOLUME="), conventional=False)


@at("CRYSTALLOGRAPHIC CELL (VOLUME=")
def _on_conventional(run: Run, line: str) -> Taker | None:
    if run.current is None:
        return None
    return _cell(run.current, behind(line, "VOLUME="), conventional=True)


def _cell(geometry: Geometry, volume: float | None, *, conventional: bool) -> Taker:
    def take(line: str) -> bool:
        if "ALPHA" in line:
            return True
        values = numbers(line)
        if len(values) == 6:
            a, b, c, alpha, beta, gamma = values
            cell = Cell((a, b, c), (alpha, beta, gamma), volume)
            if conventional:
                geometry.conventional = cell
            else:
                geometry.cell = cell
        return False

    return take


@at("ATOMS IN THE ASYMMETRIC UNIT")
def _on_atoms(run: Run, line: str) -> Taker | None:
    geometry, counts = run.current, _COUNTS.search(line)
    if geometry is None or counts is None or geometry.n_atoms is not None:
        return None
    geometry.n_asymmetric, geometry.n_atoms = int(counts[1]), int(counts[2])
    wanted = min(geometry.n_atoms, MAX_ATOMS)

    def take(line: str) -> bool:
        words = line.split(None, 2)
        if len(words) < 3 or words[1] not in ("T", "F"):
            return not geometry.rows and words[:1] != ["T"]
        geometry.rows.append(line)
        return len(geometry.rows) < wanted

    return take


@at("DIRECT LATTICE VECTORS CARTESIAN COMPONENTS (ANGSTROM)")
def _on_vectors(run: Run, _line: str) -> Taker | None:
    geometry = run.current
    if geometry is None or geometry.vectors:
        return None

    def take(line: str) -> bool:
        values = numbers(line)
        if len(values) == 3:
            x, y, z = values
            geometry.vectors.append((x, y, z))
        elif "X" not in line:
            return False
        return len(geometry.vectors) < 3

    return take


@at("N = NUMBER OF NEIGHBORS AT DISTANCE R")
def _on_neighbours(run: Run, _line: str) -> Taker | None:
    geometry = run.last_geometry
    if geometry is None:
        return None

    def take(line: str) -> bool:
        row = _NEIGHBOUR.match(line)
        if row is not None:
            distance = float(row[1])
            known = geometry.shortest
            geometry.shortest = distance if known is None else min(known, distance)
        return row is not None or not line.strip() or "R/ANG" in line or line.startswith("    ")

    return take


@at("SPACE GROUP (", "CORRESPONDING SPACE GROUP")
def _on_group(run: Run, line: str) -> None:
    if run.symbol is None and "SPACE GROUP (" in line:
        run.symbol = line.partition(":")[2].strip() or None


@at("NUMBER OF SYMMETRY OPERATORS")
def _on_operators(run: Run, line: str) -> None:
    value = behind(line, ":")
    if run.n_operators is None and value is not None:
        run.n_operators = int(value)
