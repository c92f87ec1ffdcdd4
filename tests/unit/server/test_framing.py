"""Bytes to lines: however the bytes are split, the lines are the same."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from crystalmath.server.framing import OVERSIZE, Line, LineFramer


def framed(chunks: list[bytes], limit: int = 100) -> list[Line]:
    framer = LineFramer(limit)
    return [line for chunk in chunks for line in framer.feed(chunk)]


def test_lines() -> None:
    assert framed([b"a\n"]) == [b"a"]
    assert framed([b"a\r\n\n  \n\t\r\nb\n"]) == [b"a", b"b"]
    assert framed([b"a", b"b", b"\n", b"c"]) == [b"ab"]
    assert framed([b"\n"]) == []


def test_only_json_blanks_are_stripped() -> None:
    assert framed([b" a\x0c\n"]) == [b"a\x0c"]
    assert framed([b"\x00\n"]) == [b"\x00"]


def test_limit_is_exact() -> None:
    for length, expected in ((99, b"x" * 99), (100, b"x" * 100), (101, OVERSIZE)):
        assert framed([b"x" * length + b"\n"]) == [expected]
        assert framed([b"x" * 50, b"x" * (length - 50), b"\n"]) == [expected]


def test_oversize_is_reported_once_and_dropped_to_its_newline() -> None:
    framer = LineFramer(10)
    assert framer.feed(b"x" * 11) == [OVERSIZE]
    assert framer.feed(b"y" * 1000) == []
    assert framer.unfinished
    assert framer.feed(b"z\nok\n") == [b"ok"]
    assert not framer.unfinished
    assert framer.discarded_bytes == 1012


def test_unfinished() -> None:
    framer = LineFramer(10)
    assert not framer.unfinished
    framer.feed(b"a")
    assert framer.unfinished
    framer.feed(b"\n")
    assert not framer.unfinished


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=8))
def test_splitting_changes_nothing(data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(min(c, len(data)) for c in cuts)})
    chunks = [data[a:b] for a, b in pairwise(places)]
    assert framed(chunks, 20) == framed([data] if data else [], 20)


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=20))
def test_every_line_arrives(lines: list[bytes]) -> None:
    wanted = [s for line in lines if (s := line.strip(b" \t\r\n"))]
    assert framed([b"".join(line + b"\n" for line in lines)], 20) == wanted
