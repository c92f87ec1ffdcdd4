"""Files that their licence forbids to hand on: the potentials of VASP."""

from __future__ import annotations

import re
from typing import Final

_LICENSED: Final = re.compile(r"(?:^|/)(?:POTCAR(?!\.spec$)[^/]*|potcar/[^/]+)$")


def is_licensed(path: str) -> bool:
    """Whether a file of a job's directory, by its path within, is or holds such a potential."""
    return _LICENSED.search(path) is not None
