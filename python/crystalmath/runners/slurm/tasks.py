"""Job ids as SLURM writes them: single jobs, array tasks, lists of tasks, parts of het jobs. Pure.

``8100``, ``8100_3``, ``8100_[1-4%2]``, ``8100_[0-20:5]``, ``8100_[1,3,7,9...`` (cut), ``9000+1``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_ID = re.compile(r"^(\d{1,12})(?:_(\d{1,9}|\[.*|N/A)|\+(\d{1,6}))?(?:\.(\w+))?$", re.ASCII)
_ID_DIGITS: Final = 12
_PIECE = re.compile(r"^(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?$", re.ASCII)
MAX_TASKS: Final = 4_000_001
"""The largest MaxArraySize that SLURM allows, plus one; more in a list is garbage."""


@dataclass(frozen=True, slots=True)
class TaskList:
    """The tasks of an array that one row stands for.

    Attributes
    ----------
    ranges
        ``(first, last, step)``, inclusive.
    at_least
        The text was cut: there are more than these.
    throttle
        Tasks that may run at once, or None.
    """

    ranges: tuple[tuple[int, int, int], ...]
    at_least: bool = False
    throttle: int | None = None

    @property
    def count(self) -> int:
        """Tasks in the list."""
        return sum((last - first) // step + 1 for first, last, step in self.ranges)

    def __contains__(self, task: int) -> bool:
        """Whether a task is in the list, as far as it was told."""
        return any(a <= task <= b and (task - a) % step == 0 for a, b, step in self.ranges)


@dataclass(frozen=True, slots=True)
class JobRef:
    """One job id.

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


def parse_tasks(text: str) -> TaskList | None:
    """Understand ``[1-4,7%2]``; a list without its bracket, or with dots, is cut."""
    body = text.removeprefix("[")
    cut = not body.endswith("]")
    body = body.removesuffix("]")
    throttle = None
    if "%" in body:
        body, _, limit = body.partition("%")
        throttle = int(limit) if limit.isascii() and limit.isdigit() and limit != "0" else None
    if "..." in body:
        cut, body = True, body.partition("...")[0]
    pieces = body.split(",")
    if cut and len(pieces) > 1:
        pieces = pieces[:-1]  # its last number may have lost digits
    ranges = []
    for piece in pieces:
        match = _PIECE.match(piece)
        if match is None:
            return None
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if last < first or step < 1:
            return None
        ranges.append((first, last, step))
    found = TaskList(tuple(ranges), at_least=cut, throttle=throttle)
    return found if 0 < found.count < MAX_TASKS else None
