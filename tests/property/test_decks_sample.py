"""A seeded sample of ``scripts/soak decks``: random crystals and layers, and real structures.

Each deck is expanded again, with operators that are not the product's own, and must be the crystal.
"""

from __future__ import annotations

import numpy as np
import pytest

from rig.cases import CASES
from soak import decks
from soak.decks.judge import differences

SEED = 20261128
P213 = 492
"""spglib's number of a setting that has a hand."""


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


def test_another_crystal_is_found_out() -> None:
    rng = np.random.default_rng(SEED)
    given = decks.given_otherwise(decks.random_crystal(P213, rng), rng)
    made = decks.deck_of(given)
    assert made["report"]["group"] == 198
    assert differences(made, given, decks.OF_RANDOM_A) == []
    lines = made["d12"].splitlines()
    sites = [line.split() for line in lines[6 : 6 + int(lines[5])]]
    label, x, y, z = sites[0]
    hand = [[site[0], *(f"{-float(value):.10f}" for value in site[1:])] for site in sites]
    for wrong in (
        [[label, f"{float(x) + 0.001:.10f}", y, z], *sites[1:]],
        [[str(int(label) + 1), x, y, z], *sites[1:]],
        hand,
    ):
        rows = [" ".join(site) for site in wrong]
        text = "\n".join([*lines[:6], *rows, *lines[6 + len(rows) :], ""])
        assert differences({**made, "d12": text}, given, decks.OF_RANDOM_A) != []
