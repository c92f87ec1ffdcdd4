"""Which tests run at the moment: written by pytest as they start and end, read when it is ended.

The hooks are in ``tests/conftest.py``; called by ``cli.py``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal

JOURNAL: Final = "CRYSTALMATH_TEST_JOURNAL"
"""Names the file for pytest; without it nothing is written."""


def note(event: Literal["start", "end"], test: str) -> None:
    """Write that a test starts or has ended; by the process alone that hands tests to others."""
    path = os.environ.get(JOURNAL)
    if path is None or "PYTEST_XDIST_WORKER" in os.environ:
        return
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(f"{event} {test}\n")


def unfinished(path: Path) -> list[str]:
    """Tests that have started and not ended, in the order of their start."""
    found: dict[str, None] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in lines:
        event, _, test = line.partition(" ")
        if event == "start":
            found[test] = None
        else:
            found.pop(test, None)
    return list(found)
