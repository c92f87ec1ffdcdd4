"""A running UI with its daemon, and what its screen says.

The daemon is the real one on a copy of a filled database; the UI is the installed program, started
as a user starts it. What is read from the screen is read from the characters it shows.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rig import telling
from rig.place import Place, RigError, wait_until
from rig.screen import Screen
from rig.terminal import Terminal, client_command

SIZE: Final = (120, 40)
FIRST_ROW: Final = 3
"""Above it are the bar, the frame and the heads of the columns."""
_BETWEEN: Final = re.compile(r"[│┬┼█]")
_ID: Final = re.compile(r"\b(\d+)\b")


@contextmanager
def daemon_of(database: Path) -> Iterator[Place]:
    """A daemon on a copy of ``database``, which can be made to relabel jobs."""
    with Place() as place:
        shutil.copyfile(database, place.database)
        place.foreground(program=telling.program(place.root))
        place.wait_ready()
        wait_until("the teller", telling.path_in(place.root).exists, place.patience_s)
        yield place


@contextmanager
def opened(place: Place, jobs: int, size: tuple[int, int] = SIZE) -> Iterator[Terminal]:
    """The UI, when the whole list is there and it has come to rest.

    What was chosen in the UI before, such as the order of the list, is forgotten.
    """
    (place.root / ".local/state/crystalmath/ui-state.toml").unlink(missing_ok=True)
    with Terminal(client_command(), place.env, size) as terminal:
        terminal.wait_for("the whole list", lambda screen: is_live(screen, jobs))
        terminal.settle()
        yield terminal


def is_live(screen: Screen, jobs: int | None = None) -> bool:
    """Whether it shows rows of a daemon that is there; of all ``jobs`` where they are given."""
    if not screen.line(0).rstrip().endswith("live"):
        return False
    if jobs is not None and not screen.line(1).startswith(f"┌ Jobs {jobs} "):
        return False
    return job_of(screen, FIRST_ROW) is not None


def job_of(screen: Screen, row: int) -> int | None:
    """The number of the job in a row of the list."""
    cells = _BETWEEN.split(screen.line(row))
    found = _ID.search(cells[1]) if len(cells) > 1 else None
    return int(found[1]) if found else None


def list_rows(screen: Screen) -> dict[int, str]:
    """The rows of the list that are seen: number of the job → text of the row."""
    rows = {}
    for row in range(FIRST_ROW, screen.rows - 2):
        job = job_of(screen, row)
        if job is not None:
            rows[job] = _BETWEEN.split(screen.line(row))[1]
    return rows


def cursor(screen: Screen) -> int | None:
    """The number of the job under the cursor, whose row has a background of its own."""
    for row in range(FIRST_ROW, screen.rows - 2):
        if screen.background[row][2] and not screen.background[row][0]:
            return job_of(screen, row)
    return None


def the_cursor(screen: Screen) -> int:
    """The number of the job under the cursor; raises ``RigError`` when there is none."""
    job = cursor(screen)
    if job is None:
        raise RigError(f"there is no cursor:\n{screen.text()}")
    return job
