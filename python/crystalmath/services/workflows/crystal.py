"""What the jobs of a workflow are asked for in the words of CRYSTAL: the options of a deck.

The deck is written for the structure of each step: a workflow changes options, never its text.
Used by ``calculations``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, Final

from crystalmath.errors import InvalidParams
from crystalmath.services.workflows.plan import Plan
from crystalmath.units import BOHR_ANGSTROM, HARTREE_EV

OPTIMISATION: Final = "optimisation"
MAX_OVER_RMS: Final = 1.5
"""CRYSTAL's limit for the largest component of the gradient, in units of TOLDEG."""
DISPLACEMENT_OVER_GRADIENT: Final = 4.0
"""TOLDEX in units of TOLDEG, as the two stand in CRYSTAL's own defaults."""
LEAST_TOLDEG: Final = 2e-6
"""The gradients of an output have six decimals; nothing finer can be told to be reached."""
TIGHT_EV_PER_A: Final = 1e-3
TIGHT_TOLDEE: Final = 10.0
"""Where forces must be so small, they need a density that is converged this far."""
MAX_CYCLES: Final = 10_000
"""Of OPTGEOM, as decks are written."""
_TASKS: Final = ("optgeom", "freqcalc", "elastcon", "eos")
_TYPES: Final = {"full": "FULLOPTG", "fixed": "ATOMONLY", "constant_volume": "CVOLOPT"}


def varied(plan: Plan, parameter: str, value: Any) -> dict[str, Any]:
    """The inputs that set ``shrink``, ``tolinteg`` or ``basis``.

    Raises
    ------
    InvalidParams
        A value that is no TOLINTEG.
    """
    options = _options(plan)
    if parameter == "tolinteg":
        value = _five(value)
    elif parameter == "shrink":
        options.pop("k_spacing_inv_angstrom", None)
        value = [int(value), (2 if options.get("metal") else 1) * int(value)]
    return {"options": {**options, parameter: value}}


def relaxation(plan: Plan, fmax_ev_per_a: float, max_steps: int, cell: str) -> dict[str, Any]:
    """A job that optimises the geometry.

    Raises
    ------
    InvalidParams
        A freedom of the cell, or a limit, that OPTGEOM does not have.
    """
    if cell not in _TYPES:
        raise InvalidParams(
            f"CRYSTAL has no optimisation in which the cell is {cell}",
            hint=f"it has {', '.join(_TYPES)}",
            field="options.cell",
        )
    if max_steps > MAX_CYCLES:
        raise InvalidParams(
            f"an optimisation of CRYSTAL has at most {MAX_CYCLES} steps",
            hint="give fewer",
            field="options.max_steps",
        )
    toldeg = toldeg_of(fmax_ev_per_a)
    optgeom = {
        "type": _TYPES[cell],
        "toldeg": toldeg,
        "toldex": DISPLACEMENT_OVER_GRADIENT * toldeg,
        "maxcycle": max_steps,
    }
    tight = {"toldee": TIGHT_TOLDEE} if fmax_ev_per_a <= TIGHT_EV_PER_A else {}
    return plan.job(OPTIMISATION, {"options": {**tight, **_options(plan), "optgeom": optgeom}})


def toldeg_of(fmax_ev_per_a: float) -> float:
    """TOLDEG (hartree/bohr) with which no force on an atom is larger than a limit.

    The coordinates of the atoms are normalised over the atoms that symmetry makes equal, and an
    atom moves along three of them at most: its force is at most √3 times the largest component.

    Raises
    ------
    InvalidParams
        A limit below what CRYSTAL prints.
    """
    toldeg = fmax_ev_per_a * BOHR_ANGSTROM / HARTREE_EV / sqrt(3) / MAX_OVER_RMS
    if toldeg < LEAST_TOLDEG:
        least = LEAST_TOLDEG * MAX_OVER_RMS * sqrt(3) * HARTREE_EV / BOHR_ANGSTROM
        raise InvalidParams(
            f"forces of {fmax_ev_per_a:g} eV/Å are below what CRYSTAL prints of a gradient",
            hint=f"give {least * 1.01:.1g} eV/Å or more",
            field="options.fmax_ev_per_a",
        )
    return toldeg


def same_mesh(plan: Plan, mesh: Sequence[int]) -> dict[str, Any]:
    """The inputs that hold SHRINK; none where the user has given one."""
    options = _options(plan)
    if options.get("shrink") is not None:
        return {}
    options.pop("k_spacing_inv_angstrom", None)
    return {"options": {**options, "shrink": list(mesh)}}


def spins_of_atoms(plan: Plan) -> list[int]:
    """The spins that single atoms were given; empty where none were."""
    options = plan.inputs.get("options")
    spin = options.get("spin") if isinstance(options, Mapping) else None
    given = spin.get("atom_spins") if isinstance(spin, Mapping) else None
    return list(given.values()) if isinstance(given, Mapping) else []


def check_scan(plan: Plan) -> None:
    """Refuse what would make the volumes of an equation of state differ in more than volume.

    Raises
    ------
    InvalidParams
        Spins of single atoms, which the relaxation gives another order; meshes that are chosen for
        each volume, where no relaxation comes first that has one.
    """
    if not plan.options["relax"]:
        if _options(plan).get("shrink") is None:
            raise InvalidParams(
                "each volume would get a mesh of its own, and the steps between them would be in "
                "the result",
                hint="give the mesh of all of them: `inputs.options.shrink`, like [8,8]",
                field="inputs.options.shrink",
            )
    elif spins_of_atoms(plan):
        raise InvalidParams(
            "spins were given to single atoms, and the relaxation ends with the primitive cell, "
            "whose atoms are others",
            hint="leave the relaxation out: `options.relax`",
            field="inputs.options.spin.atom_spins",
        )


def _options(plan: Plan) -> dict[str, Any]:
    """What the user gave for the decks of all jobs.

    Raises
    ------
    InvalidParams
        A task, which is for the workflow to choose.
    """
    given = plan.inputs.get("options") or {}
    if not isinstance(given, Mapping):
        raise InvalidParams("must be an object", field="inputs.options")
    for task in _TASKS:
        if given.get(task) is not None:
            raise InvalidParams(
                f"{task} is a task of a deck, and the workflow gives each of its decks its own",
                hint="leave it out",
                field=f"inputs.options.{task}",
            )
    return dict(given)


def _five(text: Any) -> list[int]:
    words = str(text).split()
    if len(words) != 5 or not all(word.isdigit() and 0 < int(word) <= 100 for word in words):
        raise InvalidParams(
            f"{text!r} is no TOLINTEG",
            hint="five whole numbers: 7 7 7 7 14",
            field="options.values",
        )
    return [int(word) for word in words]
