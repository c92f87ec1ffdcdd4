"""Several structures in one call of an engine: out of memory, and a culprit among many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk
from ase.calculators.lj import LennardJones

from crystalmath.errors import ForcesError, OutOfMemory
from crystalmath.forces.lean import LeanCalculator
from support.force_engines import calculator, launch


@contextmanager
def batching(folder: Path, **options: Any) -> Iterator[tuple[LeanCalculator, Path]]:
    log = folder / "attempts"
    made = launch("batching", options={"log": str(log), **options})
    with calculator(folder, made) as lean:
        yield lean, log


def attempts(log: Path) -> list[int]:
    """Atoms of each attempt so far; forgotten then."""
    text = log.read_text(encoding="ascii") if log.exists() else ""
    log.unlink(missing_ok=True)
    return [int(line) for line in text.split()]


def copper(seed: int, n: int = 1) -> Atoms:
    atoms: Atoms = bulk("Cu", cubic=True) * (n, 1, 1)
    atoms.rattle(0.05, seed=seed)
    return atoms


def energy(atoms: Atoms) -> float:
    one = atoms.copy()
    one.calc = LennardJones(sigma=2.3, epsilon=0.4, rc=6.0)
    return float(one.get_potential_energy())


def test_a_batch_is_one_call_and_gives_what_each_gives_alone(tmp_path: Path) -> None:
    many = [copper(seed, 1 + seed % 3) for seed in range(20)]
    with batching(tmp_path) as (lean, log):
        found = lean.evaluate(many)
        assert attempts(log) == [sum(len(atoms) for atoms in many)]
        for atoms, one in zip(many, found, strict=True):
            (alone,) = lean.evaluate([atoms])
            assert one["energy"] == pytest.approx(alone["energy"], rel=1e-8)
            assert one["energy"] == pytest.approx(energy(atoms), rel=1e-12)
            assert np.allclose(one["forces"], alone["forces"], rtol=1e-8, atol=1e-12)


def test_out_of_memory_halves_and_the_limit_is_remembered(tmp_path: Path) -> None:
    many = [copper(seed) for seed in range(16)]  # 64 atoms
    with batching(tmp_path, most_atoms=20) as (lean, log):
        for one, atoms in zip(lean.evaluate(many), many, strict=True):
            assert one["energy"] == pytest.approx(energy(atoms), rel=1e-12)
        first = attempts(log)
        assert first[:3] == [64, 32, 16]
        lean.evaluate(many)
        again = attempts(log)
        assert max(again) <= 20  # nothing that is known to be too much is tried again
        assert len(again) < len(first)


def test_only_the_one_that_does_not_fit_alone_fails(tmp_path: Path) -> None:
    many = [copper(1), copper(2, 10), copper(3)]
    with batching(tmp_path, most_atoms=20) as (lean, _log):
        found = lean.evaluate(many, errors="return")
        assert isinstance(found[1], OutOfMemory)
        assert found[1].field == "structures.1"
        assert found[0]["energy"] == pytest.approx(energy(many[0]), rel=1e-12)
        assert found[2]["energy"] == pytest.approx(energy(many[2]), rel=1e-12)
        with pytest.raises(OutOfMemory, match="not enough memory"):
            lean.get_potential_energy(many[1])
        assert lean.get_potential_energy(many[2]) == pytest.approx(energy(many[2]), rel=1e-12)


def test_one_culprit_of_sixty_four(tmp_path: Path) -> None:
    many = [copper(seed) for seed in range(64)]
    many[37].positions[:, 0] += 60
    with batching(tmp_path) as (lean, log):
        found = lean.evaluate(many, errors="return")
        failed = [i for i, one in enumerate(found) if isinstance(one, ForcesError)]
        assert failed == [37]
        assert found[37].field == "structures.37"
        assert "no edges" in found[37].message
        assert len(attempts(log)) <= 13  # bisected: 2·log2(64) + 1
        for i in (0, 36, 38, 63):
            assert found[i]["energy"] == pytest.approx(energy(many[i]), rel=1e-12)
