"""What a deck asks for, as far as running it needs to know: task and files. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crystalmath.codes.crystal.run.staging import NEEDS, RESTARTED

_BLOCKS: Final = {
    "OPTGEOM": "optimisation",
    "FREQCALC": "frequencies",
    "ELASTCON": "elastic",
    "ELAPIEZO": "elastic",
    "EOS": "eos",
}


def keywords(text: str) -> Iterator[str]:
    """The lines of a deck that are one word in capitals; the title is none."""
    for line in text.splitlines()[1:]:
        word = line.strip()
        if word and word == word.upper() and not word[0].isdigit() and " " not in word:
            yield word


def task_of(text: str, *, properties: bool) -> str:
    """What a deck asks for, one of the adapter's tasks."""
    if properties:
        return "properties"
    return next((_BLOCKS[word] for word in keywords(text) if word in _BLOCKS), "scf")


def needed(text: str, *, properties: bool) -> dict[str, str]:
    """The endings of the files without which the program stops → the keyword that asks for them."""
    found: dict[str, str] = {}
    if properties and "RDFMWF" not in text.upper().split():
        found[".f9"] = "properties"
    # The first line of a deck of properties may be a keyword.
    words = [*(["RDFMWF"] if text.strip().upper().startswith("RDFMWF") else []), *keywords(text)]
    block = None
    for word in words:
        if word in RESTARTED:
            block = word
        elif word.startswith("END"):
            block = None
        elif word == "RESTART" and block is not None:
            found[RESTARTED[block]] = f"RESTART in {block}"
        for ending in NEEDS.get(word, ()):
            found.setdefault(ending, word)
    return found
