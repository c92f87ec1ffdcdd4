"""The computations of the workflow ``md``: a larger cell, and what the motion in it says.

JSON in, JSON out; run by worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import ceil
from typing import Any

import numpy as np

from crystalmath.analysis.dynamics.motion import (
    Settings,
    free_directions,
    hydrogen_flags,
    measure,
)
from crystalmath.analysis.phonons.supercell import supercell_sizes
from crystalmath.analysis.procedures.relaxed import engine_provenance, structure_of_step
from crystalmath.analysis.results.document import provenance_of
from crystalmath.analysis.results.md import md_document
from crystalmath.analysis.results.size import fitting
from crystalmath.services.workflows.content import bare_structure
from crystalmath.structures.structure import Structure, of_document


def repeated(structure: Mapping[str, Any], edge_angstrom: float) -> dict[str, Any]:
    """Repeat a cell until an atom is far enough from its images.

    Parameters
    ----------
    edge_angstrom
        How far at least; 0 leaves the cell as it is.

    Returns
    -------
    dict
        ``structure``, and ``repeats`` along the three axes.

    Raises
    ------
    InputRejected
        No cell is wide enough.
    """
    given = of_document(structure)
    sizes = _sizes(given, edge_angstrom)
    larger = _supercell(given, sizes)
    return {"structure": bare_structure(larger.document()), "repeats": list(sizes)}


def report(
    cell: Mapping[str, Any],
    motion: Mapping[str, Any],
    options: Mapping[str, Any],
    provenance: Mapping[str, str],
) -> dict[str, Any]:
    """Average over the frames of a molecular dynamics; the results document of the workflow.

    Parameters
    ----------
    cell
        What :func:`repeated` gave.
    motion
        What the job gave, its ``series`` among it.

    Raises
    ------
    TooFewPoints, InputRejected
    """
    structure = structure_of_step(motion)
    atoms, series = len(structure.symbols), motion["series"]
    times = np.array(series["temperature"]["x"], dtype=float)
    values = {name: np.array(one["y"], dtype=float) for name, one in series.items()}
    # the job counts three directions for each atom
    free = free_directions(structure, options["ensemble"])
    values["temperature"] *= 3 * atoms / free
    settings = Settings(options["ensemble"], options["timestep_fs"], options["temperature_k"])
    found = measure(times, values, atoms, settings)
    found = replace(found, flags=(*found.flags, *hydrogen_flags(structure, options["timestep_fs"])))
    known = {**provenance, **engine_provenance(motion)}
    document = md_document(
        found,
        times,
        values,
        atoms,
        {**_asked(options), "repeats": "×".join(map(str, cell["repeats"])), "free": float(free)},
        provenance_of(("numpy", "ase"), **known),
    )
    return fitting(document).document()


def _asked(options: Mapping[str, Any]) -> dict[str, str | float]:
    """The options that had a meaning."""
    others = {"nve": ("thermostat_fs",), "npt": ()}.get(options["ensemble"], ())
    unused = set(others) | {"edge_angstrom"}
    if options["ensemble"] != "npt":
        unused |= {"pressure_gpa", "barostat_fs", "cell"}
    return {
        name: float(value) if isinstance(value, float) else str(value)
        for name, value in options.items()
        if name not in unused
    }


def _sizes(structure: Structure, edge_angstrom: float) -> tuple[int, int, int]:
    if edge_angstrom == 0 or structure.lattice is None or not any(structure.pbc):
        return (1, 1, 1)
    if structure.is_crystal:
        return supercell_sizes(structure, edge_angstrom)
    x, y, z = (
        max(1, ceil(edge_angstrom / float(np.linalg.norm(vector)) - 1e-6)) if periodic else 1
        for vector, periodic in zip(structure.lattice, structure.pbc, strict=True)
    )
    return x, y, z


def _supercell(structure: Structure, sizes: tuple[int, int, int]) -> Structure:
    if sizes == (1, 1, 1):
        return structure
    cell = structure.cell
    shifts = np.array(list(product(*map(range, sizes))), dtype=float) @ cell
    positions = (structure.positions[:, None, :] + shifts[None, :, :]).reshape(-1, 3)
    atoms = np.repeat(np.arange(len(structure.symbols)), len(shifts))
    return replace(
        structure.take(atoms),
        lattice=cell * np.array(sizes, dtype=float)[:, None],
        positions=positions,
    )
