"""However the bytes of the wire are split they decode the same; garbage ends in an error."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crystalmath.forces.worker import plain, wire
from crystalmath.forces.worker.plain import Assembler, Structure

floats = st.floats(allow_nan=False, allow_infinity=False, width=64)
vectors = st.lists(floats, min_size=3, max_size=3)
infos = st.dictionaries(st.sampled_from(["charge", "spin", "head"]), st.integers(-5, 5))


@st.composite
def structures(draw: Any) -> Structure:
    n = draw(st.integers(1, 5))
    return Structure(
        numbers=draw(st.lists(st.integers(1, 118), min_size=n, max_size=n)),
        positions=draw(st.lists(vectors, min_size=n, max_size=n)),
        cell=draw(st.lists(vectors, min_size=3, max_size=3)),
        pbc=draw(st.lists(st.booleans(), min_size=3, max_size=3)),
        info=draw(infos),
    )


batches = st.lists(structures(), min_size=1, max_size=4)
properties = st.lists(
    st.sampled_from([n for n in wire.PROPERTIES if not n.startswith("committee")]),
    min_size=1,
    unique=True,
)


def request_of(batch: list[Structure], names: list[str], number: int = 7) -> bytes:
    return plain.render_request(batch, names, request=number, generation=3, seconds=1.5)


def cut(data: bytes, points: list[int]) -> list[bytes]:
    at = sorted({0, len(data), *(p % (len(data) + 1) for p in points)})
    return [data[a:b] for a, b in itertools.pairwise(at)]


@given(batches, properties, st.lists(st.integers(0, 10**6), max_size=12))
def test_requests_survive_every_split(
    batch: list[Structure], names: list[str], points: list[int]
) -> None:
    data = request_of(batch, names, 1) + request_of(batch, names, 2)
    assembler = Assembler()
    messages = [m for piece in cut(data, points) for m in assembler.feed(piece)]
    assert [m.header.request for m in messages] == [1, 2]
    assert not assembler.incomplete
    for message in messages:
        assert wire.names_of(message.header.mask) == tuple(sorted(names, key=wire.PROPERTIES.index))
        assert plain.parse_request(message) == batch


@given(batches)
@settings(max_examples=15)
def test_every_single_split_decodes_the_same(batch: list[Structure]) -> None:
    data = request_of(batch[:1], ["energy"])
    for at in range(len(data) + 1):
        assembler = Assembler()
        messages = [*assembler.feed(data[:at]), *assembler.feed(data[at:])]
        assert [plain.parse_request(m) for m in messages] == [batch[:1]]


@given(batches, properties, st.data())
def test_results_come_back_as_they_were_sent(
    batch: list[Structure], names: list[str], data: st.DataObject
) -> None:
    counts = [len(s.numbers) for s in batch]
    arrays = []
    for n in counts:
        sizes = {name: wire.SIZES[name][0] + n * wire.SIZES[name][1] for name in names}
        arrays.append(
            {k: data.draw(st.lists(floats, min_size=v, max_size=v)) for k, v in sizes.items()}
        )
    (request,) = Assembler().feed(request_of(batch, names))
    fault = {"index": len(batch) - 1, "kind": "bad_result", "message": "no number"}
    faults = [fault] if data.draw(st.booleans()) else []
    answer = plain.render_result(request.header, counts, arrays, faults=faults, seconds=0.25)
    points = data.draw(st.lists(st.integers(0, 10**6), max_size=8))
    assembler = Assembler()
    (message,) = [m for piece in cut(answer, points) for m in assembler.feed(piece)]
    found = plain.parse_result(request.header, counts, message)
    assert found.faults == faults
    assert found.seconds == 0.25
    for i, (got, sent) in enumerate(zip(found.arrays, arrays, strict=True)):
        for name in names:
            if faults and i == len(batch) - 1:
                assert all(math.isnan(x) for x in got[name])
            else:
                assert list(got[name]) == sent[name]


def read_all(data: bytes) -> list[Any]:
    """What an honest reader makes of bytes; None for a message that is no request."""
    found: list[Any] = []
    for message in Assembler(most_bytes=1 << 20).feed(data):
        if message.header.word == wire.EVAL and message.header.flags & wire.NEW:
            found.append(plain.parse_request(message))
        else:
            found.append(message.document() and None)
    return found


@given(st.binary(min_size=wire.HEADER_BYTES, max_size=400))
def test_garbage_is_an_error(data: bytes) -> None:
    try:
        found = read_all(data)
    except wire.WireError:
        return
    # All that random bytes could ever be is a message without arrays or the beginning of one.
    assert not any(found)


@given(batches, properties, st.integers(0, wire.HEADER_BYTES * 8 - 1))
def test_a_flipped_bit_of_a_header_gives_no_other_structures(
    batch: list[Structure], names: list[str], bit: int
) -> None:
    data = bytearray(request_of(batch, names))
    data[bit // 8] ^= 1 << (bit % 8)
    try:
        found = read_all(bytes(data))
    except wire.WireError:
        return
    # A flip in the numbers of the request, the generation, the mask or the seconds leaves the
    # structures as they are; one that changes a length leaves the message incomplete or wrong.
    assert found in ([], [batch])


@given(batches, properties, st.binary(min_size=1, max_size=300))
def test_what_lies_between_two_messages_is_an_error(
    batch: list[Structure], names: list[str], between: bytes
) -> None:
    data = request_of(batch, names)
    assembler = Assembler()
    assert len(list(assembler.feed(data))) == 1
    try:
        found = list(assembler.feed(between + data))
    except wire.WireError:
        return
    assert found == []
    assert assembler.incomplete


@given(st.recursive(st.none() | st.booleans() | st.integers(), st.lists), st.integers(1, 4))
def test_a_tail_of_another_kind_is_an_error(document: Any, n: int) -> None:
    text = json.dumps(document).encode()
    try:
        plain.check_notes(plain.parse_tail(text, len(text)), n)
    except wire.WireError:
        return
    assert document is None
