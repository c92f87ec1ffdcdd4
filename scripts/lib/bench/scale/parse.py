"""Reading an answer of squeue, in this process."""

from __future__ import annotations

from typing import Final

from bench.measure import timed
from crystalmath.runners.slurm.queue import SEPARATOR, read_queue
from crystalmath.services.ports_shell import Ran
from rig.scheduler import SUBMITTED_AT

_TAG: Final = "cm0123456789abcdef"
_TIMES: Final = 21


def parse_times(rows: int) -> list[float]:
    """Time reading so many rows, in µs; the time used is another one in each row."""
    text = "".join(_row(n) for n in range(rows))
    ran = Ran(rc=0, out=text.encode(), err=b"", complete=True)
    if len(read_queue(ran, _TAG).rows) != rows:
        raise ValueError("the rows are not understood")
    return timed(lambda: read_queue(ran, _TAG), _TIMES)


def _row(n: int) -> str:
    times = (SUBMITTED_AT + n, SUBMITTED_AT + n + 60, f"{n // 60 % 24}:{n % 60:02}:07")
    fields = (
        *(_TAG, 70_000 + n, "RUNNING", "None", f"n{n % 40}", "ada", *times, "1-00:00:00", 1, 16),
        *("main", "a", "normal", f"/scratch/ada/cm-{n:012x}", f"cm-{n:012x}.nickel_scf_{n}"),
    )
    return SEPARATOR.join(map(str, fields)) + "\n"
