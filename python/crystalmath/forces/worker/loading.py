"""From a declaration to an engine that is ready, and the answer to CONFIG. Needs numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import declaration
from .desk import Desk, Limits
from .memory import memory_of
from .object_engine import ObjectEngine
from .page import StatusPage
from .reference import check_reference
from .trial import Capabilities, candidates, try_properties, warm_structure


def load_desk(
    config: Mapping[str, Any], path: str, page: StatusPage
) -> tuple[Desk, dict[str, Any]]:
    """Set an engine up; raises whatever its packages raise, or ``Fault``."""
    module = declaration.load(path)
    page.enter("loading")
    entry = declaration.entry_of(module, config["model"])
    made = declaration.call_setup(module, config, entry)
    target, facts = made if isinstance(made, tuple) else (made, {})
    engine = _engine(target)
    capabilities = Capabilities(facts, entry)
    names = candidates(engine, facts, entry)
    warm = warm_structure(config.get("warm") or entry.get("warm"))
    notes = list(capabilities.notes)
    if warm is not None:
        page.enter("warming up")
        names, missing = try_properties(engine, warm, names, capabilities.members)
        notes += [f"not given, although declared: {text}" for text in missing]
        capabilities.tried = True
    withheld = {name: str(why) for name, why in (config.get("withheld") or {}).items()}
    names = [name for name in names if name not in withheld]
    capabilities.properties, capabilities.withheld = tuple(names), withheld
    if config.get("reference"):
        page.enter("comparing")
        check_reference(engine, config["reference"])
    limits = _limits(config)
    answer = {
        "properties": list(names),
        "elements": capabilities.elements and list(capabilities.elements),
        "toy_elements": list(capabilities.toy_elements),
        "info_keys": list(capabilities.info_keys),
        "members": capabilities.members,
        "dtype": config.get("dtype") or capabilities.dtype or "float64",
        "device": config.get("device") or "cpu",
        "package": declaration.package(path),
        "versions": declaration.versions(path),
        "withheld": withheld,
        "batch": engine.batch,
        "tried": capabilities.tried,
        "notes": notes,
        "max_structures": limits.max_structures,
        "max_atoms": limits.max_atoms,
    }
    return Desk(engine, capabilities, limits, page, memory_of(config)), answer


def _engine(target: Any) -> Any:
    if callable(getattr(target, "evaluate", None)):
        return ObjectEngine(target)
    from .ase_engine import AseEngine

    return AseEngine(target)


def _limits(config: Mapping[str, Any]) -> Limits:
    given = {**(config.get("deadlines") or {})}
    for name in ("max_structures", "max_atoms"):
        if config.get(name) is not None:
            given[name] = config[name]
    return Limits(**{k: v for k, v in given.items() if k in Limits._fields})
