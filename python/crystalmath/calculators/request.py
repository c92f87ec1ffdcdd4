"""What a calculator was asked for, as plain data: one request for each term of a sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crystalmath.errors import InputRejected


@dataclass(frozen=True, slots=True)
class Request:
    """One engine of a calculator."""

    engine: str
    model: str | None = None
    dtype: str | None = None
    device: str = "cpu"
    options: Mapping[str, Any] = field(default_factory=dict)

    def params(self) -> dict[str, Any]:
        """Params of ``forces.attach``."""
        found: dict[str, Any] = {"engine": self.engine, "device": self.device}
        if self.model is not None:
            found["model"] = self.model
        if self.dtype is not None:
            found["dtype"] = self.dtype
        if self.options:
            found["options"] = dict(self.options)
        return found


def requests_of(
    engine: str,
    model: str | None,
    dtype: str | None,
    device: str,
    options: Mapping[str, Any],
) -> Sequence[Request]:
    """Split ``mace+dftd3``; model and precision are those of the first, options stand by name.

    Raises
    ------
    InputRejected
        Options of a sum that belong to none of its engines.
    """
    names = engine.split("+")
    if len(names) == 1:
        return [Request(engine, model, dtype, device, options)]
    if len(set(names)) < len(names):
        raise InputRejected(
            f"{engine} would count an engine twice", hint="name each once", field="engine"
        )
    for name, value in options.items():
        if name not in names or not isinstance(value, Mapping):
            raise InputRejected(
                f"the sum {engine} has no option {name!r}",
                hint=f"give the options of an engine under its name: {names[-1]}={{…}}",
                field=f"options.{name}",
            )
    return [
        Request(
            name,
            model if i == 0 else None,
            dtype if i == 0 else None,
            device,
            dict(options.get(name, {})),
        )
        for i, name in enumerate(names)
    ]
