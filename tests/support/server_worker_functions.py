"""Functions that a worker process runs in the tests of the worker pool."""

from __future__ import annotations

import time

from crystalmath.errors import InputRejected


def reject(field: str, after_s: float = 0.0) -> None:
    """Refuse, as a reader of structures may."""
    time.sleep(after_s)
    raise InputRejected("It is refused.", hint="Do better.", field=field)
