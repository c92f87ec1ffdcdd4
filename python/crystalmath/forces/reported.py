"""From what a worker reports, and from how it ended, to an exception of the host."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any, Final

from crystalmath import errors
from crystalmath.errors import (
    CrystalMathError,
    ForcesError,
    OutOfMemory,
    WorkerDied,
)
from crystalmath.services.ports_forces import CrashReport

_MAX_MESSAGE: Final = 2_000
_KINDS: Final[dict[str, type[CrystalMathError]]] = {
    found.kind: found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, CrystalMathError)
}


def reported_error(fault: Mapping[str, Any], *, engine: str | None = None) -> CrystalMathError:
    """The exception for a fault document; the worker's traceback becomes a note of it.

    Parameters
    ----------
    engine
        Whose fault it is; None where the message says so itself.
    """
    text = str(fault.get("message") or "it gave no reason")
    hint, field = fault.get("hint"), fault.get("field")
    kind = _KINDS.get(str(fault.get("kind")), ForcesError)
    error = kind(
        (text if engine is None else f"{engine}: {text}")[:_MAX_MESSAGE],
        hint=hint if isinstance(hint, str) else None,
        field=field if isinstance(field, str) else None,
    )
    trace = fault.get("traceback")
    if isinstance(trace, str):
        error.add_note(f"in the worker:\n{trace}")
    return error


def death_of(engine: str, report: CrashReport) -> CrystalMathError:
    """The exception for a worker that has ended by itself."""
    if report.oom_killed:
        error: CrystalMathError = OutOfMemory(
            f"the worker of {engine} was ended by the system for lack of memory "
            f"while it was {report.phase}",
            hint="ask for fewer atoms at once, or free some memory",
        )
    else:
        error = WorkerDied(
            f"the worker of {engine} died while it was {report.phase}: {how_it_ended(report)}",
            hint=last_words(report.stderr_tail),
        )
    return with_tail(error, report.stderr_tail)


def last_words(stderr_tail: str) -> str | None:
    """What a worker said last, as a hint; not the list of threads and modules of a crash."""
    said, _, crash = stderr_tail.partition("Fatal Python error: ")
    lines = said.strip().splitlines() or crash.strip().splitlines()[:1]
    return f"its last words: {lines[-1].strip()[:300]}" if lines else None


def with_tail(error: CrystalMathError, stderr_tail: str) -> CrystalMathError:
    """Add what the worker wrote last, as a note."""
    if stderr_tail.strip():
        error.add_note(f"the worker wrote:\n{stderr_tail.rstrip()}")
    return error


def how_it_ended(report: CrashReport) -> str:
    """Exit code or signal, in words."""
    if report.signal is not None:
        try:
            return f"signal {report.signal} ({signal.Signals(report.signal).name})"
        except ValueError:
            return f"signal {report.signal}"
    if report.exit_code is not None:
        return f"exit code {report.exit_code}"
    return "it closed its channel"
