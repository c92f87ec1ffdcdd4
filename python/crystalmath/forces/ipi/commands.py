"""What a server asks of a force program, from bytes: the reading half of ``serve``."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.errors import BadResult
from crystalmath.forces.ipi.words import (
    CELL_AT,
    CODATA,
    COMMANDS,
    COUNT_AT,
    EXIT,
    GETFORCE,
    INIT,
    MAX_INIT_BYTES,
    POSITIONS_AT,
    STATUS,
    WORD_BYTES,
    Array,
    Order,
    Units,
    check_order,
    posdata_bytes,
    show,
    surprise,
)

_INT: Final = struct.Struct("<i")
_INIT_HEAD: Final = WORD_BYTES + 8


@dataclass(frozen=True, slots=True)
class AskStatus:
    """STATUS."""


@dataclass(frozen=True, slots=True)
class AskForces:
    """GETFORCE."""


@dataclass(frozen=True, slots=True)
class Leave:
    """EXIT."""


@dataclass(frozen=True, slots=True)
class Begin:
    """INIT; i-PI sends its parameters as ``key : value, …``."""

    bead: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Move:
    """POSDATA in Å, atoms in our order, rows of the cell are its vectors."""

    cell: Array
    positions: Array


Command = AskStatus | AskForces | Leave | Begin | Move
_PLAIN: Final[dict[bytes, Command]] = {
    STATUS: AskStatus(),
    GETFORCE: AskForces(),
    EXIT: Leave(),
}


class CommandReader:
    """Commands from bytes, for one number of atoms; a server may send several at once.

    Parameters
    ----------
    order
        Atom i of the server is our atom ``order[i]``.

    Raises
    ------
    BadResult
        From :meth:`next_command`: the bytes are no command, or speak of another number of atoms.
    """

    def __init__(self, atoms: int, *, units: Units = CODATA, order: Order | None = None) -> None:
        self._atoms = atoms
        self._order = check_order(order, atoms)
        self._units = units
        self._memory = bytearray(posdata_bytes(atoms) + 4 * WORD_BYTES)
        self._begin = self._end = 0

    @property
    def unfinished(self) -> bool:
        """Whether a part of a command is here."""
        return self._end > self._begin

    def room(self) -> memoryview:
        """Where the next bytes go; never empty. Call it when no command is left."""
        if self._begin:
            rest = self._memory[self._begin : self._end]
            self._memory[: len(rest)] = rest
            self._begin, self._end = 0, len(rest)
        return memoryview(self._memory)[self._end :]

    def took(self, count: int) -> None:
        """Note that ``count`` bytes came."""
        self._end += count

    def next_command(self) -> Command | None:
        """Return the next complete command; None where more bytes are needed."""
        have = self._end - self._begin
        if have == 0:
            return None
        word = bytes(self._memory[self._begin : self._begin + min(have, WORD_BYTES)])
        if not any(known.startswith(word) for known in COMMANDS):
            raise surprise(f"{show(word)} is no word of a server")
        if have < WORD_BYTES:
            return None
        if (plain := _PLAIN.get(word)) is not None:
            self._begin += WORD_BYTES
            return plain
        return self._init(have) if word == INIT else self._posdata(have)

    def _number(self, offset: int) -> int:
        return int(_INT.unpack_from(self._memory, self._begin + offset)[0])

    def _init(self, have: int) -> Begin | None:
        if have < _INIT_HEAD:
            return None
        bead, length = self._number(WORD_BYTES), self._number(WORD_BYTES + 4)
        if not 0 <= length <= MAX_INIT_BYTES:
            raise surprise(f"INIT announces {length} bytes; {MAX_INIT_BYTES} are taken at most")
        if have < _INIT_HEAD + length:
            self._reserve(_INIT_HEAD + length)
            return None
        begin = self._begin + _INIT_HEAD
        self._begin = begin + length
        return Begin(bead, bytes(self._memory[begin : begin + length]))

    def _reserve(self, size: int) -> None:
        short = self._begin + size + WORD_BYTES - len(self._memory)
        if short > 0:
            self._memory = self._memory + bytes(short)

    def _posdata(self, have: int) -> Move | None:
        if have < POSITIONS_AT:
            return None
        atoms, count = self._atoms, self._number(COUNT_AT)
        if count != atoms:
            raise BadResult(
                f"the server sent {count} atoms; the template has {atoms}",
                hint="give a template with the atoms of the server's structure, in its order",
            )
        if have < posdata_bytes(atoms):
            return None
        start = self._begin
        bohr = self._units.bohr_angstrom
        cell = np.frombuffer(self._memory, "<f8", 9, start + CELL_AT).reshape(3, 3).T * bohr
        sent = np.frombuffer(self._memory, "<f8", 3 * atoms, start + POSITIONS_AT)
        positions = sent.reshape(atoms, 3) * bohr
        if self._order is not None:
            ours = np.empty_like(positions)
            ours[self._order] = positions
            positions = ours
        _check_finite(cell, positions)
        self._begin = start + posdata_bytes(atoms)
        return Move(np.ascontiguousarray(cell), positions)


def _check_finite(cell: Array, positions: Array) -> None:
    if not np.isfinite(cell).all():
        raise BadResult("the server sent a cell that is not finite")
    if not np.isfinite(positions).all():
        atom = int(np.argwhere(~np.isfinite(positions))[0][0])
        raise BadResult(f"the server sent a position of atom {atom} (counted from 0) not finite")
