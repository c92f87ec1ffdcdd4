"""The search box: what texts mean, and which compositions fit a query."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from crystalmath.domain.material_query import (
    Query,
    QueryError,
    classify,
    query_of,
    read_elements,
    read_system,
)

_ROOT = Path(__file__).parents[3]
_CASES = Path(os.environ.get("CRYSTALMATH_CASES", _ROOT.parent / "shared" / "cases"))
_QUERIES = _CASES / "structures" / "25_search_queries.json"

MEANINGS = {
    "TiO2": ("formula", {"formula": "O2Ti"}),
    "O2Ti": ("formula", {"formula": "O2Ti"}),
    "Ti2O4": ("formula", {"formula": "O2Ti"}),
    "ti-o": ("chemsys", {"elements_exactly": ["O", "Ti"]}),
    "Ti-O": ("chemsys", {"elements_exactly": ["O", "Ti"]}),
    "co-o": ("chemsys", {"elements_exactly": ["Co", "O"]}),
    "mp-2657": ("id", {"id_provider": "materials_project", "id": "mp-2657"}),
    "embedded:delta-Si": ("id", {"id_provider": "embedded", "id": "delta-Si"}),
    "local:3": ("id", {"id_provider": "local", "id": "3"}),
    "CO": ("formula", {"formula": "CO"}),
    "Co": ("formula", {"formula": "Co"}),
    "Fe2O3 ": ("formula", {"formula": "Fe2O3"}),
    "H2O\n": ("formula", {"formula": "H2O"}),
    "rutile": ("name", {"text": "rutile"}),
    "Rock Salt": ("name", {"text": "Rock Salt"}),
    "AB_cF8_225_a_b": ("name", {"prototype": "AB_cF8_225_a_b"}),
}
REFUSALS = {
    "(Mg,Fe)2SiO4": "not a formula",
    "Xx": "'Xx' is no element",
    "": "the query is empty",
    "  \n": "the query is empty",
    "tio2": "neither a formula nor",
    "Ti-Xx": "'Xx' is no element",
    "Fe0.95O": "whole numbers",
    "$(rm)": "neither a formula nor",
    "; DROP": "neither a formula nor",
}


@pytest.mark.parametrize("text", MEANINGS)
def test_a_text_has_one_meaning(text: str) -> None:
    kind, document = MEANINGS[text]
    words = classify(text, ("embedded",))
    assert (words.kind, words.query.document()) == (kind, document)


@pytest.mark.parametrize("text", REFUSALS)
def test_what_means_nothing_says_why(text: str) -> None:
    with pytest.raises(QueryError, match=REFUSALS[text].replace("(", r"\(")):
        classify(text)


@pytest.mark.skipif(
    not _QUERIES.is_file(), reason="no folder of structure cases (set CRYSTALMATH_CASES)"
)
def test_every_query_of_the_case_is_decided() -> None:
    queries = json.loads(_QUERIES.read_text(encoding="utf-8"))["queries"]
    assert len(queries) == 12
    assert set(queries) <= MEANINGS.keys() | REFUSALS.keys()


def test_what_was_read_otherwise_is_told() -> None:
    assert classify("ti-o").notices == ("ti-o is read as Ti-O",)
    assert classify("Ti-O").notices == ()
    assert "MgO?" in classify("mgo").notices[0]
    assert "CO or Co?" in classify("co").notices[0]
    with pytest.raises(QueryError) as caught:
        classify("tio2")
    assert caught.value.hint is not None
    assert "TiO2?" in caught.value.hint


def test_elements_are_checked() -> None:
    assert read_system(" O - ti ")[0] == {"O", "Ti"}
    for symbols in (["X"], ["o"], ["Mg", ""]):
        with pytest.raises(QueryError, match="no element"):
            read_elements(symbols)


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        (Query(formula="MgO"), True),
        (Query(formula="CaO"), False),
        (Query(elements_exactly=frozenset({"Mg", "O"})), True),
        (Query(elements_exactly=frozenset({"O"})), False),
        (Query(elements_all=frozenset({"O"})), True),
        (Query(elements_all=frozenset({"O", "Ti"})), False),
        (Query(elements_any=frozenset({"Ti", "Mg"})), True),
        (Query(elements_any=frozenset({"Ti"})), False),
        (Query(elements_none=frozenset({"Ti"})), True),
        (Query(elements_all=frozenset({"O"}), elements_none=frozenset({"Mg"})), False),
        (Query(n_atoms_max=2), True),
        (Query(n_atoms_max=1), False),
        (Query(), True),
    ],
)
def test_compositions_fit_or_not(query: Query, fits: bool) -> None:
    assert query.allows("MgO", ["Mg", "O"], 2) is fits


def test_a_query_survives_json() -> None:
    query = Query(
        formula="MgO",
        elements_any=frozenset({"Mg", "O"}),
        elements_exactly=frozenset({"O", "Mg"}),
        n_atoms_max=8,
        space_group=225,
        text="x",
    )
    assert query_of(json.loads(json.dumps(query.document()))) == query
    assert query.allows_formula("OMg")
    assert not query.allows_formula("CaO")
    assert not query.allows_formula("(Mg,Fe)O")
