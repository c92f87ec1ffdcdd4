"""What the wire's rules say about a line: how many replies it gets, and under which id.

Written anew from the specification, with the standard library alone and without a look at how the
daemon does it: the two must agree on every line.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

MAX_NESTING = 64
MAX_BATCH = 100
BLANK = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Expected:
    """The replies to one line.

    Attributes
    ----------
    replies
        0 or 1: a batch is answered with one array.
    ids
        Ids, as JSON text, of the valid requests in it that bear one.
    echoes
        The same of all objects in it: an error about an invalid request has its id as well.
    parsed
        It is JSON as agreed.
    """

    replies: int
    ids: tuple[str, ...] = ()
    echoes: tuple[str, ...] = ()
    parsed: bool = True


class _Refused(ValueError):
    """Not JSON as agreed."""


def expect(line: bytes) -> Expected:
    """Judge a line, given without its newline."""
    if not line.strip(BLANK):
        return Expected(0)
    try:
        message = _decode(line.strip(BLANK))
    except (ValueError, RecursionError):
        return Expected(1, parsed=False)
    if not isinstance(message, list):
        replies = 0 if _is_notification(message) else 1
        return Expected(replies, _ids([message]), _echoes([message]))
    if not message or len(message) > MAX_BATCH:
        return Expected(1)
    if all(_is_notification(element) for element in message):
        return Expected(0)
    return Expected(1, _ids(message), _echoes(message))


def key(call_id: object) -> str:
    """An id as JSON text, so that 1, 1.0 and "1" stay apart."""
    return json.dumps(call_id)


def _ids(elements: list[Any]) -> tuple[str, ...]:
    return tuple(key(e["id"]) for e in elements if is_call(e) and "id" in e)


def _echoes(elements: list[Any]) -> tuple[str, ...]:
    return tuple(key(e["id"]) for e in elements if isinstance(e, dict) and _has_valid_id(e))


def _has_valid_id(element: dict[str, Any]) -> bool:
    call_id = element.get("id", ())
    return call_id is None or (
        isinstance(call_id, str | int | float) and not isinstance(call_id, bool)
    )


def is_call(element: Any) -> bool:
    """Whether it is a valid request or notification."""
    if not isinstance(element, dict) or element.get("jsonrpc") != "2.0":
        return False
    valid_id = "id" not in element or _has_valid_id(element)
    return isinstance(element.get("method"), str) and valid_id


def _is_notification(element: Any) -> bool:
    return is_call(element) and "id" not in element


def _decode(line: bytes) -> Any:
    text = line.decode("utf-8")
    value = json.loads(text, parse_int=_int, parse_float=_float, parse_constant=_constant)
    _check(value, 0)
    return value


def _int(text: str) -> int:
    if len(text) > 20 or not -(2**63) <= int(text) < 2**64:
        raise _Refused
    return int(text)


def _float(text: str) -> float:
    if not math.isfinite(float(text)):
        raise _Refused
    return float(text)


def _constant(_text: str) -> Any:
    raise _Refused


def _check(value: Any, depth: int) -> None:
    if isinstance(value, str):
        value.encode("utf-8")  # a lone surrogate has no UTF-8
    elif isinstance(value, list | dict):
        if depth >= MAX_NESTING:
            raise _Refused
        for child in value.values() if isinstance(value, dict) else value:
            _check(child, depth + 1)
        for name in value if isinstance(value, dict) else ():
            name.encode("utf-8")
