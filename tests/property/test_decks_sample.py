"""A seeded sample of ``scripts/soak decks``: random crystals and layers, and real structures.

Each deck is expanded again, with operators that are not the product's own, and must be the crystal.
"""

from __future__ import annotations

import pytest

from soak import decks
from soak.decks.forms import CASES

SEED = 20261128


def test_random_crystals_of_any_setting_and_layers_expand_to_themselves() -> None:
    outcome = decks.run(48, SEED, print, with_cases=False)
    assert outcome.ok, "\n".join([outcome.facts, *outcome.problems[:10]])


@pytest.mark.skipif(not CASES.is_dir(), reason="no folder of cases (CRYSTALMATH_CASES)")
def test_real_structures_are_the_same_deck_in_any_form() -> None:
    files, made, refused, problems = decks.run_cases(SEED, only=1)
    assert problems == []
    assert files >= 20
    assert made >= 2 * (files - refused)
    assert refused >= 3
