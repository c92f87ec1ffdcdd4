"""Job ids as SLURM writes them: single jobs, array tasks, lists of tasks, parts of het jobs. Pure.

``8100``, ``8100_3``, ``8100_[1-4%2]``, ``8100_[0-20:5]``, ``8100_[1,3,7,9...`` (cut), ``9000+1``.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from crystalmath.domain.task_list import TaskList, parse_tasks

_ID = re.compile(r"^(\d{1,12})(?:_(\d{1,9}|\[.*|N/A)|\+(\d{1,6}))?(?:\.(\w+))?$", re.ASCII)
_ID_DIGITS: Final = 12


class JobRef(NamedTuple):
    """One job id; a tuple, because thousands are made at a time.

    Attributes
    ----------
    job
        The number that everything else hangs on: of an array or a het job its first id.
    task
        Task of an array, or None.
    tasks
        Tasks that have not started, when one row stands for several.
    part
        Part of a het job, or None.
    step
        ``batch``, ``extern`` or the number of a step; None for the allocation.
    """

    job: int
    task: int | None = None
    tasks: TaskList | None = None
    part: int | None = None
    step: str | None = None


def parse_ref(text: str) -> JobRef | None:
    """Understand one id; None when the text is none."""
    if text.isascii() and text.isdigit() and len(text) <= _ID_DIGITS:
        return JobRef(int(text))  # nearly all of them
    match = _ID.match(text.strip())
    if match is None:
        return None
    job, array, part, step = match.groups()
    if array is not None and array.startswith("["):
        tasks = parse_tasks(array)
        return None if tasks is None else JobRef(int(job), tasks=tasks, step=step)
    task = int(array) if array is not None and array.isdigit() else None
    return JobRef(int(job), task=task, part=None if part is None else int(part), step=step)
