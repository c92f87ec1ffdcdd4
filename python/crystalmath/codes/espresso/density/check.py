"""Refuses to start from the density of another crystal: pw.x would compute that crystal instead.

nscf and bands read cell and atoms from the files of the run before, whatever the deck says. Reads
those files; used by ``prepare``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from typing import Final

from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.density.crystal import lattice_of, places_of
from crystalmath.codes.espresso.density.schema import Before, read_schema
from crystalmath.codes.espresso.elements import element_of_label
from crystalmath.codes.espresso.options import NEEDS_DENSITY
from crystalmath.codes.espresso.run import Matrix, Vector
from crystalmath.codes.espresso.saved import FOLDER
from crystalmath.codes.lattice import reciprocal
from crystalmath.codes.outputs import read_head
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile

SCHEMA: Final = "data-file-schema.xml"
_SAME_ANGSTROM: Final = 1e-4
_SAME_RELATIVE: Final = 1e-5
_MOST_UPF_BYTES: Final = 32 * 1024 * 1024


def check_density(
    deck: Deck, files: Sequence[InputFile], pseudos: Sequence[InputFile], field: str
) -> list[str]:
    """Compare the run that made the density with the deck.

    Parameters
    ----------
    files
        Those of the job; among them what ``saved`` found of the run before.
    pseudos
        The pseudopotentials of the job.

    Returns
    -------
    list of str
        What could not be compared.

    Raises
    ------
    InvalidParams
        They differ in what settles the density.
    """
    if deck.calculation not in NEEDS_DENSITY:
        return []
    kept = f"{FOLDER}/{deck.prefix}.save/"
    saves = {one.path.removeprefix(kept): one for one in files if one.path.startswith(kept)}
    found = saves.get(SCHEMA)
    before = None if found is None or found.source is None else read_schema(Path(found.source))
    if before is None:
        said = f"{deck.prefix}.save holds no {SCHEMA} that can be read"
        return [f"{said}: whether its density is of this structure was not compared"]
    unknown: list[str] = []
    differ = [
        *_crystal(before, deck, unknown),
        *_numbers(before, deck),
        *_pseudopotentials(before, deck),
        *_contents(saves, pseudos),
    ]
    if differ:
        raise InvalidParams(
            f"the run before, whose density this job starts from, is another: {'; '.join(differ)}",
            hint=f"give an scf of this structure with the same cutoffs, spins, charge and "
            f"pseudopotentials: pw.x takes cell and atoms of {deck.calculation} from that run",
            field=field,
        )
    if unknown:
        return [f"{' and '.join(unknown)} of the deck were not compared with the run before"]
    return []


def _crystal(before: Before, deck: Deck, unknown: list[str]) -> Iterator[str]:
    there = [element_of_label(label) or label for label in before.labels]
    here = [element_of_label(label) or label for label in deck.labels]
    if not deck.lists_every_atom:
        unknown.append("atoms")
    elif len(there) != len(here):
        yield f"{len(there)} atoms there, {len(here)} here"
        return
    elif there != here:
        n = next(n for n, pair in enumerate(zip(there, here, strict=True)) if pair[0] != pair[1])
        yield f"atom {n + 1} is {there[n]} there, {here[n]} here"
        return
    lattice = lattice_of(deck)
    if lattice is None:
        unknown[:] = ["cell and atoms"]
        return
    pairs = list(zip(before.lattice, lattice, strict=True))
    if not all(_near(a, b) for a, b in pairs):
        yield _cells(pairs)
    elif deck.lists_every_atom:
        yield from _places(before, places_of(deck), lattice, here, unknown)


def _places(
    before: Before,
    places: Sequence[Vector] | None,
    lattice: Matrix,
    elements: Sequence[str],
    unknown: list[str],
) -> Iterator[str]:
    if places is None:
        unknown.append("atoms")
        return
    for n, (a, b) in enumerate(zip(before.places, places, strict=True)):
        if not _same_place(a, b, lattice):
            yield f"atom {n + 1}, {elements[n]}, at {_words(a)} Å there, {_words(b)} Å here"
            return


def _numbers(before: Before, deck: Deck) -> Iterator[str]:
    ecutwfc = _number(deck, "ecutwfc", None)
    ecutrho = _number(deck, "ecutrho", None if ecutwfc is None else 4 * ecutwfc)
    nspin = 4 if deck.value("system", "noncolin") is True else _number(deck, "nspin", 1.0)
    for name, there, here, unit in (
        ("ecutwfc", before.ecutwfc_ry, ecutwfc, " Ry"),
        ("ecutrho", before.ecutrho_ry, ecutrho, " Ry"),
        ("nspin", before.nspin, nspin, ""),
        ("tot_charge", before.charge, _number(deck, "tot_charge", 0.0), ""),
    ):
        if there is None or here is None:
            continue
        if abs(there - here) > _SAME_RELATIVE * max(1.0, abs(here)):
            yield f"{name} {there:.6g}{unit} there, {here:.6g}{unit} here"


def _pseudopotentials(before: Before, deck: Deck) -> Iterator[str]:
    """By element: a label may be another in the other run."""
    there = {(element_of_label(one), file) for one, file in before.pseudos.items()}
    here = {(one.element, one.file) for one in deck.species}
    if there and {element for element, _ in there} == {element for element, _ in here}:
        for element in sorted({str(element) for element, _ in there ^ here}):
            one, other = (
                ", ".join(sorted(file for of, file in files if of == element))
                for files in (there, here)
            )
            yield f"{one} for {element} there, {other} here"


def _contents(saves: dict[str, InputFile], pseudos: Sequence[InputFile]) -> Iterator[str]:
    """The pseudopotentials themselves: pw.x keeps a copy of each beside the density."""
    for file in pseudos:
        name = file.path.rpartition("/")[2]
        kept = _lines(saves.get(name))
        own = _lines(file)
        if kept and own and kept != own:
            yield f"{name} there and here are different files of one name"


def _lines(file: InputFile | None) -> list[bytes]:
    if file is None:
        return []
    if file.content is not None:
        raw = file.content.encode()
    else:
        raw, size = read_head(Path(str(file.source)).resolve(), _MOST_UPF_BYTES)
        if size > _MOST_UPF_BYTES:
            return []
    return [line.rstrip() for line in raw.splitlines()]


def _cells(pairs: Sequence[tuple[Vector, Vector]]) -> str:
    there, here = (_lengths([pair[i] for pair in pairs]) for i in (0, 1))
    if there != here:
        return f"cell {there} Å there, {here} Å here"
    n, (one, other) = next((n, pair) for n, pair in enumerate(pairs) if not _near(*pair))
    return f"cell vector {'abc'[n]} {_words(one)} Å there, {_words(other)} Å here"


def _lengths(vectors: Sequence[Vector]) -> str:
    lengths = [f"{_length(vector):.4f}" for vector in vectors]
    return " × ".join(lengths if len(set(lengths)) > 1 else lengths[:1])


def _words(vector: Vector) -> str:
    return " ".join(f"{x + 0.0:.4f}" for x in vector)


def _length(vector: Vector) -> float:
    return sqrt(sum(x * x for x in vector))


def _near(one: Vector, other: Vector) -> bool:
    away = max(abs(a - b) for a, b in zip(one, other, strict=True))
    return away <= max(_SAME_ANGSTROM, _SAME_RELATIVE * _length(other))


def _same_place(one: Vector, other: Vector, lattice: Matrix) -> bool:
    """Whether two places are one, or images of one."""
    between = [a - b for a, b in zip(one, other, strict=True)]
    fractions = [
        sum(x * y for x, y in zip(between, row, strict=True)) for row in reciprocal(lattice)
    ]
    whole = [round(value) for value in fractions]
    rest = [
        x - sum(n * vector[i] for n, vector in zip(whole, lattice, strict=True))
        for i, x in enumerate(between)
    ]
    return max(abs(x) for x in rest) <= _SAME_ANGSTROM


def _number(deck: Deck, key: str, default: float | None) -> float | None:
    value = deck.value("system", key, default)
    return float(value) if isinstance(value, int | float) else None
