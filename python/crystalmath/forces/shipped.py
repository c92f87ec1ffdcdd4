"""What comes with CrystalMath: declarations of engines with locks, and the worker's program."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_ROOM: Final = Path(__file__).parent

DECLARATIONS: Final = _ROOM / "envs"
WORKER: Final = _ROOM / "worker"
