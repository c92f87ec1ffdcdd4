"""One round of ``scripts/bench``: every figure is measured and written; no limit is judged here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import pyo3
from bench.cli import main
from bench.ui.log import is_next_page
from rig.place import RigError
from rig.screen import Screen, UnknownSequenceError


@pytest.mark.timeout(300)
def test_one_round_of_every_benchmark_writes_its_figures(tmp_path: Path) -> None:
    found, code = figures(["ipc", "list", "start"], tmp_path)

    assert set(found) == {
        "schema", "when", "python", "cores", "codec", "rounds", "rows", "targets"
    }  # fmt: skip
    assert {"raw 64-byte echo", "system.ping under load [json]", "bare interpreter"} <= {
        row["name"] for row in found["rows"]
    }
    missed = [t for t in found["targets"] if not t["ok"] and not t["provisional"]]
    assert code == (1 if missed else 0)


@pytest.mark.timeout(300)
def test_one_round_of_the_ui_in_a_pseudo_terminal(tmp_path: Path) -> None:
    found, _code = figures(["ui"], tmp_path)

    rows = {row["name"] for row in found["rows"]}
    assert "ui: exec to live rows, 10,000 jobs" in rows
    assert "ui: key to frame, filter, a letter" in rows
    values = {target["name"]: target["value"] for target in found["targets"]}
    assert values["ui: idle 2 s, draws"] == 0
    assert values["ui: 1,000 events a second, told"] > 0
    assert values["ui: 1,000 events a second, jobs not shown as last told"] == 0
    assert 0 < values["ui: 1,000 events a second, draws a second"] <= 30


def figures(names: list[str], folder: Path) -> tuple[dict[str, Any], int]:
    """One round of these benchmarks: what is written, and the exit code."""
    file = folder / "figures.json"
    code = main([*names, "--rounds", "1", "--json", str(file)])
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert all(row["n"] > 0 and row["p50_us"] > 0 for row in found["rows"])
    return found, code


def test_a_frame_that_has_arrived_in_part_is_no_page() -> None:
    before = [10, 11, 12, 13]
    assert is_next_page(before, [13, 14, 15, 16], 1)
    assert is_next_page(before, [7, 8, 9, 10], -1)
    assert not is_next_page(before, [13, 14, 12, 13], 1)  # two lines of the frame are there
    assert not is_next_page(before, before, 1)
    assert not is_next_page(before, [15, 16, 17, 18], 1)  # line 14 was passed over
    assert not is_next_page(before, [13, 14], 1)
    assert not is_next_page(before, [], 1)


def test_a_terminal_reads_what_the_ui_writes_and_refuses_what_it_does_not_know() -> None:
    screen = Screen(12, 3)
    for part in (
        b"\x1b[?2026h\x1b[2;3H\x1b[48;5;4mno",
        b"de \xe2\x94",
        b"\x82\x1b[0m\x1b[?2026",
        b"l",
    ):
        screen.feed(part)
    assert screen.text() == f"{'':12}\n  node │{'':4}\n{'':12}\n"
    assert [bool(mark) for mark in screen.background[1]] == [False] * 2 + [True] * 6 + [False] * 4
    screen.feed(b"\x1b[6n")
    assert screen.answers == b"\x1b[2;9R"
    with pytest.raises(UnknownSequenceError):
        screen.feed(b"\x1b[3X")


def test_a_python_without_a_shared_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyo3.sysconfig, "get_config_var", lambda name: 0)
    with pytest.raises(RigError, match="has no shared library of Python"):
        pyo3.build()


def test_one_round_of_what_a_workflow_adds_to_its_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRYSTALMATH_DATA_DIR", str(tmp_path / "no engines"))
    found, _code = figures(["workflows"], tmp_path)
    assert "phonons with SevenNet are not measured" in capsys.readouterr().out

    [target] = found["targets"]
    assert target["name"] == "workflows: added per step, p50, ms"
    assert (target["limit"], target["value"] > 0) == (5, True)


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 2
    assert "bench nothing: no such benchmark; there are ipc," in capsys.readouterr().err
