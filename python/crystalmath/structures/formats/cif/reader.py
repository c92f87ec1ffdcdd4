"""CIF.

The text is taken apart by ase; which sites there are and what symmetry makes of them is decided
here, because ase ignores the setting in a symbol such as ``F d -3 m :2``, reads ``FE`` as fluorine
and drops atoms that share a site. Called by ``structures.read`` in a worker process.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any, Final, NoReturn

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.checks import MAX_LENGTH_A, check_count
from crystalmath.structures.formats.cif.group import operators
from crystalmath.structures.formats.cif.listed import Listed
from crystalmath.structures.formats.cif.operators import SymmetryProblem, orbit
from crystalmath.structures.formats.cif.sites import read_sites
from crystalmath.structures.formats.number import ase_version, number
from crystalmath.structures.species import site_data
from crystalmath.structures.structure import Floats, Structure

_CELL: Final = ("length_a", "length_b", "length_c", "angle_alpha", "angle_beta", "angle_gamma")


def read_cif(text: str, field: str) -> Structure:
    """Read the one structure of a CIF.

    Parameters
    ----------
    field
        The request field to name in errors of the file's form.

    Raises
    ------
    InputRejected
        No or several data blocks with sites, no cell, partial occupancy, unknown element, or a
        symmetry that the file does not state fully.
    """
    block = _one_block(text, field)
    lattice = _lattice(block, field)
    notes: list[str] = []
    sites = read_sites(block, field, notes)
    if any(tag.startswith("_atom_site_moment") for tag in block):
        notes.append("the magnetic moments of the CIF are not read: give them as an option")
    check_count(len(sites))
    try:
        group = operators(block, notes)
        group.check_metric(lattice)
    except SymmetryProblem as problem:
        raise InputRejected(
            str(problem),
            hint="export the CIF with its symmetry operator loop, or as P 1 with all atoms",
            field="structure",
        ) from None
    symbols: list[str] = []
    species: list[str] = []
    labels: list[str | None] = []
    fractions: list[Floats] = []
    listed = Listed(lattice)
    for site in sites:
        try:
            images, moved = orbit(site.fraction, group, lattice)
        except SymmetryProblem as problem:
            raise InputRejected(
                f"site {site.name} {problem}",
                hint="give its coordinates with more digits",
                field="structure",
            ) from None
        if moved > 1e-4:
            notes.append(f"site {site.name} was moved by {moved:.4f} Å onto its special position")
        twin = listed.find(site, images[0])
        if twin is not None:
            notes.append(f"site {site.name} repeats {twin.name} by symmetry; it counts once")
            continue
        listed.add(site, images)
        check_count(len(symbols) + len(images))
        symbols.extend([site.symbol] * len(images))
        species.extend([site.species] * len(images))
        labels.extend([site.label] * len(images))
        fractions.append(images)
    positions = np.concatenate(fractions) @ lattice
    found = Structure(lattice, (True, True, True), symbols, positions, ase_version())
    found.source = {"block": block.name}
    found.warnings = notes
    found.sites = site_data(species, labels)
    return found


def _one_block(text: str, field: str) -> Any:
    from ase.io.cif import parse_cif

    if not re.search(r"^\s*data_", text, re.IGNORECASE | re.MULTILINE):
        raise InputRejected("the text has no data block, so it is no CIF", field=field)
    with warnings.catch_warnings():
        # ase would drop a row of the wrong length, and with it an atom.
        warnings.filterwarnings("error", message="Wrong number|Duplicated loop")
        blocks = list(parse_cif(io.StringIO(text)))
    with_sites = [block for block in blocks if any(tag.startswith("_atom_site_") for tag in block)]
    if len(with_sites) > 1:
        names = ", ".join(block.name for block in with_sites[:20])
        raise InputRejected(
            f"the CIF holds {len(with_sites)} structures: {names}",
            hint="keep one data block, or save the wanted one to a file of its own",
            field=field,
        )
    if not with_sites:
        _missing("_atom_site_fract_x", field)
    return with_sites[0]


def _lattice(block: Any, field: str) -> Floats:
    from ase.geometry import cellpar_to_cell

    parameters: list[float] = []
    for name in _CELL:
        tag = f"_cell_{name}"
        if tag not in block:
            _missing(tag, field)
        value = number(block[tag])
        if value is None or value <= 0 or value > MAX_LENGTH_A:
            hint = "lengths are in Å, angles in degrees"
            raise InputRejected(f"{tag} is {block[tag]!r}", hint=hint, field=field)
        parameters.append(value)
    try:
        lattice: Floats = np.array(cellpar_to_cell(parameters))
    except (AssertionError, ValueError):
        lattice = np.full((3, 3), np.nan)
    if not np.isfinite(lattice).all():
        raise InputRejected(f"no cell has the angles {parameters[3:]}", field=field)
    return lattice


def _missing(tag: str, field: str) -> NoReturn:
    raise InputRejected(f"the CIF has no {tag}: it is no complete structure", field=field)
