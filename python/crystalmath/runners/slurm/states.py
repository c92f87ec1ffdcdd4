"""SLURM's words for the state of a job → what they mean for us. Pure; total over any text.

One table; ``docs/slurm-states.md`` is printed from it. Sources: the man pages squeue(1) and
sacct(1), section JOB STATE CODES, and the slurm.h of 22.05 to 25.05 for the flags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

Phase = Literal["waiting", "running", "ended", "cancelled", "unchanged", "unknown"]
"""``ended`` is FINISHED for us: the calculation is judged later. ``unchanged`` says nothing."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one word says.

    Attributes
    ----------
    reason
        Why the calculation failed, where the word alone tells it.
    attention
        What the user should know while it is so.
    held
        It waits until somebody releases it.
    settles
        It counts as an end only after the job has been absent from two complete polls: a requeue
        may follow.
    """

    phase: Phase
    reason: str | None = None
    attention: str | None = None
    held: bool = False
    settles: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One line of the table: SLURM's word, its short form, and the meaning."""

    name: str
    short: str | None
    meaning: Meaning
    note: str = ""


_HELD: Final = "held by the scheduler; it waits until it is released"

WORDS: Final[tuple[Word, ...]] = (
    Word("PENDING", "PD", Meaning("waiting")),
    Word("REQUEUED", "RQ", Meaning("waiting"), "an attempt has ended, another follows"),
    Word("REQUEUE_FED", "RF", Meaning("waiting")),
    Word(
        "CONFIGURING",
        "CF",
        Meaning("waiting"),
        "nodes are being prepared, the script has not begun",
    ),
    Word("POWER_UP_NODE", "PU", Meaning("waiting")),
    Word("EXPEDITING", "EX", Meaning("waiting")),
    Word("REQUEUE_HOLD", "RH", Meaning("waiting", attention=_HELD, held=True)),
    Word("SPECIAL_EXIT", "SE", Meaning("waiting", attention=_HELD, held=True)),
    Word("RESV_DEL_HOLD", "RD", Meaning("waiting", attention=_HELD, held=True)),
    Word("RUNNING", "R", Meaning("running")),
    Word("COMPLETING", "CG", Meaning("running"), "the nodes are being cleaned: not an end"),
    Word("STAGE_OUT", "SO", Meaning("running")),
    Word("SIGNALING", "SI", Meaning("running")),
    Word("RESIZING", "RS", Meaning("running")),
    Word("UPDATE_DB", "UD", Meaning("running")),
    Word("SUSPENDED", "S", Meaning("running", attention="suspended by the scheduler")),
    Word("STOPPED", "ST", Meaning("running", attention="stopped; it keeps its nodes")),
    Word(
        "REVOKED",
        "RV",
        Meaning("unchanged", attention="a sibling of the job runs on another cluster"),
    ),
    Word("COMPLETED", "CD", Meaning("ended"), "the calculation is judged by its output"),
    Word("FAILED", "F", Meaning("ended", reason="crashed")),
    Word("TIMEOUT", "TO", Meaning("ended", reason="walltime"), "also with exit code 0:0"),
    Word("OUT_OF_MEMORY", "OOM", Meaning("ended", reason="out_of_memory")),
    Word("NODE_FAIL", "NF", Meaning("ended", reason="node_failure", settles=True)),
    Word("BOOT_FAIL", "BF", Meaning("ended", reason="node_failure", settles=True)),
    Word("LAUNCH_FAILED", "LF", Meaning("ended", reason="node_failure", settles=True)),
    Word("RECONFIG_FAIL", None, Meaning("ended", reason="node_failure", settles=True)),
    Word("PREEMPTED", "PR", Meaning("ended", reason="preempted", settles=True)),
    Word(
        "DEADLINE",
        "DL",
        Meaning("ended", reason="walltime"),
        "`did_not_start` when it has no start time",
    ),
    Word("CANCELLED", "CA", Meaning("cancelled"), "its files are still collected"),
)

_BY_NAME: Final = {word.name: word for word in WORDS}
_BY_SHORT: Final = {word.short: word for word in WORDS if word.short}
_SHORTEST_CUT: Final = 6
"""sacct cuts a column to its width and marks it with ``+``: ``OUT_OF_ME+``."""

_BY = re.compile(r"^CANCELLED\s+by\s+(\d{1,10})$", re.ASCII)

UNKNOWN: Final = Meaning("unknown", attention="the scheduler uses a word that is not known here")


@dataclass(frozen=True, slots=True)
class State:
    """One state as SLURM gave it.

    Attributes
    ----------
    raw
        SLURM's text, for people.
    name
        The word of the table, or None when it is not in it.
    by_uid
        Who cancelled it, where SLURM says so.
    flags
        Further words that were given with it.
    """

    raw: str
    name: str | None
    meaning: Meaning
    by_uid: int | None = None
    flags: tuple[str, ...] = ()


def read_state(raw: str | Iterable[str]) -> State:
    """Understand one state, or a list of them: the base state first, then flags.

    Never raises: a text that is not in the table has the phase ``unknown``.
    """
    if not isinstance(raw, str):
        words = [str(word) for word in raw]
        if not words:
            return State("", None, UNKNOWN)
        return _with_flags([read_state(word) for word in words], "+".join(words))
    text = raw.strip()
    cancelled = _BY.match(text)
    if cancelled is not None:
        return State(text, "CANCELLED", _BY_NAME["CANCELLED"].meaning, by_uid=int(cancelled[1]))
    parts = [part for part in text.split("+") if part]
    if len(parts) > 1:
        return _with_flags([read_state(part) for part in parts], text)
    word = _find(parts[0] if parts else "", cut=text.endswith("+"))
    if word is None:
        return State(text, None, UNKNOWN)
    return State(text, word.name, word.meaning)


def is_mangled(word: str) -> bool:
    """Whether an unknown word begins like a known one: two columns have run into each other."""
    upper = word.upper()
    return upper not in _BY_NAME and any(
        upper.startswith(name[:_SHORTEST_CUT]) for name in _BY_NAME if len(name) > _SHORTEST_CUT
    )


def _with_flags(states: list[State], raw: str) -> State:
    """Join a base state with its flags: a flag that says the job lives on outweighs an end."""
    base, *flags = states
    meaning = base.meaning
    for flag in flags:
        if flag.meaning.phase == "unknown":
            continue
        if flag.name in ("COMPLETING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "CONFIGURING"):
            meaning = flag.meaning
            break
    return State(raw, base.name, meaning, base.by_uid, tuple(f.raw for f in flags))


def _find(text: str, *, cut: bool) -> Word | None:
    upper = text.upper()
    word = _BY_NAME.get(upper) or _BY_SHORT.get(upper)
    if word is None and cut and len(upper) >= _SHORTEST_CUT:
        found = [w for w in WORDS if w.name.startswith(upper)]
        word = found[0] if len(found) == 1 else None
    return word
