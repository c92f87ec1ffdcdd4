"""What the headers of pseudopotentials say, in both versions of the format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crystalmath.codes.espresso.upf.functionals import canonical
from crystalmath.codes.espresso.upf.header import Header, parse_header
from crystalmath.codes.espresso.upf.table import Row, load_table
from support.espresso import upf

_OLD = """<PP_INFO>
Made for tests
    Suggested minimum cutoff for wavefunctions:   31. Ry
</PP_INFO>
<PP_HEADER>
   0                   Version Number
  Rh                   Element
   US                  Ultrasoft pseudopotential
    F                  Nonlinear Core Correction
SLA  PW   PBE  PBE     PBE  Exchange-Correlation functional
    9.00000000000      Z valence
  -43.22148820500      Total energy
  0.0000000  0.0000000 Suggested cutoff for wfc and rho
</PP_HEADER>
"""


def test_the_newer_format() -> None:
    text = upf("Fe", kind="USPP", functional=" SLA  PW   PBX  PBC", valence=16, wfc_ry=64.0)
    assert parse_header(text) == Header("Fe", "US", 16.0, "PBE", 64.0, None)


def test_the_older_format_and_its_suggestion_in_the_text() -> None:
    assert parse_header(_OLD) == Header("Rh", "US", 9.0, "PBE", 31.0, None)
    given = _OLD.replace("0.0000000  0.0000000 Sug", "40.0  320.0 Sug")
    assert parse_header(given) == Header("Rh", "US", 9.0, "PBE", 40.0, 320.0)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ('pseudo_type="PAW"', "PAW"),
        ('pseudo_type="NC" is_paw="T"', "PAW"),
        ('pseudo_type="US"', "US"),
        ('is_ultrasoft=".true."', "US"),
        ('pseudo_type="SL" is_ultrasoft="F" is_paw="false"', "NC"),
        ('pseudo_type="1/r"', "NC"),
    ],
)
def test_the_kind(words: str, kind: str) -> None:
    header = parse_header(f'<PP_HEADER element=" b" {words} z_valence="3.0D0"/>')
    assert header is not None
    assert (header.element, header.kind, header.z_valence) == ("B", kind, 3.0)


@pytest.mark.parametrize(
    "text",
    ["", "<UPF/>", '<PP_HEADER element="Si"/>', "<PP_HEADER>\n Si Element\n</PP_HEADER>"],
)
def test_what_has_no_header(text: str) -> None:
    assert parse_header(text) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("PBE", "PBE"),
        (" SLA  PW   PBX  PBC ", "PBE"),
        ("SLA PW PBE PBE", "PBE"),
        ("sla+pw+psx+psc", "PBESOL"),
        ("SLA-PZ-NOGX-NOGC", "PZ"),
        ("LDA", "PZ"),
        ("SLA PW TPSS TPSS", "TPSS"),
        ("SLA PW XX YY", "SLA PW XX YY"),
        ("", None),
    ],
)
def test_functionals_have_one_spelling(text: str, name: str | None) -> None:
    assert canonical(text) == name


def test_a_table(tmp_path: Path) -> None:
    path = tmp_path / "sssp.json"
    rows = {
        "Si": {"filename": "si.upf", "md5": "AB", "cutoff_wfc": 30.0, "cutoff_rho": 240.0},
        "O": {"filename": "o.upf", "cutoff": "50", "dual": "8"},
        "Al": {"filename": "../al.upf"},
        "note": "not an element",
    }
    path.write_text(json.dumps(rows))
    assert load_table(path) == {
        "Si": Row("si.upf", 30.0, 240.0, "ab"),
        "O": Row("o.upf", 50.0, 400.0, None),
    }
    path.write_text("[1]")
    assert load_table(path) is None
