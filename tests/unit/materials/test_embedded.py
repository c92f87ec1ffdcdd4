"""What is shipped: all of it is there, read right, and named as what it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crystalmath.errors import NotFound
from crystalmath.materials import embedded
from support.material_bench import SearchBench, look_at

Bench = Callable[..., SearchBench]


def test_everything_is_there_once() -> None:
    shipped = embedded.shipped()
    assert sum(kept.prototype for kept in shipped.values()) >= 288
    assert sum(key.startswith("delta-") for key in shipped) == 71


def test_a_deck_can_be_written_for_what_is_shipped() -> None:
    """The search does not look at distances of what is shipped; a sample is looked at here."""
    for key in sorted(embedded.shipped())[::12]:
        look_at(key)


def test_silicon_has_its_reference_numbers() -> None:
    silicon = embedded.one("delta-Si")
    known = silicon["properties"]
    assert known["volume_per_atom_angstrom3"] == pytest.approx(20.453)
    assert known["bulk_modulus_gpa"] == pytest.approx(88.545)
    assert known["bulk_modulus_derivative"] == pytest.approx(4.31)
    assert silicon["space_group"]["number"] == 227
    assert silicon["volume_angstrom3"] / silicon["n_atoms"] == pytest.approx(20.453, rel=1e-3)
    assert not silicon["prototype"]


def test_measured_crystals_are_the_crystals() -> None:
    magnesia = embedded.one("periclase-MgO")
    assert (magnesia["formula"], magnesia["space_group"]["number"]) == ("MgO", 225)
    assert magnesia["lattice"]["a_angstrom"] == pytest.approx(4.217)
    assert "doi:10.2183/pjab.55.43" in magnesia["properties"]["reference"]
    fluorite = embedded.one("fluorite-CaF2")
    assert (fluorite["formula"], fluorite["space_group"]["number"]) == ("CaF2", 225)


def test_a_prototype_is_named_as_one(bench: Bench) -> None:
    made = bench()
    (salt,), _ = made.search("AB_cF8_225_a_b", providers=["embedded"])
    assert salt.prototype
    assert salt.properties["strukturbericht"] == "B1"
    structure = made.get("embedded", salt.id).structure
    assert structure is not None
    assert "optimise the cell" in structure.warnings[0]


@pytest.mark.parametrize(
    ("asked", "formulas"),
    [
        ({"query": "rutile"}, {"O2Ti"}),
        ({"query": "TiO2"}, {"O2Ti"}),
        ({"prototype": "B1"}, {"ClNa"}),
        ({"prototype": "cF8", "formula": "NaCl"}, {"ClNa"}),
        ({"chemsys": "Mg-O"}, {"MgO"}),
        ({"query": "Co"}, {"Co"}),
        ({"query": "zincblende"}, {"SZn"}),
    ],
)
def test_queries_find(bench: Bench, asked: dict[str, str], formulas: set[str]) -> None:
    rows, _ = bench().search(providers=["embedded"], limit=1000, **asked)
    assert {row.formula for row in rows} == formulas


def test_conditions_hold_for_every_hit(bench: Bench) -> None:
    made = bench()
    rows, meta = made.search(
        elements_all=["O"],
        elements_none=["Ti"],
        n_atoms_max=12,
        providers=["embedded"],
        limit=1000,
    )
    assert rows
    for row in rows:
        assert "O" in row.elements
        assert "Ti" not in row.elements
        assert row.n_atoms <= 12
    few, meta = made.search(elements_all=["O"], providers=["embedded"], limit=3)
    assert len(few) == 3
    assert meta.providers[0].more
    cubic, _ = made.search(spacegroup=221, providers=["embedded"], limit=1000)
    assert {row.space_group.number for row in cubic} == {221}


def test_an_unknown_id_is_told() -> None:
    with pytest.raises(NotFound, match="embedded:nothing"):
        embedded.one("nothing")
