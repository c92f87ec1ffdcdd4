"""The text itself: characters, line ends, the title."""

from __future__ import annotations

from crystalmath.codes.crystal.deck.records import Deck, Finding
from crystalmath.codes.crystal.lint.findings import error, warning
from crystalmath.codes.crystal.tables.keywords import DIMENSIONS

MAX_TITLE = 80


def check_text(text: str) -> list[Finding]:
    """Look at every line; each kind of character is told once, where it is first."""
    found: list[Finding] = []
    seen: set[str] = set()
    for index, line in enumerate(text.split("\n"), start=1):
        for column, character in enumerate(line, start=1):
            kind = _kind(character)
            if kind is not None and kind[0] not in seen:
                seen.add(kind[0])
                found.append(Finding(index, column, "error", *kind))
    if text and not text.endswith("\n"):
        last = text.count("\n") + 1
        found.append(
            Finding(last, len(text.rsplit("\n", 1)[-1]) + 1, "warning", "final-newline",
                    "the last line has no line end", "end the file with a line end")
        )  # fmt: skip
    return found


def _kind(character: str) -> tuple[str, str, str] | None:
    if " " <= character <= "~":
        return None
    if character == "\r":
        return ("carriage-return", "a carriage return stands at the end of the line",
                "save the file with Unix line ends")  # fmt: skip
    if character == "\t":
        return "tab", "a tab stands on the line", "write blanks"
    return (
        "non-ascii",
        f"the character U+{ord(character):04X} is not ASCII",
        "write it with plain characters",
    )


def check_title(deck: Deck) -> list[Finding]:
    """Look at the first record."""
    title = deck.title
    if title is None:
        return []
    said = title.text.strip()
    if said.upper() in DIMENSIONS:
        return [
            error(title, "title", f"the first record is {said}, which is a keyword",
                  "write a title before it")
        ]  # fmt: skip
    if len(said) > MAX_TITLE:
        return [
            warning(title, "title", f"the title has {len(said)} characters; {MAX_TITLE} are read",
                    "shorten it")
        ]  # fmt: skip
    return []
