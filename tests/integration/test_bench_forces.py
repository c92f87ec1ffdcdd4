"""The rows of the benchmark of force calls: each level gives the right numbers, and is measured."""

from __future__ import annotations

import pytest

from bench.forces import goals, peers
from rig.place import RigError


@pytest.mark.timeout(600)
def test_each_level_is_measured_beside_a_peer() -> None:
    try:
        peers.folder()
    except RigError as error:
        pytest.skip(str(error))
    levels = ("l1", "daemon", "l0", "adapter")
    # fails where a row's energy or forces are not those of the calculator in process
    rows = peers.measure(atoms=(8,), peers=("direct", "ase", "floor"), ours=levels, pin="0,0")
    found = rows["8"]["median_us"]
    assert set(found) == {"direct", "ase", "floor", *(f"ours_{level}" for level in levels)}
    assert found["ours_l1"] < found["ase"]
    known = [g for g in goals.PINNED if "rootstock" not in g.name and "i-PI raw" not in g.name]
    assert all(goal.figure(found) > 0 for goal in known)
