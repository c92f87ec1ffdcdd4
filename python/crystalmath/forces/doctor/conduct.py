"""How an engine behaves: the same again, several at once, what it gives, what it refuses, times."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from crystalmath.errors import CrystalMathError, InputRejected
from crystalmath.forces.doctor.finding import Finding, failed, measured, passed
from crystalmath.forces.doctor.subject import Subject
from crystalmath.forces.worker import wire


def check_conduct(subject: Subject, name: str, atoms: Any) -> Iterator[Finding]:
    """Look at one structure that the engine computes."""
    yield _declared(subject, name, atoms)
    yield _undeclared(subject, atoms)
    yield _repeated(subject, name, atoms)
    yield _refuses_nan(subject, atoms)


def _declared(subject: Subject, name: str, atoms: Any) -> Finding:
    """Every property alone: some engines raise for a property that they claim."""
    missing = []
    for one in subject.properties:
        if one in ("stress", "stresses") and not (atoms.pbc.any() and atoms.cell.rank == 3):
            continue
        try:
            subject.compute(atoms, one)
        except CrystalMathError as error:
            if not subject.lean.connected:
                raise
            missing.append(f"{one}: {error.message}")
    detail = "; ".join(missing) or f"it gives {', '.join(subject.properties)}"
    return measured("properties", float(len(missing)), 0.0, "", detail, name)


def _undeclared(subject: Subject, atoms: Any) -> Finding:
    """A property that it does not give is refused, and never zero."""
    others = [n for n in wire.PROPERTIES if n not in subject.properties]
    given = []
    for one in others:
        try:
            subject.compute(atoms, one)
        except InputRejected:
            continue
        given.append(one)
    detail = "; ".join(given) or f"it refuses {', '.join(others) or 'nothing'}"
    return measured("undeclared", float(len(given)), 0.0, "", detail)


def _repeated(subject: Subject, name: str, atoms: Any) -> Finding:
    """The same question has the same answer, whatever was asked in between."""
    names = subject.gives("energy", "forces")
    first = subject.compute(atoms, *names)
    away = atoms.copy()
    away.positions[0, 0] += 0.05
    subject.compute(away, *names)
    again = subject.compute(atoms, *names)
    off = max(float(np.abs(np.asarray(again[n]) - first[n]).max()) for n in names)
    # Threads that add up in another order differ in the last bits; anything more is a memory.
    largest = max(float(np.abs(first[n]).max()) for n in names)
    rounding = 8 * subject.bounds.epsilon * max(1.0, largest)
    allowed = rounding if subject.device == "cpu" else subject.bounds.forces
    how = "equal to the last bit" if off == 0.0 else "not equal to the last bit"
    detail = f"{how}: the same structure again, after another one"
    return measured("repeat", off, allowed, "eV, eV/Å", detail, name)


def _refuses_nan(subject: Subject, atoms: Any) -> Finding:
    wrong = atoms.copy()
    wrong.positions[-1, 1] = np.nan
    try:
        subject.compute(wrong, "energy")
    except InputRejected as error:
        return passed("nan input", error.message)
    return failed("nan input", "a position that is no number was accepted")


def check_together(subject: Subject, many: Sequence[tuple[str, Any]]) -> Finding:
    """Several structures at once give what each gives alone."""
    names = subject.gives("energy", "forces")
    together = subject.lean.evaluate([atoms for _, atoms in many], names)
    worst, where = 0.0, many[0][0]
    for (name, atoms), found in zip(many, together, strict=True):
        alone = subject.compute(atoms, *names)
        for one in names:
            scale = max(1.0, float(np.abs(alone[one]).max()))
            off = float(np.abs(np.asarray(found[one]) - alone[one]).max()) / scale
            if not off <= worst:
                worst, where = off, name
    return measured(
        "batch", worst, subject.bounds.together, "",
        f"{len(many)} structures at once against each alone, relative", where,
    )  # fmt: skip


def check_precision(subject: Subject, energies: Sequence[float]) -> Iterator[Finding]:
    """It computes in the precision that it names: as asked for, and seen in its numbers."""
    (identity,) = subject.lean.identity
    same = identity["dtype"] == subject.dtype
    detail = f"{subject.dtype} on {subject.device}"
    yield (
        passed("dtype", detail)
        if same
        else failed("dtype", f"{identity['dtype']} was asked for, it computes in {subject.dtype}")
    )
    if subject.dtype == "float64" and len(energies) > 1:
        short = sum(float(np.float32(energy)) == energy for energy in energies)
        yield measured(
            "precision", float(short), len(energies) / 2, "energies",
            "energies that single precision holds without loss: chance, unless they are many",
        )  # fmt: skip


def timed(subject: Subject, name: str, atoms: Any) -> Iterator[Finding]:
    """Seconds of a call that is not the first of its shape."""
    names = subject.gives("energy", "forces")
    subject.compute(atoms, *names)
    moved = atoms.copy()
    moved.positions[0, 0] += 1e-3
    began = time.perf_counter()
    subject.compute(moved, *names)
    seconds = time.perf_counter() - began
    yield passed("time", f"energy and forces of {len(atoms)} atoms", name, value=seconds, unit="s")
