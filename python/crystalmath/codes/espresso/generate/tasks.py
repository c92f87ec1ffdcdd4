"""What a task adds to a deck: how far it relaxes, and what may move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, Final

from crystalmath.codes.espresso.generate.cell import NOTICED_A, Periodic
from crystalmath.codes.espresso.options import RELAXING, DeckOptions
from crystalmath.codes.espresso.phonons.options import TASK as PH
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.units import (
    KBAR_PER_GPA,
    RYDBERG_PER_BOHR_EV_PER_ANGSTROM,
    RYDBERG_TIME_FS,
)

GENERATED: Final = ("scf", "nscf", "bands", "relax", "vc-relax", "md")
"""Tasks that one deck is written for; there are two for ph.x."""
ENERGY_RY_PER_ATOM: Final = 1e-5
"""Change of the energy per atom at which a relaxation may end; forces and stress decide."""
_OF_RELAXATIONS: Final = ("fmax_ev_per_a", "max_steps", "cell", "smax_gpa", "pressure_gpa")
_OF_DYNAMICS: Final = ("ensemble", "steps", "timestep_fs", "temperature_k", "thermostat_fs")
_FREEDOM: Final[Mapping[str, str]] = {
    "full": "all",
    "isotropic": "all",
    "constant_volume": "shape",
}
"""What ``cell`` is called in &cell. pw.x takes "volume" for simple cubic lattices alone; the
symmetry of any cubic crystal leaves its cell nothing but the volume."""
_STRAIN: Final = 1e-6
_CUBIC: Final = 195
"""First of the cubic space groups."""

Values = dict[str, Any]


def check_task(task: str, options: DeckOptions, cell: Periodic) -> None:
    """Refuse a task that there is no deck for, and options that it would ignore.

    Raises
    ------
    InvalidParams, InputRejected
    """
    if task not in GENERATED:
        raise InvalidParams(
            f"for the task {task[:60]!r} no deck is written",
            hint=f"it is {', '.join((*GENERATED, PH))}; for others give a deck",
            field="task",
        )
    if task not in RELAXING:
        _refuse(_OF_RELAXATIONS, options, f"a relaxation, and the task is {task}", "a relaxation")
    if task != "md":
        _refuse(_OF_DYNAMICS, options, f"dynamics, and the task is {task}", "md")
    if task in RELAXING:
        _check_cell(task, options, cell)


def _refuse(names: Sequence[str], options: DeckOptions, where: str, task: str) -> None:
    for name in names:
        if name in options.model_fields_set:
            raise InvalidParams(
                f"{name} has a meaning only in {where}",
                hint=f"leave it out, or give a task that is {task}",
                field=f"options.{name}",
            )


def _check_cell(task: str, options: DeckOptions, cell: Periodic) -> None:
    changes = task == "vc-relax"
    if changes and not cell.is_crystal:
        raise InputRejected(
            "only a crystal that repeats in three directions has a cell to relax; this structure "
            f"repeats in {cell.dimensions}",
            hint="give the task relax",
            field="task",
        )
    if changes and options.cell == "fixed":
        raise InvalidParams(
            "a vc-relax changes the cell", hint="give the task relax", field="options.cell"
        )
    if changes and options.cell == "isotropic" and not _is_cubic(cell):
        raise InvalidParams(
            "pw.x can change the volume alone only of a cubic crystal",
            hint="`options.cell: full`, or a cubic crystal with its atoms exactly in place",
            field="options.cell",
        )
    if not changes and options.cell not in (None, "fixed"):
        raise InvalidParams(
            "a relax keeps the cell", hint="give the task vc-relax", field="options.cell"
        )
    if not changes and "pressure_gpa" in options.model_fields_set:
        raise InvalidParams(
            "a relax keeps the cell, so it goes to no pressure",
            hint="give the task vc-relax",
            field="options.pressure_gpa",
        )


def _is_cubic(cell: Periodic) -> bool:
    """Whether pw.x itself finds the cubic symmetry, which then keeps the shape of the cell."""
    found = cell.symmetry
    return (
        found is not None
        and found.number >= _CUBIC
        and found.max_displacement_angstrom <= NOTICED_A
        and found.max_strain <= _STRAIN
    )


def control(task: str, options: DeckOptions, n_atoms: int, cell: Periodic) -> Values:
    """What a task adds to &control."""
    values: Values = {}
    if task not in ("nscf", "bands"):
        values["tprnfor"] = True
        if cell.is_crystal:
            values["tstress"] = True
    if task == "md":
        values["nstep"] = options.steps
        values["dt"] = significant(options.timestep_fs / RYDBERG_TIME_FS)
    if task in RELAXING:
        # pw.x compares components; no vector is longer than √3 of the largest.
        largest = options.fmax_ev_per_a / sqrt(3) / RYDBERG_PER_BOHR_EV_PER_ANGSTROM
        values["forc_conv_thr"] = significant(largest)
        values["etot_conv_thr"] = significant(ENERGY_RY_PER_ATOM * n_atoms)
        values["nstep"] = options.max_steps
    return values


def moving(task: str, options: DeckOptions) -> dict[str, Values]:
    """The namelists &ions and &cell, where the task has them."""
    if task == "md":
        return {"ions": _dynamics(options)}
    if task not in RELAXING:
        return {}
    found: dict[str, Values] = {"ions": {"ion_dynamics": "bfgs"}}
    if task == "vc-relax":
        found["cell"] = {
            "cell_dynamics": "bfgs",
            "cell_dofree": _FREEDOM[options.cell or "full"],
            "press": significant(options.pressure_gpa * KBAR_PER_GPA),
            "press_conv_thr": significant(options.smax_gpa * KBAR_PER_GPA),
        }
    return found


def _dynamics(options: DeckOptions) -> Values:
    """Velocities of a temperature, and what keeps it; ``nraise`` counts steps."""
    values: Values = {"ion_dynamics": "verlet", "tempw": significant(options.temperature_k)}
    if options.ensemble == "nve":
        return {**values, "ion_temperature": "initial"}
    period = max(1, round(options.thermostat_fs / options.timestep_fs))
    return {**values, "ion_temperature": "svr", "nraise": period}


def significant(value: float) -> float:
    """A number with as many digits as mean something."""
    return float(f"{value:.6g}")
