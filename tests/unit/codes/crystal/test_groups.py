"""The numbers of layer groups are those that spglib gives to layers made with their operators."""

from __future__ import annotations

import numpy as np
import pytest
import spglib

from crystalmath.codes.crystal.tables.groups import LAYER_HALL


def _lattice(group: int) -> list[list[float]]:
    if group >= 65:
        return [[5.0, 0.0, 0.0], [-2.5, 5.0 * 0.75**0.5, 0.0], [0.0, 0.0, 20.0]]
    a, b, skew = 5.0, 5.0 if group >= 49 else 6.3, 0.9 if group <= 7 else 0.0
    return [[a, 0.0, 0.0], [skew, b, 0.0], [0.0, 0.0, 20.0]]


@pytest.mark.parametrize("group", range(1, 81))
def test_a_layer_with_these_operators_has_this_group(group: int) -> None:
    operators = spglib.get_symmetry_from_database(-LAYER_HALL[group - 1])
    assert operators is not None
    places, kinds = [], []
    for kind, place in enumerate(([0.13, 0.21, 0.04], [0.37, 0.08, 0.07], [0.29, 0.44, 0.01])):
        images = operators["rotations"] @ place + operators["translations"]
        images[:, :2] %= 1.0  # z is not periodic
        places.extend(images)
        kinds.extend([kind] * len(images))
    found = spglib.get_symmetry_layerdataset(
        (_lattice(group), np.array(places), kinds), aperiodic_dir=2, symprec=1e-4
    )
    assert found is not None
    assert found.number == group
