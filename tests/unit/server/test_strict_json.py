"""JSON as agreed: the same verdicts whichever library does the work."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from crystalmath.server import strict_json
from crystalmath.server.strict_json import BadJsonError, UnencodableError, decode, encode

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment, unused-ignore]

CODECS = [
    pytest.param(None, id="stdlib"),
    pytest.param(
        orjson,
        id="orjson",
        marks=pytest.mark.skipif(orjson is None, reason="the `fast` extra is not installed"),
    ),
]


@pytest.fixture(params=CODECS)
def codec(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module: ModuleType | None = request.param
    monkeypatch.setattr(strict_json, "orjson", module)
    return


GOOD: list[tuple[bytes, Any]] = [
    (b"1", 1),
    (b" [1, 2] ", [1, 2]),
    (b"-0", 0),
    (b"1e5", 1e5),
    (b"1E+5", 1e5),
    (b"1e308", 1e308),
    (b"1e-999", 0.0),
    (b"18446744073709551615", 2**64 - 1),
    (b"-9223372036854775808", -(2**63)),
    (b"0." + b"1" * 400, float("0." + "1" * 400)),
    (b'"\\ud83d\\ude00"', "\U0001f600"),
    (b'"\\\\ud800"', "\\ud800"),
    (b'"\\u0000"', "\0"),
    (b'"\x7f"', "\x7f"),
    (b'{"a":1,"a":2}', {"a": 2}),
    (b'{"id":"1e123","x":"e-999"}', {"id": "1e123", "x": "e-999"}),
    (b'"' + b"[" * 100 + b'"', "[" * 100),
    (b'["\\"' + b"[" * 100 + b'"]', ['"' + "[" * 100]),
    (b"[" + b"{}," * 200 + b"1]", [{}] * 200 + [1]),
]
BAD: list[bytes] = [
    b"", b"{", b"[1,]", b'{"a":1,}', b"01", b"1.", b".5", b"-", b"+1", b"0x10", b"nul", b"'a'",
    b"{1:2}", b"1 2", b"// x\n1", b"1_0", b'"a', b'"\t"', b'"\\x"', b'"\\u12"', b"1\x0c",
    b"NaN", b"[Infinity]", b"-Infinity", b"1e999", b"-1E+400", b"1" + b"0" * 400 + b".0",
    b"18446744073709551616", b"-9223372036854775809", b"1" * 5000,
    b'"\\ud800"', b'"\\uDFFFx"', b'"\\ud800\\u0041"', b'{"\\udc00":1}', b'"\xed\xa0\x80"',
    b'"\xff"', b'"\xc0\x80"', b'"\xf4\x90\x80\x80"', b"\xef\xbb\xbf1", b"\x00", b'"\x00"',
    b"\xc2\xa01", b"\xd9\xa1",
    b"[" * 65 + b"]" * 65, b'{"a":' * 65 + b"1" + b"}" * 65, b"[" * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
]  # fmt: skip


@pytest.mark.usefixtures("codec")
class TestDecode:
    @pytest.mark.parametrize(("raw", "value"), GOOD, ids=lambda v: repr(v)[:30])
    def test_good(self, raw: bytes, value: Any) -> None:
        got = decode(raw, 64)
        assert got == value
        assert type(got) is type(value)

    @pytest.mark.parametrize("raw", BAD, ids=lambda v: repr(v)[:30])
    def test_bad(self, raw: bytes) -> None:
        with pytest.raises(BadJsonError):
            decode(raw, 64)

    def test_nesting_is_exact(self) -> None:
        decode(b"[" * 64 + b"]" * 64, 64)
        decode(b'{"a":' * 64 + b"1" + b"}" * 64, 64)
        decode(b"[" * 63 + b"[],[]," * 100 + b"1" + b"]" * 63, 64)
        with pytest.raises(BadJsonError):
            decode(b"[" * 63 + b"[],[[]]" + b"]" * 63, 64)

    def test_the_error_holds_no_input(self) -> None:
        with pytest.raises(BadJsonError) as caught:
            decode(b'{"secret": nope}', 64)
        assert str(caught.value) == ""
        assert caught.value.__suppress_context__


@pytest.mark.skipif(orjson is None, reason="the `fast` extra is not installed")
@given(
    st.one_of(
        st.binary(max_size=40), st.text('[]{}",:-+.eE0123456789ud\\', max_size=40).map(str.encode)
    )
)
def test_both_libraries_agree(raw: bytes) -> None:
    verdicts = []
    for module in (None, orjson):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(strict_json, "orjson", module)
            try:
                verdicts.append(repr(decode(raw, 64)))
            except BadJsonError:
                verdicts.append("bad")
    assert verdicts[0] == verdicts[1]


class Colour(enum.StrEnum):
    RED = "red"


class Point(BaseModel):
    x: float
    at: dt.datetime


NOW = dt.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=dt.UTC)
ENCODED: list[tuple[Any, Any]] = [
    ({"a": [1, 1.5, None, True, "x"]}, {"a": [1, 1.5, None, True, "x"]}),
    ({"a": math.nan, "b": [math.inf, -math.inf]}, {"a": None, "b": [None, None]}),
    ([math.nan] * 501, [None] * 501),
    (list(range(1001)), list(range(1001))),
    ((1, 2), [1, 2]),
    ({1: "a", None: "b"}, {"1": "a", "null": "b"}),
    (NOW, "2026-01-02T03:04:05.678000Z"),
    (NOW.astimezone(dt.timezone(dt.timedelta(hours=2))), "2026-01-02T03:04:05.678000Z"),
    (Path("/a/b"), "/a/b"),
    (Colour.RED, "red"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ("ä\U0001f600", "ä\U0001f600"),
    ("\ud800", "?"),
    ({"\ud800": "\udc00"}, {"?": "?"}),
    ({"p": Point(x=math.nan, at=NOW)}, {"p": {"x": None, "at": "2026-01-02T03:04:05.678000Z"}}),
]


def cycle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.usefixtures("codec")
class TestEncode:
    @pytest.mark.parametrize(("value", "expected"), ENCODED, ids=lambda v: repr(v)[:30])
    def test_values(self, value: Any, expected: Any) -> None:
        encoded = encode(value)
        assert json.loads(encoded.decode("utf-8")) == expected
        decode(encoded, 64)

    @pytest.mark.parametrize(
        "value",
        [b"bytes", {1, 2}, object(), cycle(), {(1,): 2}, dt.datetime(2026, 1, 1), 1j, [b"x"] * 501],  # noqa: DTZ001
        ids=lambda v: type(v).__name__,
    )
    def test_unencodable(self, value: Any) -> None:
        with pytest.raises(UnencodableError):
            encode(value)

    def test_numpy_scalars(self) -> None:
        np = pytest.importorskip("numpy")
        value = {
            "f": np.float64(1.5),
            "i": np.int64(7),
            "b": np.bool_(True),
            "n": np.float32("nan"),
        }
        assert json.loads(encode(value)) == {"f": 1.5, "i": 7, "b": True, "n": None}
        with pytest.raises(UnencodableError):
            encode(np.zeros(3))


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
))  # fmt: skip
def test_whatever_is_encoded_decodes(value: Any) -> None:
    decode(encode(value), 64)
