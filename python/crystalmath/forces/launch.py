"""What is needed to start a worker of one's own, and where its numbers come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from crystalmath.services.ports_forces import ReadyEnvironment, ResolvedModel


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long a worker may take; seconds.

    Attributes
    ----------
    connect_s
        Until it first speaks.
    load_s
        Until its model is loaded.
    call_s
        A request; the first of its shape the larger of ``first_call_s`` and ``first_call_factor``
        times as much.
    term_s
        Between TERM and KILL.
    """

    connect_s: float = 30.0
    load_s: float = 600.0
    call_s: float = 300.0
    first_call_s: float = 300.0
    first_call_factor: float = 20.0
    term_s: float = 2.0


@dataclass(frozen=True, slots=True)
class Launch:
    """A worker to be started.

    Attributes
    ----------
    dtype
        None: as the model says.
    options
        Keyword arguments of the engine's ``setup``.
    import_first
        Imported before anything else.
    max_structures, max_atoms
        The size of one request; a single structure may be larger.
    withheld
        Property → why it is not given although the engine has it.
    reference
        A structure with its numbers, which the engine must give again.
    memory_bytes
        What it may use; None: all of this machine's.
    memory_points
        What structures have needed in earlier workers of its kind: edges and bytes.
    """

    environment: ReadyEnvironment
    model: ResolvedModel
    dtype: str | None = None
    device: str = "cpu"
    options: Mapping[str, Any] = field(default_factory=dict)
    import_first: tuple[str, ...] = ()
    threads: int = 1
    deadlines: Deadlines = field(default_factory=Deadlines)
    max_structures: int = 64
    max_atoms: int = 20_000
    withheld: Mapping[str, str] = field(default_factory=dict)
    reference: Mapping[str, Any] | None = None
    memory_bytes: int | None = None
    memory_points: Sequence[Sequence[float]] = ()

    def config(self) -> dict[str, Any]:
        """Return the CONFIG message."""
        declaration = self.model.declaration
        warm = declaration.warm if declaration is not None else None
        deadlines = asdict(self.deadlines)
        return {
            "engine": self.environment.engine,
            "model": self.model.argument,
            "dtype": self.dtype,
            "device": self.device,
            "options": dict(self.options),
            "threads": self.threads,
            "import_first": list(self.import_first),
            "warm": None if warm is None else dict(warm),
            "deadlines": {k: deadlines[k] for k in ("call_s", "first_call_s", "first_call_factor")},
            "max_structures": self.max_structures,
            "max_atoms": self.max_atoms,
            "withheld": dict(self.withheld),
            "memory_bytes": self.memory_bytes,
            "memory_points": [list(point) for point in self.memory_points],
            "reference": None if self.reference is None else dict(self.reference),
        }

    def identity(self, capabilities: Mapping[str, Any]) -> dict[str, Any]:
        """Return where the numbers of this worker come from."""
        return {
            "engine": self.environment.engine,
            "version": capabilities.get("package") or self.environment.engine,
            "model": self.model.id,
            "model_key": self.model.key,
            "model_sha256": self.model.sha256,
            "dtype": capabilities["dtype"],
            "device": capabilities["device"],
            "environment": self.environment.id,
            "options": dict(self.options),
        }
