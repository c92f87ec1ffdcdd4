"""One client's data channel: reads requests, has them computed, sends the answers.

What a request of a known shape needs is prepared once: arrays over the bytes that come and over the
bytes that go. Nothing here waits for the peer; an unfinished message is taken up in a later turn.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from typing import Any

import numpy as np

from . import plain, wire
from .desk import Desk
from .faults import Fault
from .outputs import check_finite, is_finite
from .plan import Known, Plan

_MAX_REQUEST_BYTES = 4 * 1024**3
_QUIET = socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL
_BUFFER_BYTES = 1 << 20
_REQUEST_AT = slice(16, 24)
_SIZES_AT = slice(48, 64)
_SECONDS_AT = 40
_SECONDS = struct.Struct("<d")
_SIZES = struct.Struct("<QQ")


class ClientGone(Exception):
    """The client has closed the channel, or broken the protocol."""


class Client:
    """See the module docstring.

    Parameters
    ----------
    sock
        The channel.
    desk
        Where requests are computed.
    """

    def __init__(self, sock: socket.socket, desk: Desk) -> None:
        self.sock = sock
        self._desk = desk
        self._buffer = bytearray(4096)
        self._view = memoryview(self._buffer)
        self._got = 0
        self._want = wire.HEADER_BYTES
        self._sized = False
        self._unsent: memoryview | None = None
        self._known: Known | None = None
        self._plan: Plan | None = None
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)

    def fileno(self) -> int:
        """For the poll."""
        return self.sock.fileno()

    def close(self) -> None:
        """Close the channel."""
        self.sock.close()

    def turn(self) -> int:
        """Read what is here; compute and answer if a request is complete.

        Returns
        -------
        int
            Poll events to wait for next.

        Raises
        ------
        ClientGone
        """
        if self._unsent is not None:
            return self._send(self._unsent)
        if not self._read():
            return select.POLLIN
        plan = self._plan
        buffer = self._buffer
        self._got, self._want, self._sized = 0, self._want, False
        if (
            plan is not None
            and self._want == plan.size
            and (buffer[:16], buffer[24:40], buffer[48:64]) == plan.same
        ):
            return self._answer(plan)
        try:
            plan = self._prepare()
        except Fault as fault:
            return self._send(self._refusal(fault))
        except wire.WireError as error:
            raise ClientGone from error
        return self._answer(plan)

    def _read(self) -> bool:
        """Read until the request is complete or nothing more is here."""
        while True:
            try:
                n = self.sock.recv_into(self._view[self._got : self._want], 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError as error:
                raise ClientGone from error
            if n == 0:
                raise ClientGone
            self._got += n
            if not self._sized and self._got >= wire.HEADER_BYTES:
                self._size_up()
            if self._got == self._want and self._sized:
                return True

    def _size_up(self) -> None:
        """Learn from the header how long the request is."""
        size = wire.HEADER_BYTES + int.from_bytes(self._buffer[48:56], "little")
        self._sized = True
        if size == self._want:
            return
        if size > _MAX_REQUEST_BYTES or size < self._got:
            raise ClientGone
        if size > len(self._buffer):
            buffer = bytearray(size + size // 4)
            buffer[: self._got] = self._buffer[: self._got]
            self._buffer, self._view = buffer, memoryview(buffer)
            self._plan = None
        self._want = size

    def _prepare(self) -> Plan:
        """Make the plan for a request that is not like the last one.

        Raises
        ------
        Fault, WireError
        """
        header = wire.parse_header(self._buffer)
        if header.word != wire.EVAL:
            raise wire.WireError(f"{header.word!r} on a data channel")
        payload = self._view[wire.HEADER_BYTES : self._want]
        if header.flags & wire.NEW:
            self._known = None
            self._known = Known(header, plain.Message(header, payload), self._desk)
        known = self._known
        if known is None or known.generation != header.generation:
            raise wire.WireError(f"generation {header.generation} was never told")
        if payload[: 4 * header.structures] != known.counts_bytes:
            raise wire.WireError("the counts are not those of this generation")
        self._desk.check_request(header)
        plan = self._plan = Plan(header, self._buffer, known, self._desk)
        plan.find_too_large(self._desk.memory)
        plan.measured = self._desk.is_new(plan.shape)
        return plan

    def _answer(self, plan: Plan) -> int:
        desk, buffer = self._desk, self._buffer
        allowance_s = desk.allowance_s(_SECONDS.unpack_from(buffer, _SECONDS_AT)[0], plan.shape)
        began = time.monotonic()
        desk.page.begin(began, allowance_s, plan.shape[1], desk.waiting)
        faults = plan.objections
        if plan.measured:
            desk.memory.begin()
        if plan.wants_stress:
            cells = bytes(buffer[plan.cells])
            if cells != plan.seen_cells:
                plan.update_stress(cells)
            if plan.flat:
                faults = {**plan.flat, **faults}
        if not faults and plan.shape[0] == 1:
            try:
                desk.compute_one(plan.structures[0], plan.targets[0], plan.names)
                if not is_finite(plan.numbers):
                    check_finite(plan.targets[0])
            except Fault as fault:
                faults = {0: fault}
        else:
            faults = self._compute_several(plan, dict(faults))
        if plan.measured:
            plan.measured = False
            computed = [s for i, s in enumerate(plan.structures) if i not in faults]
            desk.memory.end(computed, together=desk.engine.batch)
        seconds = desk.finished(plan.shape, began, plan.shape[0])
        reply = plan.reply
        reply[_REQUEST_AT] = buffer[_REQUEST_AT]
        _SECONDS.pack_into(reply, _SECONDS_AT, seconds)
        if faults or plan.members:
            return self._send(memoryview(self._with_tail(plan, faults)))
        return self._send(plan.view)

    def _compute_several(self, plan: Plan, faults: dict[int, Fault]) -> dict[int, Fault]:
        for i in faults:
            for target in plan.targets[i]:
                target.view[...] = 0.0
        self._desk.compute(plan.structures, plan.targets, plan.names, faults)
        if not is_finite(plan.numbers):
            for i, targets in enumerate(plan.targets):
                try:
                    check_finite(targets)
                except Fault as fault:
                    faults.setdefault(i, fault)
        return faults

    @staticmethod
    def _with_tail(plan: Plan, faults: dict[int, Fault]) -> bytearray:
        """The answer with JSON behind its arrays; numbers of what failed are NaN."""
        says: dict[str, Any] = {}
        if faults:
            says["faults"] = [{"index": i, **faults[i].document()} for i in sorted(faults)]
            for i in faults:
                for target in plan.targets[i]:
                    target.view[...] = np.nan
        if plan.members:
            says["members"] = plan.members
        tail = json.dumps(says, allow_nan=False).encode()
        reply = plan.reply + tail
        reply[_SIZES_AT] = _SIZES.pack(plan.payload + len(tail), len(tail))
        return reply

    def _refusal(self, fault: Fault) -> memoryview:
        request = int.from_bytes(self._buffer[_REQUEST_AT], "little")
        return memoryview(plain.render_message(wire.FAULT, fault.document(), request=request))

    def _send(self, data: memoryview) -> int:
        try:
            sent = self.sock.send(data, _QUIET)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            raise ClientGone from error
        if sent < len(data):
            self._unsent = data[sent:]
            return select.POLLOUT
        self._unsent = None
        return select.POLLIN
