"""The linter: a good deck is quiet, and each way to break it is found on its line."""

from __future__ import annotations

import pytest

from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.records import render_deck
from crystalmath.codes.crystal.lint.lint import lint_deck

GOOD = """MgO
CRYSTAL
0 0 0
225
4.21
2
12 0.0 0.0 0.0
8 0.5 0.5 0.5
OPTGEOM
TOLDEG
0.0003
END
END
12 3
1 0 3  2.  0.
1 1 3  8.  0.
1 1 3  2.  0.
8 2
1 0 3  2.  0.
1 1 3  6.  0.
99 0
END
DFT
PBE0
XLGRID
END
TOLINTEG
7 7 7 7 14
SHRINK
8 8
TOLDEE
8
END
"""
LIBRARY = GOOD[: GOOD.index("END\n12 3")] + "BASISSET\nSTO-3G\n" + GOOD[GOOD.index("DFT") :]

BROKEN: list[tuple[str, str, str, str]] = [
    ("no END of OPTGEOM", GOOD.replace("0.0003\nEND\nEND\n", "0.0003\nEND\n"), "end-missing", ""),
    ("no END of the basis", GOOD.replace("99 0\nEND\n", "99 0\n"), "end-missing", "DFT"),
    ("no END of DFT", GOOD.replace("XLGRID\nEND\n", "XLGRID\n"), "end-missing", "TOLINTEG"),
    ("no last END", GOOD.removesuffix("END\n"), "end-missing", ""),
    ("END before BASISSET", LIBRARY.replace("BASISSET", "END\nBASISSET"), "end-before-basisset",
     "END"),
    ("no c", GOOD.replace("225\n4.21", "136\n4.21"), "lattice-count", "4.21"),
    ("a number too many", GOOD.replace("4.21", "4.21 4.21"), "lattice-count", "4.21 4.21"),
    ("four tolerances", GOOD.replace("7 7 7 7 14", "7 7 7 14"), "numbers-count", "7 7 7 14"),
    ("a setting twice", GOOD.replace("TOLDEE\n8", "TOLDEE\n8\nTOLDEE\n200"), "repeated", "TOLDEE"),
    ("Windows", GOOD.replace("\n", "\r\n"), "carriage-return", "MgO"),
    ("a tab", GOOD.replace("8 0.5", "8\t0.5"), "tab", "8\t0.5 0.5 0.5"),
    ("an accent", GOOD.replace("MgO", "Mg\N{DEGREE SIGN}"), "non-ascii", ""),
    ("a layer group of 81", GOOD.replace("CRYSTAL\n0 0 0\n225", "SLAB\n81"), "group", "81"),
    ("too few sites", GOOD.replace("4.21\n2\n", "4.21\n3\n"), "sites-count", "3"),
    ("a site twice", GOOD.replace("8 0.5 0.5 0.5", "8 0.0 0.5 0.5"), "site-twice", ""),
    ("no number", GOOD.replace("8 0.5 0.5 0.5", "8 nan 0.5 0.5"), "number", "8 nan 0.5 0.5"),
    ("an infinite number", GOOD.replace("4.21", "1e999"), "number", "1e999"),
    ("a basis that is not there", GOOD.replace("12 0.0", "20 0.0"), "basis-species",
     "20 0.0 0.0 0.0"),
    ("electrons missing", GOOD.replace("1 1 3  6.", "1 1 3  4."), "not-neutral", "8 2"),
    ("a composite with D3", LIBRARY.replace("PBE0", "R2SCANSOL3C-D3"), "composite-d3",
     "R2SCANSOL3C-D3"),
    ("an element of no library", LIBRARY.replace("12 0.0", "92 0.0"), "element-not-covered",
     "92 0.0 0.0 0.0"),
    ("a core with a library", LIBRARY.replace("12 0.0", "212 0.0"), "nat", "212 0.0 0.0 0.0"),
    ("a broken mesh", GOOD.replace("8 8\n", "0 8\n8 8 4\n"), "shrink-symmetry", "8 8 4"),
    ("the power itself", GOOD.replace("TOLDEE\n8", "TOLDEE\n1e-8"), "whole-number", "1e-8"),
    ("outside OPTGEOM", GOOD.replace("TOLINTEG", "FINALRUN\n4\nTOLINTEG"), "outside-optgeom",
     "FINALRUN"),
    ("a task in the SCF", GOOD.replace("TOLINTEG", "OPTGEOM\nEND\nTOLINTEG"), "wrong-section",
     "OPTGEOM"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text", "code", "line"), BROKEN)
def test_each_mistake_is_found_on_its_line(what: str, text: str, code: str, line: str) -> None:
    found = [finding for finding in lint_deck(text) if finding.code == code]
    assert found, [finding.code for finding in lint_deck(text)]
    assert not line or text.replace("\r", "").split("\n")[found[0].line - 1] == line


@pytest.mark.parametrize("text", [GOOD, LIBRARY])
def test_a_good_deck_is_quiet_and_comes_back_as_it_was(text: str) -> None:
    assert lint_deck(text) == []
    assert render_deck(parse_deck(text)) == text


def test_hints_say_what_to_write() -> None:
    misspelt = lint_deck(GOOD.replace("TOLDEE", "TOLDE"))
    assert [(f.severity, f.code, f.fix) for f in misspelt] == [
        ("warning", "keyword-unknown", "is TOLDEE meant?")
    ]
    power = lint_deck(GOOD.replace("TOLDEE\n8", "TOLDEE\n1e-8"))
    assert power[0].fix == "write the power of ten: 8"
    assert "0" not in lint_deck(GOOD.replace("8 0.5 0.5", "8 nan 0.5"))[0].fix
