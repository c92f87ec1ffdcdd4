"""The generator, as the tests of decks use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from crystalmath.codes.crystal.generate.deck import make_deck
from crystalmath.contract.d12 import D12Options
from crystalmath.structures.structure import Structure
from support.crystals import Make


@pytest.fixture
def deck() -> Make:
    """Make a deck of a structure; options as JSON."""

    def make(structure: Structure, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return make_deck(structure, D12Options.model_validate(options or {}))

    return make
