"""Several structures in as few requests as the worker takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crystalmath.errors import CrystalMathError
from crystalmath.forces.connection import Connection, Floats
from crystalmath.forces.geometry import Geometry, geometry_of
from crystalmath.forces.reported import reported_error
from crystalmath.forces.sums import Terms
from crystalmath.forces.worker import wire


def evaluate_all(
    terms: Terms, structures: Sequence[Any], mask: int, ignored: frozenset[str], *, errors: str
) -> list[Any]:
    """Compute structures; see ``LeanCalculator.evaluate``."""
    if errors not in ("raise", "return"):
        raise ValueError(f"errors is 'raise' or 'return', not {errors!r}")
    geometries = [geometry_of(atoms, ignored) for atoms in structures]
    total: list[Any] = []
    for term, connection in enumerate(terms.connections):
        own = [g._replace(info=terms.info_for(term, g.info)) for g in geometries]
        found = list(_evaluate(connection, own, mask))
        total = found if term == 0 else [_add(a, b) for a, b in zip(total, found, strict=True)]
    if errors == "raise":
        for one in total:
            if isinstance(one, CrystalMathError):
                raise one
    return [one if isinstance(one, CrystalMathError) else _plain(one) for one in total]


def _evaluate(
    connection: Connection, geometries: Sequence[Geometry], mask: int
) -> Iterator[dict[str, Floats] | CrystalMathError]:
    start = 0
    for end in _turns(connection, geometries):
        part = geometries[start:end]
        arrays, faults, _seconds = connection.exchange(part, mask)
        failed = {f["index"]: reported_error(f, engine=connection.engine) for f in faults}
        for i, one in enumerate(arrays):
            if i in failed and failed[i].field is None:
                failed[i].field = f"structures.{start + i}"
            yield failed.get(i, one)
        start = end


def _turns(connection: Connection, geometries: Sequence[Geometry]) -> Iterator[int]:
    """Ends of the parts that fit into one request each."""
    most = int(connection.capabilities.get("max_structures") or 64)
    most_atoms = int(connection.capabilities.get("max_atoms") or 20_000)
    start = atoms = 0
    for i, geometry in enumerate(geometries):
        n = len(geometry.positions) // 24
        if i > start and (i - start >= most or atoms + n > most_atoms):
            yield i
            start, atoms = i, 0
        atoms += n
    if geometries:
        yield len(geometries)


def _add(one: Any, other: Any) -> Any:
    for term in (one, other):
        if isinstance(term, CrystalMathError):
            return term
    return {name: one[name] + other[name] for name in one}


def _plain(arrays: dict[str, Floats]) -> dict[str, Any]:
    return {
        name: float(array[0]) if wire.SIZES[name] == (1, 0) and array.shape == (1,) else array
        for name, array in arrays.items()
    }
