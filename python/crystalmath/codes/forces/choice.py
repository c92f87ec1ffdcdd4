"""Which engine and model a request means, and whether they can be used.

Engines with an environment of their own are found through the provider; those that come with ase
are in the table of ``engines``. Used by ``adapter``; loads nothing heavy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from crystalmath.codes.forces.engines import ENGINES, Engine, check_options
from crystalmath.codes.forces.options import SinglePointOptions
from crystalmath.codes.forces.task import Part
from crystalmath.errors import CrystalMathError, InvalidParams
from crystalmath.services.forces_resolve import (
    DEFAULT_ENGINE,
    check_elements,
    default_model,
    find_engine,
    find_wanted,
    package_version,
)
from crystalmath.services.ports import JobRequest
from crystalmath.services.ports_forces import (
    EngineDeclaration,
    EnvironmentProvider,
    ModelDeclaration,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine of a calculation.

    Attributes
    ----------
    parts
        What is asked of the daemon, the members of a sum; empty for an engine of this program.
    options
        Of an engine of this program.
    model
        Name of the model, for people.
    """

    name: str
    model: str | None = None
    parts: tuple[Part, ...] = ()
    options: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def choose(
    provider: EnvironmentProvider | None, request: JobRequest, options: SinglePointOptions
) -> Choice:
    """Settle engine and model, and refuse elements that they cannot describe.

    Raises
    ------
    InvalidParams, NotFound, EngineNotInstalled, LicenceNotAccepted
    """
    name = request.engine or (DEFAULT_ENGINE if provider is not None else None)
    if name is None:
        raise InvalidParams(
            f"no engine is given; available: {', '.join(sorted(ENGINES))}",
            hint="`engine: emt`",
            field="engine",
        )
    symbols = request.structure.symbols if request.structure is not None else ()
    engine = ENGINES.get(name.lower())
    if engine is not None:
        return _own(engine, request, options, symbols)
    if provider is None:
        raise InvalidParams(
            f"{name[:60]!r} is no engine here; available: {', '.join(sorted(ENGINES))}",
            hint="`engine: emt`",
            field="engine",
        )
    return _foreign(provider, name, request, options, symbols)


def _own(
    engine: Engine, request: JobRequest, options: SinglePointOptions, symbols: Sequence[str]
) -> Choice:
    if request.model not in (None, engine.name):
        raise InvalidParams(
            f"the engine {engine.name} has no models", hint="leave the model out", field="model"
        )
    if options.dtype not in (None, "float64") or options.device not in (None, "cpu"):
        raise InvalidParams(
            f"{engine.name} computes in float64 on the CPU",
            field="inputs.dtype" if options.dtype not in (None, "float64") else "inputs.device",
            hint="leave it out",
        )
    warnings = check_elements(
        engine.name, declared(engine), symbols, allow_toy=options.allow_toy_elements
    )
    given = check_options(engine, options.engine_options)
    return Choice(engine.name, options=given, warnings=tuple(warnings))


def _foreign(
    provider: EnvironmentProvider,
    name: str,
    request: JobRequest,
    options: SinglePointOptions,
    symbols: Sequence[str],
) -> Choice:
    names = name.split("+")
    given = _options_of(names, options.engine_options)
    parts: list[Part] = []
    warnings: list[str] = []
    for i, member in enumerate(names):
        declaration = find_engine(provider, member)
        if i > 0 and not declaration.additive:
            raise InvalidParams(f"the engine {member} is not made to be added to another",
                                field="engine", hint="like mace+dftd3")  # fmt: skip
        wanted = find_wanted(
            provider,
            member,
            model=request.model if i == 0 else None,
            dtype=options.dtype if i == 0 else None,
            device=options.device or "cpu",
            options=given[i],
        )
        warnings += check_elements(
            member, wanted.model.declaration, symbols, allow_toy=options.allow_toy_elements
        )
        parts.append(
            Part(
                engine=member,
                model=wanted.model.argument,
                model_id=wanted.model.id,
                model_key=wanted.model.key,
                dtype=wanted.dtype,
                device=wanted.device,
                options=dict(wanted.options),
            )
        )
    return Choice(name, parts[0].model_id, tuple(parts), warnings=tuple(dict.fromkeys(warnings)))


def _options_of(names: Sequence[str], options: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if len(names) == 1:
        return [options]
    for name, value in options.items():
        if name not in names or not isinstance(value, dict):
            raise InvalidParams("the options of a sum stand under the engines' names",
                                field=f"inputs.engine_options.{name}")  # fmt: skip
    return [options.get(name, {}) for name in names]


def declared(engine: Engine) -> ModelDeclaration:
    """An engine of this program in the form of a declaration."""
    return ModelDeclaration(
        id=engine.name,
        source="builtin",
        properties=("energy", "free_energy", "forces", "stress", "energies"),
        default=True,
        dtype="float64",
        elements=None if engine.elements is None else tuple(sorted(engine.elements)),
        toy_elements=tuple(sorted(engine.toy_elements)),
    )


def describe(provider: EnvironmentProvider | None) -> tuple[list[dict[str, Any]], str | None]:
    """Return the engines, each with whether it is available, and why none is, if so."""
    try:
        ase, problem = f"ase {version('ase')}", None
    except PackageNotFoundError:
        ase, problem = "", "the package ase is not installed"
    engines: list[dict[str, Any]] = [
        {
            "name": engine.name,
            "title": engine.title,
            "available": problem is None,
            "version": ase,
            "elements": sorted(engine.elements or ()),
        }
        for engine in ENGINES.values()
    ]
    if provider is not None:
        engines += [
            _described(provider, one)
            for one in provider.declarations()
            if one.kind == "engine" and one.name not in ENGINES
        ]
    return engines, problem


def _described(provider: EnvironmentProvider, engine: EngineDeclaration) -> dict[str, Any]:
    model = default_model(engine)
    try:
        ready = provider.ready(engine.name) if engine.problem is None else None
    except CrystalMathError:
        ready = None
    return {
        "name": engine.name,
        "title": engine.title,
        "available": ready is not None,
        "default": engine.name == DEFAULT_ENGINE,
        "version": "" if ready is None else package_version(engine, ready.versions),
        "models": [one.id for one in engine.models],
        "elements": sorted(model.elements or ()) if model is not None else [],
    }
