"""``result.json``: the results document, units in the names. Used by the program of a job only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crystalmath.codes.forces.point import Point
    from crystalmath.codes.forces.relax import Outcome
    from crystalmath.codes.forces.task import Task


def build_result(
    *,
    task: Task,
    engine: dict[str, Any],
    atoms: Any,
    point: Point,
    outcome: Outcome | None,
    warnings: list[str],
    elapsed_s: float,
) -> dict[str, Any]:
    """Return the document of a calculation that came to its end.

    Parameters
    ----------
    atoms
        In the last geometry.
    outcome
        Of a relaxation; None for a single point.
    """
    n_atoms = len(atoms)
    document: dict[str, Any] = {
        "format": 1,
        "status": "ok",
        "task": task.name,
        "formula": task.formula,
        "n_atoms": n_atoms,
        "energy_ev": point.energy_ev,
        "energy_per_atom_ev": point.energy_ev / n_atoms,
        "fmax_ev_per_a": point.fmax_ev_per_a,
        "forces_ev_per_a": point.forces.tolist(),
        "engine": engine,
        "warnings": warnings,
        "elapsed_s": round(elapsed_s, 3),
        "structure": {
            "lattice": None if task.lattice is None else atoms.cell.tolist(),
            "pbc": task.pbc,
            "symbols": task.symbols,
            "positions": atoms.positions.tolist(),
        },
    }
    if point.stress is not None:
        document["stress_ev_per_a3"] = point.stress.tolist()
        document["smax_gpa"] = point.smax_gpa
        document["pressure_gpa"] = point.pressure_gpa
    if task.lattice is not None:
        document["lattice"] = lattice_parameters(atoms.cell)
    if all(task.pbc):
        document["volume_angstrom3"] = float(atoms.get_volume())
    if outcome is not None:
        options = task.relax
        document["n_steps"] = outcome.steps
        document["converged"] = outcome.converged
        document["criteria"] = {
            "fmax_ev_per_a": options.fmax_ev_per_a,
            "smax_gpa": None if options.cell == "fixed" else options.smax_gpa,
            "max_steps": options.max_steps,
            "cell": options.cell,
            "optimizer": options.optimizer,
        }
    return document


def lattice_parameters(cell: Any) -> dict[str, float]:
    """Return lengths (Å) and angles (degrees) of a cell."""
    names = ("a_angstrom", "b_angstrom", "c_angstrom", "alpha_deg", "beta_deg", "gamma_deg")
    return {name: float(value) for name, value in zip(names, cell.cellpar(), strict=True)}


def failed_result(reason: str, message: str, hint: str | None) -> dict[str, Any]:
    """Return the document of a calculation that came to nothing."""
    return {"format": 1, "status": "failed", "reason": reason, "message": message, "hint": hint}
