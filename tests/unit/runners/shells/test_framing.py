"""Frames around a command's output: cut anywhere, with noise, over the cap, without an end."""

import subprocess
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.runners.shells.framing import Deframer, Streams, frame_script, new_token

TOKEN = "cm00112233445566778899aabbccddeeff"


def fed(chunks: list[bytes], cap: int = 1 << 20) -> Deframer:
    deframer = Deframer(TOKEN, cap)
    for chunk in chunks:
        deframer.feed(chunk)
    return deframer


def framed(body: bytes, rc: int = 0, before: bytes = b"", after: bytes = b"") -> bytes:
    token = TOKEN.encode()
    return before + token + b" begin\n" + body + token + b" end %d\n" % rc + after


@given(
    st.binary(max_size=200),
    st.binary(max_size=60),
    st.binary(max_size=30),
    st.integers(0, 255),
    st.lists(st.integers(0, 400), max_size=6),
)
def test_cut_anywhere(body: bytes, before: bytes, after: bytes, rc: int, cuts: list[int]) -> None:
    data = framed(body, rc, before, after)
    at = [0, *sorted(min(c, len(data)) for c in cuts), len(data)]
    deframer = fed([data[a:b] for a, b in pairwise(at)])
    assert (deframer.body, deframer.rc, deframer.complete) == (body, rc, True)


@given(st.binary(max_size=300))
def test_without_a_frame_there_is_no_answer(data: bytes) -> None:
    deframer = fed([data])
    assert deframer.rc is None
    assert not deframer.complete
    assert deframer.noise == data


def test_the_token_within_the_output_is_output() -> None:
    body = TOKEN.encode() + b" end x\n" + TOKEN.encode() + b" end "
    assert fed([framed(body)]).body == body


def test_over_the_cap_the_rest_is_dropped_and_the_end_still_seen() -> None:
    deframer = fed([framed(b"x" * 5000)], cap=1000)
    assert (len(deframer.body), deframer.rc, deframer.complete) == (1000, 0, False)


def test_a_missing_end_on_one_stream_is_unknown() -> None:
    streams = Streams.open(TOKEN, 1000)
    streams.out.feed(framed(b"12\n"))
    streams.err.feed(TOKEN.encode() + b" begin\nhalf")
    ran = streams.result(0.1)
    assert (ran.rc, ran.complete, ran.out, ran.err) == (None, False, b"12\n", b"half")


@pytest.mark.parametrize(
    ("script", "rc", "out"),
    [
        ("echo a; exit 7", 7, b"a\n"),
        ("printf x", 0, b"x"),
        ("cat", 0, b""),
        ("cd /nonexistent || exit 74", 74, b""),
        ("echo $SETUP", 0, b"yes\n"),
        ("kill -9 $(sh -c 'echo $PPID')", 137, b""),
    ],
)
def test_under_a_real_shell(script: str, rc: int, out: bytes) -> None:
    token = new_token()
    data = frame_script(script, token, ("echo noise", "SETUP=yes", "echo more >&2"))
    done = subprocess.run(["/bin/sh"], input=data, capture_output=True, timeout=30, check=False)
    streams = Streams.open(token, 1000)
    streams.out.feed(b"Welcome\n" + done.stdout)
    streams.err.feed(done.stderr)
    ran = streams.result(0.0)
    assert (ran.rc, ran.out, ran.complete) == (rc, out, True)
    assert b"Welcome" in ran.noise
