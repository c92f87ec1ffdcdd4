"""A data channel in plain Python: packs structures, unpacks results as bytes.

For evaluation through the daemon, where a copy in Python does not matter; who wants speed attaches
and uses ``forces.connection``. No numpy here.
"""

from __future__ import annotations

import socket
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from crystalmath.domain.elements import NUMBERS
from crystalmath.errors import BadResult, InvalidParams
from crystalmath.forces.reported import reported_error
from crystalmath.forces.worker import plain, wire
from crystalmath.services.ports_pool import Computed, PlainStructure


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
        request = plain.render_request(
            [_plain(structure, i) for i, structure in enumerate(turn.structures)],
            properties,
            request=self._requests,
            generation=self._requests,
            seconds=allowance_s,
        )
        try:
            self._sock.settimeout(patience_s)
            self._sock.sendall(request)
            header = wire.parse_header(self._exactly(wire.HEADER_BYTES))
            message = plain.Message(header, self._exactly(header.payload))
            return self._answer(turn, wire.parse_header(request), message)
        except TimeoutError:
            raise
        except wire.WireError as error:
            raise BadResult(f"{self._engine}: its answer makes no sense: {error}") from error
        except OSError as error:
            raise ChannelClosed from error

    def _answer(
        self, turn: Turn, request: wire.Header, message: plain.Message
    ) -> tuple[list[Computed], float]:
        if message.header.word == wire.FAULT and message.header.request == request.request:
            document = message.document()
            raise reported_error(
                document if isinstance(document, dict) else {}, engine=self._engine
            )
        counts = [len(structure.symbols) for structure in turn.structures]
        result = plain.parse_result(request, counts, message)
        found = [
            _computed(count, arrays, result.members)
            for count, arrays in zip(counts, result.arrays, strict=True)
        ]
        for one in result.faults:
            failed = found[one["index"]]
            failed.arrays = {}
            failed.kind = str(one.get("kind", "forces"))
            failed.message = str(one.get("message", "it could not be computed"))
        return found, result.seconds

    def _exactly(self, size: int) -> bytes:
        data = bytearray(size)
        view, have = memoryview(data), 0
        while have < size:
            n = self._sock.recv_into(view[have:])
            if n == 0:
                raise ConnectionResetError
            have += n
        return bytes(data)


def _plain(structure: PlainStructure, index: int) -> plain.Structure:
    return plain.Structure(
        numbers=[_number(symbol, index) for symbol in structure.symbols],
        positions=structure.positions,
        cell=structure.cell or ((0.0,) * 3,) * 3,
        pbc=structure.pbc,
        info=structure.info,
    )


def _computed(n_atoms: int, arrays: Mapping[str, Sequence[float]], members: int) -> Computed:
    found = {name: array("d", numbers).tobytes() for name, numbers in arrays.items()}
    return Computed(n_atoms, found, members)


def _number(symbol: str, index: int) -> int:
    number = NUMBERS.get(symbol, 0)
    if number == 0:
        raise InvalidParams(
            f"{symbol!r} is no element", field=f"structures.{index}.symbols", hint="like Cu"
        )
    return number
