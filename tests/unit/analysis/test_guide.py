"""The page on analysis: its code runs as it stands there, one piece after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_the_code_of_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs/guide/analysis.md").read_text(encoding="utf-8")
    # a supercell of 32 atoms in place of 256: the same lines, in a part of the time
    page = page.replace("supercell_sizes(relaxed)", "supercell_sizes(relaxed, 7)")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "analysis.md", "exec"), names)
    said = capsys.readouterr().out
    assert "B0 134." in said
    assert "Γ–X–U | K–Γ–L–W–X" in said
    assert names["png"].startswith(b"\x89PNG")
    assert "phonopy_params.yaml" in names["for_phonopy"]
