"""What both ends of i-PI share: words, sizes, limits, units, and the one way to refuse bytes.

A word is twelve bytes. Numbers are int32 and float64, little-endian. There is no length, version,
checksum or request number in a message: whoever loses count never finds it again, so every
surprise ends the conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from crystalmath.errors import BadResult
from crystalmath.units import BOHR_ANGSTROM, HARTREE_EV

WORD_BYTES: Final = 12


def pad(text: str) -> bytes:
    """Twelve bytes of ASCII, filled with blanks."""
    return text.encode("ascii").ljust(WORD_BYTES)


STATUS: Final = pad("STATUS")
INIT: Final = pad("INIT")
POSDATA: Final = pad("POSDATA")
GETFORCE: Final = pad("GETFORCE")
EXIT: Final = pad("EXIT")

NEEDINIT: Final = pad("NEEDINIT")
READY: Final = pad("READY")
HAVEDATA: Final = pad("HAVEDATA")
FORCEREADY: Final = pad("FORCEREADY")

COMMANDS: Final = (STATUS, POSDATA, GETFORCE, INIT, EXIT)
STATES: Final = (READY, NEEDINIT, HAVEDATA)

# POSDATA: word · 9 cell · 9 inverse · count · positions
CELL_AT: Final = WORD_BYTES
INVERSE_AT: Final = CELL_AT + 72
COUNT_AT: Final = INVERSE_AT + 72
POSITIONS_AT: Final = COUNT_AT + 4

# FORCEREADY: word · energy · count · forces · 9 virial · length of extras · extras
ENERGY_AT: Final = WORD_BYTES
FORCE_COUNT_AT: Final = ENERGY_AT + 8
FORCES_AT: Final = FORCE_COUNT_AT + 4

MAX_ATOMS: Final = 10_000_000
MAX_EXTRAS_BYTES: Final = 16 * 1024**2
MAX_INIT_BYTES: Final = 1024**2


@dataclass(frozen=True, slots=True)
class Units:
    """What bohr and hartree are for the program at the other end; by default CODATA 2018."""

    bohr_angstrom: float = BOHR_ANGSTROM
    hartree_ev: float = HARTREE_EV

    @property
    def force_ev_per_angstrom(self) -> float:
        """One hartree per bohr."""
        return self.hartree_ev / self.bohr_angstrom


CODATA: Final = Units()

Order = np.ndarray[tuple[int], np.dtype[np.intp]]
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def posdata_bytes(atoms: int) -> int:
    """Size of POSDATA without a GETFORCE behind it."""
    return POSITIONS_AT + 24 * atoms


def forceready_bytes(atoms: int) -> int:
    """Size of FORCEREADY up to its extras."""
    return FORCES_AT + 24 * atoms + 72 + 4


def show(data: bytes | bytearray | memoryview) -> str:
    """Twelve bytes as a message can quote them."""
    return repr(bytes(data[:WORD_BYTES]).decode("ascii", "backslashreplace").rstrip())


def surprise(what: str) -> BadResult:
    """Return the error for bytes that do not belong there."""
    return BadResult(
        f"the other end broke the i-PI protocol: {what}",
        hint="the conversation was ended, as nothing after such bytes can be trusted",
    )


def check_order(order: Order | None, atoms: int) -> Order | None:
    """Return a permutation of ``atoms`` numbers, or None where it changes nothing.

    Raises
    ------
    ValueError
        It is no permutation.
    """
    if order is None:
        return None
    order = np.asarray(order)
    if order.shape != (atoms,) or (np.sort(order) != np.arange(atoms)).any():
        raise ValueError(f"not a permutation of {atoms} atoms")
    return None if (order == np.arange(atoms)).all() else order
