"""The side thread that tells the host every two seconds what the worker is doing.

Native code may hold the interpreter for long, so a beat that is missing means nothing.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .control import Control, HostGone
from .page import StatusPage

if TYPE_CHECKING:  # it needs numpy, which may not be imported yet
    from .memory import Memory

EVERY_S = 2.0
_STATM = Path("/proc/self/statm")


class Pulse:
    """See the module docstring.

    Attributes
    ----------
    memory
        What is known about the memory of structures; None while it loads.
    """

    def __init__(self, control: Control, page: StatusPage) -> None:
        self._control = control
        self._page = page
        self.memory: Memory | None = None

    def start(self) -> None:
        """Begin to beat; ends the process when the host is gone."""
        threading.Thread(target=self._run, name="pulse", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                self._control.beat(self._says())
            except HostGone:
                os._exit(0)
            time.sleep(EVERY_S)

    def _says(self) -> dict[str, Any]:
        says = {
            "phase": self._page.phase,
            "pid": os.getpid(),
            "rss_bytes": resident_bytes(),
            "clients": self._page.clients,
        }
        if self.memory is not None:
            says["memory_points"] = self.memory.points()
        return says


def resident_bytes() -> int | None:
    """Resident memory of this process; None where that cannot be read."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
