"""How often the kernel has killed for want of memory, as far as that can be read here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_ROOT: Final = Path("/sys/fs/cgroup")
_KEY: Final = "oom_kill"


def oom_kills(cgroups: Path = Path("/proc/self/cgroup"), root: Path = _ROOT) -> int | None:
    """Return the count of this process's control group; None where it is not readable."""
    try:
        lines = cgroups.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    for line in lines:
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        inside = path.lstrip("/")
        if "memory" in controllers.split(","):
            candidates = [root / "memory" / inside / "memory.oom_control"]
        elif number == "0" and not controllers:
            candidates = [
                root / inside / "memory.events",
                root / "unified" / inside / "memory.events",
            ]
        else:
            continue
        for file in candidates:
            count = _count(file)
            if count is not None:
                return count
    return None


def _count(file: Path) -> int | None:
    try:
        for line in file.read_text(encoding="ascii").splitlines():
            key, _, value = line.partition(" ")
            if key == _KEY:
                return int(value)
    except (OSError, ValueError):
        pass
    return None
