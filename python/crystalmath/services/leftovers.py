"""What a user should know of the processes that a run left, in words. Pure; used by ``steps``."""

from __future__ import annotations

from crystalmath.services.ports import EndReceipt


def left_behind(end: EndReceipt | None) -> list[str]:
    """What a user should know of the processes that a run left, or that could not be ended."""
    noticed = []
    if end is not None and end.leftover:
        noticed.append(
            f"when the program ended, {_processes(end.leftover)} that it had started still ran: "
            "they were ended; a program should wait for what it starts"
        )
    if end is not None and end.unkillable:
        noticed.append(
            f"{_processes(end.unkillable)} of the run could not be ended and may still be there: "
            "such a process hangs in the kernel, or belongs to another user"
        )
    return noticed


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"
