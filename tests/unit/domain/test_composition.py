"""Formulas: what is read, what is refused, and the three ways in which they are written."""

from __future__ import annotations

import pytest

from crystalmath.domain.composition import (
    ELEMENTS,
    FormulaError,
    alphabetical,
    anonymous,
    hill,
    parse_formula,
    reduced,
)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("TiO2", {"Ti": 1, "O": 2}),
        ("O2Ti", {"Ti": 1, "O": 2}),
        ("CO", {"C": 1, "O": 1}),
        ("Co", {"Co": 1}),
        ("Ca(OH)2", {"Ca": 1, "O": 2, "H": 2}),
        ("Al2(SO4)3", {"Al": 2, "S": 3, "O": 12}),
        ("NaClNa", {"Na": 2, "Cl": 1}),
    ],
)
def test_formulas_are_read(text: str, counts: dict[str, int]) -> None:
    assert parse_formula(text) == counts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "needed"),
        ("Xx", "'Xx' is no element"),
        ("XxO", "'Xx' in 'XxO' is no element"),
        ("X", "'X' is no element"),
        ("(Mg,Fe)2SiO4", "no fixed amounts"),
        ("Fe0.95O", "whole numbers"),
        ("Fe0", "amount is 0"),
        ("Fe99999999", "too large"),
        ("(Fe", "not closed"),
        ("Fe)", "not opened"),
        ("()2", "nothing stands"),
        ("mgo", "'m' is not expected"),
        ("Mg O", "' ' is not expected"),
        ("(" * 200 + "Fe" + ")9999999" * 200, "atoms"),
    ],
)
def test_what_is_no_formula_says_why(text: str, why: str) -> None:
    with pytest.raises(FormulaError, match=why):
        parse_formula(text)


def test_a_formula_is_written_in_three_ways() -> None:
    counts = reduced({"Ti": 2, "O": 4})
    assert (hill(counts), alphabetical(counts), anonymous(counts)) == ("O2Ti", "O2Ti", "A2B")
    ethanol = reduced({"O": 1, "C": 2, "H": 6})
    assert (hill(ethanol), alphabetical(ethanol)) == ("C2H6O", "C2H6O")
    water = reduced({"H": 2, "O": 1})
    assert (hill(water), alphabetical(water)) == ("H2O", "H2O")
    assert anonymous(dict.fromkeys(sorted(ELEMENTS)[:27], 1)).endswith("YZAa")
