"""Decks, outputs and job directories of pw.x for the tests of this folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

FIXTURES: Final = Path(__file__).parents[1] / "fixtures" / "espresso"
DECKS: Final = Path(__file__).parents[1] / "testbed" / "qe"
CASES: Final = (
    Path(os.environ.get("CRYSTALMATH_CASES", Path(__file__).parents[3] / "shared" / "cases"))
    / "outputs"
    / "qe"
)
"""A larger collection of outputs with their right answers, which a checkout need not have."""


def output(name: str) -> str:
    return (FIXTURES / f"{name}.out").read_text(encoding="utf-8")


def deck(name: str) -> str:
    return (DECKS / f"{name}.in").read_text(encoding="utf-8")


def job(directory: Path, deck_text: str, output_text: str, name: str = "si.in") -> Path:
    """A job directory with a deck and what pw.x wrote."""
    (directory / ".cm").mkdir()
    (directory / "pseudo").mkdir()
    (directory / "pseudo" / "Si.pz-vbc.UPF").write_text("<UPF/>")
    (directory / name).write_text(deck_text, encoding="utf-8")
    (directory / "stdout.log").write_text(output_text, encoding="utf-8")
    (directory / "stderr.log").write_text("")
    return directory
