"""One evaluation of the engine, checked and measured. Used by the program of a job only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import ase.units
import numpy as np
import numpy.typing as npt

from crystalmath.errors import BadResult, InputRejected

Floats = npt.NDArray[np.float64]
Strain = Literal["full", "isotropic", "constant_volume"]
"""What a cell that moves may do: anything, change its volume only, change its shape only."""

GPA_PER_EV_A3: float = 1.0 / ase.units.GPa
VACUUM_A = 8.0
"""An empty interval this long (Å) makes a layer, a rod or a molecule of a cell."""


@dataclass(frozen=True, slots=True)
class Point:
    """Energy and its derivatives for one geometry.

    Attributes
    ----------
    forces
        eV/Å, shape (n_atoms, 3).
    stress
        eV/Å³, 3 by 3, positive when the crystal is under tension (the sign of ase); None unless
        it is periodic in three directions.
    fmax_ev_per_a
        Length of the longest force.
    smax_gpa
        Largest component of the stress; of the mean stress alone when only the volume may change,
        of the rest when the volume may not. Never negative, None where there is no stress.
    """

    energy_ev: float
    forces: Floats
    stress: Floats | None
    fmax_ev_per_a: float
    smax_gpa: float | None

    @property
    def pressure_gpa(self) -> float | None:
        """Minus a third of the trace of the stress."""
        return None if self.stress is None else -float(np.trace(self.stress)) / 3 * GPA_PER_EV_A3


def evaluate(atoms: Any, *, strain: Strain = "full", stress: bool = True) -> Point:
    """Evaluate the calculator of ``atoms``.

    Parameters
    ----------
    stress
        Ask for the stress of a crystal.
    strain
        What the cell may do, and so which part of the stress has to vanish.

    Raises
    ------
    BadResult
        The engine gave a number that is not finite.
    """
    tensor = None
    if stress and atoms.pbc.all():  # first: whoever gives the stress gives the rest with it
        tensor = np.array(atoms.get_stress(voigt=False), dtype=float)
    energy = float(atoms.get_potential_energy())
    forces = np.array(atoms.get_forces(), dtype=float)
    for name, values in (("energy", energy), ("force", forces), ("stress", tensor)):
        if values is not None and not np.isfinite(values).all():
            raise BadResult(
                f"the engine gave a {name} that is no number",
                hint="look at the last geometry: atoms may have come too close",
            )
    return Point(
        energy_ev=energy,
        forces=forces,
        stress=tensor,
        fmax_ev_per_a=float(np.linalg.norm(forces, axis=1).max()),
        smax_gpa=None if tensor is None else _size(tensor, strain),
    )


def _size(stress: Floats, strain: Strain) -> float:
    pressure = float(np.trace(stress)) / 3
    if strain == "isotropic":
        return abs(pressure) * GPA_PER_EV_A3
    felt = stress - pressure * np.eye(3) if strain == "constant_volume" else stress
    return float(np.abs(felt).max()) * GPA_PER_EV_A3


def step_numbers(atoms: Any, point: Point, step: int) -> dict[str, Any]:
    """Return one line of ``steps.jsonl``."""
    periodic = bool(atoms.pbc.all())
    return {
        "step": step,
        "energy_ev": point.energy_ev,
        "fmax_ev_per_a": point.fmax_ev_per_a,
        "smax_gpa": point.smax_gpa,
        "volume_angstrom3": float(atoms.get_volume()) if periodic else None,
        "a_angstrom": float(atoms.cell.lengths()[0]) if periodic else None,
    }


def geometry_warnings(atoms: Any, *, cell_moves: bool) -> list[str]:
    """Name what makes a result doubtful: vacuum in a cell that moves, atoms that touch nothing."""
    warnings: list[str] = []
    if cell_moves:
        fractions = np.sort(atoms.get_scaled_positions(wrap=True), axis=0)
        gaps = np.diff(fractions, axis=0, append=fractions[:1] + 1).max(axis=0)
        # Distance of the lattice planes, not the length of the axis.
        spacing = 1 / np.linalg.norm(atoms.cell.reciprocal(), axis=1)
        for axis, empty in zip("abc", gaps * spacing, strict=True):
            if empty >= VACUUM_A:
                warnings.append(
                    f"the cell is empty for {empty:.1f} Å along {axis}; "
                    "if that is vacuum, give cell: fixed"
                )
    lonely = _lonely(atoms)
    if lonely and (len(atoms) > 1 or atoms.pbc.any()):
        warnings.append(
            f"{len(lonely)} of {len(atoms)} atoms touch no other (the first is "
            f"{atoms.symbols[lonely[0]]} {lonely[0] + 1}): small forces say nothing there"
        )
    return warnings


def refuse_gas(atoms: Any) -> None:
    """Refuse to relax the cell of a crystal in which no atom touches another.

    Forces and stress vanish there, so it would pass for converged where it stands.

    Raises
    ------
    InputRejected
        No atom has a neighbour.
    """
    if len(_lonely(atoms)) == len(atoms):
        raise InputRejected(
            "no atom touches another, so there is nothing that could relax the cell",
            hint="are the lengths of the cell in Å?",
            field="structure",
        )


def _lonely(atoms: Any) -> list[int]:
    """Indices of atoms without a neighbour within twice the sum of the covalent radii."""
    from ase.data import covalent_radii
    from ase.neighborlist import neighbor_list

    index = neighbor_list("i", atoms, (2 * covalent_radii[atoms.numbers]).tolist())
    return [int(alone) for alone in np.setdiff1d(np.arange(len(atoms)), index)]
