"""A CRYSTAL deck from a structure: the function that a worker process of the ``proc`` lane runs.

The structure is placed in the standard setting of its group, the records are written, and the text
is read back, expanded and compared before it leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from crystalmath.codes.crystal.cell.settings import layer_setting, space_setting
from crystalmath.codes.crystal.deck.shrink import Shrink
from crystalmath.codes.crystal.generate.check import check_deck
from crystalmath.codes.crystal.generate.electrons import (
    BasisRecords,
    basis_records,
    check_electrons,
    is_open_shell,
    metal_warnings,
)
from crystalmath.codes.crystal.generate.external import external_geometry
from crystalmath.codes.crystal.generate.extra import extra_records
from crystalmath.codes.crystal.generate.hamiltonian import hamiltonian
from crystalmath.codes.crystal.generate.layer import place_layer
from crystalmath.codes.crystal.generate.placed import Placed
from crystalmath.codes.crystal.generate.plain import place_molecule, place_polymer
from crystalmath.codes.crystal.generate.scf import scf_lines
from crystalmath.codes.crystal.generate.space import place_crystal
from crystalmath.codes.crystal.generate.spins import SpinLabels, spin_labels, with_moments
from crystalmath.codes.crystal.generate.tasks import task_lines, task_warnings
from crystalmath.codes.crystal.generate.together import check_together
from crystalmath.codes.crystal.lint.lint import lint_deck
from crystalmath.codes.crystal.tables import keywords as known
from crystalmath.contract.d12 import D12Options, OpenShell
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.structures.read import structure_of
from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry.dimensionality import (
    Dimensionality,
    dimensionality,
    isolate,
)

MAX_ATOMS: Final = 2000
"""Of the cell that is given. The symmetry search grows faster than the number of atoms."""
MANY_ATOMS: Final = 600
"""Without symmetry such a cell is a large calculation."""


@dataclass(frozen=True, slots=True)
class _Made:
    placed: Placed
    found: Dimensionality
    basis: BasisRecords
    mesh: Shrink | None
    warnings: list[str]


def generate_deck(structure: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Make a deck.

    Parameters
    ----------
    structure
        As ``structures.read.structure_of`` takes it.
    options
        The members of ``contract.d12.D12Options`` that were given, as JSON values.

    Returns
    -------
    dict
        The fields of ``contract.d12.D12Result``.

    Raises
    ------
    InputRejected
        The structure cannot be written, or the deck would not be the structure.
    InvalidParams
        An option does not fit the structure or the others.
    """
    asked = D12Options.model_validate(options)
    given = structure_of(structure)
    check_count(given)
    return make_deck(given, asked)


def check_count(structure: Structure) -> None:
    """Refuse what the symmetry search cannot take in a reasonable time.

    Raises
    ------
    InputRejected
    """
    if len(structure.symbols) > MAX_ATOMS:
        raise InputRejected(
            f"the structure has {len(structure.symbols)} atoms; a deck is made of at most "
            f"{MAX_ATOMS}",
            hint="give a smaller cell",
            field="structure",
        )


def make_deck(given: Structure, asked: D12Options) -> dict[str, Any]:
    """Make a deck of a structure that was read; see :func:`generate_deck`."""
    check_together(asked)
    asked, of_moments = with_moments(asked, given)
    dimension = asked.dimension
    wanted = None if dimension in ("auto", "external") else dimension
    found = dimensionality(given, wanted)  # type: ignore[arg-type]
    spin = asked.spin.atom_spins if isinstance(asked.spin, OpenShell) else None
    spins = spin_labels(given, spin)
    placed = _place(given, found, asked.symprec_angstrom, spins)
    external = dimension == "external"

    open_shell = is_open_shell(asked)
    energy = hamiltonian(asked, open_shell=open_shell)
    basis = basis_records(asked, energy, placed)
    placed = _labelled(placed, basis)
    scf, mesh = scf_lines(asked, energy, placed, spins)
    extra = extra_records(asked)
    title = _title(asked, given, placed)
    head = ["EXTERNAL"] if external else placed.lines()
    tasks = task_lines(asked, placed.dimension, placed)
    lines = [title, *head, *extra["geometry"], *tasks]
    lines += [*basis.lines, *scf, *extra["scf"], "END"]
    text = "\n".join(lines) + "\n"

    # An EXTERNAL deck has its geometry in the other file, made of the same placement.
    checked = text if not external else "\n".join([title, *placed.lines(), "END", ""])
    expanded = check_deck(checked, placed)
    gui = external_geometry(placed) if external else None
    _check_lint(text, asked)
    warnings = [
        *given.warnings, *of_moments, *found.warnings(), *placed.warnings,
        *energy.warnings, *basis.warnings,
        *check_electrons(asked, placed, open_shell=open_shell), *metal_warnings(asked, given),
        *task_warnings(asked), *_cost_warnings(placed), *_mass_warnings(given, asked),
    ]  # fmt: skip
    made = _Made(placed, found, basis, mesh, list(dict.fromkeys(warnings)))
    report = _report(made, asked, expanded.multiplicities)
    return {"d12": text, "gui": gui, "report": report}


def _place(
    structure: Structure, found: Dimensionality, symprec: float, spins: SpinLabels
) -> Placed:
    if found.kind == "crystal":
        return place_crystal(structure, symprec, spins)
    isolated = isolate(structure, found)
    if found.kind == "slab":
        return place_layer(isolated, symprec, spins)
    return place_polymer(isolated) if found.kind == "polymer" else place_molecule(isolated)


def _labelled(placed: Placed, basis: BasisRecords) -> Placed:
    """Sites under the labels of their basis sets, where these are effective cores."""
    if all(label == z for z, label in basis.labels.items()):
        return placed
    sites = tuple(replace(site, nat=basis.labels.get(site.z, site.z)) for site in placed.sites)
    return replace(placed, sites=sites)


def _title(asked: D12Options, given: Structure, placed: Placed) -> str:
    if asked.title is None:
        return f"{given.formula} {placed.symbol or placed.dimension.lower()}"[:80]
    if asked.title.strip().upper() in {*known.DIMENSIONS, "END"}:
        raise InvalidParams(
            f"the title {asked.title.strip()!r} is a keyword",
            hint="add a word to it",
            field="options.title",
        )
    return asked.title


def _check_lint(text: str, asked: D12Options) -> None:
    """Refuse a deck that the linter calls wrong; only extra records can make it so."""
    errors = [finding for finding in lint_deck(text) if finding.severity == "error"]
    if errors:
        first = errors[0]
        raise InputRejected(
            f"line {first.line} of the deck would be wrong: {first.message}",
            hint=first.fix or None,
            field="options.extra" if asked.extra else "options",
        )


def _cost_warnings(placed: Placed) -> list[str]:
    if placed.n_atoms_primitive < MANY_ATOMS or placed.group != 1:
        return []
    return [
        (
            f"{placed.n_atoms_primitive} atoms without symmetry: such a calculation is expensive; "
            "is the cell as small as it can be?"
        )
    ]


def _mass_warnings(given: Structure, asked: D12Options) -> list[str]:
    masses = given.sites.mass_numbers
    if masses is None or all(mass is None for mass in masses):
        return []
    if asked.freqcalc is not None and asked.freqcalc.isotopes:
        return []
    return ["the masses of isotopes are lost: for frequencies give `options.freqcalc.isotopes`"]


def _reason(found: Dimensionality) -> str:
    if found.decided_by == "request":
        return "as asked for"
    if found.decided_by == "file":
        return "the file says where the structure repeats"
    gaps = found.gaps_angstrom or ()
    widest = ", ".join(f"{axis} {gap:.1f} Å" for axis, gap in zip("abc", gaps, strict=False))
    return f"largest empty space along {widest}; 8 Å or more means that nothing repeats there"


def _report(made: _Made, asked: D12Options, multiplicities: tuple[int, ...]) -> dict[str, Any]:
    placed = made.placed
    group = None
    if placed.number is not None:
        group = {"number": placed.number, "symbol": placed.symbol}
    setting = space_setting(placed.group) if placed.dimension == "CRYSTAL" else None
    if placed.dimension == "SLAB":
        setting = layer_setting(placed.group)
    return {
        "dimension": "EXTERNAL" if asked.dimension == "external" else placed.dimension,
        "dimension_reason": _reason(made.found),
        "space_group": group,
        "group": placed.group,
        "hall": placed.hall,
        "symprec_angstrom": asked.symprec_angstrom,
        "max_displacement": placed.max_displacement_angstrom,
        "transformation": placed.transformation.tolist() if setting is not None else None,
        "origin_shift": placed.shift.tolist() if setting is not None else None,
        "n_asymmetric": len(placed.sites),
        "multiplicities": list(multiplicities),
        "n_atoms": sum(multiplicities),
        "n_atoms_primitive": placed.n_atoms_primitive,
        "basis": made.basis.name,
        "shrink": None if made.mesh is None else made.mesh.numbers(),
        "warnings": made.warnings,
        "verified": True,
    }
