"""What is said of inputs that a code does not take."""

from __future__ import annotations

import pytest

from crystalmath.codes.espresso.options import EspressoOptions
from crystalmath.codes.options import parse_options
from crystalmath.errors import InvalidParams

ALL = "`codes.list` says what the code takes"


@pytest.mark.parametrize(
    ("member", "hint"),
    [
        ("ecutwfc", f"was ecutwfc_ry meant? {ALL}"),
        ("kmesh", "was k_mesh"),
        ("degaus_ry", "was degauss_ry"),
        ("moments", f"was moments_mu_b meant? {ALL}"),
        ("flux_capacitor", ALL),
    ],
)
def test_the_nearest_names_are_given_and_what_lists_all(member: str, hint: str) -> None:
    with pytest.raises(InvalidParams, match=f"inputs.{member}: is not known here") as caught:
        parse_options(EspressoOptions, {member: 1})
    said = str(caught.value.hint)
    assert said.startswith(hint)
    assert said.endswith(ALL)
    assert said.count(",") <= 1
    assert len(said) < 120
