"""Band structures and densities of states: BAND.DAT, DOSS.DAT and fort.25, by what stands in them.

Energies are hartree relative to the Fermi energy, also those of fort.25, whose own zero is taken
off. A second block holds the second spin; its density of states is printed negative and is turned.
Blocks of fort.25 that are neither are passed over. Used by ``properties`` and ``series``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from crystalmath.codes.crystal.output.numbers import numbers
from crystalmath.codes.outputs import read_head

MAX_BYTES: Final = 64 * 1024**2
_BANDS: Final = re.compile(r"# NKPT +(\d+) +NBND +(\d+) +NSPIN +(\d+)")
_DOS: Final = re.compile(r"# NEPTS +(\d+) +NPROJ +(\d+) +NSPIN +(\d+)")
_LABEL: Final = re.compile(r"# +(\d+) +\((-?\d+),(-?\d+),(-?\d+)\)/(\d+)")
_FERMI: Final = re.compile(r"# EFERMI \(HARTREE\) +(\S+)")
_BLOCK: Final = re.compile(r"^-%-(\d)(\w{4})(.{5})(.{5})(.{12})(.{12})(.{12})")
_WIDTH: Final = 12
"""Columns of a number in fort.25; numbers touch."""


@dataclass(frozen=True, slots=True)
class Label:
    """A corner of the path: index of its k point from 1, and its place in units of 1 / ``per``."""

    index: int
    place: tuple[int, int, int]
    per: int


@dataclass(slots=True)
class Bands:
    """Energies by spin, k point and band."""

    n_kpoints: int
    n_bands: int
    n_spins: int
    labels: list[Label] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    energies: list[list[list[float]]] = field(default_factory=list)
    fermi: float | None = None

    @property
    def complete(self) -> bool:
        """Whether everything that the head announces is there."""
        rows = [row for spin in self.energies for row in spin]
        whole = len(self.energies) == self.n_spins and len(self.distances) == self.n_kpoints
        expected = self.n_kpoints * self.n_spins
        return whole and len(rows) == expected and all(len(row) == self.n_bands for row in rows)


@dataclass(slots=True)
class Dos:
    """Densities by spin and projection; the last projection is the total."""

    n_points: int
    n_projections: int
    n_spins: int
    energies: list[float] = field(default_factory=list)
    densities: list[list[list[float]]] = field(default_factory=list)
    fermi: float | None = None

    @property
    def complete(self) -> bool:
        """Whether everything that the head announces is there."""
        columns = [column for spin in self.densities for column in spin]
        whole = len(self.densities) == self.n_spins and len(self.energies) == self.n_points
        return whole and bool(columns) and all(len(c) == self.n_points for c in columns)


def load_curves(path: Path) -> tuple[list[Bands], list[Dos]]:
    """Read one file; nothing of a file that is of another kind or too large."""
    raw, size = read_head(path, MAX_BYTES)
    if not raw or size > MAX_BYTES or b"\0" in raw:
        return [], []
    return parse_curves(raw.decode("latin-1").replace("\r\n", "\n"))


def parse_curves(text: str) -> tuple[list[Bands], list[Dos]]:
    """Read a text, by its first line."""
    first = text.lstrip("\n").partition("\n")[0]
    if first.startswith("-%-"):
        return _parse_fort25(text)
    if _BANDS.match(first):
        bands = _parse_bands(text)
        return ([bands] if bands is not None else []), []
    # Populations weighted by overlaps (COOP, COHP) begin the same way; their axis says so.
    if _DOS.match(first) and "DENSITY OF STATES" in text[:2000]:
        dos = _parse_dos(text)
        return [], ([dos] if dos is not None else [])
    return [], []


def _rows(text: str) -> Iterator[list[float]]:
    for line in text.splitlines():
        if line and line[0] not in "#@":
            values = numbers(line)
            if values:
                yield values


def _parse_bands(text: str) -> Bands | None:
    head = _BANDS.search(text)
    if head is None:
        return None
    bands = Bands(int(head[1]), int(head[2]), int(head[3]))
    for found in _LABEL.finditer(text):
        a, b, c = int(found[2]), int(found[3]), int(found[4])
        bands.labels.append(Label(int(found[1]), (a, b, c), int(found[5])))
    fermi = _FERMI.search(text)
    bands.fermi = None if fermi is None else float(fermi[1])
    for row in _rows(text):
        if not bands.energies or len(bands.energies[-1]) == bands.n_kpoints:
            bands.energies.append([])
        if len(bands.energies) == 1:
            bands.distances.append(row[0])
        bands.energies[-1].append(row[1:])
    return bands if bands.complete else None


def _parse_dos(text: str) -> Dos | None:
    head = _DOS.search(text)
    if head is None:
        return None
    dos = Dos(int(head[1]), int(head[2]), int(head[3]))
    fermi = _FERMI.search(text)
    dos.fermi = None if fermi is None else float(fermi[1])
    rows = list(_rows(text))
    for spin in range(dos.n_spins):
        part = rows[spin * dos.n_points : (spin + 1) * dos.n_points]
        if any(len(row) != dos.n_projections + 1 for row in part):
            return None
        if spin == 0:
            dos.energies = [row[0] for row in part]
        sign = -1.0 if spin else 1.0
        dos.densities.append(
            [[sign * row[i + 1] + 0.0 for row in part] for i in range(dos.n_projections)]
        )
    return dos if dos.complete else None


@dataclass(slots=True)
class _Block:
    """One block of fort.25.

    Attributes
    ----------
    spins
        Two for an open shell: the number before the kind is odd.
    dx, dy, start
        Steps and origin as printed: of bands ``dy`` is the step along the path, of a density of
        states ``dx`` that of the energy and ``start`` its first value.
    """

    kind: str
    spins: int
    rows: int
    columns: int
    dx: float
    dy: float
    fermi: float
    start: float
    names: list[int]
    values: list[float]


def _parse_fort25(text: str) -> tuple[list[Bands], list[Dos]]:
    blocks = [block for block in _blocks(text) if len(block.values) == block.rows * block.columns]
    segments = [block for block in blocks if block.kind == "BAND"]
    densities = [block for block in blocks if block.kind == "DOSS"]
    bands = _bands_of(segments) if segments else None
    dos = _dos_of(densities) if densities else None
    return ([bands] if bands is not None else []), ([dos] if dos is not None else [])


def _blocks(text: str) -> Iterator[_Block]:
    for part in re.split(r"(?m)^(?=-%-)", text):
        head = _BLOCK.match(part)
        lines = part.splitlines()
        if head is None or len(lines) < 3 or head[2] not in ("BAND", "DOSS"):
            continue
        try:
            yield _Block(
                kind=head[2],
                spins=1 + int(head[1]) % 2,
                rows=int(head[3]),
                columns=int(head[4]),
                dx=float(head[5]),
                dy=float(head[6]),
                fermi=float(head[7]),
                start=_fixed(lines[1])[0],
                names=[int(word) for word in re.findall(r"-?\d+", lines[2])],
                values=[number for line in lines[3:] for number in _fixed(line)],
            )
        except (ValueError, IndexError):
            continue


def _fixed(line: str) -> list[float]:
    width = _WIDTH
    return [float(line[i : i + width]) for i in range(0, len(line.rstrip()), width)]


def _bands_of(segments: list[_Block]) -> Bands | None:
    """Join the segments; with two spins those of the second follow those of the first."""
    n_spins = segments[0].spins
    per_spin = len(segments) // n_spins
    bands = Bands(0, segments[0].rows, n_spins, fermi=segments[0].fermi)
    if per_spin * n_spins != len(segments) or any(s.rows != bands.n_bands for s in segments):
        return None
    for spin in range(n_spins):
        rows: list[list[float]] = []
        at = 0.0
        for block in segments[spin * per_spin : (spin + 1) * per_spin]:
            if spin == 0:
                bands.distances += [at + i * block.dy for i in range(block.columns)]
                at = bands.distances[-1]
            n = block.rows
            chunks = (block.values[i * n : (i + 1) * n] for i in range(block.columns))
            rows += [[value - block.fermi for value in chunk] for chunk in chunks]
        bands.energies.append(rows)
    bands.n_kpoints = len(bands.distances)
    return bands if bands.complete else None


def _dos_of(blocks: list[_Block]) -> Dos | None:
    """Projections one after the other, with two spins those of the second behind them."""
    first = blocks[0]
    per_spin = len(blocks) // first.spins
    if per_spin * first.spins != len(blocks):
        return None
    dos = Dos(first.columns, per_spin, first.spins, fermi=first.fermi)
    dos.energies = [first.start + i * first.dx - first.fermi for i in range(first.columns)]
    for spin in range(first.spins):
        part = [block.values for block in blocks[spin * per_spin : (spin + 1) * per_spin]]
        # Printed negative, so that a plot shows it below the axis.
        negative = spin > 0 and sum(part[-1]) < 0
        dos.densities.append([[-v + 0.0 for v in one] for one in part] if negative else part)
    return dos if dos.complete else None
