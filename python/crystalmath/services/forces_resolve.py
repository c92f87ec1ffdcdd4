"""From the names that a request gives to the worker it needs.

Used by ``services.forces`` and, through a Protocol, by the adapter of the code ``forces``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from crystalmath.errors import EngineNotInstalled, InvalidParams, NotFound
from crystalmath.services.ports_forces import (
    EngineDeclaration,
    EnvironmentProvider,
    ModelDeclaration,
    ReadyEnvironment,
)
from crystalmath.services.ports_pool import Wanted

DEFAULT_ENGINE: Final = "sevenn"
"""Used where no engine is named: it describes any material."""

_DISTRIBUTION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def find_engine(provider: EnvironmentProvider, engine: str) -> EngineDeclaration:
    """Return the declaration of an engine; raises ``NotFound`` listing what exists."""
    declaration = provider.declaration(engine)
    if declaration.kind != "engine":
        names = sorted(d.name for d in provider.declarations() if d.kind == "engine")
        raise NotFound(f"{engine!r} is an extension and gives no forces",
                       hint=f"engines: {', '.join(names)}", field="engine")  # fmt: skip
    return declaration


def find_environment(provider: EnvironmentProvider, engine: str) -> ReadyEnvironment:
    """Return the environment of an engine.

    Raises
    ------
    EngineNotInstalled
        With the command that installs it, and how much that would fetch.
    """
    environment = provider.ready(engine)
    if environment is not None:
        return environment
    size = provider.expected_bytes(engine)
    about = f" (about {readable_bytes(size)} to fetch)" if size else ""
    raise EngineNotInstalled(
        f"the engine {engine} is not installed",
        hint=f"crystalmath engines install {engine}{about}",
        field="engine",
    )


def find_wanted(
    provider: EnvironmentProvider,
    engine: str,
    *,
    model: str | None = None,
    dtype: str | None = None,
    device: str = "cpu",
    options: Mapping[str, Any] | None = None,
) -> Wanted:
    """Return what the pool needs to know to find or start the worker.

    Parameters
    ----------
    options
        Of the engine. ``model`` among them is the model: in a sum, only the first engine's has a
        place of its own.

    Raises
    ------
    NotFound, EngineNotInstalled, LicenceNotAccepted, InputRejected
    """
    declaration = find_engine(provider, engine)
    environment = find_environment(provider, engine)
    given = dict(options or {})
    if model is None and isinstance(given.get("model"), str):
        model = given.pop("model")
    resolved = provider.resolve_model(engine, model)
    return Wanted(
        environment=environment,
        model=resolved,
        device=device if device != "cuda" else "cuda:0",
        dtype=dtype or (resolved.declaration.dtype if resolved.declaration else None),
        options=given,
        import_first=declaration.import_first,
    )


def check_elements(
    engine: str,
    model: ModelDeclaration | None,
    symbols: Sequence[str],
    *,
    allow_toy: bool,
    field: str = "structure",
) -> list[str]:
    """Refuse elements that a model cannot describe.

    Returns
    -------
    list of str
        Warnings.

    Raises
    ------
    InvalidParams
        On ``field``, naming the elements.
    """
    if model is None or model.elements is None:
        return []
    present = set(symbols)
    known, toys = set(model.elements), set(model.toy_elements)
    unknown = sorted(present - known - toys)
    if unknown:
        hint = f"it knows {', '.join(sorted(known))}" if len(known) < 20 else "choose another one"
        raise InvalidParams(
            f"the engine {engine} ({model.id}) has no parameters for {', '.join(unknown)}",
            hint=hint,
            field=field,
        )
    toy = sorted(present & toys)
    if toy and not allow_toy:
        raise InvalidParams(
            f"the engine {engine} has only toy parameters for {', '.join(toy)}",
            hint="`inputs.allow_toy_elements: true`, if numbers without meaning will do",
            field=field,
        )
    return [f"{', '.join(toy)}: toy parameters, the numbers mean nothing"] if toy else []


def default_model(declaration: EngineDeclaration) -> ModelDeclaration | None:
    """The model that is used when none is named, as far as the declaration says."""
    chosen = [model for model in declaration.models if model.default]
    return chosen[0] if chosen else next(iter(declaration.models), None)


def package_version(declaration: EngineDeclaration, versions: Mapping[str, str]) -> str:
    """The engine's package with its version: ``sevenn 0.13.0``."""
    for name in (declaration.name, *packages(declaration)):
        if name in versions:
            return f"{name} {versions[name]}"
    return declaration.name


def packages(declaration: EngineDeclaration) -> list[str]:
    """The distributions that a declaration names, in its order."""
    if declaration.host_interpreter:
        return ["ase", "numpy"]
    found = []
    for requirement in declaration.dependencies:
        match = _DISTRIBUTION.match(requirement)
        if match is not None:
            found.append(re.sub(r"[-_.]+", "-", match.group()).lower())
    return found


def readable_bytes(size: int) -> str:
    """Bytes for people: ``2.9 GB``."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"
