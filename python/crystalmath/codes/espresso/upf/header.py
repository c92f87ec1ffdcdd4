"""The header of a UPF file, versions 1 and 2: what a calculation has to know of it. Pure.

Both are written by programs of many years, so what is not there is None and 0 means "not given".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from crystalmath.codes.espresso.fortran import NUMBER, number
from crystalmath.codes.espresso.upf.functionals import canonical

HEAD_BYTES: Final = 1024**2
"""The header stands behind a text for people, of some kB; so much is read."""

Kind = Literal["NC", "US", "PAW"]

_ATTRIBUTE: Final = r"(\w+)\s*=\s*(\"[^\"]*\"|'[^']*')"
_HEADER_2: Final = re.compile(rf"<PP_HEADER((?:\s+{_ATTRIBUTE})+)\s*/?>")
_HEADER_1: Final = re.compile(r"<PP_HEADER>(.*?)</PP_HEADER>", re.DOTALL)
_SUGGESTED: Final = (
    re.compile(rf"Suggested minimum cutoff for wavefunctions:\s*{NUMBER}"),
    re.compile(rf"Suggested minimum cutoff for charge density:\s*{NUMBER}"),
)
_TRUE: Final = re.compile(r"\.?t(rue)?\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Header:
    """What a header says.

    Attributes
    ----------
    kind
        Norm-conserving, ultrasoft or PAW.
    z_valence
        Electrons that are not in the core.
    functional
        In one spelling; None when it does not say it.
    wfc_cutoff_ry, rho_cutoff_ry
        Suggested least cutoffs; None when it suggests none.
    """

    element: str
    kind: Kind
    z_valence: float
    functional: str | None
    wfc_cutoff_ry: float | None
    rho_cutoff_ry: float | None


def parse_header(text: str) -> Header | None:
    """Read the header; None when there is none, or one without element or valence."""
    found = _HEADER_2.search(text)
    if found is not None:
        values = {
            key.lower(): value[1:-1].strip() for key, value in re.findall(_ATTRIBUTE, found[1])
        }
        return _of_attributes(values, text)
    old = _HEADER_1.search(text)
    return None if old is None else _of_lines(old[1], text)


def _of_attributes(values: Mapping[str, str], text: str) -> Header | None:
    element = values.get("element", "").capitalize()
    valence = _number(values.get("z_valence"))
    if not element or valence is None:
        return None
    suggested = _suggested(text)
    return Header(
        element,
        _kind(values),
        valence,
        canonical(values.get("functional", "")),
        _given(_number(values.get("wfc_cutoff"))) or suggested[0],
        _given(_number(values.get("rho_cutoff"))) or suggested[1],
    )


def _kind(values: Mapping[str, str]) -> Kind:
    name = values.get("pseudo_type", "").upper()
    if name == "PAW" or _TRUE.fullmatch(values.get("is_paw", "")):
        return "PAW"
    if name.startswith("US") or _TRUE.fullmatch(values.get("is_ultrasoft", "")):
        return "US"
    return "NC"


def _of_lines(body: str, text: str) -> Header | None:
    """Version 1: a value and what it is on every line."""
    element = re.search(r"^\s*([A-Za-z]{1,2})\s+Element", body, re.MULTILINE)
    valence = re.search(rf"^\s*{NUMBER}\s+Z valence", body, re.MULTILINE)
    kind = re.search(r"^\s*(NC|US|PAW)\b", body, re.MULTILINE)
    if element is None or valence is None or kind is None:
        return None
    functional = re.search(r"^(.*?)\s+Exchange-Correlation", body, re.MULTILINE)
    cutoffs = re.search(rf"^\s*{NUMBER}\s+{NUMBER}\s+Suggested cutoff", body, re.MULTILINE)
    suggested = _suggested(text)
    wfc, rho = (None, None) if cutoffs is None else (number(cutoffs[1]), number(cutoffs[2]))
    names = " ".join(functional[1].split()[:4]) if functional else ""
    return Header(
        element[1].capitalize(),
        kind[1],  # type: ignore[arg-type]
        number(valence[1]),
        canonical(names),
        _given(wfc) or suggested[0],
        _given(rho) or suggested[1],
    )


def _suggested(text: str) -> tuple[float | None, float | None]:
    wfc, rho = (pattern.search(text) for pattern in _SUGGESTED)
    return (
        None if wfc is None else _given(number(wfc[1])),
        None if rho is None else _given(number(rho[1])),
    )


def _number(text: str | None) -> float | None:
    found = re.fullmatch(NUMBER, (text or "").strip())
    return None if found is None else number(found[1])


def _given(value: float | None) -> float | None:
    """A cutoff of 0 stands for none."""
    return value if value is not None and value > 0 else None
