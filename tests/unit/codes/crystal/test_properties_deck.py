"""Decks of properties: read without loss, judged, and written to fit their wave function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from crystalmath.codes.crystal.deck.properties import (
    is_properties,
    parse_properties,
    render_properties,
)
from crystalmath.codes.crystal.generate.properties import make_properties
from crystalmath.codes.crystal.lint.lint import lint_source
from crystalmath.codes.crystal.lint.properties import lint_properties
from crystalmath.codes.crystal.wave import wave_of
from crystalmath.contract.d3 import D3Options
from crystalmath.errors import CrystalMathError, InputRejected, InvalidParams

HEAD = "MgO\nCRYSTAL\n0 0 0\n225\n4.21\n2\n12 0.0 0.0 0.0\n8 0.5 0.5 0.5\n"
INLINE = """END
12 3
1 0 3  2.  0.
1 1 3  8.  0.
1 1 3  2.  0.
8 2
1 0 3  2.  0.
1 1 3  6.  0.
99 0
END
"""
WAVE = HEAD + INLINE + "SHRINK\n8 8\nTOLDEE\n8\nEND\n"
LIBRARY = HEAD + "BASISSET\nSTO-3G\nSHRINK\n8 16\nEND\n"
SLAB = """MoS2
SLAB
78
3.16
2
42 0 0 0
16 0.3333333333 0.6666666667 1.56
BASISSET
STO-3G
SHRINK
0 12
12 12 1
END
"""
WATER = "H2O\nMOLECULE\n1\n2\n8 0 0 0\n1 0 0 0.96\nBASISSET\nSTO-3G\nEND\n"
GOOD = """BAND
Band structure
2 4 200 1 14 1 0
0 0 0  2 0 2
2 0 2  2 1 3
NEWK
16 16
1 0
DOSS
2 1000 1 14 1 14 0
-1 1
3 1 2
3
ECHG
0
65
COORDINA
-4. -4. 0.
4. -4. 0.
4. 4. 0.
END
END
"""


def codes(text: str, wave: str | None = WAVE) -> list[str]:
    return [f.code for f in lint_properties(text, wave_of(wave) if wave else None)]


def test_a_good_deck_is_quiet_and_comes_back() -> None:
    assert codes(GOOD) == []
    deck = parse_properties(GOOD)
    assert render_properties(deck) == GOOD
    assert [item.keyword for item in deck.items] == ["BAND", "NEWK", "DOSS", "ECHG"]
    assert len(deck.items[0].data) == 4
    assert [child.keyword for child in deck.items[3].children] == ["COORDINA"]


def test_what_is_not_known_keeps_its_block() -> None:
    text = "FROB\n1 2\nSUB\n3\nEND\nNEWK\n8 8\n1 0\nEND\n"
    deck = parse_properties(text)
    assert [item.keyword for item in deck.items] == ["FROB", "NEWK"]
    assert deck.items[0].end is not None
    assert deck.findings == ()
    assert render_properties(deck) == text


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("2 4 200 1 14 1 0", "3 4 200 1 14 1 0", "segments-count"),
        ("2 4 200 1 14 1 0", "2 4 200 1 14 1", "numbers-count"),
        ("2 4 200 1 14 1 0", "2 4 200 1 19 1 0", "bands"),
        ("2 4 200 1 14 1 0", "2 0 200 1 14 1 0", "band"),
        ("0 0 0  2 0 2", "0 0 0  2 0", "segment"),
        ("0 0 0  2 0 2", "0 0 0  0 0 0", "segment"),
        ("16 16\n1 0", "16 8\n1 0", "newk"),
        ("16 16\n1 0", "16 16", "newk"),
        ("16 16\n1 0", "0 16\n16 16 8\n1 0", "newk-symmetry"),
        ("16 16\n1 0", "4 4\n1 0", "newk-coarse"),
        ("16 16\n1 0", "16 16\n0 0", "newk-fermi"),
        ("NEWK\n16 16\n1 0\n", "", "newk-missing"),
        ("-1 1\n", "-1 3\n", "projection"),
        ("3 1 2\n3\n", "3 1 2\n", "projection"),
        ("3 1 2\n3\n", "2 1 2\n3 1 2 3\n", "projections-count"),
        ("DOSS\n2 ", "DOSS\n3 ", "projections-count"),
        ("1 14 1 14 0", "-1 -1 1 14 0\n0.3 -0.5", "energies"),
        ("ECHG", "ECHGX", "keyword-unknown"),
        ("1 0\nDOSS", "1 0\nEND\nDOSS", "end-early"),
        ("4. 4. 0.\nEND\nEND\n", "4. 4. 0.\nEND\n", "end-missing"),
        ("BAND\n", "7 7\nBAND\n", "record-stray"),
    ],
)
def test_each_mistake_is_found(old: str, new: str, code: str) -> None:
    assert GOOD.count(old) == 1
    assert code in codes(GOOD.replace(old, new))


def test_the_axes_of_the_wave_function_are_kept() -> None:
    band = "BAND\nslab\n1 2 50 1 5 1 0\n0 0 0  1 0 1\nEND\n"
    assert codes(band, SLAB) == ["segment"]
    assert codes(band, WATER) == ["band"]
    assert codes("NEWK\n0 24\n24 24 2\n1 0\nEND\n", SLAB) == ["newk"]
    assert codes("NEWK\n8 8\n1 0\nEND\n", WATER) == ["newk"]


def test_a_text_tells_which_deck_it_is(tmp_path: Any) -> None:
    assert is_properties(GOOD)
    assert not is_properties(WAVE)
    assert not is_properties("BAND\nCRYSTAL\n0 0 0\n")
    assert lint_source(text=GOOD) == []
    deck = tmp_path / "mgo.d3"
    deck.write_text(GOOD.replace("16 16", "4 4"))
    assert lint_source(path=str(deck)) == []
    (tmp_path / "mgo.d12").write_text(WAVE)
    assert [row["code"] for row in lint_source(path=str(deck))] == ["newk-coarse"]


def made(text: str, **options: Any) -> dict[str, Any]:
    return make_properties(text, D3Options.model_validate(options))


def test_bands_follow_the_path_of_the_lattice_in_whole_numbers() -> None:
    found = made(WAVE, band={})
    lines = found["d3"].splitlines()
    assert lines[:3] == ["BAND", "bands along G-X-U,K-G-L-W-X", "6 8 200 1 14 1 0"]
    points = found["report"]["special_points"]
    assert points["G"] == [0, 0, 0]
    assert sorted(points["X"]) == [0, 0.5, 0.5]
    assert sorted(points["L"]) == [0.5, 0.5, 0.5]
    # the break: U does not begin where K ended
    assert lines[4].split()[3:] != lines[5].split()[:3]
    assert lines[-1] == "END"
    assert found["report"]["path"] == "G-X-U,K-G-L-W-X"


def test_a_path_of_ones_own_and_segments() -> None:
    lines = made(WAVE, band={"path": "GX", "bands": [5, 14], "points": 50})["d3"].splitlines()
    assert lines[2] == "1 2 50 5 14 1 0"
    assert sorted(lines[3].split()) == ["0", "0", "0", "0", "1", "1"]
    given = {"segments": [[0, 0, 0, 2, 0, 2]], "iss": 4, "title": "G to X", "bands": [1, 3]}
    assert made(LIBRARY, band=given)["d3"] == "BAND\nG to X\n1 4 200 1 3 1 0\n0 0 0  2 0 2\nEND\n"


def test_points_stand_where_they_belong_in_the_cell_of_the_program() -> None:
    """The length of a vector in reciprocal space does not depend on the cell."""
    found = made(WAVE, band={})["report"]["special_points"]
    cell = wave_of(WAVE).primitive
    assert cell is not None
    reciprocal = np.linalg.inv(cell).T * 4.21
    lengths = {name: np.linalg.norm(np.array(at) @ reciprocal) for name, at in found.items()}
    wanted = {"G": 0, "X": 1, "L": 0.75**0.5, "W": 1.25**0.5, "K": 1.125**0.5, "U": 1.125**0.5}
    assert lengths == pytest.approx(wanted)


def test_a_slab_stays_in_its_plane() -> None:
    lines = made(SLAB, band={"bands": [1, 20]})["d3"].splitlines()
    assert all(line.split()[2] == line.split()[5] == "0" for line in lines[3:-1])


def test_the_mesh_is_twice_that_of_the_wave_function() -> None:
    found = made(LIBRARY, dos={"bands": [7, 14], "projections": [{"atoms": [1]}, {"atoms": [2]}]})
    assert found["d3"].splitlines() == [
        "NEWK", "16 32", "1 0", "DOSS", "2 1000 7 14 1 14 0", "-1 1", "-1 2", "END",
    ]  # fmt: skip
    assert found["report"]["newk"] == [16, 16, 16, 32]
    slab = made(SLAB, dos={"energies_hartree": [-0.5, 0.3]})["d3"].splitlines()
    assert slab == ["NEWK", "0 24", "24 24 1", "1 0", "DOSS", "0 1000 -1 -1 1 14 0", "-0.5 0.3",
                    "END"]  # fmt: skip


def test_records_of_ones_own_are_kept_and_judged() -> None:
    text = made(WAVE, extra=["PPAN", "ECHG\n0\n65\nCOORDINA\n0 0 0\n1 0 0\n1 1 0\nEND"])["d3"]
    assert text.endswith("1 1 0\nEND\nEND\n")
    with pytest.raises(InputRejected, match="does not end with END") as caught:
        made(WAVE, extra=["ECHG\n0\n65"])
    assert caught.value.field == "options.extra"


@pytest.mark.parametrize(
    ("text", "options", "field"),
    [
        (WAVE, {}, "options"),
        (LIBRARY, {"band": {}}, "options.band.bands"),
        (WAVE, {"band": {"bands": [1, 15]}}, "options.band.bands"),
        (WAVE, {"band": {"bands": [9, 3]}}, "options.band.bands"),
        (WAVE, {"band": {"path": "GQ"}}, "options.band.path"),
        (WAVE, {"band": {"path": "G"}}, "options.band.path"),
        (WAVE, {"band": {"iss": 4}}, "options.band.iss"),
        (WAVE, {"band": {"segments": [[0, 0, 0, 1, 0, 0]]}}, "options.band.iss"),
        (WAVE, {"band": {"segments": [[0, 0, 0, 1, 0, 0]], "path": "GX"}}, "options.band.segments"),
        (WATER, {"band": {"bands": [1, 5]}}, "options.band"),
        (WATER, {"dos": {"bands": [1, 5]}}, "options"),
        (WAVE, {"dos": {"bands": [1, 5], "energies_hartree": [0, 1]}}, "options.dos.bands"),
        (WAVE, {"dos": {"energies_hartree": [1.0, 0.0]}}, "options.dos.energies_hartree"),
        (WAVE, {"dos": {"projections": [{"atoms": [3]}]}}, "options.dos.projections.0.atoms"),
        (WAVE, {"dos": {}, "shrink": [16, 16, 8]}, "options.shrink"),
        (WAVE, {"dos": {}, "shrink": [16, 8]}, "options.shrink"),
        (SLAB, {"dos": {"bands": [1, 5]}, "shrink": [8, 8, 2]}, "options.shrink"),
        ("x\nEXTERNAL\n" + INLINE + "END\n", {"band": {"bands": [1, 5]}}, "options.band.path"),
        ("x\nEXTERNAL\n" + INLINE + "END\n", {"dos": {"bands": [1, 5]}}, "options.shrink"),
        ("NEWK\n8 8\n1 0\nEND\n", {"band": {}}, "deck"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_field(
    text: str, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(CrystalMathError) as caught:
        made(text, **options)
    assert isinstance(caught.value, InvalidParams | InputRejected)
    assert caught.value.field == field


@pytest.mark.parametrize(
    "options",
    [
        {"bands": {}},
        {"band": {"points": 1}},
        {"dos": {"projections": [{}]}},
        {"dos": {"projections": [{"atoms": [0]}]}},
        {"shrink": [8]},
        {"extra": ["A\tB"]},
    ],
)
def test_what_is_no_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        D3Options.model_validate(options)
