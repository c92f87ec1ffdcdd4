"""What a verdict writes into the row of its job."""

from __future__ import annotations

from typing import Any

import pytest

from crystalmath.services.ports import Verdict
from crystalmath.services.verdicts import changes_of

ROW: dict[str, Any] = {"formula": "MgO", "n_atoms": 8, "progress_fraction": None}


def judged(results: dict[str, Any]) -> dict[str, Any]:
    verdict = Verdict(completed=True, converged=True, energy_ev=-7380.0, results=results)
    return changes_of(verdict, ROW)


def test_an_energy_is_shared_among_the_atoms_that_the_program_had() -> None:
    """A deck for eight atoms of MgO holds the primitive cell, of two."""
    changes = judged({"formula": "MgO", "n_atoms": 2})
    assert changes["energy_per_atom_ev"] == pytest.approx(-3690.0)
    assert changes["n_atoms"] == 2
    assert "formula" not in changes


def test_where_the_output_does_not_say_it_is_the_structure() -> None:
    changes = judged({})
    assert changes["energy_per_atom_ev"] == pytest.approx(-922.5)
    assert "n_atoms" not in changes
