"""The rules that the fuzz run judges by, on lines whose verdict is plain."""

from __future__ import annotations

import random

import pytest

from soak.mutations import Mutator
from soak.oracle import expect

CALL = b'{"jsonrpc":"2.0","id":%s,"method":"system.ping"}'
NOTIFICATION = b'{"jsonrpc":"2.0","method":"system.ping"}'
DEEP = b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + b"[" * 63 + b"]" * 63 + b"}"


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        (b"", 0),
        (b" \t\r", 0),
        (NOTIFICATION, 0),
        (b"[%s,%s]" % (NOTIFICATION, NOTIFICATION), 0),
        (CALL % b"1", 1),
        (b"[%s,%s]" % (NOTIFICATION, CALL % b"1"), 1),
        (b"[]", 1),
        (b"[1,2,3]", 1),
        (b"42", 1),
        (NOTIFICATION.replace(b"2.0", b"1.0"), 1),
        (NOTIFICATION.replace(b'"system.ping"', b"5"), 1),
    ],
)
def test_number_of_replies(line: bytes, replies: int) -> None:
    assert expect(line).replies == replies
    assert expect(line).parsed


@pytest.mark.parametrize(
    "line",
    [
        NOTIFICATION[:-1],
        NOTIFICATION + b"x",
        b"\xef\xbb\xbf" + NOTIFICATION,
        NOTIFICATION.replace(b"ping", b"\xff"),
        NOTIFICATION.replace(b"ping", b"\\ud800"),
        CALL % b"NaN",
        CALL % b"1e999",
        CALL % b"18446744073709551616",
        DEEP.replace(b"[" * 63, b"[" * 64).replace(b"]" * 63, b"]" * 64),
    ],
)
def test_what_is_no_json_as_agreed_is_answered_even_as_a_notification(line: bytes) -> None:
    assert expect(line).replies == 1
    assert not expect(line).parsed


def test_the_deepest_allowed_nesting_is_parsed() -> None:
    assert expect(DEEP).parsed


@pytest.mark.parametrize("call_id", [b"1", b"1.5", b'""', b"null", b"-1", b'"\\u00e9"'])
def test_valid_ids(call_id: bytes) -> None:
    assert len(expect(CALL % call_id).ids) == 1


@pytest.mark.parametrize("call_id", [b"true", b"[]", b"{}"])
def test_ids_that_are_none(call_id: bytes) -> None:
    assert expect(CALL % call_id).ids == ()
    assert expect(CALL % call_id).echoes == ()


def test_the_id_of_an_invalid_request_is_echoed() -> None:
    found = expect(b'{"jsonrpc":"2.0","id":7,"method":1}')
    assert found.ids == ()
    assert found.echoes == ("7",)


def test_the_same_seed_gives_the_same_lines() -> None:
    first, again, other = (Mutator(random.Random(seed)) for seed in (1, 1, 2))
    lines = [first.line() for _ in range(500)]
    assert lines == [again.line() for _ in range(500)]
    assert lines != [other.line() for _ in range(500)]


def test_the_lines_are_of_every_kind() -> None:
    mutator = Mutator(random.Random(3))
    verdicts = [expect(line[:-1]) for line in (mutator.line() for _ in range(2000)) if line]
    assert sum(not v.parsed for v in verdicts) > 100
    assert sum(v.replies == 0 for v in verdicts) > 10
    assert sum(len(v.ids) > 1 for v in verdicts) > 10
