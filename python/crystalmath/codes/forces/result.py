"""``result.json``: the results document, units in the names. Used by the program of a job only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crystalmath.codes.forces.md import MdOutcome
    from crystalmath.codes.forces.point import Point
    from crystalmath.codes.forces.relax import Outcome
    from crystalmath.codes.forces.task import Task


def build_result(
    *,
    task: Task,
    engine: dict[str, Any],
    atoms: Any,
    point: Point,
    outcome: Outcome | MdOutcome | None,
    warnings: list[str],
    elapsed_s: float,
) -> dict[str, Any]:
    """Return the document of a calculation that came to its end.

    Parameters
    ----------
    atoms
        In the last geometry.
    outcome
        Of a relaxation or a molecular dynamics; None for a single point.
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
        document["n_steps"] = outcome.steps
    if task.name == "relax":
        document |= _convergence(task, outcome)
    return document


def _convergence(task: Task, outcome: Any) -> dict[str, Any]:
    options = task.relax
    return {
        "converged": outcome.converged,
        "criteria": {
            "fmax_ev_per_a": options.fmax_ev_per_a,
            "smax_gpa": None if options.cell == "fixed" else options.smax_gpa,
            "max_steps": options.max_steps,
            "cell": options.cell,
            "optimizer": options.optimizer,
            "keep_symmetry": options.keep_symmetry,
        },
    }


def dynamics_summary(task: Task, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the frames of a molecular dynamics say together.

    Means are over the second half: the first is taken for finding the equilibrium.
    """
    options = task.md
    half = rows[len(rows) // 2 :]
    summary: dict[str, Any] = {
        "ensemble": options.ensemble,
        "timestep_fs": options.timestep_fs,
        "time_fs": rows[-1]["time_fs"] if rows else 0.0,
        "temperature_mean_k": _mean(half, "temperature_k"),
        "potential_mean_ev": _mean(half, "energy_ev"),
    }
    if options.ensemble == "npt":
        summary["pressure_mean_gpa"] = _mean(half, "pressure_gpa")
        summary["volume_mean_angstrom3"] = _mean(half, "volume_angstrom3")
    if options.ensemble == "nve" and len(rows) > 1:
        totals = [row["total_ev"] for row in rows]
        summary["energy_drift_ev_per_atom"] = (totals[-1] - totals[0]) / len(task.symbols)
        summary["energy_spread_ev_per_atom"] = (max(totals) - min(totals)) / len(task.symbols)
    return summary


def _mean(rows: Sequence[Mapping[str, Any]], key: str) -> float | None:
    values = [row[key] for row in rows if key in row]
    return sum(values) / len(values) if values else None


def lattice_parameters(cell: Any) -> dict[str, float]:
    """Return lengths (Å) and angles (degrees) of a cell."""
    names = ("a_angstrom", "b_angstrom", "c_angstrom", "alpha_deg", "beta_deg", "gamma_deg")
    return {name: float(value) for name, value in zip(names, cell.cellpar(), strict=True)}


def failed_result(reason: str, message: str, hint: str | None) -> dict[str, Any]:
    """Return the document of a calculation that came to nothing."""
    return {"format": 1, "status": "failed", "reason": reason, "message": message, "hint": hint}
