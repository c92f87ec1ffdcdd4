"""The force engines that need no environment: what they are for, and how each is made.

They come with ase and run in the process of a job itself. The table is plain data, so the daemon
can read it; only :func:`calculator` loads an engine, and only the program of a job calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from crystalmath.errors import InvalidParams


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine.

    Attributes
    ----------
    elements
        What it is made for; None: anything.
    toy_elements
        What it accepts, but with parameters that describe nothing real.
    options
        Name → default of the numbers that it can be given.
    """

    name: str
    title: str
    elements: frozenset[str] | None
    toy_elements: frozenset[str] = frozenset()
    options: Mapping[str, float] = field(default_factory=dict)


ENGINES: Final[dict[str, Engine]] = {
    "emt": Engine(
        name="emt",
        title="effective medium theory (ASE): fast, for fcc metals and their alloys",
        elements=frozenset({"Al", "Cu", "Ag", "Au", "Ni", "Pd", "Pt"}),
        toy_elements=frozenset({"H", "C", "N", "O"}),
    ),
    "lj": Engine(
        name="lj",
        title="Lennard-Jones (ASE): one parameter set for all atoms, for trials",
        elements=None,
        options={"sigma": 2.3, "epsilon": 0.4, "rc": 6.0},
    ),
}


def check_options(engine: Engine, options: Mapping[str, Any]) -> dict[str, float]:
    """Return all options of an engine, the given ones in place.

    Raises
    ------
    InvalidParams
        On ``inputs.engine_options``.
    """
    for name, value in options.items():
        place = f"inputs.engine_options.{name}"
        if name not in engine.options:
            known = ", ".join(engine.options) or "none"
            raise InvalidParams(f"the engine {engine.name} has no option {name[:60]!r}",
                                hint=f"its options: {known}", field=place)  # fmt: skip
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e3:
            raise InvalidParams(f"{name} is a number between 0 and 1000", field=place)
    return {**engine.options, **{name: float(value) for name, value in options.items()}}


def calculator(name: str, options: Mapping[str, float]) -> tuple[Any, dict[str, Any]]:
    """Load an engine.

    Returns
    -------
    calculator, identity
        An ase calculator, and ``{name, version, parameters}`` for the results.
    """
    import ase

    make: dict[str, Callable[..., Any]] = {"emt": _emt, "lj": _lj}
    if name not in make:
        raise InvalidParams(f"{name!r} is no engine of this program", field="engine")
    calc = make[name](**options)
    return calc, {
        "name": name,
        "version": f"ase {ase.__version__}",
        "parameters": dict(calc.parameters),
    }


def _emt() -> Any:
    from ase.calculators.emt import EMT

    return EMT()


def _lj(**options: float) -> Any:
    from ase.calculators.lj import LennardJones

    return LennardJones(**options)
