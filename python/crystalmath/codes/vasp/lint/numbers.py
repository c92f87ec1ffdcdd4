"""Tags of INCAR whose values are numbers: what else stands there VASP cannot read. Pure text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from crystalmath.codes.vasp.deck.incar import incar_value, words
from crystalmath.errors import InvalidParams

_WHOLE: Final[Mapping[str, str]] = {
    "IBRION": "2", "ICHARG": "2", "ISIF": "3", "ISMEAR": "0", "ISPIN": "2", "ISTART": "0",
    "NBANDS": "24", "NEDOS": "2001", "NELM": "100", "NELMIN": "4", "NFREE": "2", "NSW": "50",
}  # fmt: skip
"""Whole numbers, each with one that may stand there."""
_REAL: Final[Mapping[str, str]] = {
    "EDIFF": "1E-6", "EDIFFG": "-0.01", "EMAX": "10", "EMIN": "-10", "ENAUG": "800", "ENCUT": "520",
    "KSPACING": "0.3", "NELECT": "16", "NUPDOWN": "2", "POTIM": "0.5", "PSTRESS": "10",
    "SIGMA": "0.05", "SMASS": "0", "TEBEG": "300", "TEEND": "300",
}  # fmt: skip
_LISTS: Final[Mapping[str, str]] = {
    "LDAUJ": "0 0", "LDAUL": "2 -1", "LDAUU": "4 0", "MAGMOM": "2*2.0 2*0",
}  # fmt: skip
"""Numbers of atoms or elements, each of which has to be one."""
_ABOVE_ZERO: Final = frozenset({"ENAUG", "ENCUT", "KSPACING", "NBANDS"})
_SPINS: Final = (1.0, 2.0)
_SHOWN: Final = 40


def wrong_numbers(tags: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """The tags with values that are no numbers, or none that VASP takes.

    Yields
    ------
    tuple of str
        The tag, what is wrong, and what may stand there.
    """
    for tag, value in tags.items():
        like = _WHOLE.get(tag) or _REAL.get(tag) or _LISTS.get(tag)
        if like is None:
            continue
        wrong = _wrong_with(tag, value)
        if wrong is not None:
            yield tag, wrong, f"e.g. {tag} = {like}"


def refuse_wrong_numbers(incar: Mapping[str, Any], at: str) -> None:
    """Refuse tags that a user gave with values that are no numbers.

    Parameters
    ----------
    at
        The field that has ``incar``: ``inputs`` or ``options``.

    Raises
    ------
    InvalidParams
    """
    given = {tag: incar_value(value) for tag, value in incar.items()}
    for tag, wrong, fix in wrong_numbers(given):
        raise InvalidParams(wrong, hint=fix, field=f"{at}.incar.{tag}")


def _wrong_with(tag: str, value: str) -> str | None:
    """What is wrong with the value of a tag of the tables; None where nothing is."""
    found = list(dict.fromkeys(words(value)))
    counted = found if tag in _LISTS else found[:1]
    numbers = [_read(word) for word in counted]
    shown = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
    if not numbers or any(math.isnan(one) for one in numbers):
        return f"{tag} must be {'numbers' if tag in _LISTS else 'a number'}, and is {shown!r}"
    if tag in _WHOLE and not numbers[0].is_integer():
        return f"{tag} must be a whole number, and is {shown}"
    if tag in _ABOVE_ZERO and numbers[0] <= 0:
        return f"{tag} must be above 0, and is {shown}"
    if tag == "ISPIN" and numbers[0] not in _SPINS:
        return f"ISPIN must be 1 or 2, and is {shown}"
    return None


def _read(word: str) -> float:
    """A number as Fortran reads it; NaN for what is none."""
    try:
        found = float(word.rstrip(",").lower().replace("d", "e"))
    except ValueError:
        return math.nan
    return found if math.isfinite(found) and "_" not in word else math.nan
