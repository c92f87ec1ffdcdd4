"""Cells of three vectors in Å: lengths, angles, volume, and back. Pure; shared by the adapters."""

from __future__ import annotations

from math import acos, cos, degrees, radians, sin, sqrt

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]


def lattice_parameters(lattice: Matrix) -> dict[str, float]:
    """Lengths (Å) and angles (degrees)."""
    a, b, c = lattice
    lengths = [sqrt(_dot(v, v)) for v in (a, b, c)]
    pairs = {"alpha_deg": (b, c), "beta_deg": (a, c), "gamma_deg": (a, b)}
    angles = {
        name: degrees(acos(max(-1.0, min(1.0, _dot(v, w) / sqrt(_dot(v, v) * _dot(w, w))))))
        for name, (v, w) in pairs.items()
    }
    names = ("a_angstrom", "b_angstrom", "c_angstrom")
    return {**dict(zip(names, lengths, strict=True)), **angles}


def vectors_of(lengths: Vector, angles: Vector) -> Matrix:
    """Vectors (Å) of a cell given by lengths and angles (degrees): a along x, b in the xy plane."""
    alpha, beta, gamma = (radians(angle) for angle in angles)
    a, b, c = lengths
    across = (cos(alpha) - cos(beta) * cos(gamma)) / sin(gamma)
    up = sqrt(max(0.0, sin(beta) ** 2 - across**2))
    return (
        (a, 0.0, 0.0),
        (b * cos(gamma), b * sin(gamma), 0.0),
        (c * cos(beta), c * across, c * up),
    )


def volume_angstrom3(lattice: Matrix) -> float:
    """Volume of the cell."""
    a, b, c = lattice
    return abs(_dot(a, _cross(b, c)))


def reciprocal(lattice: Matrix) -> Matrix:
    """The reciprocal vectors without the factor 2π, in 1 over the unit of the cell.

    Raises
    ------
    ZeroDivisionError
        The vectors lie in one plane.
    """
    a, b, c = lattice
    volume = _dot(a, _cross(b, c))
    first, second, third = (
        (x / volume, y / volume, z / volume)
        for x, y, z in (_cross(b, c), _cross(c, a), _cross(a, b))
    )
    return first, second, third


def cartesian(fractions: Vector, lattice: Matrix) -> Vector:
    """A place in Å from its fractions of the cell vectors."""
    x, y, z = (
        sum(f * vector[i] for f, vector in zip(fractions, lattice, strict=True)) for i in range(3)
    )
    return x, y, z


def _dot(v: Vector, w: Vector) -> float:
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2]


def _cross(v: Vector, w: Vector) -> Vector:
    return v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]
