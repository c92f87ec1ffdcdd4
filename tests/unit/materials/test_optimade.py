"""Databases on the network: filters, pages, entries that no deck can be written for, faults."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from crystalmath.domain.material_query import Query
from crystalmath.errors import InvalidParams, NotFound
from crystalmath.materials.optimade import filter_of
from support.material_bench import SearchBench
from support.optimade_server import OptimadeServer

Bench = Callable[..., SearchBench]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (Query(formula="O2Ti"), 'chemical_formula_reduced="O2Ti"'),
        (
            Query(elements_exactly=frozenset({"Ti", "O"})),
            'elements HAS ALL "O","Ti" AND nelements=2',
        ),
        (
            Query(
                elements_all=frozenset({"O"}),
                elements_none=frozenset({"Fe", "Al"}),
                n_atoms_max=9,
                space_group=225,
            ),
            'elements HAS ALL "O" AND NOT (elements HAS ANY "Al","Fe") AND nsites<=9',
        ),
        (Query(elements_any=frozenset({"O", "F"})), 'elements HAS ANY "F","O"'),
    ],
)
def test_filters_are_those_of_the_specification(query: Query, text: str) -> None:
    assert filter_of(query) == text


def test_a_formula_of_carbon_is_in_the_order_of_the_alphabet() -> None:
    """Hill order and the alphabet differ: calcium carbonate is CCaO3 in both, methane is not."""
    assert filter_of(Query(formula="CBr4")) == 'chemical_formula_reduced="Br4C"'


def test_a_structure_is_found_with_its_foreign_properties(
    bench: Bench, database: OptimadeServer
) -> None:
    made = bench(optimade={"good": database.url("good")})
    rows, meta = made.search("MgO", providers=["good"])
    magnesia = next(row for row in rows if row.id == "1000053")
    assert magnesia.material == "good:1000053"
    assert magnesia.space_group.number == 225
    assert magnesia.properties == {"_test_band_gap_ev": 4.4, "_test_remark": "rocksalt"}
    assert magnesia.lattice.alpha_degrees == pytest.approx(60)
    assert magnesia.volume_angstrom3 == pytest.approx(4.212**3 / 4)
    assert meta.providers[0].status == "ok"


def test_what_no_deck_can_be_written_for_says_why(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"good": database.url("good")})
    rows, _ = made.search(elements_any=["Mg", "Fe"], providers=["good"])
    reasons = {row.id: row.reason for row in rows if not row.generatable}
    assert reasons["disordered"] == "a site is shared: Fe 0.64 / Ni 0.36"
    assert reasons["vacant"] == "a site is partly empty: O 0.9 / vacancy 0.1"
    assert reasons["unknown"] == "a site is of an unknown kind: X 1"
    assert "0.100 Å apart" in reasons["tight"]
    assert made.get("good", "disordered").structure is None
    with pytest.raises(InvalidParams, match="a site is shared") as caught:
        made.service.document("good:disordered")
    assert caught.value.field == "structure.material"


def test_a_shared_site_is_found_by_the_formula_that_its_database_gives(
    bench: Bench, database: OptimadeServer
) -> None:
    made = bench(optimade={"good": database.url("good")})
    rows, _ = made.search("Fe16Ni9", providers=["good"])
    assert [(row.id, row.formula) for row in rows] == [("disordered", "Fe0.64Ni0.36")]


def test_a_layer_stays_a_layer(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"good": database.url("good")})
    found = made.get("good", "layer")
    assert found.structure is not None
    assert found.structure.periodic == [True, True, False]
    assert found.material.space_group is None
    lattice = found.structure.lattice_angstrom
    assert lattice is not None
    assert lattice[2][:2] == pytest.approx([0, 0], abs=1e-9)


def test_pages_are_followed_up_to_the_limit(bench: Bench, database: OptimadeServer) -> None:
    for behaviour in ("good", "objects", "picky"):
        made = bench(optimade={"base": database.url(behaviour)})
        rows, meta = made.search("CaO", providers=["base"])
        assert len(rows) == 7, behaviour
        assert not meta.providers[0].more
        rows, meta = made.search("CaO", providers=["base"], limit=5)
        assert len(rows) == 5, behaviour
        assert meta.providers[0].more


@pytest.mark.parametrize(
    ("behaviour", "status", "says"),
    [
        ("error500", "http_error", "HTTP status 500: as the test wants it"),
        ("error400", "http_error", "HTTP status 400"),
        ("error501", "not_supported", "does not support this query"),
        ("broken", "bad_json", "no JSON object"),
        ("html", "bad_json", "no JSON object"),
        ("list", "bad_json", "no JSON object"),
        ("stray", "bad_json", "next page at another host"),
    ],
)
def test_faults_have_their_status(
    bench: Bench, database: OptimadeServer, behaviour: str, status: str, says: str
) -> None:
    made = bench(optimade={"base": database.url(behaviour)})
    rows, meta = made.search("CaO", providers=["base"])
    (answer,) = meta.providers
    assert rows == []
    assert answer.status == status
    assert says in answer.error
    assert meta.notices == ["nothing was found, but base did not answer"]


def test_nobody_there_is_unreachable(bench: Bench) -> None:
    made = bench(optimade={"base": "http://127.0.0.1:9"})
    _, meta = made.search("CaO", providers=["base"])
    assert meta.providers[0].status == "unreachable"
    assert meta.providers[0].error == "127.0.0.1 cannot be reached: connection refused"


def test_endless_pages_end(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"base": database.url("endless")})
    rows, meta = made.search("MgO", providers=["base"])
    assert {row.id for row in rows} == {"1000053", "vacant", "tight"}
    assert meta.providers[0].more


def test_what_was_not_asked_for_is_left_out_and_told(
    bench: Bench, database: OptimadeServer
) -> None:
    made = bench(optimade={"base": database.url("lying")})
    rows, meta = made.search("MgO", providers=["base"], n_atoms_max=2, limit=100)
    assert {row.formula for row in rows if row.generatable} == {"MgO"}
    assert any("did not fit the query" in notice for notice in meta.notices)


def test_foreign_and_malformed_entries_do_no_harm(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"base": database.url("foreign")})
    rows, _ = made.search("TiO2", providers=["base"])
    assert rows[0].properties == {"_other_gap": 1.5}
    made = bench(optimade={"base": database.url("malformed")})
    rows, meta = made.search("TiO2", providers=["base"])
    assert len(rows) == 1
    assert meta.notices == ["3 answers of base could not be read"]


def test_the_slow_hold_up_nobody_longer_than_asked(bench: Bench, database: OptimadeServer) -> None:
    """The quick one answers, the slow one is told as such; 60 s of delay are 30 s here."""
    made = bench(optimade={"slow": database.url("slow"), "good": database.url("good")})
    began = time.monotonic()
    rows, meta = made.search("TiO2", providers=["optimade"], timeout_s=3.0)
    assert time.monotonic() - began < 25
    assert [row.material for row in rows] == ["good:2000001"]
    assert {one.name: one.status for one in meta.providers} == {"slow": "timeout", "good": "ok"}


def test_names_cannot_be_asked_for(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"good": database.url("good")})
    asked = database.asked_of("good")
    assert made.status("rutile", providers=["good"]) == {"good": "not_supported"}
    assert made.status(spacegroup=225, providers=["good"]) == {"good": "not_supported"}
    assert database.asked_of("good") == asked


def test_an_id_that_is_not_there(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"good": database.url("good")})
    with pytest.raises(NotFound, match="no structure nothing"):
        made.get("good", "nothing")
    rows, meta = made.search("good:nothing")
    assert rows == []
    assert "no structure nothing" in meta.notices[0]
