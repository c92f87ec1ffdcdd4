"""What the procedures share: reading what a relaxation gave, and its cell in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from crystalmath.analysis.flags import Flag
from crystalmath.analysis.relaxed import STRESS_GPA
from crystalmath.analysis.results.document import Quantity
from crystalmath.errors import BadResult, InputRejected
from crystalmath.structures.cell import cell_parameters
from crystalmath.structures.structure import Floats, Structure, of_document
from crystalmath.structures.symmetry.crystal import Symmetry, find_symmetry
from crystalmath.units import EV_PER_ANGSTROM3_GPA

_SAME_ANGSTROM: Final = 1e-4
"""What the digits of an output may change; a displacement is a hundred times as long."""


def structure_of_step(output: Mapping[str, Any]) -> Structure:
    """The final structure of a step.

    Raises
    ------
    BadResult
        It gave none.
    """
    document = output.get("structure")
    if not isinstance(document, dict):
        raise BadResult("a calculation of this workflow gave no final structure")
    return of_document(document)


def forces_and_stress(output: Mapping[str, Any]) -> tuple[Floats, Floats | None]:
    """Forces in eV/Å and stress in eV/Å³ of a step."""
    stress = output.get("stress_ev_per_a3")
    forces = np.array(output["forces_ev_per_a"], dtype=float)
    return forces, None if stress is None else np.array(stress, dtype=float)


def mesh_of(output: Mapping[str, Any]) -> list[int] | None:
    """The mesh of k points of a step; None where it has none, or another choice of points."""
    words = str((output.get("settings") or {}).get("k_points", "")).split()
    return [int(word) for word in words[:3]] if len(words) == 6 else None


def changed_mesh(points: Sequence[Mapping[str, Any]]) -> list[Flag]:
    """A doubt when energies or stresses that are compared come of different meshes."""
    meshes = {str(mesh) for mesh in map(mesh_of, points) if mesh is not None}
    if len(meshes) < 2:
        return []
    return [
        Flag(
            "meshes_differ",
            "the calculations have different meshes of k points, "
            f"{' and '.join(sorted(meshes))}: the steps between them are in the result; give one",
        )
    ]


def same_cell(found: Structure, wanted: Structure, what: str) -> None:
    """Make sure that a calculation was made in the cell that it was meant for.

    Parameters
    ----------
    what
        Which calculation, for the message.

    Raises
    ------
    BadResult
    """
    if found.symbols != wanted.symbols:
        raise BadResult(f"{what} has other atoms than those it was given, or another order")
    off = float(np.abs(found.cell - wanted.cell).max())
    if off > _SAME_ANGSTROM:
        raise BadResult(f"{what} was made in another cell: a vector differs by {off:.2g} Å")


def same_structure(found: Structure, wanted: Structure, what: str) -> None:
    """Make sure that a calculation was made of the structure that it was meant for.

    Raises
    ------
    BadResult
    """
    same_cell(found, wanted, what)
    fractions = np.linalg.solve(wanted.cell.T, (found.positions - wanted.positions).T).T
    apart = (fractions - np.rint(fractions)) @ wanted.cell
    off = float(np.linalg.norm(apart, axis=1).max(initial=0.0))
    if off > _SAME_ANGSTROM:
        raise BadResult(f"{what} was made with an atom {off:.2g} Å from where it should be")


def symmetry_of(structure: Structure) -> Symmetry | None:
    """The space group with the usual tolerance; None where there is none to find."""
    try:
        return find_symmetry(structure)
    except InputRejected:
        return None


def lattice_quantities(structure: Structure, symmetry: Symmetry | None) -> list[Quantity]:
    """Lengths and angles: of the conventional cell where the symmetry is known.

    Lengths that the crystal system makes equal are told once.
    """
    lattice = structure.cell if symmetry is None else symmetry.lattice
    a, b, c, alpha, beta, gamma = cell_parameters(lattice)
    cell = "cell" if symmetry is None else "conventional cell"
    lengths = {"a": a, "b": b, "c": c}
    if symmetry is not None and abs(b - a) < 1e-9 * a:
        del lengths["b"]
        if abs(c - a) < 1e-9 * a:
            del lengths["c"]
    found = [
        Quantity(f"{name}_relaxed", f"{name} of the relaxed {cell}", value, "Å")
        for name, value in lengths.items()
    ]
    return found + [
        Quantity(f"{name}_relaxed", f"{sign} of the relaxed {cell}", value, "°")
        for name, sign, value in (
            ("alpha", "α", alpha),
            ("beta", "β", beta),
            ("gamma", "γ", gamma),  # noqa: RUF001 - the sign of the angle
        )
        if abs(value - 90) > 1e-6
    ]


def changed_group(before: Symmetry | None, after: Symmetry | None) -> list[Flag]:
    """A doubt when a relaxation has changed the space group."""
    if before is None or after is None or before.number == after.number:
        return []
    return [
        Flag(
            "symmetry_changed",
            f"the relaxation changed the space group from {before.symbol} ({before.number}) to "
            f"{after.symbol} ({after.number})",
        )
    ]


def changed_basis(output: Mapping[str, Any]) -> bool:
    """Whether a relaxation ended with another basis set than it was made with.

    Plane waves are chosen for the first cell; what a code computes last, with those of the last
    cell, has a stress that no further step of the relaxation would have removed.
    """
    return isinstance(output.get("final_scf"), dict)


def basis_doubt(output: Mapping[str, Any] | None, cell: str | None = None) -> list[Flag]:
    """A doubt when that stress is large.

    Parameters
    ----------
    cell
        What the cell was free to do, see ``contract.relaxation``; None: everything. Stress along
        what was held is no doubt.
    """
    if output is None or not changed_basis(output):
        return []
    left = _stress_along(output, cell)
    if left is None or left <= STRESS_GPA:
        return []
    return [
        Flag(
            "basis_of_first_cell",
            f"the cell was relaxed with the plane waves of the first cell; with its own it has a "
            f"stress of {left:.2g} GPa: relax again from it, or raise the cutoff",
        )
    ]


def _stress_along(output: Mapping[str, Any], cell: str | None) -> float | None:
    """Largest stress in GPa that a further change of the cell could remove."""
    stress = output.get("stress_ev_per_a3")
    if cell not in ("constant_volume", "isotropic") or stress is None:
        return output.get("smax_gpa")
    given = np.array(stress, dtype=float) * EV_PER_ANGSTROM3_GPA
    pressure = np.trace(given) / 3
    return float(
        abs(pressure) if cell == "isotropic" else np.abs(given - pressure * np.eye(3)).max()
    )


def gradient_doubt(outputs: Sequence[Mapping[str, Any]]) -> list[Flag]:
    """A doubt when an optimisation of CRYSTAL ended with more gradient than its own limit.

    It also ends where the energy does not change any more.
    """
    for output in outputs:
        left = (output.get("optimisation") or {}).get("last_gradients") or {}
        largest, limit = left.get("max"), left.get("max_threshold")
        if largest is not None and limit is not None and largest > limit:
            return [
                Flag(
                    "gradient_left",
                    f"an optimisation ended with a gradient of {largest:g}, and {limit:g} was "
                    "asked for: the energy changed too little to go on",
                )
            ]
    return []


def engine_provenance(output: Mapping[str, Any]) -> dict[str, str]:
    """What a step says of the program that computed it and of what it was given, flat."""
    known = _flat("engine_", output.get("engine")) | _flat("", output.get("settings"))
    for one in output.get("pseudopotentials") or ():
        md5 = one.get("md5_printed") or one.get("md5_file")
        known[f"pseudopotential_{one['element']}"] = f"{one['file']}, MD5 {md5 or 'not known'}"
    for one in output.get("potentials") or ():
        known[f"potential_{one['label']}"] = f"{one['title']}, SHA-256 {one['sha256']}"
    return known


def _flat(prefix: str, values: Any) -> dict[str, str]:
    if not isinstance(values, dict):
        return {}
    return {
        f"{prefix}{key}": str(value)
        for key, value in values.items()
        if isinstance(value, str | int | float) and value != ""
    }
