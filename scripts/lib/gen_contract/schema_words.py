"""A JSON schema in words: ``{"type": "integer", "minimum": 1}`` → ``integer, ≥ 1``.

Called by ``methods_md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def type_words(schema: Mapping[str, Any]) -> str:
    """The type and bounds of a schema, as Markdown."""
    for key, words in _BY_KEY.items():
        if key in schema:
            return words(schema[key])
    kind = str(schema.get("type", "any value"))
    by_kind = {"array": _array, "object": _object}
    if kind in by_kind:
        return by_kind[kind](schema)
    return ", ".join([kind, *_bounds(schema)])


def _reference(target: str) -> str:
    name = target.rpartition("/")[2]
    return f"[{name}](#{name.lower()})"


def _enum(values: list[Any]) -> str:
    return "one of " + ", ".join(f"`{value}`" for value in values)


def _const(value: Any) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _any_of(choices: list[dict[str, Any]]) -> str:
    words = [type_words(choice) for choice in choices if choice.get("type") != "null"]
    nullable = len(words) < len(choices)
    return " or ".join(words) + (" or null" if nullable else "")


_BY_KEY: Final[dict[str, Callable[[Any], str]]] = {
    "$ref": _reference,
    "anyOf": _any_of,
    "oneOf": _any_of,
    "enum": _enum,
    "const": _const,
}


def _array(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and least == most:
        count = f"{least} × "
    elif most is not None:
        count = f"up to {most} × "
    else:
        count = "list of "
    return count + type_words(schema.get("items", {}))


def _object(schema: Mapping[str, Any]) -> str:
    inner = schema.get("additionalProperties", True)
    if inner is True:
        return "object"
    return f"object of {type_words(inner)}" if isinstance(inner, Mapping) else "object"


def _bounds(schema: Mapping[str, Any]) -> list[str]:
    found = []
    for key, sign in (
        ("minimum", "≥"),
        ("exclusiveMinimum", ">"),
        ("maximum", "≤"),
        ("exclusiveMaximum", "<"),
    ):
        if key in schema:
            found.append(f"{sign} {_power(schema[key])}")
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least is not None and most is not None:
        found.append(f"{least}–{most} characters")
    elif most is not None:
        found.append(f"up to {most} characters")
    if "pattern" in schema:
        found.append(f"like `{schema['pattern']}`")
    if schema.get("format") == "date-time":
        found.append("RFC 3339")
    return found


def _power(number: float) -> str:
    return "2⁶³" if number == 2**63 else f"{number}"
