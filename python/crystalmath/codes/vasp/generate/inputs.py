"""The inputs of VASP for a structure: an input set of pymatgen, with what the user wants otherwise.

Run in a worker process, for ``materials.generate_inputs`` and for jobs that bring a structure. Of
the set come the tags, the mesh and the names of the potentials; POSCAR is our own, in the cell as
given. Whatever differs from the set is listed in the report, tag by tag.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any, Final

from crystalmath.codes.options import parse_options
from crystalmath.codes.vasp.deck.incar import incar_value, render_incar
from crystalmath.codes.vasp.deck.poscar import blocks, render_poscar
from crystalmath.codes.vasp.generate import grid
from crystalmath.codes.vasp.lint.incar import Beside, lint_incar
from crystalmath.codes.vasp.lint.numbers import refuse_wrong_numbers
from crystalmath.codes.vasp.options import (
    GENERATED,
    NEEDS_DENSITY,
    SET_OF_TASK,
    TASKS_OF_SET,
    VaspInputs,
)
from crystalmath.codes.vasp.run.potcar import render_spec
from crystalmath.domain.moments import outweighed_by, tag_of_moments
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import InputFile
from crystalmath.structures.formula import cell_formula
from crystalmath.structures.read import structure_of
from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry.crystal import find_symmetry

ISIF: Final = {"fixed": 2, "full": 3, "constant_volume": 4, "isotropic": 8}
_RELAXATION_ONLY: Final = ("fmax_ev_per_a", "max_steps", "cell")


@dataclass(slots=True)
class _Made:
    """What the set gave and what became of it.

    Attributes
    ----------
    settings
        What differs from the set, by its tag: what is used, why, and what the set has.
    """

    chosen: str
    tags: dict[str, Any]
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def change(self, tag: str, value: Any, why: str) -> None:
        """Set a tag, or take it out with None, and list it where that changes something."""
        before, now = (
            None if one is None else incar_value(one) for one in (self.tags.get(tag), value)
        )
        if before == now:
            return
        if value is None:
            self.tags.pop(tag, None)
        else:
            self.tags[tag] = value
        self.say(tag, before, now, why)

    def say(self, what: str, before: str | None, now: str | None, why: str) -> None:
        """List what differs from the set; ``what`` need not be a tag of INCAR."""
        first = self.settings.get(what, {"set": before})["set"]
        self.settings[what] = {
            "value": now,
            "from": f"{why}; {self.chosen} has {first or 'nothing'}",
            "set": first,
        }


def generate_inputs(
    structure: Mapping[str, Any],
    options: Mapping[str, Any],
    task: str | None = None,
    context: Mapping[str, str] | None = None,  # noqa: ARG001 - generators are called alike
    files: Sequence[Mapping[str, Any]] = (),  # noqa: ARG001
    previous_incar: Mapping[str, Any] | None = None,
    *,
    in_place: bool = False,  # noqa: ARG001
) -> dict[str, Any]:
    """Write INCAR, KPOINTS, POSCAR and POTCAR.spec; the potentials themselves belong to a job.

    Parameters
    ----------
    structure
        As ``structures.read.structure_of`` takes it.
    options
        See :class:`crystalmath.codes.vasp.options.VaspInputs`.
    task
        One of ``GENERATED``; static where it is left out.
    previous_incar
        Tags of the static run that bands or a density of states go on from: each that has to be
        the same, None for one that it left out.

    Returns
    -------
    dict
        ``files``: each with ``path`` and ``content``; ``report``: what was chosen and why.

    Raises
    ------
    InputRejected, InvalidParams
        ``structure``, ``task``, or a field below ``options``.
    """
    asked, task = parse_options(VaspInputs, options, at="options"), task or GENERATED[0]
    refuse_wrong_numbers(asked.incar, "options")
    chosen = _chosen_set(asked, task)
    given = _sorted(_crystal(structure_of(structure)))
    found = _from_set(chosen, asked, task, given)
    made = _Made(chosen, dict(found.incar))
    _say_where_from(made, given)
    for tag, value in (previous_incar or {}).items():
        made.change(tag, value, "as the static run has it")
    _set_own(made, asked, task, given.order.tolist())
    kpoints, mesh = grid.kpoints_of(asked, task, given, found, made)
    labels = _labels(asked, found, made)
    tags = {tag: incar_value(value) for tag, value in made.tags.items()}
    beside = Beside(len(given.symbols), len(labels), mesh.count, gamma_needed=mesh.is_face_centred)
    made.notes += [*_outweighed(asked, given), *mesh.notes, *found.said]
    made.notes += [f"INCAR: {one.message}" for one in lint_incar(tags, beside)]
    cell, fractions = given.cell.tolist(), given.fractions.tolist()
    texts = {
        "INCAR": render_incar(tags),
        "KPOINTS": kpoints,
        "POSCAR": render_poscar(cell_formula(given.symbols), cell, given.symbols, fractions),
        "POTCAR.spec": render_spec(found.functional, list(labels.values())),
    }
    return {
        "files": [asdict(InputFile(path, content=text)) for path, text in texts.items() if text],
        "report": _report(made, task, given, mesh, labels, found.functional),
    }


def _say_where_from(made: _Made, given: Structure) -> None:
    """The set, and the order of the atoms where it is another one."""
    made.settings["input_set"] = {
        "value": made.chosen,
        "from": f"pymatgen {version('pymatgen-core')}",
    }
    order = given.order.tolist()
    if order != sorted(order):
        made.settings["atoms"] = {"value": order, "from": "by element, as POSCAR needs them"}
        made.notes.append("POSCAR has the atoms in another order than the structure: by element")


def _report(
    made: _Made,
    task: str,
    given: Structure,
    mesh: grid.Mesh,
    labels: Mapping[str, str],
    functional: str,
) -> dict[str, Any]:
    """The fields of ``contract.inputs.InputsReport``."""
    symmetry = find_symmetry(given)
    return {
        "code": "vasp",
        "task": task,
        "formula": given.formula,
        "n_atoms": len(given.symbols),
        "repeats": [True, True, True],
        "space_group": {"number": symmetry.number, "symbol": symmetry.symbol},
        "symprec_angstrom": symmetry.symprec_angstrom,
        "k_mesh": mesh.sizes,
        "k_shift": None if mesh.sizes is None else [0, 0, 0],
        "k_points_from": mesh.why,
        "settings": made.settings,
        "pseudopotentials": [
            {"element": element, "file": label, "kind": "PAW", "functional": functional}
            for element, label in labels.items()
        ],
        "warnings": list(dict.fromkeys([*made.notes, *symmetry.warnings()])),
    }


def _chosen_set(asked: VaspInputs, task: str) -> str:
    """The input set, which has to fit the task, as the other options have to."""
    if task not in GENERATED:
        raise InvalidParams(
            f"no inputs are written for the task {task[:60]!r}",
            hint=f"there are {', '.join(GENERATED)}; for others give INCAR, POSCAR and KPOINTS",
            field="task",
        )
    chosen = asked.set or SET_OF_TASK[task]
    if task not in TASKS_OF_SET[chosen]:
        fitting = [name for name, tasks in TASKS_OF_SET.items() if task in tasks]
        raise InvalidParams(
            f"{chosen} is a set for {' and '.join(TASKS_OF_SET[chosen])}, not for {task}",
            hint=f"for {task} there are: {', '.join(fitting)}",
            field="options.set",
        )
    for name in _RELAXATION_ONLY:
        if task != "relax" and getattr(asked, name) is not None:
            raise InvalidParams(
                f"`{name}` is for relaxations, and the task is {task}",
                hint="leave it out",
                field=f"options.{name}",
            )
    if asked.kpoints is not None and asked.k_spacing_inv_angstrom is not None:
        raise InvalidParams(
            "a mesh and a spacing were given",
            hint="leave one of them out",
            field="options.k_spacing_inv_angstrom",
        )
    return chosen


def _crystal(structure: Structure) -> Structure:
    """VASP repeats everything in three directions: there has to be a cell."""
    if structure.lattice is None or not structure.is_crystal:
        raise InputRejected(
            "VASP repeats a structure in three directions, and this one does not repeat in all",
            hint="give it a cell with empty space, in a POSCAR: "
            "`materials.convert.vacuum_angstrom: 10`",
            field="structure",
        )
    return structure


def _sorted(structure: Structure) -> Structure:
    """The atoms by element, so that each element is one block, as the first of each comes."""
    first = list(dict.fromkeys(structure.symbols))
    order = sorted(range(len(structure.symbols)), key=lambda i: first.index(structure.symbols[i]))
    return structure.take(order)


@dataclass(frozen=True, slots=True)
class FromSet:
    """What is used of an input set."""

    incar: Mapping[str, Any]
    kpoints: Any
    labels: Mapping[str, str | None]
    functional: str
    said: list[str]


def _from_set(chosen: str, asked: VaspInputs, task: str, given: Structure) -> FromSet:
    """Ask pymatgen; it reads no potentials for this."""
    from pymatgen.core.structure import Structure as PymatgenStructure
    from pymatgen.io.vasp import sets
    from pymatgen.io.vasp.inputs import Kpoints

    crystal = PymatgenStructure(
        given.cell, given.symbols, given.fractions, site_properties=_moments(given)
    )
    arguments: dict[str, Any] = {
        "user_potcar_functional": asked.potcar_functional,
        "sort_structure": False,
    }
    if chosen == "MPNonSCFSet":
        arguments |= {"mode": "line" if task == "bands" else "uniform"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = getattr(sets, chosen)(
                crystal, **{key: value for key, value in arguments.items() if value is not None}
            )
            incar, kpoints = dict(found.incar), found.kpoints
            if task == "dos":  # the set lists irreducible points, of the mesh of a static run
                static = Kpoints.automatic_density_by_vol(
                    crystal, found.reciprocal_density, force_gamma=True
                )
                kpoints = Kpoints.gamma_automatic(
                    [grid.DENSER * int(n) for n in static.kpts[0]]  # type: ignore[arg-type]
                )
            functional = str(found.potcar_functional)
        except (KeyError, ValueError) as error:
            raise InputRejected(
                f"{chosen} has nothing for this structure: {str(error)[:200]}",
                hint="take another set, or give INCAR, POSCAR and KPOINTS",
                field="options.set",
            ) from error
    said = [
        str(one.message)
        for one in caught
        if "POTCAR" in str(one.message) or "BadInputSet" in one.category.__name__
    ]
    elements = [element for element, _ in blocks(given.symbols)]
    labels = {element: _label(found, element) for element in elements}
    return FromSet(incar, kpoints, labels, functional, [" ".join(one.split()) for one in said])


def _label(found: Any, element: str) -> str | None:
    """The potential that a set has for an element; None where it has none."""
    # what it takes instead with newer potentials, as W_sv, stands in its settings
    listed = {**found.CONFIG["POTCAR"], **(found.user_potcar_settings or {})}.get(element)
    return listed.get("symbol") if isinstance(listed, dict) else listed


def _labels(asked: VaspInputs, found: FromSet, made: _Made) -> dict[str, str]:
    """The potential of each element: the user's, else the set's."""
    labels: dict[str, str] = {}
    for element, of_set in found.labels.items():
        label = asked.potcars.get(element) or of_set
        if label is None:
            raise InputRejected(
                f"the set has no potential for {element}",
                hint=f"name one: `potcars`, e.g. {element}: {element}",
                field="options.potcars",
            )
        if label != of_set:
            made.say(f"POTCAR {element}", of_set, label, "`potcars`")
        labels[element] = label
    unused = next((one for one in asked.potcars if one not in labels), None)
    if unused is not None:
        raise InvalidParams(
            f"the structure has no {unused}", hint="leave it out", field=f"options.potcars.{unused}"
        )
    return labels


def _moments(given: Structure) -> dict[str, list[float]] | None:
    return None if given.moments is None else {"magmom": list(given.moments)}


def _outweighed(asked: VaspInputs, given: Structure) -> list[str]:
    """What is said where INCAR was asked to say otherwise than the structure."""
    if given.moments is None:
        return []
    tag = tag_of_moments(asked.incar)
    return [] if tag is None else [outweighed_by(f"`incar.{tag}`")]


def _in_order(tag: str, value: Any, order: Sequence[int]) -> Any:
    """Moments were given in the order of the structure; POSCAR may have another."""
    if tag != "MAGMOM" or list(order) == sorted(order):
        return value
    if not isinstance(value, list) or len(value) != len(order):
        raise InvalidParams(
            "POSCAR has the atoms by element, in another order than the structure: MAGMOM does not "
            "fit it as it is given",
            hint=f"give a list of {len(order)} moments in the order of the structure",
            field="options.incar.MAGMOM",
        )
    return [value[i] for i in order]


def _stand_still(made: _Made) -> None:
    """A static run with the set of a relaxation: its accuracy, and nothing moves."""
    why = "a static run"
    made.change("NSW", 0, why)
    made.change("IBRION", -1, why)
    made.change("ISIF", 2, f"{why}, with the stress")
    made.change("EDIFFG", None, why)


def _set_own(made: _Made, asked: VaspInputs, task: str, order: Sequence[int]) -> None:
    """What the user wants otherwise, and what the set itself gets wrong."""
    tags = made.tags
    if task == "static" and "relax" in TASKS_OF_SET[made.chosen]:
        _stand_still(made)
    if tags.get("LDAU") and not any(tags.get("LDAUU") or ()):
        made.change("LDAU", None, "the set gives no U for these elements")
    if asked.fmax_ev_per_a is not None:
        made.change("EDIFFG", -asked.fmax_ev_per_a, "`fmax_ev_per_a`")
    if asked.max_steps is not None:
        made.change("NSW", asked.max_steps, "`max_steps`")
    if asked.cell is not None:
        made.change("ISIF", ISIF[asked.cell], "`cell`")
        if asked.cell == "isotropic":
            made.notes.append("ISIF = 8, positions and volume alone, needs VASP 6.4.1 or later")
    for tag, value in asked.incar.items():
        made.change(tag, _in_order(tag, value, order), "`incar`")
    if task in NEEDS_DENSITY:
        made.notes.append("starts from the CHGCAR of a static run in the same cell (ICHARG = 11)")
