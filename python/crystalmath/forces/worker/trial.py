"""What a loaded engine can do, as tried: properties that it really gives, and its elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import wire
from .elements import NUMBERS, parse_elements
from .faults import Fault, describe
from .outputs import Target, check_finite, shape_of, write
from .structures import Structure


class Capabilities:
    """What the host is told after loading.

    Attributes
    ----------
    properties
        In the order of the bits.
    elements, toy_elements
        Symbols; None where only trying tells.
    members
        Of a committee; 0 when it is none.
    tried
        Whether a structure was evaluated to find the properties.
    notes
        What belongs to every result of this engine.
    withheld
        Property → why it is not given although the engine has it; ``partial_stress`` is the stress
        of what is periodic in one or two directions.
    """

    def __init__(self, facts: Mapping[str, Any], entry: Mapping[str, Any]) -> None:
        def known(name: str, otherwise: Any = None) -> Any:
            return facts[name] if name in facts else entry.get(name, otherwise)

        elements = known("elements")
        self.elements = parse_elements(elements) if not isinstance(elements, int) else None
        self.toy_elements = parse_elements(known("toy_elements", ())) or ()
        self.info_keys = tuple(known("info_keys", ()))
        self.members = int(known("members", 0))
        self.notes = [str(note) for note in known("notes", ())]
        self.dtype = known("dtype")
        self.properties: tuple[str, ...] = ()
        self.withheld: Mapping[str, str] = {}
        self.tried = False

    @property
    def mask(self) -> int:
        """Property mask of all it can do."""
        return wire.mask_of(self.properties)

    def accepted_numbers(self) -> frozenset[int] | None:
        """Atomic numbers that it takes, None: any."""
        if self.elements is None:
            return None
        return frozenset(NUMBERS[s] for s in (*self.elements, *self.toy_elements))


def candidates(engine: Any, facts: Mapping[str, Any], entry: Mapping[str, Any]) -> list[str]:
    """Properties worth trying: those declared, else those that the engine claims."""
    declared = facts.get("properties") or entry.get("properties")
    found = [name for name in wire.PROPERTIES if name in (declared or engine.implemented)]
    if "energy" not in found:
        raise Fault("forces", "the engine gives no energy")
    return found


def warm_structure(given: Mapping[str, Any] | None) -> Structure | None:
    """The structure of the model table, as arrays."""
    if not given:
        return None
    symbols = given["symbols"]
    cell = given.get("cell") or np.zeros((3, 3))
    return Structure(
        np.array([NUMBERS[s] for s in symbols], np.int32),
        np.array(given["positions"], np.float64).reshape(len(symbols), 3),
        np.array(cell, np.float64).reshape(3, 3),
        np.array(given.get("pbc") or [given.get("cell") is not None] * 3, np.bool_),
        dict(given.get("info") or {}),
    )


def try_properties(
    engine: Any, structure: Structure, names: Sequence[str], members: int
) -> tuple[list[str], list[str]]:
    """Evaluate one structure; returns the properties that came and why others did not.

    Raises
    ------
    Fault
        Not even the energy can be computed.
    """
    wanted = [n for n in names if n not in ("stress", "stresses") or structure.has_stress()]
    untried = [n for n in names if n not in wanted]
    try:
        results = dict(engine.evaluate(structure, list(wanted)))
        _check(results, "energy", structure, members)
    except Exception:  # noqa: BLE001 - some engines raise when one of several properties is missing
        return _one_by_one(engine, structure, wanted, untried, members)
    kept, notes = [], []
    for name in wanted:
        try:
            _check(results, name, structure, members)
        except Fault as fault:
            notes.append(str(fault))
        else:
            kept.append(name)
    return [n for n in names if n in kept or n in untried], notes


def _one_by_one(
    engine: Any, structure: Structure, wanted: list[str], untried: list[str], members: int
) -> tuple[list[str], list[str]]:
    kept, notes = list(untried), []
    for name in wanted:
        try:
            _check(engine.evaluate(structure, [name]), name, structure, members)
        except Exception as error:
            fault = describe(error)
            if name == "energy":
                raise fault from error
            notes.append(f"{name}: {fault}")
        else:
            kept.append(name)
    return [n for n in wire.PROPERTIES if n in kept], notes


def _check(results: Mapping[str, Any], name: str, structure: Structure, members: int) -> None:
    shape = shape_of(name, len(structure), members)
    target = Target(name, np.empty(shape), scalar=shape == (1,))
    write(results, [target])
    check_finite([target])
