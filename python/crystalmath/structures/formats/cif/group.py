"""The symmetry operators of a CIF, or why they are not certain.

Without an operator loop the group must be named in a setting that leaves no choice. A guess would
give the wrong atoms: 16 instead of 8 for silicon, 36 instead of 6 for bismuth. Called by
``formats.cif.reader``.
"""

from __future__ import annotations

import re
from typing import Any

import gemmi

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
    hall = _text(block, _HALL)
    if hall is not None:
        return operators_of(_of_hall(hall, group))
    symbol, _, suffix = (_text(block, _SYMBOLS) or "").partition(":")
    symbol, suffix = symbol.strip(), suffix.strip().lower()
    if symbol:
        return operators_of(_named(symbol, suffix, group))
    if group is None:
        warnings.append("the CIF states no symmetry; its sites are taken as all atoms of the cell")
        group = 1
    else:
        _refuse_a_choice(group, "")
        warnings.append(f"the CIF gives only the number {group}; its standard setting is assumed")
    return operators_of(gemmi.find_spacegroup_by_number(group).operations())


def _of_hall(hall: str, group: int | None) -> gemmi.GroupOps:
    try:
        operations = gemmi.symops_from_hall(hall)
    except (RuntimeError, ValueError):
        raise SymmetryProblem(
            f"{hall!r} is no Hall symbol, and the CIF lists no operators"
        ) from None
    found: Any = gemmi.find_spacegroup_by_ops(operations)  # None for none of the table
    if group is not None and found is not None and found.number != group:
        raise SymmetryProblem(
            f"the Hall symbol {hall!r} is of group {found.number}, not of {group}"
        )
    return operations


def _named(symbol: str, suffix: str, group: int | None) -> gemmi.GroupOps:
    """The operators of a Hermann-Mauguin symbol in the setting that it states."""
    plain = gemmi.find_spacegroup_by_name(symbol)
    if plain is None:
        raise SymmetryProblem(f"{symbol!r} is no space group, and the CIF lists no operators")
    if group is not None and plain.number != group:
        raise SymmetryProblem(
            f"{symbol!r} is a setting of group {plain.number}, not of {group}, "
            "and the CIF lists no operators"
        )
    _refuse_a_choice(plain.number, suffix)
    found: Any = gemmi.find_spacegroup_by_name(f"{symbol}:{suffix.upper()}") if suffix else plain
    if found is None or (suffix and found.ext.lower() != suffix):
        raise SymmetryProblem(
            f"group {plain.number} in the setting :{suffix} needs its operators listed"
        )
    operations: gemmi.GroupOps = found.operations()
    return operations


def _refuse_a_choice(group: int, suffix: str) -> None:
    if group in TWO_ORIGINS and suffix not in {"1", "2"}:
        raise SymmetryProblem(
            f"group {group} has two origin choices, and the CIF neither lists its operators "
            "nor says which (:1 or :2)"
        )
    if group in RHOMBOHEDRAL and suffix not in {"h", "r"}:
        raise SymmetryProblem(
            f"group {group} has hexagonal and rhombohedral axes, and the CIF neither lists its "
            "operators nor says which (:H or :R)"
        )


def _number(block: Any) -> int | None:
    value = number(_first(block, _NUMBERS))
    if value is None:
        return None
    if value != int(value) or not 1 <= value <= 230:
        raise SymmetryProblem(f"{value:g} is no space group number")
    return int(value)


def _text(block: Any, tags: tuple[str, ...]) -> str | None:
    value = _first(block, tags)
    text = "" if value is None else re.sub(r"_", " ", str(value)).strip()
    return None if text in {"", "?", "."} else text


def _first(block: Any, tags: tuple[str, ...]) -> Any:
    return next((block[tag] for tag in tags if tag in block), None)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]
