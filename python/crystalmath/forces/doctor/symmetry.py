"""What must not change when a structure is moved, turned, renumbered or repeated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from crystalmath.forces.connection import Floats
from crystalmath.forces.doctor.finding import Finding, measured
from crystalmath.forces.doctor.subject import Subject


class _Numbers:
    """Energy, forces and stress of a structure, as far as the engine gives them."""

    def __init__(self, subject: Subject, atoms: Any) -> None:
        names = subject.gives("energy", "forces")
        stress = subject.gives("stress") if atoms.pbc.any() and atoms.cell.rank == 3 else []
        found = subject.compute(atoms, *names, *stress)
        self.atoms = len(atoms)
        self.energy: float = found["energy"]
        self.forces: Floats | None = found.get("forces")
        self.stress: Floats | None = found.get("stress")

    def off(
        self, other: _Numbers, *, turn: Floats | None = None, order: Any = None
    ) -> dict[str, float]:
        """How far another structure is from what this one becomes, turned or in another order.

        Energies are per atom, forces relative to the largest where that is above 1 eV/Å.
        """
        turn = np.eye(3) if turn is None else turn
        found = {"energy": abs(other.energy - self.energy) / self.atoms}
        if self.forces is not None and other.forces is not None:
            forces = self.forces @ turn.T
            forces = forces if order is None else forces[order]
            largest = max(1.0, float(np.abs(forces).max()))
            found["forces"] = float(np.abs(other.forces - forces).max()) / largest
        if self.stress is not None and other.stress is not None:
            stress = turn @ self.stress @ turn.T
            found["stress"] = float(np.abs(other.stress - stress).max())
        return found


def check_symmetry(subject: Subject, name: str, atoms: Any) -> Iterator[Finding]:
    """Compare a structure with others that are the same."""
    given = _Numbers(subject, atoms)
    if given.forces is not None:
        total = float(np.abs(given.forces.sum(axis=0)).max())
        yield measured(
            "forces sum", total, len(atoms) * subject.bounds.forces, "eV/Å",
            "the forces on all atoms together", name,
        )  # fmt: skip
    shift = atoms.copy()
    shift.positions += np.array([0.37, -0.21, 0.53])
    yield _told(subject, "translation", name, given.off(_Numbers(subject, shift)))
    turn = _rotation()
    turned = _Numbers(subject, _turned(atoms, turn))
    yield _told(subject, "rotation", name, given.off(turned, turn=turn))
    order = np.random.default_rng(2).permutation(len(atoms))
    renumbered = _Numbers(subject, atoms[order])
    yield _told(subject, "permutation", name, given.off(renumbered, order=order))
    if atoms.pbc.any():
        yield _told(subject, "wrap", name, given.off(_Numbers(subject, _wrapped(atoms))))
        yield _extensive(subject, name, atoms, given)


def _told(subject: Subject, check: str, name: str, off: dict[str, float]) -> Finding:
    """Tell of energy, forces and stress the one that comes nearest to its tolerance."""
    bounds = subject.bounds
    allowed = {
        "energy": (bounds.energy, "eV/atom"),
        "forces": (bounds.forces, "eV/Å"),
        "stress": (bounds.stress, "eV/Å³"),
    }

    def share(what: str) -> float:
        found = off[what] / allowed[what][0]
        return found if math.isfinite(found) else math.inf

    what = max(off, key=share)
    tolerance, unit = allowed[what]
    return measured(check, off[what], tolerance, unit, f"difference of the {what}", name)


def _rotation() -> Floats:
    """A proper rotation by no special angle."""
    rows, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    found: Floats = rows * np.sign(np.linalg.det(rows))
    return found


def _turned(atoms: Any, turn: Floats) -> Any:
    found = atoms.copy()
    found.set_cell(atoms.cell.array @ turn.T)
    found.positions = atoms.positions @ turn.T
    return found


def _wrapped(atoms: Any) -> Any:
    """Some atoms in other cells, which is the same crystal."""
    found = atoms.copy()
    cells = np.random.default_rng(4).integers(-2, 3, size=(len(atoms), 3)) * atoms.pbc
    found.positions += cells @ atoms.cell.array
    return found


def _extensive(subject: Subject, name: str, atoms: Any, given: _Numbers) -> Finding:
    """Two cells have twice the energy of one."""
    axis = int(np.argmax(atoms.pbc))
    repeat = [1, 1, 1]
    repeat[axis] = 2
    energy = subject.compute(atoms.repeat(repeat), "energy")["energy"]
    return measured(
        "supercell", abs(energy / 2 - given.energy) / given.atoms, subject.bounds.energy, "eV/atom",
        "energy of two cells against twice that of one", name,
    )  # fmt: skip
