"""JSON exactly as agreed, in both directions, whichever library does the work.

Decoding refuses what JSON libraries let through or treat differently: invalid UTF-8, lone
surrogates, NaN and Infinity, numbers that overflow, integers beyond 64 bits, deep nesting.
Encoding always gives JSON: what is not finite becomes null, unknown types are an error. With the
``fast`` extra orjson does the common cases; the verdicts stay the same. Called by ``connection``,
``dispatch`` and ``proc``.
"""

from __future__ import annotations

import json
import json.encoder
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel

orjson: Any
try:
    import orjson
except ImportError:  # the `fast` extra is not installed
    orjson = None

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**64 - 1
SLICE_ROWS: Final = 500
"""Rows encoded at a time: the C encoder holds the interpreter lock from start to end."""


class BadJsonError(ValueError):
    """The text is not JSON as agreed; carries no part of the text."""


class UnencodableError(TypeError):
    """A result holds something that has no agreed form in JSON."""


# --- decoding ----------------------------------------------------------------------------------

_DIGITS = bytes.maketrans(b"123456789E+", b"000000000e-")
_LONG_NUMBER: Final = b"0" * 19
_BLANK: Final = " \t\r\n"
_CONTAINERS: Final = (dict, list)


def _no_constant(_text: str) -> Any:
    raise BadJsonError


def _checked_int(text: str) -> int:
    if len(text) > 20 or not INT_MIN <= (value := int(text)) <= INT_MAX:
        raise BadJsonError
    return value


def _checked_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadJsonError
    return value


def _scanner(
    parse_int: Callable[[str], Any] = int, parse_float: Callable[[str], Any] = float
) -> Callable[[str, int], tuple[Any, int]]:
    """Make the C scanner of a decoder: ``decode`` spends more on blanks than on a short text."""
    decoder: Any = json.JSONDecoder(
        parse_int=parse_int, parse_float=parse_float, parse_constant=_no_constant
    )
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once
    return scan


_quick_scan = _scanner()
_checked_scan = _scanner(parse_int=_checked_int, parse_float=_checked_float)


def decode(raw: bytes | bytearray, max_nesting: int) -> Any:
    """Decode one message.

    Parameters
    ----------
    raw
        UTF-8 text.
    max_nesting
        Deepest allowed nesting of arrays and objects.

    Raises
    ------
    BadJsonError
        The text is not JSON, or breaks one of the rules above.
    """
    try:
        if orjson is not None and _LONG_NUMBER not in raw.translate(_DIGITS):
            value = orjson.loads(raw)  # it makes floats of long integers; all else it refuses
        else:
            value = _decode_carefully(raw)
        # a text shorter than that has no room for so many brackets
        if len(raw) > 2 * max_nesting and raw.count(b"[") + raw.count(b"{") > max_nesting:
            _check_depth(value, max_nesting)
    except (ValueError, StopIteration, RecursionError):
        raise BadJsonError from None
    return value


def _decode_carefully(raw: bytes | bytearray) -> Any:
    """Decode with the standard library; its hooks are used only where a cheap sieve says so."""
    digits = raw.translate(_DIGITS)
    risky_number = b"000" in digits and (
        _LONG_NUMBER in digits or b"e000" in digits or b"e-000" in digits
    )
    del digits  # as long as the text
    text = str(raw, "utf-8").strip(_BLANK)
    value, end = (_checked_scan if risky_number else _quick_scan)(text, 0)
    if end != len(text):
        raise BadJsonError
    if b"\\u" in raw and (b"\\ud" in raw or b"\\uD" in raw):  # perhaps a lone surrogate
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _check_depth(value: Any, max_nesting: int) -> None:
    """Walk the containers level by level, so that the depth is that of no call stack."""
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(max_nesting):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return
    raise BadJsonError


# --- encoding ----------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Turn a value the JSON library does not know into one it does."""
    if isinstance(value, BaseModel):
        return json.loads(encode_model(value))
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise UnencodableError("a datetime without time zone")
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, PurePath | UUID):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return value.item()
    raise UnencodableError(f"a value of type {type(value).__name__}")


def _make_encoder() -> Callable[[Any, int], Sequence[str]]:
    """Make the C encoder once; ``JSONEncoder.encode`` would make a new one for each value."""
    c_make_encoder = getattr(json.encoder, "c_make_encoder", None)
    if c_make_encoder is None:  # an interpreter without the C part
        plain = json.JSONEncoder(
            ensure_ascii=False, allow_nan=False, default=_plain, separators=(",", ":")
        )
        return lambda value, _level: list(plain.iterencode(value))
    # markers None: no bookkeeping per container; a cycle ends in RecursionError instead
    markers, indent, sort_keys, skip_keys, allow_nan = None, None, False, False, False
    text: Any = getattr(json.encoder, "c_encode_basestring", None) or json.encoder.encode_basestring
    made: Callable[[Any, int], Sequence[str]] = c_make_encoder(
        markers, _plain, text, indent, ":", ",", sort_keys, skip_keys, allow_nan
    )
    return made


_encode_chunks = _make_encoder()


def encode(value: Any) -> bytes:
    """Encode a value; not-finite numbers become null, lone surrogates a question mark.

    Raises
    ------
    UnencodableError
        A type without an agreed form, or a cycle.
    """
    if type(value) is list and len(value) > SLICE_ROWS:
        rows = (value[i : i + SLICE_ROWS] for i in range(0, len(value), SLICE_ROWS))
        return b"[" + b",".join(_encode(part)[1:-1] for part in rows) + b"]"
    return _encode(value)


def _encode(value: Any) -> bytes:
    try:
        try:
            if orjson is not None:
                return _encode_fast(value)
            return "".join(_encode_chunks(value, 0)).encode("utf-8")
        except ValueError:  # NaN, or a lone surrogate
            return "".join(_encode_chunks(_clean(value), 0)).encode("utf-8")
    except RecursionError:
        raise UnencodableError("a value that contains itself or is nested too deeply") from None
    except UnencodableError:
        raise
    except (TypeError, ValueError):
        raise UnencodableError("a value that has no form in JSON") from None


def _encode_fast(value: Any) -> bytes:
    try:
        encoded: bytes = orjson.dumps(
            value,
            _plain,
            orjson.OPT_NON_STR_KEYS
            | orjson.OPT_PASSTHROUGH_DATETIME
            | orjson.OPT_PASSTHROUGH_DATACLASS
            | orjson.OPT_PASSTHROUGH_SUBCLASS,
        )
    except TypeError:  # also: beyond 64 bits, surrogates, cycles; the other encoder decides
        return "".join(_encode_chunks(value, 0)).encode("utf-8")
    return encoded


def encode_model(model: BaseModel) -> bytes:
    """Encode a pydantic model; its own serialiser follows the same rules.

    Raises
    ------
    UnencodableError
        A field holds something that has no agreed form.
    """
    try:
        return model.__pydantic_serializer__.to_json(model, by_alias=True)
    except (ValueError, TypeError, RecursionError):
        raise UnencodableError("a model with a value that has no form in JSON") from None


def _clean(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return str(value).encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_clean_key(k): _clean(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(v) for v in value]
    if value is None or isinstance(value, int):
        return value
    return _clean(_plain(value))


def _clean_key(key: Any) -> Any:
    return _clean(key) if isinstance(key, str) else key
