"""Messages of the wire with the standard library alone, and how a byte stream is cut into them.

For the control channel, and for evaluations of the daemon, which has no numpy. Whoever wants speed
uses ``forces.connection``.
"""

from __future__ import annotations

import json
import math
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

from . import wire

_INT = "i"
assert array(_INT).itemsize == 4


class Structure(NamedTuple):
    """A structure as numbers; rows of ``cell`` are lattice vectors in Å, zero for a molecule."""

    numbers: Sequence[int]
    positions: Sequence[Sequence[float]]
    cell: Sequence[Sequence[float]]
    pbc: Sequence[bool]
    info: Mapping[str, Any]


class Message(NamedTuple):
    """One message as it came."""

    header: wire.Header
    payload: bytes | memoryview

    def document(self) -> Any:
        """Return what its tail says, None without one; raises ``WireError``."""
        return parse_tail(self.payload, self.header.tail)


class Assembler:
    """Cuts a stream into messages, however the bytes are split.

    Parameters
    ----------
    most_bytes
        A larger payload is refused.
    """

    def __init__(self, most_bytes: int = wire.MAX_CONTROL_BYTES) -> None:
        self._most_bytes = most_bytes
        self._buffer = bytearray()
        self._header: wire.Header | None = None

    def feed(self, data: bytes) -> Iterator[Message]:
        """Take bytes; yields the messages that they complete.

        Raises
        ------
        WireError
            The bytes make no sense; the stream is lost.
        """
        self._buffer += data
        while True:
            if self._header is None:
                if len(self._buffer) < wire.HEADER_BYTES:
                    return
                self._header = wire.parse_header(self._buffer)
                if self._header.payload > self._most_bytes:
                    raise wire.WireError(f"a payload of {self._header.payload} bytes")
                del self._buffer[: wire.HEADER_BYTES]
            if len(self._buffer) < self._header.payload:
                return
            message = Message(self._header, bytes(self._buffer[: self._header.payload]))
            del self._buffer[: self._header.payload]
            self._header = None
            yield message

    @property
    def incomplete(self) -> bool:
        """Whether the end of the stream now would be an end within a message."""
        return self._header is not None or bool(self._buffer)


def render_message(word: bytes, document: Any = None, *, request: int = 0) -> bytes:
    """Header and JSON of a message without arrays."""
    text = b"" if document is None else json.dumps(document, allow_nan=False).encode()
    size = len(text)
    return wire.render_header(word, request=request, payload=size, tail=size) + text


def render_agreement() -> bytes:
    """The host's INIT, which raises plain i-PI to level 1."""
    text = wire.AGREEMENT + json.dumps({"abi": wire.ABI}).encode()
    return wire.INIT + struct.pack("<ii", 0, len(text)) + text


def parse_tail(payload: bytes | memoryview, tail: int) -> Any:
    """Read the JSON at the end of a payload; None without one.

    Raises
    ------
    WireError
        It is no JSON.
    """
    if not tail:
        return None
    try:
        return json.loads(bytes(payload[len(payload) - tail :]), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise wire.WireError("the JSON of a message cannot be read") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def render_request(
    structures: Sequence[Structure],
    properties: Sequence[str],
    *,
    request: int,
    generation: int,
    seconds: float = 0.0,
) -> bytes:
    """One EVAL with everything in it."""
    numbers = array(_INT, chain.from_iterable(s.numbers for s in structures))
    parts = (
        array(_INT, (len(s.numbers) for s in structures)).tobytes(),
        array("d", (x for s in structures for row in s.cell for x in row)).tobytes(),
        array("d", (x for s in structures for row in s.positions for x in row)).tobytes(),
        numbers.tobytes(),
        bytes(bool(p) for s in structures for p in s.pbc),
    )
    tail = json.dumps([dict(s.info) for s in structures], allow_nan=False).encode()
    body = b"".join(part.ljust(wire.aligned(len(part)), b"\0") for part in parts)
    layout = wire.request_layout(len(structures), len(numbers), new=True)
    assert len(body) == layout.size
    header = wire.render_header(
        wire.EVAL,
        flags=wire.NEW,
        request=request,
        generation=generation,
        structures=len(structures),
        atoms=len(numbers),
        mask=wire.mask_of(properties),
        seconds=seconds,
        payload=len(body) + len(tail),
        tail=len(tail),
    )
    return header + body + tail


def parse_request(message: Message) -> list[Structure]:
    """Read an EVAL with NEW.

    Raises
    ------
    WireError
        It contradicts itself.
    """
    header, payload = message
    if header.word != wire.EVAL or not header.flags & wire.NEW:
        raise wire.WireError("no request that stands by itself")
    n = header.structures
    layout = wire.request_layout(n, header.atoms, new=True)
    counts = _ints(payload, layout.counts, n)
    check_counts(counts, header.atoms)
    cells = _floats(payload, layout.cells, 9 * n)
    positions = _floats(payload, layout.positions, 3 * header.atoms)
    numbers = _ints(payload, layout.numbers, header.atoms)
    if min(numbers) < 1:
        raise wire.WireError(f"{min(numbers)} is the number of no element")
    pbc = payload[layout.pbc : layout.pbc + 3 * n]
    if max(pbc) > 1:
        raise wire.WireError("periodicity is neither yes nor no")
    infos = check_infos(message.document(), n)
    found = []
    for i, (end, count) in enumerate(zip(accumulate(counts), counts, strict=True)):
        found.append(
            Structure(
                numbers=list(numbers[end - count : end]),
                positions=_rows(positions[3 * (end - count) : 3 * end]),
                cell=_rows(cells[9 * i : 9 * i + 9]),
                pbc=[bool(p) for p in pbc[3 * i : 3 * i + 3]],
                info=infos[i],
            )
        )
    return found


def check_counts(counts: Sequence[int], atoms: int) -> None:
    """Refuse counts that do not add up; raises ``WireError``."""
    if min(counts) < 1 or sum(counts) != atoms:
        raise wire.WireError(f"the counts of the structures do not give {atoms} atoms")


def check_infos(document: Any, structures: int) -> list[dict[str, Any]]:
    """Refuse anything but one object per structure; raises ``WireError``."""
    if not isinstance(document, list) or len(document) != structures:
        raise wire.WireError("the info of the structures is missing")
    if not all(isinstance(info, dict) for info in document):
        raise wire.WireError("the info of a structure is no object")
    return document


class Result(NamedTuple):
    """A RESULT, cut into structures.

    Attributes
    ----------
    arrays
        Per structure: property → numbers, flat, C order.
    faults
        ``{index, kind, message, …}`` of the structures that failed; their numbers are NaN.
    """

    arrays: list[dict[str, Sequence[float]]]
    faults: list[dict[str, Any]]
    members: int
    seconds: float


def render_result(
    request: wire.Header,
    counts: Sequence[int],
    arrays: Sequence[Mapping[str, Sequence[float]]],
    *,
    faults: Sequence[Mapping[str, Any]] = (),
    members: int = 0,
    seconds: float = 0.0,
) -> bytes:
    """Answer a request; ``arrays`` is as in :class:`Result`."""
    failed = {fault["index"] for fault in faults}
    parts = []
    for name in wire.names_of(request.mask):
        numbers = array("d")
        for i, count in enumerate(counts):
            size = _size(name, count, members)
            numbers.extend([math.nan] * size if i in failed else arrays[i][name])
        data = numbers.tobytes()
        parts.append(data.ljust(wire.aligned(len(data)), b"\0"))
    says: dict[str, Any] = {"faults": [dict(fault) for fault in faults]} if faults else {}
    if members:
        says["members"] = members
    tail = json.dumps(says, allow_nan=False).encode() if says else b""
    body = b"".join(parts)
    header = wire.render_header(
        wire.RESULT,
        request=request.request,
        generation=request.generation,
        structures=request.structures,
        atoms=request.atoms,
        mask=request.mask,
        seconds=seconds,
        payload=len(body) + len(tail),
        tail=len(tail),
    )
    return header + body + tail


def parse_result(request: wire.Header, counts: Sequence[int], message: Message) -> Result:
    """Read the RESULT that answers ``request``.

    Parameters
    ----------
    counts
        Atoms of each structure of the request.

    Raises
    ------
    WireError
        It answers something else, or contradicts itself.
    """
    header, payload = message
    check_answer(request, header)
    says = check_notes(message.document(), header.structures)
    members = int(says["members"])
    sections, size = wire.result_layout(header.structures, header.atoms, header.mask, members)
    if header.payload != size + header.tail:
        raise wire.WireError(f"a result of {header.payload} bytes where {size} belong")
    found: list[dict[str, Sequence[float]]] = [{} for _ in counts]
    for section in sections:
        numbers, start = _floats(payload, section.start, section.length), 0
        for i, count in enumerate(counts):
            end = start + _size(section.name, count, members)
            found[i][section.name] = numbers[start:end]
            start = end
    return Result(found, says["faults"], members, header.seconds)


def check_answer(request: wire.Header, header: wire.Header) -> None:
    """Refuse a result that does not answer this very request; raises ``WireError``."""
    if header.word != wire.RESULT or header.request != request.request:
        raise wire.WireError("an answer to something else")
    asked = (request.generation, request.structures, request.atoms, request.mask)
    if (header.generation, header.structures, header.atoms, header.mask) != asked:
        raise wire.WireError("an answer of another shape than was asked for")


def check_notes(document: Any, structures: int) -> dict[str, Any]:
    """Return the tail of a result with everything in its place; raises ``WireError``."""
    says: dict[str, Any] = {"faults": [], "members": 0}
    if document is not None:
        if not isinstance(document, dict):
            raise wire.WireError("the notes of a result are no object")
        says.update(document)
    members, faults = says["members"], says["faults"]
    if not isinstance(members, int) or not 0 <= members <= wire.MAX_MEMBERS:
        raise wire.WireError(f"a committee of {members!r}")
    if not isinstance(faults, list):
        raise wire.WireError("the faults of a result are no list")
    for fault in faults:
        index = fault.get("index") if isinstance(fault, dict) else None
        if not isinstance(index, int) or not 0 <= index < structures:
            raise wire.WireError("a fault that belongs to no structure")
    return says


def _size(name: str, atoms: int, members: int) -> int:
    per_structure, per_atom = wire.SIZES[name]
    size = per_structure + per_atom * atoms
    return size * members if wire.BITS[name] & wire.COMMITTEE_MASK else size


def _ints(payload: bytes | memoryview, start: int, count: int) -> array[int]:
    return array(_INT, bytes(payload[start : start + 4 * count]))


def _floats(payload: bytes | memoryview, start: int, count: int) -> array[float]:
    return array("d", bytes(payload[start : start + 8 * count]))


def _rows(numbers: Sequence[float]) -> list[list[float]]:
    return [list(numbers[i : i + 3]) for i in range(0, len(numbers), 3)]
