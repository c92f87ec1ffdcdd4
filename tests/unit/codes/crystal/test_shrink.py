"""SHRINK in both forms: read, written, replaced, put in."""

from __future__ import annotations

import pytest

from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.shrink import Shrink, read_shrink, with_shrink
from crystalmath.codes.crystal.lint.lint import lint_deck
from support.crystals import Make, crystal, rocksalt

HEAD = "MgO\nCRYSTAL\n0 0 0\n225\n4.21\n2\n12 0 0 0\n8 .5 .5 .5\nBASISSET\nSTO-3G\n"
SHORT = HEAD + "SHRINK\n8 8\nTOLDEE\n8\nEND\n"
LONG = HEAD + "TOLDEE\n8\nSHRINK\n0 16\n8 8 8\nFMIXING\n30\nEND\n"
NONE = HEAD + "TOLDEE\n8\nEND\n"


@pytest.mark.parametrize("text", [SHORT, LONG, NONE])
@pytest.mark.parametrize("mesh", [Shrink((6, 6, 6), 6), Shrink((6, 6, 4), 12)])
def test_every_form_is_rewritten_and_nothing_else(text: str, mesh: Shrink) -> None:
    made = with_shrink(text, mesh)
    item = parse_deck(made).scf_item("SHRINK")
    assert item is not None
    assert read_shrink(item.data) == mesh
    kept = [line for line in made.splitlines() if line not in ("SHRINK", *mesh.lines())]
    old = parse_deck(text).scf_item("SHRINK")
    gone = [] if old is None else [record.text.strip() for record in old.records()]
    assert kept == [line for line in text.splitlines() if line not in gone]
    assert "end-missing" not in [finding.code for finding in lint_deck(made)]


def test_a_series_of_meshes_ends_where_it_began() -> None:
    text = SHORT
    for size in (2, 4, 6, 8):
        text = with_shrink(text, Shrink((size,) * 3, size))
    assert text == SHORT


def test_line_ends_stay() -> None:
    windows = SHORT.replace("\n", "\r\n")
    assert with_shrink(windows, Shrink((4, 4, 4), 4)) == windows.replace("8 8\r\n", "4 4\r\n")


def test_what_has_no_mesh_is_refused() -> None:
    with pytest.raises(ValueError, match="molecule"):
        with_shrink("x\nMOLECULE\n1\n1\n8 0 0 0\nBASISSET\nSTO-3G\nEND\n", Shrink((1, 1, 1), 1))
    with pytest.raises(ValueError, match="no END"):
        with_shrink(NONE.removesuffix("END\n"), Shrink((1, 1, 1), 1))


def test_a_metal_has_twice_the_net_and_layers_a_flat_mesh(deck: Make) -> None:
    metal = deck(rocksalt(), {"metal": True, "smear_hartree": 0.005})["report"]["shrink"]
    assert metal[3] == 2 * max(metal[:3])
    tetragonal = crystal([3.0, 3.0, 9.0], ["Ti", "O"], [(0, 0, 0), (0.5, 0.5, 0.3)])
    made = deck(tetragonal)
    assert made["report"]["shrink"][0] > made["report"]["shrink"][2]
    lines = made["d12"].splitlines()
    at = lines.index("SHRINK")
    assert lines[at + 1].split()[0] == "0"
    assert [int(word) for word in lines[at + 2].split()] == made["report"]["shrink"][:3]
