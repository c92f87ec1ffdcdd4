"""The end of a text file of a job directory. Shared by the adapters.

Never follows a link and never waits: the directory belongs to the job's program, which may have put
anything there.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


def read_tail(path: Path, limit: int = 65_536) -> str:
    """Return up to ``limit`` last bytes of a regular file as text; empty when there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return ""
        with os.fdopen(handle, "rb", closefd=False) as stream:
            stream.seek(max(0, status.st_size - limit))
            return stream.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)


def last_line(text: str, limit: int = 300) -> str:
    """Return the last line that is not blank, without control characters, cut to ``limit``."""
    for line in reversed(text.replace("\r", "\n").split("\n")):
        clean = _CONTROL.sub("", line).strip()
        if clean:
            return clean if len(clean) <= limit else clean[: limit - 1] + "…"
    return ""
