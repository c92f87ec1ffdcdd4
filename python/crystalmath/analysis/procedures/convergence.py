"""The computations of the workflow ``convergence``: which points, and the choice among them.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from crystalmath.analysis.mesh import mesh_of
from crystalmath.analysis.point_group import on_reciprocal, periodic, rotations_of
from crystalmath.analysis.procedures.relaxed import engine_provenance
from crystalmath.analysis.results.convergence import Series, convergence_document
from crystalmath.analysis.results.document import provenance_of
from crystalmath.domain.convergence import Point, Quantity, converge, mesh_series
from crystalmath.errors import TooFewPoints
from crystalmath.services.workflows.content import bare_structure
from crystalmath.structures.structure import Structure, of_document
from crystalmath.units import EV_PER_ANGSTROM3_GPA

DESCENDING: Final = frozenset({"k_spacing", "degauss"})
"""Parameters that are finer when they are smaller."""
MAX_ATOMS: Final = 2000
_NO_LEVELS: Final = "the calculation gave no gap: it found a metal, or no empty band was computed"


def points_of(
    structure: Mapping[str, Any], parameter: str, values: Sequence[float | str], unit: str = ""
) -> dict[str, Any]:
    """The points of a series, from coarse to fine.

    Parameters
    ----------
    unit
        Of the values; empty where they have none.

    Returns
    -------
    dict
        ``points``: of each ``setting`` (for people), ``number`` (None where there is none),
        ``value`` (for the code), ``series``, ``n_atoms`` and ``structure``; ``notes``.

    Raises
    ------
    InputRejected, TooFewPoints
    """
    given = of_document(structure)
    if all(isinstance(value, int | float) for value in values):
        values = sorted(values, key=float, reverse=parameter in DESCENDING)
    notes: list[str] = []
    if parameter == "k_spacing":
        points, notes = _meshes(given, [float(value) for value in values])
    elif parameter == "supercell":
        points = [_repeated(given, int(value)) for value in values]
    elif parameter == "shrink":
        points = [_shrink(int(value)) for value in values]
    else:
        points = [_plain(value, unit) for value in values]
    bare = bare_structure(structure)
    return {
        "points": [{"structure": bare, "n_atoms": len(given.symbols), **one} for one in points],
        "notes": notes,
    }


def _plain(value: float | str, unit: str) -> dict[str, Any]:
    if isinstance(value, str):
        return {"setting": value, "number": None, "value": value, "series": ""}
    return {"setting": f"{value:g} {unit}".strip(), "number": value, "value": value, "series": ""}


def _meshes(given: Structure, spacings: Sequence[float]) -> tuple[list[dict[str, Any]], list[str]]:
    """Γ-centred meshes with the symmetry of the crystal; each once."""
    crystal = periodic(given, "meshes of k points")
    rotations = on_reciprocal(rotations_of(crystal))
    found: dict[tuple[int, int, int], list[float]] = {}
    for spacing in spacings:
        found.setdefault(mesh_of(crystal.cell, spacing, rotations, 3), []).append(spacing)
    notes = [
        f"{' and '.join(f'{one:g}' for one in same)} 1/Å give the same mesh {_times(mesh)}"
        for mesh, same in found.items()
        if len(same) > 1
    ]
    if len(found) < 3:
        raise TooFewPoints(
            f"the spacings give {len(found)} different meshes, too few for a series",
            hint="give smaller ones, further from each other",
            field="options.values",
        )
    points = [
        {
            "setting": _times(mesh),
            "number": same[0],
            "value": list(mesh),
            "series": mesh_series(mesh),
        }
        for mesh, same in found.items()
    ]
    return points, notes


def _repeated(given: Structure, n: int) -> dict[str, Any]:
    """The crystal as n × n × n of its cells, those of the first cell first."""
    crystal = periodic(given, "supercells")
    n_atoms = len(crystal.symbols) * n**3
    if n_atoms > MAX_ATOMS:
        raise TooFewPoints(
            f"{n} × {n} × {n} cells hold {n_atoms} atoms, more than {MAX_ATOMS}",
            hint="give smaller supercells",
            field="options.values",
        )
    steps = np.array(list(np.ndindex(n, n, n)), dtype=float) @ crystal.cell
    positions = (steps[:, None, :] + crystal.positions[None, :, :]).reshape(-1, 3)
    atoms = np.tile(np.arange(len(crystal.symbols)), n**3)
    larger = replace(crystal.take(atoms), lattice=crystal.cell * n, positions=positions)
    return {
        "setting": _times((n, n, n)),
        "number": float(n),
        "value": n,
        "series": "",
        "n_atoms": n_atoms,
        "structure": bare_structure(larger.document()),
    }


def _shrink(n: int) -> dict[str, Any]:
    """The same factor along each vector of the primitive cell."""
    mesh = (n, n, n)
    name = mesh_series(mesh)
    return {"setting": _times(mesh), "number": float(n), "value": n, "series": name}


def _times(sizes: Sequence[int]) -> str:
    return " × ".join(str(size) for size in sizes)


def chosen(
    series: Mapping[str, Any],
    outputs: Sequence[Mapping[str, Any] | None],
    asked: Mapping[str, Any],
    provenance: Mapping[str, str],
) -> dict[str, Any]:
    """Choose the first converged point of each series; the results document of the workflow.

    Parameters
    ----------
    series
        What :func:`points_of` gave.
    outputs
        What the calculation of each point gave; None where it failed.
    asked
        ``parameter`` with its ``unit``, ``quantity``, ``tolerance``, and the names of the ``steps``
        of the points.

    Raises
    ------
    TooFewPoints
        Fewer than two points have a value.
    """
    points, quantity = series["points"], asked["quantity"]
    n_first = len(points[0]["structure"]["symbols"]) if asked["parameter"] == "supercell" else None
    given = [
        _point(point, output, quantity, step, n_first)
        for point, output, step in zip(points, outputs, asked["steps"], strict=True)
    ]
    good = [point for point in given if point.values]
    if len(good) < 2:
        raise TooFewPoints(
            f"{len(good)} of {len(points)} points have a value: there is nothing to compare",
            hint=next((point.failure for point in given if point.failure), None),
        )
    known = {**provenance, **_common(outputs)}
    found = Series(
        converge(given, asked["tolerance"]),
        quantity,
        asked["tolerance"],
        asked["parameter"],
        asked.get("unit", ""),  # a workflow that an older version began has none
        tuple(series["notes"]),
    )
    return convergence_document(found, provenance_of(("numpy", "spglib"), **known)).document()


def _point(
    point: Mapping[str, Any],
    output: Mapping[str, Any] | None,
    quantity: Quantity,
    step: str,
    n_first: int | None,
) -> Point:
    setting, name, number = point["setting"], point["series"], point["number"]
    if output is None:
        lost = f"its calculation, step {step}, did not complete"
        return Point(setting, None, name, lost, number)
    values = _values(output, quantity, point["n_atoms"], n_first)
    failure = None if values else _missing(quantity)
    return Point(setting, values, name, failure, number)


def _missing(quantity: Quantity) -> str:
    if quantity == "gap_ev":
        return _NO_LEVELS
    return "the calculation gave none of these values"


def _values(
    output: Mapping[str, Any], quantity: Quantity, n_atoms: int, n_first: int | None
) -> tuple[float, ...] | None:
    """The numbers of a quantity; forces are those on the atoms of the first cell."""
    if quantity == "energy_per_atom_ev":
        energy = output.get("energy_ev")
        return None if energy is None else (float(energy) / int(output.get("n_atoms") or n_atoms),)
    if quantity == "gap_ev":
        gap = output.get("gap_ev")
        return None if gap is None else (float(gap),)
    if quantity == "stress_gpa":
        stress = output.get("stress_ev_per_a3")
        if stress is None:
            return None
        return tuple(EV_PER_ANGSTROM3_GPA * float(x) for x in np.ravel(stress))
    forces = output.get("forces_ev_per_a")
    if forces is None:
        return None
    return tuple(float(x) for x in np.ravel(np.array(forces, dtype=float)[:n_first]))


def _common(outputs: Sequence[Mapping[str, Any] | None]) -> dict[str, str]:
    """What all calculations say of themselves alike."""
    told = [engine_provenance(output) for output in outputs if output is not None]
    if not told:
        return {}
    return {
        key: value
        for key, value in told[0].items()
        if all(other.get(key) == value for other in told)
    }
