"""What a deck asks for, as far as running it needs to know: task and files. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from crystalmath.codes.crystal.deck.properties import PropertiesDeck
from crystalmath.codes.crystal.deck.records import Deck, Item
from crystalmath.codes.crystal.run.staging import NEEDS, RESTARTED

_TASKS: Final = {
    "OPTGEOM": "optimisation",
    "FREQCALC": "frequencies",
    "ELASTCON": "elastic",
    "ELAPIEZO": "elastic",
    "EOS": "eos",
}
_PROPERTIES: Final = "properties"


def task_of(deck: Deck | PropertiesDeck) -> str:
    """What a deck asks for, one of the adapter's tasks."""
    if isinstance(deck, PropertiesDeck):
        return _PROPERTIES
    items = deck.geometry.items
    return next((_TASKS[item.keyword] for item in items if item.keyword in _TASKS), "scf")


def needed(deck: Deck | PropertiesDeck) -> dict[str, str]:
    """The endings of the files without which the program stops → the keyword that asks for them."""
    found: dict[str, str] = {}
    if isinstance(deck, PropertiesDeck):
        words = [word for item in deck.items for word in _words(item)]
        if "RDFMWF" not in words:
            found[".f9"] = _PROPERTIES
        return _asked_by(words, found)
    items = (*deck.geometry.items, *deck.basis.items, *deck.scf)
    for block in deck.geometry.items:
        if block.keyword in RESTARTED and block.find("RESTART") is not None:
            found[RESTARTED[block.keyword]] = f"RESTART in {block.keyword}"
    words = [deck.geometry.kind, *(word for item in items for word in _words(item))]
    # behind an END too many the words mean what they say as well
    words += [record.keyword for record in deck.rest if record.starts_with_letter]
    return _asked_by(words, found)


def _asked_by(words: Iterable[str], found: dict[str, str]) -> dict[str, str]:
    for word in words:
        for ending in NEEDS.get(word, ()):
            found.setdefault(ending, word)
    return found


def _words(item: Item) -> Iterator[str]:
    yield item.keyword
    for child in item.children:
        yield from _words(child)


def problem_of(deck: Deck | PropertiesDeck) -> tuple[str, str] | None:
    """Why the program would certainly stop at once, and what to do; None where it may run."""
    written = [record for record in deck.records() if not record.is_blank]
    if not written:
        return "is empty", "give the deck's text"
    if not written[-1].is_end:
        last = written[-1].text.strip()
        return (
            f"does not end with END but with {last[:40]!r}",
            "the last line of a deck is END; is it cut off?",
        )
    wrong = [finding for finding in deck.findings if finding.code == "dimension-missing"]
    if wrong:
        return (
            f"is wrong in line {wrong[0].line}: {wrong[0].message}",
            "the first line of a .d12 is a title, the second says the kind of geometry",
        )
    return None
