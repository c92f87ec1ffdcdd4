"""The side thread that tells the host every two seconds what the worker is doing.

Native code may hold the interpreter for long, so a beat that is missing means nothing.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from .control import Control, HostGone
from .page import StatusPage

EVERY_S = 2.0
_STATM = Path("/proc/self/statm")


def start(control: Control, page: StatusPage) -> None:
    """Begin to beat; ends the process when the host is gone."""
    threading.Thread(target=_run, args=(control, page), name="pulse", daemon=True).start()


def _run(control: Control, page: StatusPage) -> None:
    while True:
        try:
            control.beat(
                {"phase": page.phase, "rss_bytes": resident_bytes(), "clients": page.clients}
            )
        except HostGone:
            os._exit(0)
        time.sleep(EVERY_S)


def resident_bytes() -> int | None:
    """Resident memory of this process; None where that cannot be read."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
