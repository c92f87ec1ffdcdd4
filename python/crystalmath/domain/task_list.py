"""Lists of tasks of a job array as people and SLURM write them. Pure; never raises on SLURM's text.

``1-20%4``, ``0-20:5``, ``1,3,7``; SLURM's own are in brackets, and may be cut:
``[1,3,7,9...``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_PIECE = re.compile(r"^(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?$", re.ASCII)
MAX_TASKS: Final = 4_000_001
"""The largest MaxArraySize that SLURM allows, plus one; more in a list is garbage."""
MAX_OWN_TASKS: Final = 10_000
"""Tasks of an array that is submitted here: each has a folder and a row."""
MAX_INDEX: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class TaskList:
    """The tasks of an array that one text stands for.

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

    @property
    def last(self) -> int:
        """The highest task."""
        return max(last - (last - first) % step for first, last, step in self.ranges)

    def __contains__(self, task: int) -> bool:
        """Whether a task is in the list, as far as it was told."""
        return any(a <= task <= b and (task - a) % step == 0 for a, b, step in self.ranges)

    def __iter__(self) -> Iterator[int]:
        """The tasks, in the order of the text."""
        for first, last, step in self.ranges:
            yield from range(first, last + 1, step)


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


def parse_array(text: str) -> TaskList:
    """Understand what a user asks for.

    Raises
    ------
    ValueError
        It is no list of tasks, names one twice, or has too many.
    """
    if "%" in text and not re.search(r"%[1-9]\d{0,8}$", text, re.ASCII):
        raise ValueError("behind % stands how many tasks may run at once, like 1-20%4")
    found = None if re.search(r"[^0-9,:%-]", text) else parse_tasks(f"[{text}]")
    if found is None:
        raise ValueError("tasks are needed like 1-20, 1-20%4 (four at once), 0-20:5 or 1,3,7")
    if found.last > MAX_INDEX:
        raise ValueError(f"no task can have a number above {MAX_INDEX}")
    if found.count > MAX_OWN_TASKS:
        raise ValueError(f"{found.count} tasks are more than the {MAX_OWN_TASKS} of one job here")
    if len(set(found)) != found.count:
        raise ValueError("a task is named twice")
    return found


def render_tasks(tasks: Iterable[int], throttle: int | None = None) -> str:
    """Write tasks in the shortest way: ``1-4,7``, in rising order."""
    pieces: list[list[int]] = []
    for task in sorted(set(tasks)):
        if pieces and task == pieces[-1][1] + 1:
            pieces[-1][1] = task
        else:
            pieces.append([task, task])
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in pieces)
    return text if throttle is None else f"{text}%{throttle}"
