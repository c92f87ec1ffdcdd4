"""Evaluates requests: checks them against what the engine can do, computes, counts.

One desk per worker; the clients' channels bring their requests here one at a time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import wire
from .elements import symbol_of
from .faults import Fault, describe, is_out_of_memory, release_memory
from .memory import Memory
from .outputs import Target, write
from .page import StatusPage
from .structures import Structure
from .trial import Capabilities

_SHAPES_KEPT = 4_096


class Limits(NamedTuple):
    """Bounds of one request, from the host.

    Attributes
    ----------
    call_s, first_call_s, first_call_factor
        A request may take ``call_s``; the first of its shape the larger of the other two.
    """

    max_structures: int = 64
    max_atoms: int = 20_000
    call_s: float = 300.0
    first_call_s: float = 300.0
    first_call_factor: float = 20.0


class Desk:
    """See the module docstring."""

    def __init__(
        self,
        engine: Any,
        capabilities: Capabilities,
        limits: Limits,
        page: StatusPage,
        memory: Memory,
    ) -> None:
        self.engine = engine
        self.memory = memory
        self.capabilities = capabilities
        self.limits = limits
        self.page = page
        self.waiting = 0
        self._mask = capabilities.mask
        self._accepted = capabilities.accepted_numbers()
        self._info = frozenset(capabilities.info_keys)
        self._shapes: set[tuple[int, int, int]] = set()
        self._most_atoms: int | None = None

    def check_request(self, header: wire.Header) -> None:
        """Refuse what the engine cannot do, or what is too much for one turn; raises ``Fault``."""
        missing = wire.names_of(header.mask & ~self._mask)
        if missing:
            reason = self.capabilities.withheld.get(missing[0])
            raise Fault(
                "input_rejected",
                f"the engine gives no {', '.join(missing)}"
                if reason is None
                else f"{missing[0]} is switched off: {reason}",
                hint=f"it gives {', '.join(self.capabilities.properties)}",
                field="properties",
            )
        limits = self.limits
        if header.structures > limits.max_structures:
            raise Fault(
                "input_rejected",
                f"{header.structures} structures at once; the limit is {limits.max_structures}",
                field="structures",
            )
        if header.structures > 1 and header.atoms > limits.max_atoms:
            raise Fault(
                "input_rejected",
                f"{header.atoms} atoms at once; the limit is {limits.max_atoms}",
                field="structures",
            )

    def objection(self, structure: Structure) -> Fault | None:
        """Why a structure cannot be computed whatever is asked: its elements, its info."""
        if self._accepted is not None:
            unknown = [int(z) for z in structure.numbers if int(z) not in self._accepted]
            if unknown:
                symbols = sorted({symbol_of(z) for z in unknown})
                known = " ".join(self.capabilities.elements or ())
                return Fault(
                    "unsupported_species",
                    f"the engine does not know {', '.join(symbols)}",
                    hint=f"it knows {known}",
                )
        for key in structure.info:
            if key not in self._info:
                known = ", ".join(sorted(self._info)) or "none"
                return Fault(
                    "input_rejected",
                    f"the engine does not know {key!r} of info; it reads {known}",
                    field=f"info.{key}",
                )
        return None

    def allowance_s(self, header_s: float, shape: tuple[int, int, int]) -> float:
        """How long a request may take; 0 in its header is the default."""
        if header_s > 0.0:
            return header_s
        limits = self.limits
        if shape in self._shapes:
            return limits.call_s
        return max(limits.first_call_s, limits.first_call_factor * limits.call_s)

    def is_new(self, shape: tuple[int, int, int]) -> bool:
        """Whether no request of this shape was answered before."""
        return shape not in self._shapes

    def compute(
        self,
        structures: Sequence[Structure],
        targets: Sequence[list[Target]],
        names: list[str],
        faults: dict[int, Fault],
    ) -> None:
        """Compute what is not at fault yet, and write it where it belongs."""
        todo = [i for i in range(len(structures)) if i not in faults]
        if self.engine.batch and len(todo) > 1:
            self._compute_batch(structures, targets, names, faults, todo)
            return
        for i in todo:
            try:
                self.compute_one(structures[i], targets[i], names)
            except Fault as fault:
                faults[i] = fault

    def compute_one(self, structure: Structure, targets: list[Target], names: list[str]) -> None:
        """Compute one structure; raises ``Fault``, whatever the engine raises."""
        self.page.evaluations += 1
        try:
            write(self.engine.evaluate(structure, names), targets)
        except Fault:
            raise
        except (Exception, SystemExit) as error:
            if is_out_of_memory(error):
                release_memory()
            raise describe(error) from error

    def _compute_batch(
        self,
        structures: Sequence[Structure],
        targets: Sequence[list[Target]],
        names: list[str],
        faults: dict[int, Fault],
        todo: list[int],
    ) -> None:
        """Compute several at once; what fails is halved until only the culprits are left."""
        stack = self._split(structures, todo)
        while stack:
            part = stack.pop()
            self.page.evaluations += len(part)
            try:
                results = self.engine.evaluate_all([structures[i] for i in part], names)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - see compute_one
                if is_out_of_memory(error):
                    release_memory()
                    self._most_atoms = max(1, sum(len(structures[i]) for i in part) // 2)
                if len(part) == 1:
                    faults[part[0]] = describe(error)
                else:
                    half = len(part) // 2
                    stack += [part[half:], part[:half]]
                continue
            self._grow(sum(len(structures[i]) for i in part))
            for i, found in zip(part, results, strict=True):
                self._write(found, targets[i], faults, i)

    @staticmethod
    def _write(
        found: Mapping[str, Any], targets: list[Target], faults: dict[int, Fault], index: int
    ) -> None:
        try:
            write(found, targets)
        except Exception as error:  # noqa: BLE001 - the values are the engine's own
            faults[index] = describe(error)

    def _split(self, structures: Sequence[Structure], todo: list[int]) -> list[list[int]]:
        """Cut a batch by what was too much before; the first part comes last."""
        if self._most_atoms is None:
            return [todo]
        parts: list[list[int]] = [[]]
        atoms = 0
        for i in todo:
            if parts[-1] and atoms + len(structures[i]) > self._most_atoms:
                parts.append([])
                atoms = 0
            parts[-1].append(i)
            atoms += len(structures[i])
        return parts[::-1]

    def _grow(self, atoms: int) -> None:
        """Try a little more next time, once what was remembered has been used in full."""
        if self._most_atoms is not None and atoms > 0.9 * self._most_atoms:
            self._most_atoms += max(1, self._most_atoms // 50)

    def finished(self, shape: tuple[int, int, int], began: float, structures: int) -> float:
        """Note that a request is answered; returns the seconds it took."""
        now = time.monotonic()
        if shape not in self._shapes:
            if len(self._shapes) >= _SHAPES_KEPT:
                self._shapes.clear()
            self._shapes.add(shape)
        self.page.end(now, now - began, structures, self.waiting)
        return now - began
