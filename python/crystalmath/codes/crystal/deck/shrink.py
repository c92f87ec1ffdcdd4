"""SHRINK: its two forms read, written, and put into a deck in place of what it had. Pure text."""

from __future__ import annotations

from dataclasses import dataclass

from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.records import Item, Record


@dataclass(frozen=True, slots=True)
class Shrink:
    """A mesh.

    Attributes
    ----------
    factors
        IS along the three reciprocal vectors of the primitive cell.
    isp
        Of the Gilat net.
    """

    factors: tuple[int, int, int]
    isp: int

    def lines(self) -> list[str]:
        """The records behind the keyword: ``IS ISP``, or ``0 ISP`` and three factors."""
        first, second, third = self.factors
        if first == second == third:
            return [f"{first} {self.isp}"]
        return [f"0 {self.isp}", f"{first} {second} {third}"]

    def times(self, factor: int, axes: int = 3) -> Shrink:
        """The mesh that is finer along the axes that repeat; it has the same symmetry."""
        first, second, third = (
            size * factor if axis < axes else size for axis, size in enumerate(self.factors)
        )
        return Shrink((first, second, third), self.isp * factor)

    def numbers(self) -> list[int]:
        """The three factors and ISP."""
        return [*self.factors, self.isp]


def repeated(size: int, axes: int) -> tuple[int, int, int]:
    """The factors of the short form: one size along the axes that repeat, the first ones."""
    first, second, third = (size if axis < axes else 1 for axis in range(3))
    return first, second, third


def with_net(factors: tuple[int, int, int], *, metal: bool) -> Shrink:
    """A mesh with the net that belongs to it: ISP is IS for insulators, twice IS for metals."""
    return Shrink(factors, max(factors) * (2 if metal else 1))


def read_shrink(records: tuple[Record, ...], axes: int = 3) -> Shrink | None:
    """What the records say, of SHRINK or of NEWK; None where they say nothing that can be used.

    Parameters
    ----------
    axes
        Along which the crystal repeats: with the short form the program leaves the others out.
    """
    values = [value for record in records for value in record.integers()]
    if len(values) < 2 or any(value is None or value < 0 for value in values[:5]):
        return None
    numbers = [value or 0 for value in values]
    if numbers[0] > 0 and numbers[1] > 0:
        return Shrink(repeated(numbers[0], axes), numbers[1])
    if numbers[0] == 0 and len(numbers) >= 5 and min(numbers[1:5]) > 0:
        return Shrink((numbers[2], numbers[3], numbers[4]), numbers[1])
    return None


def with_shrink(text: str, shrink: Shrink) -> str:
    """The deck with another mesh, in either form; put in where it had none.

    Raises
    ------
    ValueError
        A molecule has no mesh, or the deck has no SCF section that ends.
    """
    deck = parse_deck(text)
    if deck.geometry.kind == "MOLECULE":
        raise ValueError("a molecule has no SHRINK")
    lines = text.splitlines(keepends=True)
    item = deck.scf_item("SHRINK")
    if item is not None:
        end = "\r\n" if item.record.text.endswith("\r\n") else "\n"
        first, last = item.record.line, _last_line(item)
        lines[first:last] = [line + end for line in shrink.lines()]
        return "".join(lines)
    if deck.end is None:
        raise ValueError("the SCF section of the deck has no END")
    at = deck.end.line - 1
    lines[at:at] = [line + "\n" for line in ("SHRINK", *shrink.lines())]
    return "".join(lines)


def _last_line(item: Item) -> int:
    return item.data[-1].line if item.data else item.record.line
