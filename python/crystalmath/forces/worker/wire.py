"""What crosses between host and worker: the header, the layout of payloads, the status page.

Every message is a header of 64 bytes and a payload. A payload is a row of arrays, each beginning at
a multiple of 64 bytes, and at its end (``tail`` bytes of it) JSON without padding. Little-endian
throughout; float64 in eV, Å, eV/Å, eV/Å³; stresses 3 by 3, positive under tension.

    EVAL    counts int32 S · cells float64 9S · positions float64 3N
            with NEW: numbers int32 N · pbc uint8 3S · tail: a list of S ``info`` objects
    RESULT  the arrays of the property mask in the order of the bits
            tail, if any: {faults: [{index, kind, message, …}], members}
    FAULT   tail: {kind, message, traceback, retryable, structure, field, hint}
    CONFIG, BEAT, ATTACH, EXIT   on the control channel; a tail or nothing

S structures with N atoms together. Standard library only: the daemon uses it too.
"""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

ABI = 1
"""Raised by any change that an older end would misread; part of an environment's identity."""

HEADER = struct.Struct("<12sIQIIIIdQQ")
HEADER_BYTES = 64
ALIGN = 64
assert HEADER.size == HEADER_BYTES


def pad_word(text: str) -> bytes:
    """Twelve bytes, as i-PI has them."""
    return text.encode("ascii").ljust(12)


EVAL = pad_word("EVAL")
RESULT = pad_word("RESULT")
FAULT = pad_word("FAULT")
CONFIG = pad_word("CONFIG")
BEAT = pad_word("BEAT")
ATTACH = pad_word("ATTACH")
EXIT = pad_word("EXIT")
WORDS = frozenset({EVAL, RESULT, FAULT, CONFIG, BEAT, ATTACH, EXIT})

# How the control channel opens, as plain i-PI.
STATUS_WORD = pad_word("STATUS")
NEEDINIT = pad_word("NEEDINIT")
INIT = pad_word("INIT")
AGREEMENT = b"CMW1 "
"""INIT carries this and ``{"abi": ABI}``."""

NEW = 1
"""Flag of EVAL: numbers, pbc and info are in it, as this generation is new to the connection."""

PROPERTIES = (
    "energy",
    "free_energy",
    "forces",
    "stress",
    "energies",
    "stresses",
    "magmoms",
    "charges",
    "dipole",
    "committee_energy",
    "committee_forces",
)
"""In the order of their bits."""
BITS = {name: 1 << bit for bit, name in enumerate(PROPERTIES)}
KNOWN_MASK = (1 << len(PROPERTIES)) - 1
COMMITTEE_MASK = BITS["committee_energy"] | BITS["committee_forces"]

SIZES = {
    "energy": (1, 0),
    "free_energy": (1, 0),
    "forces": (0, 3),
    "stress": (9, 0),
    "energies": (0, 1),
    "stresses": (0, 9),
    "magmoms": (0, 1),
    "charges": (0, 1),
    "dipole": (3, 0),
    "committee_energy": (1, 0),
    "committee_forces": (0, 3),
}
"""Numbers per structure and per atom. Those of a committee come once for each member, all members
of the first structure before the second structure."""

MAX_STRUCTURES = 1_000_000
MAX_ATOMS = 100_000_000
MAX_MEMBERS = 1_000
MAX_PAYLOAD_BYTES = 16 * 1024**3
MAX_TAIL_BYTES = 64 * 1024**2
MAX_CONTROL_BYTES = 16 * 1024**2

STATUS = struct.Struct("<8s4Q2d2I2dQ32s")
"""The status page: magic · requests begun · requests done · structures done · evaluations that
reached the model · begun at (CLOCK_MONOTONIC, 0: idle) · allowance in s · clients · atoms in hand ·
last done at · seconds of computing · requests waiting · phase (ASCII, padded with NUL)."""
STATUS_MAGIC = b"CMWSTAT1"
STATUS_BYTES = 4096


class WireError(Exception):
    """Bytes that no honest end sends; nothing after them can be trusted."""


class Header(NamedTuple):
    """The fields of a header.

    Attributes
    ----------
    request
        Number that the answer repeats.
    generation
        Of numbers, pbc and info; counts up with every change of them on a connection.
    seconds
        Out: what the request may take, 0 for the worker's default. Back: what it took.
    payload, tail
        Bytes; the tail is the end of the payload.
    """

    word: bytes
    flags: int
    request: int
    generation: int
    structures: int
    atoms: int
    mask: int
    seconds: float
    payload: int
    tail: int


def aligned(size: int) -> int:
    """Round up to the next multiple of 64."""
    return -(-size // ALIGN) * ALIGN


class RequestLayout(NamedTuple):
    """Where the arrays of EVAL begin in the payload; ``size`` is without the tail."""

    counts: int
    cells: int
    positions: int
    numbers: int
    pbc: int
    size: int


def request_layout(structures: int, atoms: int, *, new: bool) -> RequestLayout:
    """Lay out a request."""
    cells = aligned(4 * structures)
    positions = cells + aligned(72 * structures)
    numbers = positions + aligned(24 * atoms)
    if not new:
        return RequestLayout(0, cells, positions, numbers, numbers, numbers)
    pbc = numbers + aligned(4 * atoms)
    return RequestLayout(0, cells, positions, numbers, pbc, pbc + aligned(3 * structures))


class Section(NamedTuple):
    """One array of a result: ``start`` in bytes, ``length`` in numbers."""

    name: str
    start: int
    length: int


def result_layout(
    structures: int, atoms: int, mask: int, members: int = 0
) -> tuple[list[Section], int]:
    """Lay out a result; the second item is its size without the tail."""
    sections: list[Section] = []
    at = 0
    for name, bit in BITS.items():
        if not mask & bit:
            continue
        per_structure, per_atom = SIZES[name]
        count = per_structure * structures + per_atom * atoms
        if bit & COMMITTEE_MASK:
            count *= members
        sections.append(Section(name, at, count))
        at += aligned(8 * count)
    return sections, at


def mask_of(properties: Any) -> int:
    """Property mask; raises ``KeyError`` for a name that is none."""
    mask = 0
    for name in properties:
        mask |= BITS[name]
    return mask


def names_of(mask: int) -> tuple[str, ...]:
    """Properties of a mask, in the order of the bits."""
    return tuple(name for name, bit in BITS.items() if mask & bit)


def render_header(
    word: bytes,
    *,
    flags: int = 0,
    request: int = 0,
    generation: int = 0,
    structures: int = 0,
    atoms: int = 0,
    mask: int = 0,
    seconds: float = 0.0,
    payload: int = 0,
    tail: int = 0,
) -> bytes:
    """Return the 64 bytes of a header."""
    return HEADER.pack(
        word, flags, request, generation, structures, atoms, mask, seconds, payload, tail
    )


def parse_header(data: bytes | bytearray | memoryview) -> Header:
    """Read a header and check all that can be checked without the payload.

    Raises
    ------
    WireError
        It is none.
    """
    header = Header._make(HEADER.unpack_from(data))
    word = header.word
    if word not in WORDS:
        raise WireError(f"{_shown(word)} is no word of this protocol")
    if header.tail > min(header.payload, MAX_TAIL_BYTES):
        raise WireError(f"{_shown(word)} announces a tail of {header.tail} bytes")
    if not (header.seconds >= 0.0 and math.isfinite(header.seconds)):
        raise WireError(f"{_shown(word)} announces {header.seconds} seconds")
    if word == EVAL:
        _check_request(header)
    elif word == RESULT:
        _check_result(header)
    elif header.payload != header.tail or header.payload > MAX_CONTROL_BYTES:
        raise WireError(f"{_shown(word)} announces {header.payload} bytes")
    return header


def _check_request(header: Header) -> None:
    if header.flags & ~NEW:
        raise WireError(f"unknown flags {header.flags:#x}")
    _check_counts(header)
    new = bool(header.flags & NEW)
    body = request_layout(header.structures, header.atoms, new=new).size
    if header.payload != body + header.tail or (header.tail > 0) is not new:
        raise WireError(f"EVAL announces {header.payload} bytes where {body} and the tail belong")


def _check_result(header: Header) -> None:
    if header.flags:
        raise WireError(f"unknown flags {header.flags:#x}")
    _check_counts(header)
    rest = header.mask & ~COMMITTEE_MASK
    body = result_layout(header.structures, header.atoms, rest)[1]
    exact = not header.mask & COMMITTEE_MASK
    if header.payload < body + header.tail or (exact and header.payload != body + header.tail):
        raise WireError(f"RESULT announces {header.payload} bytes where {body} and the tail belong")


def _check_counts(header: Header) -> None:
    if not 1 <= header.structures <= MAX_STRUCTURES:
        raise WireError(f"{header.structures} structures")
    if not header.structures <= header.atoms <= MAX_ATOMS:
        raise WireError(f"{header.atoms} atoms in {header.structures} structures")
    if header.mask == 0 or header.mask & ~KNOWN_MASK:
        raise WireError(f"unknown properties {header.mask:#x}")
    if header.payload > MAX_PAYLOAD_BYTES:
        raise WireError(f"a payload of {header.payload} bytes")


def _shown(word: bytes) -> str:
    return repr(word.decode("ascii", "backslashreplace").rstrip())
