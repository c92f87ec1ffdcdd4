"""One round of ``scripts/bench``: every figure is measured and written; no limit is judged here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.cli import main


@pytest.mark.timeout(300)
def test_one_round_of_every_benchmark_writes_its_figures(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    code = main(["ipc", "list", "start", "--rounds", "1", "--json", str(file)])
    found = json.loads(file.read_text(encoding="utf-8"))

    assert set(found) == {
        "schema", "when", "python", "cores", "codec", "rounds", "rows", "targets"
    }  # fmt: skip
    assert {"raw 64-byte echo", "system.ping under load [json]", "bare interpreter"} <= {
        row["name"] for row in found["rows"]
    }
    assert all(row["n"] > 0 and row["p50_us"] > 0 for row in found["rows"])
    missed = [t for t in found["targets"] if not t["ok"] and not t["provisional"]]
    assert code == (1 if missed else 0)


def test_what_is_not_measured_yet_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forces"]) == 2
    assert "not there yet" in capsys.readouterr().err
