"""The Materials Project: keys, refusals, and that the key is nowhere but in the header."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crystalmath.errors import NotFound
from crystalmath.materials.materials_project import read
from support.material_bench import KEY, SearchBench
from support.optimade_server import OptimadeServer

Bench = Callable[..., SearchBench]
NAME = "materials_project"


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("", "needs a key"),
        ("0123456789abcdef", "legacy API (16 characters)"),
        ("short", "32 letters and digits"),
        (KEY[:-1] + "-", "32 letters and digits"),
    ],
)
def test_a_key_that_cannot_be_used_is_told_before_anything_is_asked(
    bench: Bench, database: OptimadeServer, key: str, says: str
) -> None:
    asked = database.asked_of("mp")
    _, meta = bench(key=key, mp_url=database.url("mp")).search("mp-1265")
    (answer,) = meta.providers
    assert answer.status == "no_key"
    assert says in answer.error
    assert "MP_API_KEY" in answer.hint
    assert not key or key not in answer.model_dump_json()
    assert database.asked_of("mp") == asked


@pytest.mark.parametrize(
    ("code", "says"),
    [(403, "the key was refused"), (404, "nothing at its address"), (429, "asked too often")],
)
def test_refusals_are_told_in_words(
    bench: Bench, database: OptimadeServer, code: int, says: str
) -> None:
    _, meta = bench(key=KEY, mp_url=database.url(f"mp{code}")).search("MgO", providers=[NAME])
    (answer,) = meta.providers
    assert answer.status == "http_error"
    assert says in answer.error
    assert str(code) in answer.error
    assert KEY not in meta.model_dump_json()


def test_a_structure_is_found_by_formula_and_by_id(bench: Bench, database: OptimadeServer) -> None:
    made = bench(key=KEY, mp_url=database.url("mp"))
    (row,), _ = made.search("MgO", providers=[NAME])
    assert (row.material, row.formula, row.n_atoms) == (f"{NAME}:mp-1265", "MgO", 2)
    assert row.properties == {
        "band_gap_ev": 4.45,
        "energy_above_hull_ev_per_atom": 0.0,
        "is_stable": True,
    }
    assert database.keys[-1] == KEY
    assert KEY not in database.asked[-1]
    asked = database.asked_of("mp")
    (again,), _ = made.search("mp-1265")
    assert again.material == row.material
    assert len(made.service.document("mp-1265")["symbols"]) == 2
    assert database.asked_of("mp") == asked
    with pytest.raises(NotFound, match="no mp-1"):
        made.get(NAME, "mp-1")
    assert KEY not in repr(made.providers)


def test_moments_of_a_structure_are_taken_over() -> None:
    def sites(*moments: float | None) -> dict[str, tuple[float | None, ...]]:
        places = [(0, 0, 0), (0.5, 0.5, 0.5)]
        listed = [
            {
                "species": [{"element": "Fe", "occu": 1}],
                "abc": place,
                "properties": {} if moment is None else {"magmom": moment},
            }
            for place, moment in zip(places, moments, strict=True)
        ]
        lattice = {"matrix": [[2.87, 0, 0], [0, 2.87, 0], [0, 0, 2.87]]}
        row = {"material_id": "mp-13", "structure": {"lattice": lattice, "sites": listed}}
        [entry] = read([row], {"text": "mp-13"}, 1)["entries"]
        found: dict[str, tuple[float | None, ...]] = entry["structure"]["sites"]
        return found

    assert sites(2.2231, -2.2) == {"moments": [2.22, -2.2]}
    assert sites(0.001, -0.0) == sites(None, None) == {}


def test_the_key_follows_no_redirection(bench: Bench, database: OptimadeServer) -> None:
    made = bench(key=KEY, mp_url=database.url("redirect"))
    assert made.status("MgO", providers=[NAME]) == {NAME: "http_error"}


def test_what_it_cannot_be_asked_for(bench: Bench, database: OptimadeServer) -> None:
    made = bench(key=KEY, mp_url=database.url("mp"))
    assert made.status("rutile", providers=[NAME]) == {NAME: "not_supported"}
    assert made.status(elements_any=["O"], providers=[NAME]) == {NAME: "not_supported"}
