"""What a structure will need: learnt from measurements, and refused before it is tried."""

from __future__ import annotations

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from ase.neighborlist import neighbor_list

from crystalmath.forces.worker.memory import REACH_A, Memory, edges_of
from crystalmath.forces.worker.structures import Structure

MIB = 1024 * 1024


def structure(atoms: Atoms) -> Structure:
    return Structure(
        atoms.numbers.astype(np.int32), atoms.positions, atoms.cell.array, atoms.pbc, {}
    )


def slab() -> Atoms:
    atoms = fcc111("Cu", (4, 4, 6), vacuum=30.0)
    atoms.pbc = True
    return atoms


@pytest.mark.parametrize(
    "atoms",
    [
        bulk("Cu"),
        bulk("Si", cubic=True) * (4, 4, 4),
        bulk("NaCl", "rocksalt", a=5.64) * (6, 6, 6),
        slab(),
        molecule("C60"),
    ],
    ids=["primitive", "diamond", "salt", "slab", "molecule"],
)
def test_edges_are_about_the_pairs_of_neighbours(atoms: Atoms) -> None:
    """Within a factor of two: the slope is learnt with the same measure as it is used with."""
    pairs = len(neighbor_list("i", atoms, REACH_A))
    assert 0.5 < edges_of(structure(atoms)) / pairs < 2.0


def test_vacuum_adds_no_edges() -> None:
    thin, thick = slab(), slab()
    thick.cell[2, 2] += 200.0
    assert edges_of(structure(thick)) == pytest.approx(edges_of(structure(thin)), rel=0.3)


def cells(n: int) -> Structure:
    return structure(bulk("Cu", cubic=True) * (n, n, n))


def measured(limit_mib: int, *sizes: int, per_edge: float = 1000.0) -> Memory:
    """A memory that has seen cubes of some sizes; 100 MiB without any structure."""
    points = [(edges_of(cells(n)), 100 * MIB + per_edge * edges_of(cells(n))) for n in sizes]
    return Memory(limit_mib * MIB, "cpu", points)


def test_a_line_is_learnt() -> None:
    line = measured(1000, 2, 4, 6).line()
    assert line is not None
    assert line[0] == pytest.approx(100 * MIB, rel=1e-6)
    assert line[1] == pytest.approx(1000.0, rel=1e-6)


def test_what_cannot_fit_is_refused_with_the_estimate() -> None:
    memory = measured(200, 2, 4)
    assert memory.objection(cells(4)) is None
    fault = memory.objection(cells(12))
    assert fault is not None
    assert fault.kind == "out_of_memory"
    needed = 100 * MIB + 1000 * edges_of(cells(12))
    assert fault.details["needed_bytes"] == pytest.approx(needed, rel=1e-6)
    assert "6912 atoms would need about" in str(fault)
    assert measured(100_000, 2, 4).objection(cells(12)) is None


def test_without_measurements_that_are_apart_nothing_is_refused() -> None:
    assert Memory(1, "cpu").objection(cells(8)) is None
    assert measured(1, 4).objection(cells(8)) is None
    near = Memory(MIB, "cpu", [(1000.0, 5e8), (2100.0, 6e8)])
    assert near.objection(cells(8)) is None


def test_what_has_worked_is_never_refused() -> None:
    """A limit below what was already used, as when others have left less of it."""
    memory = measured(1, 2, 4)
    assert memory.objection(cells(4)) is None
    assert memory.objection(cells(5)) is not None


def test_a_peak_that_does_not_grow_gives_no_slope() -> None:
    flat = Memory(MIB, "cpu", [(100.0, 5e8), (10_000.0, 4e8)])
    line = flat.line()
    assert line is not None
    assert line[1] == 0.0


def test_peaks_of_this_process_are_measured() -> None:
    memory = Memory(None, "cpu")
    for n, size in ((1, 1), (3, 200)):
        memory.begin()
        held = np.ones(size * MIB // 8)
        memory.end([cells(n)], together=False)
        del held
    (_, small), (_, large) = sorted(memory.points())
    assert 150 * MIB < large - small < 300 * MIB
    assert memory.most_atoms == 108
