"""Changes of a deck so that it goes on where a run stopped: restarts, guesses, more cycles. Pure.

Lines are put in and numbers replaced; everything else of the deck stays as it is.
"""

from __future__ import annotations

from typing import Final

_BLOCKS: Final = ("OPTGEOM", "FREQCALC")
MOST_CYCLES: Final = 1000
USUAL_SCF_CYCLES: Final = 50
USUAL_OPT_CYCLES: Final = 100


def block_of(lines: list[str], name: str) -> tuple[int, int] | None:
    """First line of a block and the line of its END; None when the deck has none.

    A block inside of it has an END of its own; those that CRYSTAL knows in these two blocks are
    given by ``PREOPTGEOM`` and the spectra.
    """
    start = next((i for i, line in enumerate(lines) if line.strip().upper() == name), None)
    if start is None:
        return None
    depth = 1
    for i in range(start + 1, len(lines)):
        word = lines[i].strip().upper()
        if word in _NESTED:
            depth += 1
        elif word.startswith("END"):
            depth -= 1
            if depth == 0:
                return start, i
    return None


_NESTED: Final = frozenset({"PREOPTGEOM", "INTCPHF", "IRSPEC", "RAMSPEC", "CPHF", "ANHARM"})


def with_restart(text: str, name: str) -> str:
    """The deck with RESTART in a block that has none."""
    lines = text.splitlines()
    block = block_of(lines, name)
    if block is None:
        return text
    start, stop = block
    if any(line.strip().upper() == "RESTART" for line in lines[start:stop]):
        return text
    lines.insert(start + 1, "RESTART")
    return _text(lines)


def with_guess(text: str) -> str:
    """The deck with GUESSP at the end of its last section, if it has no guess."""
    lines = text.splitlines()
    if any(line.strip().upper() in ("GUESSP", "GUESSF") for line in lines):
        return text
    lines.insert(_last_end(lines), "GUESSP")
    return _text(lines)


def with_more_opt_cycles(text: str) -> tuple[str, str | None]:
    """The deck with twice the steps of OPTGEOM; and what was changed, for people."""
    lines = text.splitlines()
    block = block_of(lines, "OPTGEOM")
    if block is None:
        return text, None
    start, stop = block
    at = _keyword(lines, "MAXCYCLE", start, stop)
    return _more(lines, at, start + 1, USUAL_OPT_CYCLES, "MAXCYCLE of OPTGEOM")


def with_more_scf_cycles(text: str) -> tuple[str, str | None]:
    """The deck with more SCF cycles; and what was changed, for people."""
    lines = text.splitlines()
    block = block_of(lines, "OPTGEOM")
    start = 0 if block is None else block[1]
    at = _keyword(lines, "MAXCYCLE", start, len(lines))
    return _more(lines, at, _last_end(lines), USUAL_SCF_CYCLES, "MAXCYCLE")


def _more(
    lines: list[str], at: int | None, insert_at: int, usual: int, what: str
) -> tuple[str, str | None]:
    if at is None:
        more = 2 * usual
        lines[insert_at:insert_at] = ["MAXCYCLE", str(more)]
        return _text(lines), f"{what} {usual} → {more}"
    word = lines[at + 1].strip()
    if not word.isdigit() or int(word) >= MOST_CYCLES:
        return _text(lines), None
    more = min(MOST_CYCLES, 2 * int(word))
    lines[at + 1] = str(more)
    return _text(lines), f"{what} {word} → {more}"


def _keyword(lines: list[str], name: str, start: int, stop: int) -> int | None:
    found = [i for i in range(start, stop - 1) if lines[i].strip().upper() == name]
    return found[-1] if found else None


def _last_end(lines: list[str]) -> int:
    ends = [i for i, line in enumerate(lines) if line.strip().upper().startswith("END")]
    return ends[-1] if ends else len(lines)


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
