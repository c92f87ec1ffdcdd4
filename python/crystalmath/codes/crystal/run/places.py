"""Where the files of a job are: the output, the deck beside it, and what the script said."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Final

from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.settings import settings_of
from crystalmath.codes.crystal.output.files import load_run, sniff
from crystalmath.codes.crystal.output.run import Run
from crystalmath.codes.crystal.run.keywords import task_of
from crystalmath.codes.crystal.run.script import NAME, SAYS
from crystalmath.codes.crystal.run.staging import WAVE_DECK
from crystalmath.codes.outputs import find_outputs, is_output, read_head
from crystalmath.codes.tail import read_tail

_SCRIPT_BYTES: Final = 64 * 1024
_DECK_BYTES: Final = 256 * 1024
_SAYS_WHERE: Final = "output="
MAX_SAID: Final = 20


def find_output(directory: Path) -> Path | None:
    """The output of a job: the one that its script writes, else the newest that is there."""
    script, _ = read_head(directory / NAME, _SCRIPT_BYTES)
    for line in script.decode("utf-8", "replace").splitlines():
        if line.startswith(_SAYS_WHERE):
            path = directory / "".join(shlex.split(line.removeprefix(_SAYS_WHERE)))
            inside = os.path.normpath(path).startswith(f"{os.path.normpath(directory)}{os.sep}")
            return path if inside and is_output(path, sniff) else None
    outputs = find_outputs(directory, sniff)
    return outputs[0] if outputs else None


def load_with_deck(output: Path) -> Run:
    """What an output holds, with what its deck asks for where the output need not tell."""
    run = load_run(output)
    head, _ = read_head(output.with_suffix(WAVE_DECK), _DECK_BYTES)
    deck = parse_deck(head.decode("latin-1"))
    run.eos_asked = task_of(deck) == "eos"
    run.settings = settings_of(deck, run.dimensionality)
    return run


def said_by_script(directory: Path) -> list[str]:
    """What the script wrote to standard error for the user."""
    lines = read_tail(directory / "stderr.log").splitlines()
    said = [line.removeprefix(SAYS).strip() for line in lines if line.startswith(SAYS)]
    return said[:MAX_SAID]
