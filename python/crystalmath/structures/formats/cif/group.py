"""The symmetry operators of a CIF, or why they are not certain.

Without an operator loop the group must be named in a setting that leaves no choice. A guess would
give the wrong atoms: 16 instead of 8 for silicon, 36 instead of 6 for bismuth. Called by
``structures.cif``.
"""

from __future__ import annotations

import re
from typing import Any, Final

from crystalmath.structures.formats.cif.operators import (
    Operators,
    SymmetryProblem,
    operators_of,
    parse_operators,
)
from crystalmath.structures.formats.number import number
from crystalmath.structures.symmetry.settings import RHOMBOHEDRAL, TWO_ORIGINS

_OPERATORS = (
    "_space_group_symop_operation_xyz",
    "_space_group_symop.operation_xyz",
    "_symmetry_equiv_pos_as_xyz",
)
_NUMBERS = ("_space_group_it_number", "_space_group.it_number", "_symmetry_int_tables_number")
_SYMBOLS = (
    "_space_group_name_h-m_alt",
    "_space_group.name_h-m_alt",
    "_symmetry_space_group_name_h-m",
)
_HALL = ("_space_group_name_hall", "_space_group.name_hall", "_symmetry_space_group_name_hall")
_SETTINGS: Final = {"1": 1, "2": 2, "h": 1, "r": 2}
_OLD: Final = {"cmca": "cmce", "cmma": "cmme", "ccca": "ccce", "abm2": "aem2", "aba2": "aea2"}


def operators(block: Any, warnings: list[str]) -> Operators:
    """Return the operators that ``block`` (lower-case tags) states.

    Raises
    ------
    SymmetryProblem
        They are not stated, and the group leaves a choice.
    """
    listed = _first(block, _OPERATORS)
    if listed:
        return parse_operators([str(item) for item in _as_list(listed)])
    group = _number(block)
    symbol, suffix = _symbol(block)
    if group is None and symbol is None:
        if _first(block, _HALL):
            raise SymmetryProblem("the CIF names its symmetry only by a Hall symbol")
        warnings.append("the CIF states no symmetry; its sites are taken as all atoms of the cell")
        group = 1
    if group is None:
        group = _group_of(str(symbol))
    elif symbol is not None:
        _same_setting(group, symbol)
    elif _first(block, _HALL):
        raise SymmetryProblem(
            f"the CIF names group {group} by a Hall symbol and lists no operators"
        )
    else:
        warnings.append(f"the CIF gives only the number {group}; its standard setting is assumed")
    return operators_of(group, _setting(group, suffix))


def _setting(group: int, suffix: str) -> int:
    allowed = {1: "12", 2: "hr"}
    if group in TWO_ORIGINS:
        if suffix in allowed[1] and suffix:
            return _SETTINGS[suffix]
        raise SymmetryProblem(
            f"group {group} has two origin choices, and the CIF neither lists its operators "
            "nor says which (:1 or :2)"
        )
    if group in RHOMBOHEDRAL:
        if suffix in allowed[2] and suffix:
            return _SETTINGS[suffix]
        raise SymmetryProblem(
            f"group {group} has hexagonal and rhombohedral axes, and the CIF neither lists its "
            "operators nor says which (:H or :R)"
        )
    if suffix:
        raise SymmetryProblem(f"group {group} in the setting :{suffix} needs its operators listed")
    return 1


def _symbol(block: Any) -> tuple[str | None, str]:
    """Return the Hermann-Mauguin symbol without its setting, and the setting in lower case."""
    value = _first(block, _SYMBOLS)
    if value is None or str(value).strip() in {"", "?", "."}:
        return None, ""
    symbol, _, suffix = str(value).partition(":")
    return symbol.strip(), suffix.strip().lower()


def _number(block: Any) -> int | None:
    value = number(_first(block, _NUMBERS))
    if value is None:
        return None
    if value != int(value) or not 1 <= value <= 230:
        raise SymmetryProblem(f"{value:g} is no space group number")
    return int(value)


def _same_setting(group: int, symbol: str) -> None:
    from ase.spacegroup import Spacegroup

    standard = str(Spacegroup(group).symbol)
    given, wanted = _compact(symbol), _compact(standard)
    if group >= 195:  # F m 3 m is the old way to write F m -3 m
        given, wanted = given.replace("-", ""), wanted.replace("-", "")
    if given != wanted:
        raise SymmetryProblem(
            f"{symbol!r} is not the standard setting of group {group} ({standard!r}), "
            "and the CIF lists no operators"
        )


def _group_of(symbol: str) -> int:
    from ase.spacegroup import Spacegroup

    try:
        group = int(Spacegroup(symbol).no)
    except Exception:  # noqa: BLE001 - the library raises several kinds for an unknown symbol
        raise SymmetryProblem(
            f"{symbol!r} is no space group in its standard setting, and the CIF lists no operators"
        ) from None
    _same_setting(group, symbol)
    return group


def _compact(symbol: str) -> str:
    """Make ``P 1 21/c 1`` and ``P21/c`` the same."""
    text = re.sub(r"[\s_]", "", symbol).lower()
    full = re.fullmatch(r"([pacibf])1(.+)1", text)
    text = full[1] + full[2] if full else text
    return _OLD.get(text, text)


def _first(block: Any, tags: tuple[str, ...]) -> Any:
    return next((block[tag] for tag in tags if tag in block), None)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]
