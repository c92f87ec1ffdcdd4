"""A deck of pw.x from a structure: the function that a worker process of the ``proc`` lane runs.

The cell and the order of the atoms are those of the structure. The text is read back and compared
with what it was made of before it leaves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from ase.data import atomic_masses, atomic_numbers

from crystalmath.codes.espresso import pseudo, saved
from crystalmath.codes.espresso.checks import check_deck, with_values
from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.espresso.generate.cell import Periodic, place
from crystalmath.codes.espresso.generate.cutoffs import Cutoffs, cutoffs
from crystalmath.codes.espresso.generate.electrons import Electrons, electrons
from crystalmath.codes.espresso.generate.points import Points, points
from crystalmath.codes.espresso.generate.tasks import check_task, control, moving, significant
from crystalmath.codes.espresso.namelist import render_value
from crystalmath.codes.espresso.options import DeckOptions
from crystalmath.codes.espresso.phonons import decks as phonons
from crystalmath.codes.espresso.phonons.options import TASK as PH_TASK
from crystalmath.codes.espresso.phonons.options import PhononDeckOptions, Response, is_asked
from crystalmath.codes.espresso.steps import SCF
from crystalmath.codes.espresso.upf.choice import Chosen, choose, doubts
from crystalmath.codes.options import parse_options
from crystalmath.domain.moments import outweighed_by
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile
from crystalmath.structures.read import structure_of
from crystalmath.structures.structure import Structure

TASK: Final = "scf"
_BESIDE: Final = f"./{pseudo.FOLDER}"
_NAMELISTS: Final = ("control", "system", "electrons", "ions", "cell")
_OPTIONS: Final[Mapping[str, str]] = {
    "calculation": "`task`",
    "ecutwfc": "`options.ecutwfc_ry`",
    "ecutrho": "`options.ecutrho_ry`",
    "occupations": "`options.smearing`",
    "smearing": "`options.smearing`",
    "degauss": "`options.degauss_ry`",
    "nspin": "`options.moments_mu_b`",
    "starting_magnetization": "`options.moments_mu_b`",
    "tot_magnetization": "`options.total_magnetization_mu_b`",
    "tot_charge": "`options.charge`",
    "nbnd": "`options.n_bands`",
}
"""Variable → what settles it."""


@dataclass(frozen=True, slots=True)
class Made:
    """Everything that was decided."""

    task: str
    cell: Periodic
    chosen: Sequence[Chosen]
    cutoffs: Cutoffs
    electrons: Electrons
    points: Points
    prefix: str


def generate_inputs(
    structure: Mapping[str, Any],
    options: Mapping[str, Any],
    task: str | None = None,
    context: Mapping[str, str] | None = None,
    files: Sequence[Mapping[str, Any]] = (),
    *,
    in_place: bool = False,
) -> dict[str, Any]:
    """Make the deck and find its pseudopotentials.

    Parameters
    ----------
    structure
        As ``structures.read.structure_of`` takes it.
    options
        The members of ``DeckOptions`` that were given.
    context
        The variable ``ESPRESSO_PSEUDO`` of whoever asks.
    files
        Of the job, which pseudopotentials may be among: fields of ``services.ports.InputFile``.
    in_place
        The deck names the directory where its pseudopotentials lie, not a folder beside it.

    Returns
    -------
    dict
        The fields of ``contract.inputs.GenerateInputsResult``; the deck is the first of the files,
        for ``ph`` that of its SCF, and the deck of ph.x the second.

    Raises
    ------
    InputRejected, InvalidParams
        With a field below ``structure``, ``task``, ``options`` or ``context``.
    """
    if is_asked(task):
        return _with_response(structure, options, context, files, in_place=in_place)
    asked = parse_options(DeckOptions, options, at="options")
    given = structure_of(structure)
    made = decide(
        given, asked, (task or TASK).lower(), context or {}, [InputFile(**file) for file in files]
    )
    folder = pseudo.folder_of([one.source for one in made.chosen]) if in_place else _BESIDE
    deck = render(made, asked, folder)
    check(deck, made)
    listed = [InputFile(f"{made.prefix}.{made.task}.in", content=deck.text)]
    listed += [one.file for one in made.chosen]
    return {"files": [asdict(file) for file in listed], "report": _report(made, asked, given)}


def _with_response(
    structure: Mapping[str, Any],
    options: Mapping[str, Any],
    context: Mapping[str, str] | None,
    files: Sequence[Mapping[str, Any]],
    *,
    in_place: bool,
) -> dict[str, Any]:
    """The deck of an SCF that is converged as ph.x needs it, and that of ph.x behind it."""
    asked = parse_options(PhononDeckOptions, options, at="options")
    of_scf = {key: value for key, value in options.items() if key not in Response.model_fields}
    made = generate_inputs(structure, of_scf, SCF, context, files, in_place=in_place)
    first, *others = made["files"]
    scf = parse_deck(first["content"])
    phonons.check(asked, scf, "options", "structure")
    scf, notes = phonons.tightened(scf, asked.scf_conv_thr_ry)
    name = first["path"].removesuffix(f".{SCF}.in")
    text = phonons.ph_deck(asked, scf, "options")
    response = asdict(InputFile(f"{name}.{phonons.PH}.in", content=text))
    warnings = [*made["report"]["warnings"], *notes]
    return {
        "files": [{**first, "content": scf.text}, response, *others],
        "report": {**made["report"], "task": PH_TASK, "warnings": warnings},
    }


def decide(
    given: Structure,
    asked: DeckOptions,
    task: str,
    context: Mapping[str, str],
    files: Sequence[InputFile] = (),
) -> Made:
    """Settle everything that stands in the deck.

    Raises
    ------
    InputRejected, InvalidParams
    """
    espresso_pseudo = context.get("ESPRESSO_PSEUDO") or None
    pseudo.check_variable(espresso_pseudo)
    cell = place(given, asked.symprec_angstrom, asked.vacuum_angstrom)
    check_task(task, asked, cell)
    chosen = choose(list(dict.fromkeys(given.symbols)), asked, files, espresso_pseudo)
    filled = electrons(given.symbols, chosen, asked, task, given.moments)
    return Made(
        task=task,
        cell=cell,
        chosen=chosen,
        cutoffs=cutoffs(asked, chosen),
        electrons=filled,
        points=points(task, asked, cell, metal=filled.metal),
        prefix=re.sub(r"[^A-Za-z0-9]+", "", given.formula)[:60] or "pwscf",
    )


def render(made: Made, asked: DeckOptions, pseudo_dir: str = _BESIDE) -> Deck:
    """Write the deck.

    Raises
    ------
    InvalidParams
        One of ``options.values`` has no place in it.
    """
    atoms = made.cell.structure
    count = len(atoms.symbols)
    cutoff = made.cutoffs
    namelists: dict[str, Mapping[str, Any]] = {
        "control": {
            "calculation": made.task,
            "prefix": made.prefix,
            "outdir": f"./{saved.FOLDER}",
            "pseudo_dir": pseudo_dir,
            **control(made.task, asked, count, made.cell),
        },
        "system": {
            "ibrav": 0,
            "nat": count,
            "ntyp": len(made.electrons.species),
            "ecutwfc": significant(cutoff.wfc_ry),
            "ecutrho": significant(cutoff.rho_ry),
            **made.electrons.values,
            # Random velocities have no symmetry, and pw.x would impose that of the structure.
            **({"nosym": True} if made.task == "md" or not asked.keep_symmetry else {}),
        },
        "electrons": _scf(asked, count),
        **moving(made.task, asked),
    }
    _check_values(asked.values, namelists)
    lines = [line for name in _NAMELISTS if name in namelists for line in _block(name, namelists)]
    lines += _cards(made)
    return with_values(parse_deck("\n".join(lines) + "\n"), asked.values, "options.values")


def _check_values(values: Mapping[str, Any], namelists: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse to change what other values were derived from, such as a cutoff.

    Raises
    ------
    InvalidParams
    """
    for name in values:
        namelist, _, key = name.partition(".")
        settled = namelists.get(namelist, {}) if namelist == "system" else {"calculation"}
        if key.replace(" ", "") in settled:
            option = _OPTIONS.get(key.partition("(")[0])
            raise InvalidParams(
                f"{name} is settled already, and other values with it",
                hint=f"give {option}" if option else "leave it out, or write the deck yourself",
                field=f"options.values.{name}",
            )


def _scf(asked: DeckOptions, count: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "conv_thr": significant(asked.conv_thr_ry_per_atom * count),
        "electron_maxstep": asked.max_scf_steps,
    }
    if asked.mixing_beta is not None:
        values["mixing_beta"] = asked.mixing_beta
    return values


def _block(name: str, namelists: Mapping[str, Mapping[str, Any]]) -> list[str]:
    values = [f"  {key} = {render_value(value)}" for key, value in namelists[name].items()]
    return [f"&{name}", *values, "/"]


def _cards(made: Made) -> list[str]:
    atoms = made.cell.structure
    species = [
        f"{one.label} {atomic_masses[atomic_numbers[one.chosen.element]]:.4f} {one.chosen.name}"
        for one in made.electrons.species
    ]
    vectors = [" ".join(f"{value:.12f}" for value in vector) for vector in atoms.cell]
    places = [
        f"{label} " + " ".join(f"{value:.12f}" for value in place)
        for label, place in zip(made.electrons.labels, atoms.fractions + 0.0, strict=True)
    ]
    return [
        "ATOMIC_SPECIES", *species,
        "CELL_PARAMETERS angstrom", *vectors,
        "ATOMIC_POSITIONS crystal", *places,
        f"K_POINTS {made.points.option}", *made.points.lines,
    ]  # fmt: skip


def check(deck: Deck, made: Made) -> None:
    """Read the text back: it must be the structure that it was made of.

    Raises
    ------
    InvalidParams
        A value that was asked for makes it one that pw.x would refuse.
    RuntimeError
        It is another structure: a fault of this program.
    """
    check_deck(deck, "the deck", "options.values")
    atoms = made.cell.structure
    rows = deck.cards["ATOMIC_POSITIONS"].lines
    places = np.array([[float(word) for word in row.split()[1:4]] for row in rows])
    vectors = np.array(
        [[float(word) for word in row.split()] for row in deck.cards["CELL_PARAMETERS"].lines]
    )
    elements = {one.label: one.element for one in deck.species}
    same = (
        [elements[label] for label in deck.labels] == list(atoms.symbols)
        and vectors.shape == (3, 3)
        and np.allclose(places @ vectors, atoms.positions, atol=1e-6)
    )
    if not same:
        raise RuntimeError("the deck that was written is not the structure")


def _report(made: Made, asked: DeckOptions, given: Structure) -> dict[str, Any]:
    symmetry, cutoff, mesh = made.cell.symmetry, made.cutoffs, made.points
    group = None
    if symmetry is not None:
        group = {"number": symmetry.number, "symbol": symmetry.symbol}
    return {
        "code": "espresso",
        "task": made.task,
        "formula": given.formula,
        "n_atoms": len(given.symbols),
        "repeats": list(made.cell.repeats),
        "space_group": group,
        "symprec_angstrom": asked.symprec_angstrom,
        "k_mesh": None if mesh.mesh is None else list(mesh.mesh),
        "k_shift": None if mesh.shift is None else list(mesh.shift),
        "k_points_from": mesh.origin,
        "settings": {
            "ecutwfc_ry": {"value": cutoff.wfc_ry, "from": cutoff.wfc_from},
            "ecutrho_ry": {"value": cutoff.rho_ry, "from": cutoff.rho_from},
            "occupations": {"value": made.electrons.filling, "from": made.electrons.filled_so},
            "electrons": {"value": made.electrons.count},
            **_spins(made, asked, given),
        },
        "pseudopotentials": [_described(one) for one in made.chosen],
        "warnings": _warnings(made, asked, given),
    }


def _spins(made: Made, asked: DeckOptions, given: Structure) -> dict[str, Any]:
    """The moments that the calculation starts from, where there are any."""
    species = made.electrons.species
    if species[0].moment_mu_b is None:
        return {}
    origin = "the structure"
    if asked.moments_mu_b is not None or given.moments is None:
        origin = "as asked for"
    told = ", ".join(f"{one.label} {one.moment_mu_b:g}" for one in species)
    return {"moments_mu_b": {"value": told, "from": origin}}


def _described(one: Chosen) -> dict[str, Any]:
    header = one.header
    return {
        "element": one.element,
        "file": one.name,
        "kind": header.kind,
        "functional": header.functional,
        "z_valence": header.z_valence,
        "sha256": one.sha256,
        "md5": one.md5,
    }


def _warnings(made: Made, asked: DeckOptions, given: Structure) -> list[str]:
    said = [*given.warnings, *made.cell.warnings, *made.points.warnings, *doubts(made.chosen)]
    if asked.charge:
        said.append("the charge is balanced by a uniform background, which shifts the energy")
    if asked.charge and made.cell.dimensions == 0:
        said.append(
            "the energy of a charged molecule depends on its box; "
            "`options.values: {system.assume_isolated: mt}` corrects that"
        )
    if given.moments is not None and asked.moments_mu_b is not None:
        said.append(outweighed_by("`options.moments_mu_b`"))
    return list(dict.fromkeys(said))
