"""A data channel in plain Python: packs structures, unpacks results as bytes.

For evaluation through the daemon, where a copy in Python does not matter; who wants speed attaches
and uses ``forces.connection``. No numpy here.
"""

from __future__ import annotations

import json
import socket
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from crystalmath.domain.elements import NUMBERS
from crystalmath.errors import BadResult, InvalidParams
from crystalmath.forces.pool.endings import fault
from crystalmath.forces.worker import wire
from crystalmath.services.ports_pool import Computed, PlainStructure

MAX_REPLY_BYTES: Final = 4 * 1024**3


class ChannelClosed(Exception):
    """The worker is gone, or has closed this channel."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What is asked for at once."""

    structures: Sequence[PlainStructure]

    @property
    def atoms(self) -> int:
        """Atoms of all of them."""
        return sum(len(structure.symbols) for structure in self.structures)


def turns(
    structures: Sequence[PlainStructure], most_structures: int, most_atoms: int
) -> Iterator[Turn]:
    """Cut a long list into turns; a structure that is too large alone is a turn of its own."""
    part: list[PlainStructure] = []
    atoms = 0
    for structure in structures:
        n = len(structure.symbols)
        if part and (len(part) >= most_structures or atoms + n > most_atoms):
            yield Turn(tuple(part))
            part, atoms = [], 0
        part.append(structure)
        atoms += n
    if part:
        yield Turn(tuple(part))


class Channel:
    """One client's socket into a worker.

    Parameters
    ----------
    engine
        For what errors say.
    """

    def __init__(self, sock: socket.socket, engine: str) -> None:
        self._sock = sock
        self._engine = engine
        self._requests = 0

    def shut(self) -> None:
        """Free whoever waits for this channel; from any thread."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def close(self) -> None:
        """Close it."""
        self._sock.close()

    def ask(
        self, turn: Turn, properties: Sequence[str], allowance_s: float, patience_s: float
    ) -> tuple[list[Computed], float]:
        """Let the worker compute one turn.

        Parameters
        ----------
        allowance_s
            What the worker may take; 0: its default.
        patience_s
            When to give up although the worker is not overdue.

        Returns
        -------
        list of Computed, float
            In the order of the turn; seconds of computing.

        Raises
        ------
        ChannelClosed
            The worker is gone.
        TimeoutError
            The patience is over.
        CrystalMathError
            What the worker says about the request as a whole.
        """
        self._requests += 1
        try:
            self._sock.settimeout(patience_s)
            self._sock.sendall(render(turn, properties, self._requests, allowance_s))
            head = wire.HEADER.unpack(self._exactly(wire.HEADER.size))
            payload = self._exactly(head[-2]) if head[-2] <= MAX_REPLY_BYTES else b""
        except TimeoutError:
            raise
        except OSError as error:
            raise ChannelClosed from error
        word, request, size, tail = head[0].rstrip(), head[2], head[-2], head[-1]
        if request != self._requests or size != len(payload) or tail > size:
            raise BadResult(
                f"{self._engine}: an answer came that belongs to nothing that was asked"
            )
        extras = _tail(payload, tail)
        if word == b"FAULT":
            raise fault(extras if isinstance(extras, dict) else {}, engine=self._engine)
        if word != b"RESULT":
            raise BadResult(f"{self._engine}: {word.decode('ascii', 'replace')!r} is no answer")
        return parse(turn, head[6], payload, extras), float(head[7])

    def _exactly(self, size: int) -> bytes:
        data = bytearray(size)
        view, have = memoryview(data), 0
        while have < size:
            n = self._sock.recv_into(view[have:])
            if n == 0:
                raise ConnectionResetError
            have += n
        return bytes(data)


def render(turn: Turn, properties: Sequence[str], request: int, allowance_s: float) -> bytes:
    """One request."""
    structures = turn.structures
    counts = array("i", (len(s.symbols) for s in structures))
    cells = array("d", chain.from_iterable(_cell(s) for s in structures))
    positions = array("d", chain.from_iterable(p for s in structures for p in s.positions))
    numbers = array("i", (_number(x, i) for i, s in enumerate(structures) for x in s.symbols))
    pbc = bytes(bool(p) for s in structures for p in s.pbc)
    tail = json.dumps([dict(s.info) for s in structures], allow_nan=False).encode()
    parts = (counts.tobytes(), cells.tobytes(), positions.tobytes(), numbers.tobytes(), pbc)
    body = b"".join(part.ljust(wire.aligned(len(part)), b"\0") for part in parts)
    head = wire.render_header(
        wire.EVAL,
        flags=wire.NEW,
        request=request,
        generation=request,
        structures=len(structures),
        atoms=len(numbers),
        mask=wire.mask_of(properties),
        seconds=allowance_s,
        payload=len(body) + len(tail),
        tail=len(tail),
    )
    return head + body + tail


def parse(turn: Turn, mask: int, payload: bytes, extras: Any) -> list[Computed]:
    """Cut the arrays of a result into structures.

    Raises
    ------
    BadResult
        It is not as long as it should be.
    """
    found = [Computed(n_atoms=len(s.symbols)) for s in turn.structures]
    extras = extras if isinstance(extras, dict) else {}
    members = int(extras.get("members", 0))
    sections, size = wire.result_layout(len(found), turn.atoms, mask, members)
    if size > len(payload):
        raise BadResult("the worker's answer is shorter than it should be")
    for name, start, count in sections:
        per_structure, per_atom = wire.SIZES[name]
        copies = members if wire.BITS[name] & wire.COMMITTEE_MASK else 1
        stride = 8 * count // max(1, copies)
        at = start
        for one in found:
            width = 8 * (per_structure + per_atom * one.n_atoms)
            one.arrays[name] = b"".join(
                payload[at + k * stride : at + k * stride + width] for k in range(copies)
            )
            one.members = members
            at += width
    _note_faults(found, extras.get("faults") or ())
    return found


def _note_faults(found: list[Computed], faults: Sequence[dict[str, Any]]) -> None:
    for one in faults:
        index = one.get("index")
        if isinstance(index, int) and 0 <= index < len(found):
            found[index].arrays.clear()
            found[index].kind = str(one.get("kind", "forces"))
            found[index].message = str(one.get("message", "it could not be computed"))


def _tail(payload: bytes, size: int) -> Any:
    if not size:
        return None
    try:
        return json.loads(payload[len(payload) - size :])
    except ValueError as error:
        raise BadResult("the worker's answer cannot be read") from error


def _cell(structure: PlainStructure) -> Iterator[float]:
    if structure.cell is None:
        return iter((0.0,) * 9)
    return chain.from_iterable(structure.cell)


def _number(symbol: str, index: int) -> int:
    number = NUMBERS.get(symbol, 0)
    if number == 0:
        raise InvalidParams(
            f"{symbol!r} is no element", field=f"structures.{index}.symbols", hint="like Cu"
        )
    return number
