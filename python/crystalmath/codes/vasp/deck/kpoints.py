"""KPOINTS: a mesh, a path or a list, as far as checks need it; and writing a mesh and a path.

https://www.vasp.at/wiki/index.php/KPOINTS
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from crystalmath.errors import InputRejected


@dataclass(frozen=True, slots=True)
class Kpoints:
    """What a KPOINTS asks for.

    Attributes
    ----------
    mesh
        Divisions of a mesh, else None.
    shift
        Of the mesh, in steps of it.
    points
        Number of points of a list or of a line, else None.
    """

    kind: Literal["gamma", "monkhorst", "line", "list", "automatic", "basis"]
    mesh: tuple[int, int, int] | None = None
    shift: tuple[float, ...] = (0.0, 0.0, 0.0)
    points: int | None = None


def parse_kpoints(text: str, field: str) -> Kpoints:
    """Read a KPOINTS.

    Raises
    ------
    InputRejected
        It is none.
    """
    lines = [line.split("!")[0].strip() for line in text.splitlines()]
    try:
        number = int(lines[1].split()[0])
        style = lines[2][:1].lower()
        if number > 0:
            return Kpoints("line" if style == "l" else "list", points=number)
        if style == "a":
            return Kpoints("automatic")
        if style not in ("g", "m"):
            return Kpoints("basis")
        a, b, c = (int(word) for word in lines[3].split()[:3])
        shift = tuple(float(word) for word in lines[4].split()[:3]) if lines[4:5] else ()
    except (IndexError, ValueError):
        raise InputRejected(
            "KPOINTS holds neither a mesh nor a list of points",
            hint="its second line is the number of points, or 0 for a mesh",
            field=field,
        ) from None
    kind: Literal["gamma", "monkhorst"] = "gamma" if style == "g" else "monkhorst"
    return Kpoints(kind, (a, b, c), shift if len(shift) == 3 else (0.0, 0.0, 0.0))


def render_mesh(mesh: Sequence[int], title: str) -> str:
    """Write a mesh that contains Γ."""
    return f"{title}\n0\nGamma\n{' '.join(str(n) for n in mesh)}\n0 0 0\n"


def render_points(points: Iterable[tuple[Sequence[float], float, str]], title: str) -> str:
    """Write a list of points: fractions of the reciprocal vectors, weight, label."""
    rows = [
        " ".join(f"{value + 0.0:.14f}" for value in place) + f" {weight:g} {label}".rstrip()
        for place, weight, label in points
    ]
    return "\n".join([title, str(len(rows)), "Reciprocal", *rows]) + "\n"
