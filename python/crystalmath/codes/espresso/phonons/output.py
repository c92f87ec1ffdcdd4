"""What ph.x prints: wave vectors, representations, frequencies, the dielectric tensor. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

Vector = tuple[float, float, float]

_NUMBER: Final = r"\s*(-?\d+\.\d+)"
_Q: Final = rf"q = \({_NUMBER}{_NUMBER}{_NUMBER}\s*\)"
_LINE: Final = re.compile(
    r"Program PHONON v\.(?P<version>\S+)"
    r"|Calculation of q =(?P<begins>.*)"
    r"|number of atoms/cell\s*=\s*(?P<n_atoms>\d+)"
    r"|There are\s+(?P<n_irr>\d+)\s+irreducible representations?"
    r"|Representation #\s*(?P<irr>\d+) mode"
    r"|^\s*iter #\s*(?P<iter>\d+)"
    r"|(?P<no>No convergence has been achieved)"
    r"|(?P<yes>Convergence has been achieved)"
    r"|(?P<field>Electric Fields Calculation)"
    r"|(?P<epsilon>Dielectric constant in cartesian axis)"
    r"|Effective charges (?P<charges>\(d Force / dE\)) in cartesian axis"
    rf"|^\s*(?P<q>{_Q})\s*$"
    r"|freq \(\s*\d+\) =\s*(?P<thz>\S+) \[THz\] =\s*(?P<cm1>\S+) \[cm-1\]"
    r"|freq \(\s*(?P<first>\d+)-\s*(?P<last>\d+)\) =.*-->\s*(?P<symbol>.*)"
    r"|Error in routine\s+(?P<routine>\S+) \("
    r"|(?P<time>Maximum CPU time exceeded)"
    r"|(?P<done>JOB DONE\.)",
    re.MULTILINE,
)
_TENSOR_ROW: Final = re.compile(rf"\({_NUMBER}{_NUMBER}{_NUMBER}\s*\)")
_STARS: Final = re.compile(r"\*{20,}")


@dataclass(frozen=True, slots=True)
class Irrep:
    """The symmetry of some modes, counted from 1, as it is printed."""

    first: int
    last: int
    name: str
    activity: str


@dataclass(slots=True)
class QPoint:
    """One wave vector.

    Attributes
    ----------
    q
        Along x, y and z, in 2π/alat; None until its dynamical matrix was diagonalised.
    closed
        All of its frequencies were printed.
    """

    q: Vector | None = None
    n_representations: int | None = None
    converged: int = 0
    representation: int = 0
    iteration: int = 0
    failed: int | None = None
    thz: list[float] = field(default_factory=list)
    cm1: list[float] = field(default_factory=list)
    irreps: list[Irrep] = field(default_factory=list)
    closed: bool = False
    field_asked: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every representation has converged and the frequencies are there."""
        whole = self.n_representations is not None and self.converged >= self.n_representations
        return whole and self.closed and self.failed is None


@dataclass(slots=True)
class PhRun:
    """Everything that was found.

    Attributes
    ----------
    n_atoms
        In the cell.
    born
        Of each atom, in e: rows are the direction of the field.
    """

    version: str | None = None
    n_atoms: int = 0
    points: list[QPoint] = field(default_factory=list)
    dielectric: list[Vector] = field(default_factory=list)
    born: list[list[Vector]] = field(default_factory=list)
    error: tuple[str, str] | None = None
    stopped_by_time: bool = False
    job_done: bool = False


def parse(text: str) -> PhRun:
    """Read an output, or as much of one as there is."""
    run = PhRun()
    for match in _LINE.finditer(text):
        _take(run, match, text)
    return run


def _take(run: PhRun, match: re.Match[str], text: str) -> None:
    kind, value = match.lastgroup or "", match[match.lastgroup or 0]
    if kind == "begins":
        run.points.append(QPoint())
    elif kind == "version":
        run.version = value
    elif kind == "n_atoms":
        run.n_atoms = int(value)
    elif kind == "time":
        run.stopped_by_time = True
    elif kind == "done":
        run.job_done = True
    elif kind == "epsilon":
        run.dielectric = _rows(text[match.end() :], 3)
    elif kind == "charges":
        # printed again after the last representation
        run.born = run.born or _charges(text[match.end() :], run.n_atoms)
    elif kind == "routine":
        said = text[match.end() :].split("\n", 2)[1:2]
        run.error = run.error or (value, " ".join(" ".join(said).split()))
    elif run.points:
        _of_point(run.points[-1], kind, match, text)


def _of_point(point: QPoint, kind: str, match: re.Match[str], text: str) -> None:
    if kind == "n_irr":
        point.n_representations = int(match["n_irr"])
    elif kind == "irr":
        point.representation, point.iteration = int(match["irr"]), 0
    elif kind == "iter":
        point.iteration = int(match["iter"])
    elif kind == "yes":
        point.converged += 1
    elif kind == "no":
        point.failed = point.representation
    elif kind == "field":
        point.field_asked = True
    elif match["q"] is not None and match["cm1"] is None:
        # at the end of an inner group lastgroup is the outer one, which is named
        x, y, z = re.findall(_NUMBER, match["q"])
        point.q = (float(x), float(y), float(z))
    elif match["cm1"] is not None:
        point.thz.append(float(match["thz"]))
        point.cm1.append(float(match["cm1"]))
        rest = text[match.end() :].lstrip(" ")
        point.closed = rest.startswith("\n") and _STARS.match(rest.lstrip()) is not None
    elif match["symbol"] is not None:
        _add_irrep(point, match)


def _add_irrep(point: QPoint, match: re.Match[str]) -> None:
    words = match["symbol"].split()
    if not words or words[0] == "?":
        return
    activity = words[-1] if words[-1] in ("I", "R", "I+R") else ""
    point.irreps.append(Irrep(int(match["first"]), int(match["last"]), words[0], activity))


def _rows(text: str, count: int) -> list[Vector]:
    """The next rows of a tensor; none when they are not all there."""
    found: list[Vector] = []
    for line in text.split("\n")[1 : 2 * count + 3]:
        row = _TENSOR_ROW.search(line)
        if row is not None and len(found) < count:
            found.append((float(row[1]), float(row[2]), float(row[3])))
    return found if len(found) == count else []


def _charges(text: str, n_atoms: int) -> list[list[Vector]]:
    """The charges of each atom; none when they are not all there."""
    found: list[list[Vector]] = []
    for block in re.split(r"^\s*atom\s+\d+\s+\S+.*$", text, flags=re.MULTILINE)[1 : n_atoms + 1]:
        rows = _rows("\n" + block.lstrip("\n"), 3)
        if not rows:
            break
        found.append(rows)
    return found if len(found) == n_atoms else []
