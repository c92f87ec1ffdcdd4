"""Texts of a template that stand for mappings and lists: ``Mg=Mg_pv, O=O``, ``0.5 0 0.5``.

A parameter of a template is a text or a number; options of codes are more. Used by
``services.template_makers``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from crystalmath.errors import InvalidParams

_APART: Final = re.compile(r"[,;\n]")
_LINES: Final = re.compile(r"[;\n]")
"""Values of tags may hold commas."""


def option(name: str, value: Any) -> Any:
    """The value of an option as a code takes it.

    Parameters
    ----------
    value
        As the template has it: for a mapping its text, itself, or a list of such, of which the
        later ones count and what is None is left out.

    Raises
    ------
    InvalidParams
        The text does not stand for such a value; ``field`` is the option.
    """
    read = _READERS.get(name)
    return value if read is None else read(name, value)


def _words(name: str, value: Any) -> dict[str, Any]:
    return _mapping(name, value, _APART, lambda text: text)


def _tags(name: str, value: Any) -> dict[str, Any]:
    return _mapping(name, value, _LINES, lambda text: text)


def _moments(name: str, value: Any) -> dict[str, Any]:
    return _mapping(name, value, _APART, lambda text: _number(name, text))


def _mapping(
    name: str, value: Any, apart: re.Pattern[str], meant: Callable[[str], Any]
) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {key: one for key, one in value.items() if one is not None}
    if isinstance(value, list):
        found: dict[str, Any] = {}
        for one in value:
            found |= _mapping(name, one, apart, meant)
        return found
    found = {}
    for piece in filter(str.strip, apart.split(str(value))):
        key, sign, text = (part.strip() for part in piece.partition("="))
        if not sign or not key or not text:
            raise InvalidParams(
                f"{piece.strip()[:60]!r} is no NAME=VALUE",
                hint="give all as NAME=VALUE, several parted by commas or line ends"
                if apart is _APART
                else "give each as TAG = VALUE, several parted by ; or line ends",
                field=f"options.{name}",
            )
        if key in found:
            raise InvalidParams(f"{key} is given twice", field=f"options.{name}")
        found[key] = meant(text)
    return found


def _numbers(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return [_number(name, word) for word in value.replace(",", " ").split()]


def _number(name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InvalidParams(f"{text[:60]!r} is no number", field=f"options.{name}")
    return found


_READERS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "pseudos": _words,
    "potcars": _words,
    "incar": _tags,
    "moments_mu_b": _moments,
    "q_point": _numbers,
}
