from __future__ import annotations

import numpy as np
import pytest

from crystalmath.analysis.relaxed import Purpose, check_relaxed
from crystalmath.errors import BadResult, NotRelaxed
from support import emt
from support.crystals import FACES, crystal


def test_copper_without_forces_is_not_relaxed() -> None:
    given = crystal([3.4] * 3, ["Cu"] * 4, FACES)
    forces = emt.forces(given)
    assert np.abs(forces).max() < 1e-9
    with pytest.raises(NotRelaxed, match="stress of") as caught:
        check_relaxed(forces, emt.stress(given), "phonon")
    assert "relax atoms and cell first" in (caught.value.hint or "")


def test_relaxed_copper_passes() -> None:
    given = emt.relaxed_fcc("Cu")
    left = check_relaxed(emt.forces(given), emt.stress(given), "elastic")
    assert left.force_ev_per_angstrom < 1e-9
    assert left.stress_gpa is not None
    assert left.stress_gpa < 0.1


@pytest.mark.parametrize(
    ("purpose", "passes", "fails"),
    [
        ("relax", 0.019, 0.021),
        ("eos", 9e-4, 1.1e-3),
        ("phonon", 9e-4, 1.1e-3),
        ("elastic", 9e-5, 1.1e-4),
    ],
)
def test_each_purpose_has_its_limit(purpose: Purpose, passes: float, fails: float) -> None:
    check_relaxed(np.array([[passes, 0, 0]]), None, purpose)
    with pytest.raises(NotRelaxed, match="force of"):
        check_relaxed(np.array([[0, 0, 0], [0, fails, 0]]), None, purpose)


def test_what_is_not_finite_is_no_result() -> None:
    with pytest.raises(BadResult, match="forces"):
        check_relaxed(np.array([[np.nan, 0, 0]]), None, "eos")
    with pytest.raises(BadResult, match="stress"):
        check_relaxed(np.zeros((1, 3)), np.full((3, 3), np.inf), "eos")
