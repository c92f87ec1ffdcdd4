"""One engine or a sum of several, behind one interface.

Positions go to all terms before the first answer is waited for. Energy, free energy, forces and
stress, and energies of atoms, are summed; what cannot be summed comes from a single engine only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from crystalmath.errors import InputRejected
from crystalmath.forces.connection import Connection, Floats, Shape
from crystalmath.forces.geometry import Geometry, has_stress
from crystalmath.forces.worker import wire

SUMMED: Final = ("energy", "free_energy", "forces", "stress", "energies", "stresses")
_SUMMED_MASK: Final = wire.mask_of(SUMMED)


class Terms:
    """See the module docstring.

    Parameters
    ----------
    connections
        One for each term.
    allowance_s
        What a request may take.

    Attributes
    ----------
    mask, properties
        What all terms together give.
    withheld
        Property → why a term does not give it although its engine has it; ``partial_stress`` is
        the stress of what is periodic in one or two directions.
    arrays
        Property → array of the last answer.
    """

    def __init__(self, connections: Sequence[Connection], allowance_s: float = 0.0) -> None:
        self.connections = tuple(connections)
        mask = self.connections[0].mask
        for connection in self.connections[1:]:
            mask &= connection.mask
        self.mask = mask if len(self.connections) == 1 else mask & _SUMMED_MASK
        self.properties = wire.names_of(self.mask)
        self.arrays: dict[str, Floats] = {}
        self.toy_elements = sorted(
            {e for c in self.connections for e in c.capabilities.get("toy_elements") or ()}
        )
        self.withheld: dict[str, str] = {}
        for connection in self.connections:
            self.withheld.update(connection.capabilities.get("withheld") or {})
        # A key is for the term that knows it; one that no term knows is an error.
        self._info_keys = [set(c.capabilities.get("info_keys") or ()) for c in self.connections]
        self._single = self.connections[0] if len(self.connections) == 1 else None
        for connection in self.connections:
            connection.allowance_s = allowance_s

    @property
    def name(self) -> str:
        """Names of the engines, joined by ``+``."""
        return "+".join(connection.engine for connection in self.connections)

    @property
    def known_by(self) -> tuple[tuple[str, ...], ...]:
        """What must be the same for numbers to belong together."""
        names = ("engine", "version", "model_key", "dtype")
        return tuple(tuple(str(c.identity.get(n)) for n in names) for c in self.connections)

    @property
    def usable(self) -> bool:
        """Whether every connection is."""
        return all(connection.usable for connection in self.connections)

    def close(self) -> None:
        """Close the connections."""
        for connection in self.connections:
            connection.close()

    def check(self, properties: Sequence[str]) -> int:
        """Return the mask of properties that all terms give.

        Raises
        ------
        InputRejected
        """
        for name in properties:
            if not self.mask & wire.BITS.get(name, 0):
                raise InputRejected(
                    self.lacks(name),
                    hint=f"it gives {', '.join(self.properties)}",
                    field="properties",
                )
        return wire.mask_of(properties)

    def lacks(self, name: str) -> str:
        """Say that a property is not given, and why if that is known."""
        why = self.withheld.get(name)
        return f"{self.name} gives no {name}" + (f": switched off, as {why}" if why else "")

    def without_stress(self, geometry: Geometry) -> str:
        """Why a structure has no stress here; empty when it has one."""
        if not has_stress(geometry.cell, geometry.pbc):
            return "there is no stress without a periodic direction and a volume"
        if "partial_stress" in self.withheld and not all(geometry.pbc):
            return (
                f"the stress of slabs and wires is switched off: {self.withheld['partial_stress']}"
            )
        return ""

    def check_info(self, info: str, where: str) -> None:
        """Refuse info that no term reads; raises ``InputRejected``."""
        known = set().union(*self._info_keys)
        unknown = sorted(set(json.loads(info)) - known)
        if unknown:
            reads = ", ".join(sorted(known)) or "none"
            raise InputRejected(
                f"{self.name} does not know {unknown[0]!r} of info; it reads {reads}",
                hint=f"remove it, or give ignore_info=[{unknown[0]!r}]",
                field=f"{where}.info.{unknown[0]}",
            )

    def info_for(self, term: int, info: str) -> str:
        """The part of the info that a term reads."""
        if info == "{}" or self._single is not None:
            return info
        keys = self._info_keys[term]
        kept = {k: v for k, v in json.loads(info).items() if k in keys}
        return json.dumps(kept, sort_keys=True)

    def evaluate(self, geometry: Geometry, mask: int) -> None:
        """Compute one structure; raises what a connection raises."""
        single = self._single
        if single is not None:
            single.send(geometry, mask)
            self.arrays = single.receive().arrays
            return
        for i, connection in enumerate(self.connections):
            connection.send(geometry._replace(info=self.info_for(i, geometry.info)), mask)
        self.arrays = self._sum(mask)

    def _sum(self, mask: int) -> dict[str, Floats]:
        """Wait for every answer, also when an earlier one is an error: none may be left behind."""
        shapes: list[Shape] = []
        failure: BaseException | None = None
        for connection in self.connections:
            try:
                shapes.append(connection.receive())
            except Exception as error:  # noqa: BLE001 - the first one is raised below
                failure = failure or error
        if failure is not None:
            raise failure
        return {
            name: sum((s.arrays[name] for s in shapes[1:]), start=shapes[0].arrays[name].copy())
            for name in wire.names_of(mask)
        }
