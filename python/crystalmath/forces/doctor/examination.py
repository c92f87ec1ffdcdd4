"""The checks in their order. A structure that the engine refuses is skipped, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from crystalmath.errors import CrystalMathError, InputRejected, UnsupportedSpecies
from crystalmath.forces.doctor.conduct import (
    check_conduct,
    check_precision,
    check_together,
    timed,
)
from crystalmath.forces.doctor.differences import check_forces, check_stress
from crystalmath.forces.doctor.finding import Finding, failed, skipped
from crystalmath.forces.doctor.specimens import specimens
from crystalmath.forces.doctor.subject import Subject
from crystalmath.forces.doctor.symmetry import check_symmetry
from crystalmath.forces.lean import LeanCalculator


def examine(lean: LeanCalculator) -> Iterator[Finding]:
    """Check one engine.

    Raises
    ------
    CrystalMathError
        The worker has ended, or its channel is broken: there is nothing left to check.
    """
    subject = Subject(lean)
    computed: list[tuple[str, Any]] = []
    energies: list[float] = []
    for name, atoms in specimens(subject.elements):
        try:
            energies.append(subject.compute(atoms, "energy")["energy"])
        except CrystalMathError as error:
            yield _not_computed(subject, name, error)
            continue
        computed.append((name, atoms))
        yield from _structure(subject, name, atoms)
    if not computed:
        yield failed("numbers", "there is no structure that it computes")
        return
    yield from check_conduct(subject, *computed[0])
    yield check_together(subject, computed)
    yield from check_precision(subject, energies)


def _not_computed(subject: Subject, name: str, error: CrystalMathError) -> Finding:
    if not subject.lean.connected:
        raise error
    if isinstance(error, InputRejected | UnsupportedSpecies):
        return skipped("energy", error.message, name)
    return failed("energy", error.message, name)


def _structure(subject: Subject, name: str, atoms: Any) -> Iterator[Finding]:
    """All that is checked on one structure; what the engine cannot compute is told."""
    parts: dict[str, Callable[[Subject, str, Any], Iterable[Finding]]] = {
        "time": timed,
        "symmetry": check_symmetry,
    }
    if "forces" in subject.properties:
        parts["forces"] = check_forces
    if "stress" in subject.properties and atoms.pbc.any():
        parts["stress"] = check_stress
    for what, part in parts.items():
        try:
            yield from part(subject, name, atoms)
        except CrystalMathError as error:
            if not subject.lean.connected:
                raise
            yield failed(what, error.message, name)
