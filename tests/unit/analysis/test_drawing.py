"""Plots as text, and the forms in which plots are handed out."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from math import cos

import pytest

from crystalmath.analysis.plots.drawing import drawing
from crystalmath.analysis.plots.plotted import plotted
from crystalmath.analysis.results.document import Curve, Plot
from crystalmath.errors import InputRejected


def plot(*curves: Curve, **more: object) -> Plot:
    fields = {"name": "p", "title": "A title", "x_label": "time / fs", "y_label": "energy / eV"}
    return Plot(curves=curves, **{**fields, **more})  # type: ignore[arg-type]


LINE = Curve("line", (0.0, 5.0, 10.0), (0.0, 5.0, 10.0))
POINTS = Curve("points", (0.0, 10.0), (10.0, 0.0), "points")


def lines(*curves: Curve, ascii_only: bool = True, **more: object) -> list[str]:
    return drawing(plot(*curves, **more), 60, 16, ascii_only=ascii_only).split("\n")


def test_marks_stand_where_the_values_are() -> None:
    drawn = lines(LINE, POINTS)
    assert drawn[0] == "A title"
    assert drawn[1] == "... line   * points"
    assert drawn[2] == "energy / eV"
    body = [line for line in drawn if "|" in line]
    assert len(body) == 10
    assert body[0].startswith("10 |*")  # the first point: 0, 10
    assert body[-1].startswith(" 0 |.")
    assert body[-1].endswith("*")
    assert body[0].endswith(".")
    assert drawn[-2].split() == ["0", "2", "4", "6", "8", "10"]
    assert drawn[-1].strip() == "time / fs"


def test_two_lines_differ_without_colour() -> None:
    high = Curve("high", (0.0, 10.0), (10.0, 10.0))
    low = Curve("low", (0.0, 10.0), (0.0, 0.0))
    drawn = lines(POINTS, high, low)
    assert drawn[1] == "o points   ... high   ::: low"
    assert "....." in drawn[3]
    assert ":::::" in drawn[-4]
    fine = lines(high, low, ascii_only=False)
    assert fine[1] == "⠒⠒⠒ high   ⠒ ⠒ low"
    solid, dashed = (
        sum((ord(c) - 0x2800).bit_count() for c in line if 0x2800 <= ord(c) < 0x2900)
        for line in (fine[3], fine[-4])
    )
    assert abs(dashed - solid // 2) <= 4


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("size", [(40, 9), (80, 20), (200, 60)])
def test_a_drawing_keeps_its_size(size: tuple[int, int], ascii_only: bool) -> None:
    wave = Curve("w" * 300, *zip(*((i / 9, cos(i / 9)) for i in range(500)), strict=True))
    drawn = drawing(plot(wave), *size, ascii_only=ascii_only).split("\n")
    assert len(drawn) == size[1]
    assert max(map(len, drawn)) <= size[0]
    assert "".join(drawn).isascii() == ascii_only


def test_the_points_of_a_path_are_named_and_its_breaks_seen() -> None:
    path = Curve("branch", (0.0, 1.0, 2.0), (0.0, 3.0, 1.0))
    drawn = lines(path, ticks=((0.0, "Γ"), (1.0, "X|K"), (2.0, "L")), breaks=(1.0,))
    assert drawn[-2].split() == ["Γ", "X|K", "L"]
    middle = [line.index("|", 6) for line in drawn if line.count("|") == 2 and "X" not in line]
    assert len(set(middle)) == 1
    assert len(middle) > 5


def test_many_curves_have_no_legend() -> None:
    many = [Curve(f"branch {i}", (0.0, 1.0), (float(i), i + 0.5)) for i in range(9)]
    assert lines(*many)[1] == "energy / eV"


@pytest.mark.parametrize("value", [0.0, -15.8445, 1e-30, 3e12])
def test_a_constant_can_be_drawn(value: float) -> None:
    assert any("...." in line for line in lines(Curve("c", (0.0, 1.0), (value, value))))


def test_close_values_of_large_numbers_have_marks_that_differ() -> None:
    drawn = lines(Curve("e", (0.0, 1.0), (-15.84452730, -15.84452726)))
    marks = [line.split("|")[0].strip() for line in drawn if "|" in line]
    marks = [mark for mark in marks if mark]
    assert len(marks) == len(set(marks)) >= 2
    assert all(mark.startswith("-15.844527") for mark in marks)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputRejected, match="no points"):
        drawing(plot(), ascii_only=True)
    with pytest.raises(InputRejected, match="40 columns"):
        drawing(plot(LINE), 39, 20, ascii_only=True)
    six = [Curve("x" * 50, (0.0, 1.0), (0.0, float(i))) for i in range(6)]
    with pytest.raises(InputRejected, match="no room"):
        drawing(plot(*six), 60, 12, ascii_only=True)


def test_a_plot_is_handed_out_in_the_form_that_is_asked_for() -> None:
    document = json.loads(json.dumps(asdict(plot(LINE, POINTS))))

    def asked(image: str) -> dict[str, str]:
        return plotted(document, image, 60, 16, ascii_only=False)

    assert asked("text")["content"].startswith("A title\n")
    svg = asked("svg")
    assert (svg["encoding"], "</svg>" in svg["content"]) == ("text", True)
    png = asked("png")
    assert png["encoding"] == "base64"
    assert base64.b64decode(png["content"], validate=True).startswith(b"\x89PNG\r\n")
    with pytest.raises(InputRejected, match="png or svg"):
        asked("pdf")
