"""What can be wrong with a deck before pw.x starts: each refusal names the field.

Only what is certain is refused; whether the physics is sensible, pw.x decides. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.namelist import Value
from crystalmath.codes.espresso.options import MOVING, TASKS
from crystalmath.errors import InvalidParams

Refuse = Callable[[str, str], InvalidParams]
"""Makes a refusal of a problem and a hint."""

_ALWAYS: Final = ("control", "system", "electrons")


def check_deck(deck: Deck, name: str, field: str) -> None:
    """Refuse a deck that pw.x would refuse.

    Parameters
    ----------
    name
        What the user calls the deck.
    field
        The request's field that it came in.

    Raises
    ------
    InvalidParams
    """

    def refuse(problem: str, hint: str) -> InvalidParams:
        return InvalidParams(f"{name}: {problem}", hint=hint, field=field)

    missing = [f"&{one}" for one in _ALWAYS if one not in deck.namelists]
    if missing:
        raise refuse(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            "a pw.x deck begins with the namelists &control, &system and &electrons",
        )
    for found in deck.namelists.values():
        if not found.closed:
            raise refuse(f"&{found.name} is not closed", "end the namelist with a line that is /")
    if deck.calculation not in TASKS:
        raise refuse(
            f"calculation = {deck.calculation[:60]!r} is none of {', '.join(TASKS)}",
            "correct it in &control",
        )
    _need_namelists(deck, refuse)
    _check_atoms(deck, refuse)
    if "K_POINTS" not in deck.cards:
        raise refuse("the card K_POINTS is missing", "K_POINTS gamma, or K_POINTS automatic")
    prefix = deck.prefix
    if not prefix or "/" in prefix or prefix in (".", ".."):
        raise refuse(f"prefix = {prefix[:60]!r} is no file name", "give a name without slashes")


def with_values(deck: Deck, values: Mapping[str, Value], field: str) -> Deck:
    """The deck with single values set: ``namelist.variable`` → value.

    Raises
    ------
    InvalidParams
        It has no such namelist.
    """
    for name, value in values.items():
        namelist, _, key = name.partition(".")
        if namelist not in deck.namelists:
            raise InvalidParams(
                f"the deck has no namelist &{namelist}",
                hint=f"it has {', '.join(deck.namelists) or 'none'}",
                field=f"{field}.{name}",
            )
        deck = deck.with_value(namelist, key.replace(" ", ""), value)
    return deck


def _need_namelists(deck: Deck, refuse: Refuse) -> None:
    needed = ["ions"] if deck.calculation in MOVING else []
    if deck.calculation.startswith("vc-"):
        needed.append("cell")
    for name in needed:
        if name not in deck.namelists:
            raise refuse(
                f"&{name} is missing, which calculation = {deck.calculation!r} needs",
                f"add an empty one behind &electrons: &{name} and a line that is /",
            )


def _check_atoms(deck: Deck, refuse: Refuse) -> None:
    for key, card, count in (
        ("ntyp", "ATOMIC_SPECIES", len(deck.species)),
        ("nat", "ATOMIC_POSITIONS", len(deck.labels)),
    ):
        wanted = deck.count("system", key)
        if wanted is None or wanted < 1:
            raise refuse(f"{key} is missing in &system, or no positive integer", "set it")
        if card not in deck.cards:
            raise refuse(f"the card {card} is missing", "pw.x needs it")
        if count < wanted:
            raise refuse(f"{key} = {wanted}, but {card} has {count} lines", "correct one of them")
    known = {species.label for species in deck.species}
    unknown = [label for label in dict.fromkeys(deck.labels) if label not in known]
    if unknown:
        raise refuse(
            f"ATOMIC_POSITIONS names {', '.join(unknown[:5])}, which ATOMIC_SPECIES does not",
            f"the species are {', '.join(sorted(known))}",
        )
