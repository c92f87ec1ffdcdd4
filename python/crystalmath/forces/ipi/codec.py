"""The messages of i-PI, from and to bytes; no socket, no clock.

Whoever moves the atoms writes with :class:`PositionsMessage` and reads with :class:`ReplyReader`;
whoever computes reads with ``commands.CommandReader`` and writes with :class:`ForcesMessage`. All
keep their memory for one number of atoms, and the numpy views into it are made once.

A reader says where the next bytes go (``room``) and is told how many came (``took``), so nothing is
copied on the way and the bytes may be split anywhere.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from crystalmath.errors import BadResult
from crystalmath.forces.ipi.words import (
    CELL_AT,
    CODATA,
    COUNT_AT,
    ENERGY_AT,
    FORCE_COUNT_AT,
    FORCEREADY,
    FORCES_AT,
    GETFORCE,
    INIT,
    INVERSE_AT,
    MAX_EXTRAS_BYTES,
    POSDATA,
    POSITIONS_AT,
    STATES,
    WORD_BYTES,
    Array,
    Order,
    Units,
    check_order,
    forceready_bytes,
    posdata_bytes,
    show,
    surprise,
)

_INT: Final = struct.Struct("<i")
_DOUBLE: Final = struct.Struct("<d")
_AXES: Final = "xyz"
_MODERATE: Final = 1e300
_SLACK_BYTES: Final = 4096
"""Room behind the expected reply: for small extras, and for what should not be there."""


@dataclass(frozen=True, slots=True)
class Forces:
    """One answer to GETFORCE, in eV and Å, atoms in our order.

    Attributes
    ----------
    virial_ev
        −stress × volume; the transpose of what was sent, as ASE's cell is.
    """

    energy_ev: float
    forces_ev_per_angstrom: Array
    virial_ev: Array
    extras: bytes


def init_message(text: bytes = b"\0", bead: int = 0) -> bytes:
    """INIT. Foreign programs get one byte: some copy the text without looking at its length."""
    return INIT + _INT.pack(bead) + _INT.pack(len(text)) + text


class PositionsMessage:
    """POSDATA for one number of atoms, with GETFORCE behind it.

    Parameters
    ----------
    order
        Atom i of the other end is our atom ``order[i]``.

    Attributes
    ----------
    alone, with_getforce
        The bytes that :meth:`fill` has written: views, valid until the next call.
    """

    def __init__(self, atoms: int, *, units: Units = CODATA, order: Order | None = None) -> None:
        self._order = check_order(order, atoms)
        self._units = units
        end = posdata_bytes(atoms)
        memory = bytearray(end + WORD_BYTES)
        memory[:WORD_BYTES] = POSDATA
        memory[end:] = GETFORCE
        _INT.pack_into(memory, COUNT_AT, atoms)
        self._cell = np.frombuffer(memory, "<f8", 9, CELL_AT).reshape(3, 3)
        self._inverse = np.frombuffer(memory, "<f8", 9, INVERSE_AT).reshape(3, 3)
        self._positions = np.frombuffer(memory, "<f8", 3 * atoms, POSITIONS_AT).reshape(atoms, 3)
        self._sent_cell = b""
        self._per_angstrom = 1.0 / units.bohr_angstrom
        self.with_getforce = memoryview(memory)
        self.alone = self.with_getforce[:end]

    def fill(self, positions: Array, cell: Array) -> None:
        """Write positions (N, 3) and cell (3, 3; rows are the vectors), both in Å."""
        if self._order is not None:
            positions = positions[self._order]
        np.multiply(positions, self._per_angstrom, out=self._positions)
        if self._sent_cell != (sent := cell.tobytes()):
            self._sent_cell = sent
            # the wire has the vectors as columns; most programs invert the cell themselves
            self._cell[...] = cell.T * self._per_angstrom
            self._inverse[...] = np.linalg.pinv(cell).T * self._units.bohr_angstrom


class ReplyReader:
    """What a force program answers to STATUS and to GETFORCE.

    A force program sends nothing unasked, so bytes behind a reply are an error too.

    Raises
    ------
    BadResult
        From :meth:`took`, :meth:`forces` and :meth:`state`: the bytes are no such answer.
    """

    def __init__(
        self,
        atoms: int,
        *,
        units: Units = CODATA,
        order: Order | None = None,
        max_extras_bytes: int = MAX_EXTRAS_BYTES,
    ) -> None:
        self._atoms = atoms
        self._order = check_order(order, atoms)
        self._units = units
        self._force_unit = units.force_ev_per_angstrom
        self._max_extras = max_extras_bytes
        self._fixed = forceready_bytes(atoms)
        self._expects_forces = False
        self._checked = 0
        self._have = 0
        self._size = WORD_BYTES
        self._lay_out(bytearray(self._fixed + _SLACK_BYTES))

    def _lay_out(self, memory: bytearray) -> None:
        atoms = self._atoms
        self._memory = memoryview(memory)
        self._numbers = np.frombuffer(memory, "<f8", 3 * atoms + 9, FORCES_AT)
        self._forces = self._numbers[: 3 * atoms].reshape(atoms, 3)
        self._virial = self._numbers[3 * atoms :].reshape(3, 3).T

    def expect(self, answer: Literal["state", "forces"]) -> None:
        """Begin to read an answer."""
        self._expects_forces = answer == "forces"
        self._size = self._fixed if self._expects_forces else WORD_BYTES
        self._checked = self._have = 0

    @property
    def begun(self) -> bool:
        """Whether a part of the answer is here."""
        return self._have > 0

    def room(self) -> memoryview:
        """Where the next bytes go; never empty."""
        return self._memory[self._have :]

    def took(self, count: int) -> bool:
        """Note that ``count`` bytes came; True when the answer is complete."""
        self._have += count
        if self._checked < WORD_BYTES:
            self._check_word()
        if self._expects_forces:
            if self._checked < FORCES_AT <= self._have:
                self._check_count()
            if self._checked < self._fixed <= self._have:
                self._check_extras()
        if self._have > self._size:
            raise surprise(f"{self._have - self._size} bytes more than the answer has")
        return self._have == self._size and self._checked >= WORD_BYTES

    def _check_word(self) -> None:
        """Look at the word, or at what is there of it: a wrong one is not waited for."""
        have = bytes(self._memory[: min(self._have, WORD_BYTES)])
        if have == FORCEREADY and self._expects_forces:
            self._checked = WORD_BYTES
            return
        if not any(word.startswith(have) for word in (*STATES, FORCEREADY)):
            raise surprise(f"{show(have)} is no word of a force program")
        if len(have) < WORD_BYTES:
            return
        if self._expects_forces or have == FORCEREADY:
            wanted = "FORCEREADY" if self._expects_forces else "a state"
            raise surprise(f"{show(have)} came where {wanted} belongs")
        self._checked = WORD_BYTES

    def _check_count(self) -> None:
        (count,) = _INT.unpack_from(self._memory, FORCE_COUNT_AT)
        if count != self._atoms:
            raise BadResult(
                f"the program answered with forces on {count} atoms; {self._atoms} were sent",
                hint="its own input must describe the same atoms as the structure here",
            )
        self._checked = FORCES_AT

    def _check_extras(self) -> None:
        (length,) = _INT.unpack_from(self._memory, self._fixed - 4)
        if not 0 <= length <= self._max_extras:
            raise surprise(
                f"extras of {length} bytes were announced; {self._max_extras} are taken at most"
            )
        self._checked = self._fixed
        self._size = self._fixed + length
        if self._size > len(self._memory):
            self._grow()

    def _grow(self) -> None:
        memory = bytearray(self._size + _SLACK_BYTES)
        memory[: self._have] = self._memory[: self._have]
        self._lay_out(memory)

    def state(self) -> bytes:
        """READY, NEEDINIT or HAVEDATA."""
        return bytes(self._memory[:WORD_BYTES])

    def forces(self, out: Array | None = None) -> Forces:
        """Return the numbers, as arrays of the caller's own; the forces in ``out`` if given."""
        (energy,) = _DOUBLE.unpack_from(self._memory, ENERGY_AT)
        units = self._units
        if not (all_moderate(self._numbers) and math.isfinite(energy)):
            with np.errstate(over="ignore"):
                check_finite(
                    energy * units.hartree_ev, self._in_order(), self._virial * units.hartree_ev
                )
        forces = self._in_order(out)
        virial: Array = self._virial * units.hartree_ev
        extras = bytes(self._memory[self._fixed : self._size]) if self._size > self._fixed else b""
        return Forces(energy * units.hartree_ev, forces, virial, extras)

    def _in_order(self, out: Array | None = None) -> Array:
        forces = np.empty_like(self._forces) if out is None else out
        if self._order is None:
            np.multiply(self._forces, self._force_unit, out=forces)
        else:
            forces[self._order] = self._forces * self._force_unit
        return forces


class ForcesMessage:
    """FORCEREADY for one number of atoms."""

    def __init__(
        self,
        atoms: int,
        *,
        units: Units = CODATA,
        order: Order | None = None,
        extras: bytes = b" ",
    ) -> None:
        # One blank: for ASE no byte is a closed socket, for i-PI blanks are nothing.
        self._order = check_order(order, atoms)
        self._units = units
        fixed = forceready_bytes(atoms)
        memory = bytearray(fixed + len(extras))
        memory[:WORD_BYTES] = FORCEREADY
        memory[fixed:] = extras
        _INT.pack_into(memory, FORCE_COUNT_AT, atoms)
        _INT.pack_into(memory, fixed - 4, len(extras))
        self._forces = np.frombuffer(memory, "<f8", 3 * atoms, FORCES_AT).reshape(atoms, 3)
        self._virial = np.frombuffer(memory, "<f8", 9, FORCES_AT + 24 * atoms).reshape(3, 3)
        self.all = memoryview(memory)

    def fill(self, energy_ev: float, forces: Array, virial_ev: Array) -> None:
        """Write one result; ``virial_ev`` is −stress × volume, as ASE's stress and cell are turned.

        Raises
        ------
        BadResult
            A number is NaN or infinite.
        """
        check_finite(energy_ev, forces, virial_ev)
        units = self._units
        _DOUBLE.pack_into(self.all, ENERGY_AT, energy_ev / units.hartree_ev)
        if self._order is not None:
            forces = forces[self._order]
        np.multiply(forces, 1.0 / units.force_ev_per_angstrom, out=self._forces)
        self._virial[...] = virial_ev.T / units.hartree_ev


def all_moderate(numbers: Array) -> bool:
    """Whether all are finite and so small that no unit makes them infinite.

    Fast: the extremes of numbers of which one is NaN are NaN.
    """
    largest, smallest = np.maximum.reduce(numbers, axis=None), np.minimum.reduce(numbers, axis=None)
    return bool(smallest > -_MODERATE and largest < _MODERATE)


def check_finite(energy_ev: float, forces: Array, virial_ev: Array) -> None:
    """Refuse NaN and infinity, naming the place.

    Raises
    ------
    BadResult
    """
    if not np.isfinite(energy_ev):
        raise BadResult(f"the energy is {energy_ev}")
    if not np.isfinite(forces).all():
        atom, axis = np.argwhere(~np.isfinite(forces))[0]
        raise BadResult(
            f"the force on atom {atom} (counted from 0) is {forces[atom, axis]} along {_AXES[axis]}"
        )
    if not np.isfinite(virial_ev).all():
        row, column = np.argwhere(~np.isfinite(virial_ev))[0]
        raise BadResult(f"the virial's {_AXES[row]}{_AXES[column]} is {virial_ev[row, column]}")
