"""Reading outputs and decks from disk: which file of a directory it is, and how much of it is read.

Bounded in memory: of a large output the beginning and the end are read. Follows no link in a job
directory, where a program may have put anything. Used by ``adapter``, ``foreign`` and ``proceed``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from crystalmath.codes import outputs
from crystalmath.codes.decks import MAX_DECK_BYTES, clean_text
from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.espresso.output import parse_output
from crystalmath.codes.espresso.prepare import CRLF
from crystalmath.codes.espresso.run import Run
from crystalmath.codes.outputs import SNIFF_BYTES, read_head
from crystalmath.codes.tail import read_tail

CRASH: Final = "CRASH"
WHOLE_BYTES: Final = 64 * 1024**2
"""Outputs up to this size are read whole;"""
HEAD_BYTES: Final = 4 * 1024**2
TAIL_BYTES: Final = 24 * 1024**2
"""of larger ones these parts."""
_BANNER: Final = re.compile(rb"Program PWSCF v\.")


def sniff(head: bytes) -> bool:
    """Whether a file begins as an output of pw.x does (a batch system may have written before)."""
    return _BANNER.search(head) is not None


def find_outputs(directory: Path) -> list[Path]:
    """The outputs of pw.x in a directory, the newest first; of a job, the one it wrote."""
    return outputs.find_outputs(directory, sniff)


def load_run(path: Path) -> Run:
    """Read an output; an empty result when there is none."""
    head, size = read_head(path, WHOLE_BYTES)
    partial = size > WHOLE_BYTES
    if partial:
        head, _ = read_head(path, HEAD_BYTES)
    text = head.decode("utf-8", "replace")
    if partial:
        text += "\n" + load_end(path, TAIL_BYTES)
    return parse_output(text.replace("\r\n", "\n"), partial=partial)


def load_end(path: Path, limit: int) -> str:
    """The last whole lines of an output."""
    text = read_tail(path, limit)
    return text if len(text) < limit else text.partition("\n")[2]


def load_crash(directory: Path) -> tuple[str, str] | None:
    """Routine and message of the file CRASH."""
    text = read_tail(directory / CRASH, SNIFF_BYTES)
    match = re.search(r"from\s+(\S+)\s*:\s*error #\s*-?\d+\s*\n(.*?)\n\s*%%%", text, re.DOTALL)
    return None if match is None else (match[1], " ".join(match[2].split()))


def find_run_deck(directory: Path, run: Run) -> tuple[Path, Deck] | None:
    """The deck that an output names, where it is still there, and what it holds."""
    if run.deck is None:
        return None
    # pw.x prints the name as it was given: absolute, or relative to where it ran.
    for path in (directory / run.deck, directory / Path(run.deck).name):
        deck = load_deck(path)
        if deck is not None:
            return path, deck
    return None


def load_deck(path: Path) -> Deck | None:
    """Read a deck; None when the file is not there or is none."""
    raw, size = read_head(path, MAX_DECK_BYTES)
    if not raw or size > MAX_DECK_BYTES or b"\0" in raw:
        return None
    deck = parse_deck(clean_text(raw, crlf=CRLF)[0])
    return deck if "system" in deck.namelists else None
