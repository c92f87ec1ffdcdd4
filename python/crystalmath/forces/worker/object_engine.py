"""An object with ``evaluate(structures, properties)`` behind the interface of the worker.

``structures`` is a list of :class:`~.structures.Structure`; it returns as many mappings of property
to number or array, with stresses 3 by 3 or as Voigt. ``batch = True`` says that several structures
at once are cheaper than one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .faults import Fault
from .structures import Structure


class ObjectEngine:
    """See the module docstring."""

    def __init__(self, target: Any) -> None:
        self._evaluate = target.evaluate
        self.batch = bool(getattr(target, "batch", False))
        self.implemented = tuple(getattr(target, "properties", ()))

    def evaluate(self, structure: Structure, names: list[str]) -> Mapping[str, Any]:
        """Compute one structure."""
        found: Sequence[Mapping[str, Any]] = self._evaluate([structure], names)
        if len(found) != 1:
            raise _miscounted(len(found), 1)
        return found[0]

    def evaluate_all(
        self, structures: Sequence[Structure], names: list[str]
    ) -> Sequence[Mapping[str, Any]]:
        """Compute several structures in one call."""
        found: Sequence[Mapping[str, Any]] = self._evaluate(structures, names)
        if len(found) != len(structures):
            raise _miscounted(len(found), len(structures))
        return found


def _miscounted(results: int, structures: int) -> Fault:
    return Fault("bad_result", f"the engine gave {results} results for {structures} structures")
