"""The shells of an inline basis set: read, counted, written with their occupations.

A species is ``Z nshell``, an effective core potential under ``INPUT`` if Z is above 200, then the
shells ``ITYB LAT NG CHE SCAL`` with NG primitives each. Pure text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from crystalmath.codes.crystal.deck.records import Record
from crystalmath.codes.crystal.tables.keywords import CORES

ORBITALS: Final = {0: 1, 1: 4, 2: 3, 3: 5, 4: 7, 5: 9}
"""LAT → atomic orbitals of a shell: S, SP, P, D, F, G."""
CAPACITY: Final = {lat: 2 * orbitals for lat, orbitals in ORBITALS.items()}
"""LAT → electrons that a shell can hold."""
ANGULAR: Final = {0: "s", 1: "sp", 2: "p", 3: "d", 4: "f", 5: "g"}


class BasisProblem(ValueError):
    """A text that is no basis set; ``record`` is where."""

    def __init__(self, message: str, record: Record | None = None) -> None:
        super().__init__(message)
        self.record = record


@dataclass(frozen=True, slots=True)
class Shell:
    """One shell.

    Attributes
    ----------
    ityb
        0: primitives follow; 1, 2: the program makes them.
    lat
        Key of :data:`ANGULAR`.
    charge
        CHE, the electrons that the shell is started with.
    """

    record: Record
    ityb: int
    lat: int
    charge: float
    scale: str
    primitives: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class SpeciesBasis:
    """The basis set of one species.

    Attributes
    ----------
    nat
        The label: 1–99 and 101–199 all electron, above 200 effective core.
    core
        The records of an effective core potential.
    valence_charge
        Charge of the core that an ``INPUT`` potential leaves, which its electrons must fill.
    """

    record: Record
    nat: int
    shells: tuple[Shell, ...]
    core: tuple[Record, ...] = ()
    valence_charge: float | None = None

    @property
    def z(self) -> int:
        """The element."""
        return self.nat % 100

    @property
    def electrons(self) -> float:
        """Sum of the occupations."""
        return sum(shell.charge for shell in self.shells)

    @property
    def to_fill(self) -> float | None:
        """Electrons of the neutral atom; None where a core is known to the program alone."""
        if self.nat <= 200:
            return float(self.z)
        return self.valence_charge

    def lines(self) -> list[str]:
        """The text, one line a record, with the occupations of the shells."""
        head = [f"{self.nat} {len(self.shells)}", *(record.text.strip() for record in self.core)]
        for shell in self.shells:
            head.append(
                f"{shell.ityb} {shell.lat} {len(shell.primitives) or shell.record.words[2]} "
                f"{shell.charge:.2f} {shell.scale}"
            )
            head += [f"  {record.text.strip()}" for record in shell.primitives]
        return head

    def with_charges(self, charges: Sequence[float]) -> SpeciesBasis:
        """The same with these occupations."""
        shells = (
            replace(shell, charge=charge)
            for shell, charge in zip(self.shells, charges, strict=True)
        )
        return replace(self, shells=tuple(shells))


def read_species(records: Sequence[Record]) -> list[SpeciesBasis]:
    """Read the species up to the record ``99 0`` or the end.

    Raises
    ------
    BasisProblem
        Naming the record that does not fit.
    """
    reader = _Reader([record for record in records if not record.is_blank])
    found = []
    while (species := reader.species()) is not None:
        found.append(species)
    return found


class _Reader:
    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._at = 0

    def _next(self, what: str) -> Record:
        if self._at >= len(self._records):
            last = self._records[-1] if self._records else None
            raise BasisProblem(f"the basis set ends where {what} belongs", last)
        record = self._records[self._at]
        self._at += 1
        return record

    def species(self) -> SpeciesBasis | None:
        if self._at >= len(self._records):
            return None
        head = self._next("a species")
        nat, count = (*head.integers()[:2], None, None)[:2]
        if nat is None or count is None:
            raise BasisProblem("a species begins with its number and how many shells it has", head)
        if (nat, count) == (99, 0):
            return None
        if nat < 1 or count < 1 or nat > 999:
            raise BasisProblem(f"{nat} with {count} shells is no species", head)
        core, valence = self._core() if nat > 200 else ((), None)
        shells = tuple(self._shell(index + 1, nat) for index in range(count))
        return SpeciesBasis(head, nat, shells, core, valence)

    def _core(self) -> tuple[tuple[Record, ...], float | None]:
        word = self._next("the effective core potential")
        if word.keyword in CORES - {"INPUT"}:
            return (word,), None
        if word.keyword != "INPUT":
            raise BasisProblem("an effective core potential begins with INPUT", word)
        head = self._next("the charge of the core and the numbers of terms")
        numbers = head.numbers()
        counts = head.integers()[1:7]
        charge = numbers[0] if numbers else None
        if charge is None or len(counts) < 6 or None in counts:
            raise BasisProblem("after INPUT come the charge and six numbers of terms", head)
        terms = tuple(
            self._next("a term of the potential") for _ in range(sum(c or 0 for c in counts))
        )
        return (word, head, *terms), charge

    def _shell(self, index: int, nat: int) -> Shell:
        record = self._next(f"shell {index} of species {nat}")
        ityb, lat, count = (*record.integers()[:3], None, None, None)[:3]
        charge = (*record.numbers()[3:4], None)[0]
        if ityb is None or lat is None or count is None or charge is None:
            raise BasisProblem(
                f"shell {index} of species {nat} is not ITYB LAT NG CHE SCAL", record
            )
        if lat not in CAPACITY or count < 1:
            raise BasisProblem(f"there is no shell of type {lat} with {count} functions", record)
        primitives: tuple[Record, ...] = ()
        if ityb == 0:
            primitives = tuple(self._primitive(lat, index, nat) for _ in range(count))
        words = record.words
        return Shell(record, ityb, lat, charge, words[4] if len(words) > 4 else "1.0", primitives)

    def _primitive(self, lat: int, index: int, nat: int) -> Record:
        record = self._next(f"a primitive of shell {index} of species {nat}")
        needed = 3 if lat == 1 else 2
        numbers = record.numbers()
        if len(numbers) < needed or None in numbers[:needed]:
            raise BasisProblem(
                f"a primitive of shell {index} of species {nat} needs {needed} numbers", record
            )
        return record
