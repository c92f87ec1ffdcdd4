"""A data channel into a worker: level 1 of the protocol, with numpy.

Buffers and headers are made once for each shape of request; a call is then one ``sendmsg``, one
``recv_into`` and no JSON. Not safe in threads: whoever owns it has the lock.
"""

from __future__ import annotations

import math
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from crystalmath.errors import BadResult, CrystalMathError
from crystalmath.forces.geometry import Geometry
from crystalmath.forces.reported import reported_error
from crystalmath.forces.worker import plain, wire

Floats = npt.NDArray[np.float64]

LOOK_S: Final = 0.5
"""How often the watch is asked while a request waits."""
_BUFFER_BYTES: Final = 1 << 20
_SMALL_BYTES: Final = 1 << 16
_REQUEST: Final = struct.Struct("<Q")
_REQUEST_AT: Final = 16
_SECONDS: Final = struct.Struct("<d")
_SECONDS_AT: Final = 40
_CELL: Final = slice(wire.HEADER_BYTES + 64, wire.HEADER_BYTES + 64 + 72)
_POSITIONS_AT: Final = wire.HEADER_BYTES + 64 + 128
_NO_TAIL: Final = b"\0" * 8


class Watch(Protocol):
    """Who looks after the worker behind a connection."""

    def look(self, waited_s: float) -> None:
        """Called every half second while an answer is waited for; raises when it is over."""

    def ended(self) -> CrystalMathError:
        """Explain a channel that the other end has closed."""


class Shape:
    """What is prepared for single structures of one generation and one property mask.

    Attributes
    ----------
    arrays
        Property → array over the bytes of the answer, in the shape of the property; valid until
        the next request of this shape. A scalar is an array of one number.
    seconds
        What the worker took.
    """

    __slots__ = (
        "arrays", "cell", "expected", "head", "pad", "payload", "positions", "reply", "seconds",
        "size", "total", "view",
    )  # fmt: skip

    def __init__(self, atoms: int, generation: int, mask: int, members: int) -> None:
        layout = wire.request_layout(1, atoms, new=False)
        self.total = wire.HEADER_BYTES + layout.size
        # A small request goes out of one buffer; the positions of a large one are not copied.
        small = self.total <= _SMALL_BYTES
        self.head = bytearray(self.total if small else _POSITIONS_AT)
        self.positions = slice(_POSITIONS_AT, _POSITIONS_AT + 24 * atoms) if small else None
        self.head[: wire.HEADER_BYTES] = wire.render_header(
            wire.EVAL,
            generation=generation,
            structures=1,
            atoms=atoms,
            mask=mask,
            payload=layout.size,
        )
        struct.pack_into("<i", self.head, wire.HEADER_BYTES, atoms)
        self.cell = b""
        self.pad = bytes(wire.aligned(24 * atoms) - 24 * atoms)
        sections, self.payload = wire.result_layout(1, atoms, mask, members)
        self.size = wire.HEADER_BYTES + self.payload
        self.reply = bytearray(self.size)
        self.view = memoryview(self.reply)
        self.expected = bytearray(
            wire.render_header(
                wire.RESULT,
                generation=generation,
                structures=1,
                atoms=atoms,
                mask=mask,
                payload=self.payload,
            )[:40]
        )
        numbers = np.frombuffer(self.reply, np.float64, offset=wire.HEADER_BYTES)
        self.arrays = {
            s.name: numbers[s.start // 8 : s.start // 8 + s.length].reshape(
                shape_of(s.name, atoms, members)
            )
            for s in sections
        }
        self.seconds = 0.0


def shape_of(name: str, atoms: int, members: int = 0) -> tuple[int, ...]:
    """Shape of a property of one structure; ``(1,)`` for a scalar."""
    if name == "stress":
        return (3, 3)
    if name == "stresses":
        return (atoms, 3, 3)
    per_structure, per_atom = wire.SIZES[name]
    shape = (per_structure,) if per_structure else (atoms,) if per_atom == 1 else (atoms, per_atom)
    if wire.BITS[name] & wire.COMMITTEE_MASK:
        return (members,) if per_structure else (members, *shape)
    return shape


class Connection:
    """See the module docstring.

    Parameters
    ----------
    sock
        Connected, blocking; the worker serves its other end.
    capabilities
        What the worker said after loading.
    identity
        Where its numbers come from.
    watch
        Who looks after the worker.

    Attributes
    ----------
    allowance_s
        What a request may take; 0: the worker's default.
    usable
        Whether nothing has broken the order of questions and answers.
    """

    def __init__(
        self,
        sock: socket.socket,
        capabilities: Mapping[str, Any],
        identity: Mapping[str, Any],
        watch: Watch,
    ) -> None:
        interval = struct.pack("@ll", int(LOOK_S), int(LOOK_S % 1 * 1e6))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            sock.setsockopt(socket.SOL_SOCKET, option, interval)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        self.capabilities = capabilities
        self.identity = identity
        self.properties: tuple[str, ...] = tuple(capabilities["properties"])
        self.mask = wire.mask_of(self.properties)
        self.members = int(capabilities.get("members") or 0)
        self.allowance_s = 0.0
        self.usable = True
        self._sock = sock
        self._watch = watch
        self._request = 0
        self._generation = 0
        self._told: tuple[bytes, bytes, str] | None = None
        self._shapes: dict[int, Shape] = {}
        self._pending: Shape | None = None

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return str(self.identity["engine"])

    def close(self) -> None:
        """Close the channel; the worker goes on."""
        self.usable = False
        self._sock.close()

    # --- one structure --------------------------------------------------------------------------

    def send(self, geometry: Geometry, mask: int) -> None:
        """Ask for one structure; :meth:`receive` gives the answer.

        Raises
        ------
        WorkerDied, WorkerTimeout
        """
        positions, cell, numbers, pbc, info = geometry
        if self._told is None or self._told != (numbers, pbc, info):
            self._tell(geometry, mask)
            return
        shape = self._shapes.get(mask)
        if shape is None:
            shape = self._shape(len(positions) // 24, mask)
        head = shape.head
        if cell != shape.cell:
            head[_CELL] = shape.cell = cell
        self._request += 1
        _REQUEST.pack_into(head, _REQUEST_AT, self._request)
        _SECONDS.pack_into(head, _SECONDS_AT, self.allowance_s)
        self._pending = shape
        try:
            if shape.positions is not None:
                head[shape.positions] = positions
                sent = self._sock.send(head)
            else:
                sent = self._sock.sendmsg((head, positions, shape.pad))
        except OSError as error:
            sent = self._stalled(error)
        if sent != shape.total:
            data = b"".join((head[:_POSITIONS_AT], positions, shape.pad))
            self._send_rest(data, sent)

    def receive(self) -> Shape:
        """Wait for the answer to :meth:`send`.

        Raises
        ------
        WorkerDied, WorkerTimeout, BadResult, …
            The worker ended, or said that it cannot be computed.
        """
        shape = self._pending
        assert shape is not None
        try:
            got = self._sock.recv_into(shape.view)
        except BlockingIOError:
            got = -1
        except OSError as error:
            self._fail(error)
        except BaseException:
            self.close()
            raise
        reply, expected = shape.reply, shape.expected
        _REQUEST.pack_into(expected, _REQUEST_AT, self._request)
        if got < shape.size:
            got = self._receive_rest(shape, max(got, 0), first=got)
        if reply[:40] != expected or reply[56:64] != _NO_TAIL:
            self._read_exception(shape, got)
        self._pending = None
        shape.seconds = _SECONDS.unpack_from(reply, _SECONDS_AT)[0]
        return shape

    def _shape(self, atoms: int, mask: int) -> Shape:
        members = self.members if mask & wire.COMMITTEE_MASK else 0
        shape = self._shapes[mask] = Shape(atoms, self._generation, mask, members)
        return shape

    def _tell(self, geometry: Geometry, mask: int) -> None:
        """Send one structure with its numbers, pbc and info: a new generation."""
        self._generation = self._generation % 0xFFFF_FFFF + 1
        self._told, self._shapes = None, {}
        shape = self._pending = self._shape(len(geometry.positions) // 24, mask)
        shape.head[_CELL] = shape.cell = geometry.cell
        self._send_rest(self._render([geometry], mask), 0)
        self._told = (geometry.numbers, geometry.pbc, geometry.info)

    def _render(self, geometries: Sequence[Geometry], mask: int) -> bytes:
        """Write a request with everything in it; raises the number of the request."""
        numbers = np.frombuffer(b"".join(g.numbers for g in geometries), np.int64)
        parts = (
            np.array([len(g.numbers) // 8 for g in geometries], np.int32).tobytes(),
            b"".join(g.cell for g in geometries),
            b"".join(g.positions for g in geometries),
            numbers.astype(np.int32).tobytes(),
            b"".join(g.pbc for g in geometries),
        )
        body = b"".join(part.ljust(wire.aligned(len(part)), b"\0") for part in parts)
        tail = f"[{','.join(g.info for g in geometries)}]".encode()
        self._request += 1
        head = wire.render_header(
            wire.EVAL,
            flags=wire.NEW,
            request=self._request,
            generation=self._generation,
            structures=len(geometries),
            atoms=len(numbers),
            mask=mask,
            seconds=self.allowance_s,
            payload=len(body) + len(tail),
            tail=len(tail),
        )
        return head + body + tail

    # --- several structures ---------------------------------------------------------------------

    def exchange(
        self, geometries: Sequence[Geometry], mask: int
    ) -> tuple[list[dict[str, Floats]], list[dict[str, Any]], float]:
        """Compute several structures in one request.

        Returns
        -------
        arrays, faults, seconds
            Per structure: property → array of the caller's own; what failed, by index.
        """
        self._generation = self._generation % 0xFFFF_FFFF + 1
        self._told, self._shapes, self._pending = None, {}, None
        data = self._render(geometries, mask)
        self._send_rest(data, 0)
        request = wire.parse_header(data)
        head = bytearray(wire.HEADER_BYTES)
        self._fill(memoryview(head), 0)
        try:
            header = wire.parse_header(head)
            payload = bytearray(header.payload)
            self._fill(memoryview(payload), 0)
            if header.word == wire.FAULT:
                raise self._refusal(header, bytes(payload))
            plain.check_answer(request, header)
            says = plain.check_notes(
                plain.parse_tail(memoryview(payload), header.tail), header.structures
            )
            counts = [len(g.numbers) // 8 for g in geometries]
            arrays = _cut(header, payload, counts, int(says["members"]))
        except wire.WireError as error:
            raise self._nonsense(error) from error
        return arrays, says["faults"], header.seconds

    # --- what is not the ordinary case ----------------------------------------------------------

    def _send_rest(self, data: bytes, sent: int) -> None:
        view = memoryview(data)
        while sent < len(view):
            try:
                sent += self._sock.send(view[sent:], socket.MSG_NOSIGNAL)
            except OSError as error:
                sent += self._stalled(error)
            except BaseException:
                self.close()
                raise

    def _stalled(self, error: OSError) -> int:
        """The worker takes nothing now, or is gone: ask the watch."""
        if not isinstance(error, BlockingIOError):
            self._fail(error)
        try:
            self._watch.look(0.0)
        except BaseException:
            self.close()
            raise
        return 0

    def _receive_rest(self, shape: Shape, got: int, first: int) -> int:
        """Read on until the answer, or what came in its place, is complete."""
        if first == 0:
            self._fail(None)
        got = self._fill(shape.view[: wire.HEADER_BYTES], got) if got < wire.HEADER_BYTES else got
        size = wire.HEADER_BYTES + int.from_bytes(shape.reply[48:56], "little")
        return self._fill(shape.view[: min(size, shape.size)], got)

    def _fill(self, view: memoryview, got: int) -> int:
        started = time.monotonic()
        while got < len(view):
            try:
                n = self._sock.recv_into(view[got:])
            except BlockingIOError:
                self._look(time.monotonic() - started)
                continue
            except OSError as error:
                self._fail(error)
            except BaseException:
                self.close()
                raise
            if n == 0:
                self._fail(None)
            got += n
        return got

    def _look(self, waited_s: float) -> None:
        try:
            self._watch.look(waited_s)
        except BaseException:
            self.close()
            raise

    def _read_exception(self, shape: Shape, got: int) -> None:
        """Handle an answer that is not just numbers; returns if it is a result all the same."""
        try:
            header = wire.parse_header(shape.reply)
            if header.request != self._request:
                raise wire.WireError("an answer to something else")
            here = bytes(shape.reply[wire.HEADER_BYTES : got])
            rest = bytearray(header.payload - len(here))
            self._fill(memoryview(rest), 0)
            payload = here + rest
            self._pending = None
            if header.word == wire.FAULT:
                raise self._refusal(header, payload)
            if shape.reply[:40] != shape.expected or header.payload - header.tail != shape.payload:
                raise wire.WireError("an answer of another shape than was asked for")
            says = plain.check_notes(plain.parse_tail(payload, header.tail), 1)
        except wire.WireError as error:
            raise self._nonsense(error) from error
        if says["faults"]:
            raise reported_error(says["faults"][0], engine=self.engine)

    def _refusal(self, header: wire.Header, payload: bytes) -> CrystalMathError:
        """The error of a request that was refused as a whole; the channel stays good."""
        document = plain.parse_tail(payload, header.tail)
        self._told = None
        return reported_error(document if isinstance(document, dict) else {}, engine=self.engine)

    def _nonsense(self, error: wire.WireError) -> CrystalMathError:
        self.close()
        return BadResult(f"the worker of {self.engine} talks nonsense: {error}")

    def _fail(self, error: BaseException | None) -> NoReturn:
        """Give the channel up: the worker has ended, or this side was interrupted half-way."""
        self.close()
        if error is None or isinstance(error, OSError):
            raise self._watch.ended() from None
        raise error


def _cut(
    header: wire.Header, payload: bytearray, counts: Sequence[int], members: int
) -> list[dict[str, Floats]]:
    sections, size = wire.result_layout(header.structures, header.atoms, header.mask, members)
    if size + header.tail != len(payload):
        raise wire.WireError(f"a result of {len(payload)} bytes where {size} belong")
    found: list[dict[str, Floats]] = [{} for _ in counts]
    for section in sections:
        numbers = np.frombuffer(payload, np.float64, section.length, section.start)
        at = 0
        for one, atoms in zip(found, counts, strict=True):
            shape = shape_of(section.name, atoms, members)
            length = math.prod(shape)
            one[section.name] = numbers[at : at + length].reshape(shape).copy()
            at += length
    return found
