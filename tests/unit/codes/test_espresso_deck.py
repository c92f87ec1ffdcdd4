"""Reading and changing pw.x decks: namelists as Fortran means them, cards as pw.x does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.codes.espresso.deck import parse_deck
from crystalmath.codes.espresso.elements import element_of_label
from crystalmath.codes.espresso.namelist import Value, parse_namelists, parse_value, render_value

DECK = """Somebody's title line
&CONTROL
  Calculation='relax' , prefix = "it's" ! don't / stop here
  outdir = '/scratch/a=b/c', tstress=.TRUE.
  dt = 2.0D1
/ what follows the slash is not read
&system ibrav = 2, celldm(1) = 10.20, celldm( 2 ) = 1d0,
  nat=2, ntyp = 1
  ecutwfc = 18, ecutwfc = 20.0
  Hubbard_U(1)=4.0
  occupations =
   'smearing'
&end
&electrons
/
ATOMIC_SPECIES
! a comment
Si1 28.086 Si.pz-vbc.UPF

atomic_positions {alat}
Si1 0.00 0.00 0.00 0 0 0
# another
Si1 1/4 0.25 0.25
K_POINTS (automatic)
4 4 4 1 1 1
"""


def test_values_are_what_fortran_reads() -> None:
    deck = parse_deck(DECK)
    found = {
        (name, key): deck.value(name, key)
        for name, namelist in deck.namelists.items()
        for key in namelist.entries
    }
    assert found == {
        ("control", "calculation"): "relax",
        ("control", "prefix"): "it's",
        ("control", "outdir"): "/scratch/a=b/c",
        ("control", "tstress"): True,
        ("control", "dt"): 20.0,
        ("system", "ibrav"): 2,
        ("system", "celldm(1)"): 10.2,
        ("system", "celldm(2)"): 1.0,
        ("system", "nat"): 2,
        ("system", "ntyp"): 1,
        ("system", "ecutwfc"): 20.0,
        ("system", "hubbard_u(1)"): 4.0,
        ("system", "occupations"): "smearing",
    }
    assert all(namelist.closed for namelist in deck.namelists.values())


def test_cards() -> None:
    deck = parse_deck(DECK)
    assert set(deck.cards) == {"ATOMIC_SPECIES", "ATOMIC_POSITIONS", "K_POINTS"}
    assert [(s.label, s.element, s.file) for s in deck.species] == [("Si1", "Si", "Si.pz-vbc.UPF")]
    assert deck.labels == ("Si1", "Si1")
    assert deck.cards["ATOMIC_POSITIONS"].option == "alat"
    assert deck.cards["K_POINTS"].lines == ("4 4 4 1 1 1",)


def test_a_change_touches_nothing_else() -> None:
    deck = parse_deck(DECK)
    changed = deck.with_value("control", "outdir", "./out")
    assert changed.text == DECK.replace("'/scratch/a=b/c'", "'./out'")
    added = deck.with_value("system", "nbnd", 8)
    assert added.value("system", "nbnd") == 8
    assert added.value("system", "celldm(1)") == 10.2
    assert added.without("system", "nbnd").value("system", "nbnd") is None
    assert deck.without("control", "dt").text == DECK.replace("  dt = 2.0D1\n", "")
    assert deck.without("control", "calculation").value("control", "prefix") == "it's"
    assert deck.without("nothing", "dt").text == DECK


def test_a_card_is_replaced_or_added() -> None:
    deck = parse_deck(DECK)
    moved = deck.with_card("ATOMIC_POSITIONS", "crystal", ["Si1 0 0 0", "Si1 .5 .5 .5"])
    assert moved.cards["ATOMIC_POSITIONS"].option == "crystal"
    assert moved.cards["ATOMIC_POSITIONS"].lines == ("Si1 0 0 0", "Si1 .5 .5 .5")
    assert moved.cards["K_POINTS"].lines == deck.cards["K_POINTS"].lines
    added = deck.with_card("CELL_PARAMETERS", "bohr", ["1 0 0", "0 1 0", "0 0 1"])
    assert len(added.cards["CELL_PARAMETERS"].lines) == 3


def test_a_namelist_that_is_not_closed() -> None:
    found = parse_namelists("&control\n prefix = 'a'\n")
    assert not found["control"].closed
    assert parse_deck("").namelists == {}


_VALUES = st.one_of(
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="ascii", exclude_characters="\n\r\0"), max_size=30),
)


@given(_VALUES)
def test_what_is_written_is_read_again(value: Value) -> None:
    assert parse_value(render_value(value)) == value
    deck = parse_deck("&control\n/\n&system\n/\n").with_value("control", "key", value)
    assert deck.value("control", "key") == value
    assert deck.with_value("control", "key", 1).text == "&control\n  key = 1\n/\n&system\n/\n"
    assert deck.without("control", "key").text == "&control\n/\n&system\n/\n"


@pytest.mark.parametrize(
    ("label", "element"),
    [("Si", "Si"), ("Fe1", "Fe"), ("fe_up", "Fe"), ("C1", "C"), ("CO", "Co"), ("O-2", "O"),
     ("Xx", None), ("1H", None), ("Cq", "C")],
)  # fmt: skip
def test_elements_of_labels(label: str, element: str | None) -> None:
    assert element_of_label(label) == element
