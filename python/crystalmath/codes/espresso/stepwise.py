"""What is read of jobs of several programs, whichever they are. Used by their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.espresso.reading import load_run
from crystalmath.codes.espresso.series import series_of
from crystalmath.codes.espresso.steps import SCF
from crystalmath.services.ports import EndReceipt

AGAIN: Final = "`jobs.rerun` computes it again, from the SCF on"


def written(directory: Path, steps: Sequence[str]) -> list[Path]:
    """What these steps have written, in their order."""
    return [path for step in steps if (path := directory / f"{step}.out").is_file()]


def went_on(end: EndReceipt | None) -> EndReceipt | None:
    """The end of a step that another one follows: the script goes on after exit code 0 alone."""
    return None if end is None else replace(end, rc=0, signal=None, cause="exit")


def series_of_scf(directory: Path) -> dict[str, Any]:
    """The SCF by iteration; nothing where it has not begun."""
    output = directory / f"{SCF}.out"
    return dict(series_of(load_run(output))) if output.is_file() else {}
