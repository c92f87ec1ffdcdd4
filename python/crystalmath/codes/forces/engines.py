"""The force engines: what is there, for which elements, and how its calculator is made.

The table is plain data, so the daemon can read it; only :func:`calculator` loads an engine, and
only the program of a job calls it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from crystalmath.errors import InvalidParams


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine that this version can run.

    Attributes
    ----------
    elements
        What it is made for.
    toy_elements
        What it accepts, but with parameters that describe nothing real.
    """

    name: str
    title: str
    elements: frozenset[str]
    toy_elements: frozenset[str]


ENGINES: Final[dict[str, Engine]] = {
    "emt": Engine(
        name="emt",
        title="effective medium theory (ASE): fast, for fcc metals and their alloys",
        elements=frozenset({"Al", "Cu", "Ag", "Au", "Ni", "Pd", "Pt"}),
        toy_elements=frozenset({"H", "C", "N", "O"}),
    ),
}

PLANNED: Final = ("sevenn", "mace", "chgnet", "lj", "tblite", "dftd3")
"""Engines that the contract names and this version cannot run."""


def find_engine(name: str | None) -> Engine:
    """Return the engine that a request names.

    Raises
    ------
    InvalidParams
        None is named, or one that cannot be run.
    """
    available = ", ".join(sorted(ENGINES))
    if name is None:
        raise InvalidParams(
            f"no engine is given; available: {available}", hint="`engine: emt`", field="engine"
        )
    engine = ENGINES.get(name.lower())
    if engine is not None:
        return engine
    problem = "is not built into this version" if name.lower() in PLANNED else "is no engine"
    raise InvalidParams(
        f"{name[:60]!r} {problem}; available: {available}", hint="`engine: emt`", field="engine"
    )


def check_elements(engine: Engine, symbols: tuple[str, ...], *, allow_toy: bool) -> list[str]:
    """Refuse elements that the engine cannot describe.

    Returns
    -------
    list of str
        Warnings.

    Raises
    ------
    InvalidParams
        On ``structure``, naming the elements.
    """
    present = set(symbols)
    unknown = sorted(present - engine.elements - engine.toy_elements)
    toys = sorted(present & engine.toy_elements)
    if unknown:
        raise InvalidParams(
            f"the engine {engine.name} has no parameters for {', '.join(unknown)}",
            hint=f"it knows {', '.join(sorted(engine.elements))}",
            field="structure",
        )
    if toys and not allow_toy:
        raise InvalidParams(
            f"the engine {engine.name} has only toy parameters for {', '.join(toys)}",
            hint="`inputs.allow_toy_elements: true`, if numbers without meaning will do",
            field="structure",
        )
    return [f"{', '.join(toys)}: toy parameters, the numbers mean nothing"] if toys else []


def calculator(name: str) -> tuple[Any, dict[str, Any]]:
    """Load an engine.

    Returns
    -------
    calculator, identity
        An ase calculator, and ``{name, version, parameters}`` for the results.
    """
    if name != "emt":
        raise InvalidParams(f"{name!r} is no engine", field="engine")
    import ase
    from ase.calculators.emt import EMT

    emt = EMT()
    return emt, {
        "name": "emt",
        "version": f"ase {ase.__version__}",
        "parameters": dict(emt.parameters),
    }
