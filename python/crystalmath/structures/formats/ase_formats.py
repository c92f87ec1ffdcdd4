"""The formats that are read by ase as they are.

Called by ``structures.read`` in a worker process.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.number import ase_version
from crystalmath.structures.structure import SiteData, Structure


def read_with_ase(text: str, format: str, field: str) -> Structure:  # noqa: A002 - the word of the contract
    """Read the last structure of a text.

    Parameters
    ----------
    format
        ``xyz`` (plain or extended) or a format name of ase.
    field
        The request field to name in errors.

    Raises
    ------
    InputRejected
        A dummy atom or a partly occupied site.
    """
    from ase.io import read

    name = _kind_of_xyz(text) if format == "xyz" else format
    try:
        images: Any = read(io.StringIO(text), index=":", format=name)
    except KeyError as error:  # what ase raises for a symbol that it does not know
        raise InputRejected(f"{error.args[0]!r} is no element", field=field) from None
    if not images:
        raise InputRejected("the text holds no structure", field=field)
    atoms = images[-1]
    raw = Structure(
        lattice=np.array(atoms.cell.complete()) if atoms.pbc.any() else None,
        pbc=(bool(atoms.pbc[0]), bool(atoms.pbc[1]), bool(atoms.pbc[2])),
        symbols=list(atoms.get_chemical_symbols()),
        positions=np.array(atoms.get_positions(), dtype=float),
        reader=ase_version(),
    )
    if "initial_magmoms" in atoms.arrays and atoms.get_initial_magnetic_moments().ndim == 1:
        moments = tuple(float(moment) for moment in atoms.get_initial_magnetic_moments())
        raw.sites = SiteData(moments=moments)
    if len(images) > 1:
        raw.warnings.append(f"the text holds {len(images)} structures; the last one is taken")
    if atoms.constraints:
        raw.warnings.append("constraints are not taken over: all atoms are free")
    _refuse_special(atoms)
    return raw


def _kind_of_xyz(text: str) -> str:
    """Tell the extended format by its comment line; the plain one allows any comment there."""
    comment = text.split("\n", 2)[1:2]
    extended = bool(comment) and any(key in comment[0] for key in ("Lattice=", "Properties="))
    return "extxyz" if extended else "xyz"


def _refuse_special(atoms: Any) -> None:
    if (atoms.numbers == 0).any():
        index = int(np.flatnonzero(atoms.numbers == 0)[0])
        raise InputRejected(
            f"atom {index + 1} is a dummy (X)", hint="delete the site", field="structure"
        )
    for shares in atoms.info.get("occupancy", {}).values():
        if len(shares) > 1 or any(abs(float(share) - 1) > 1e-4 for share in shares.values()):
            names = " / ".join(f"{symbol} {share:g}" for symbol, share in shares.items())
            raise InputRejected(
                f"partial occupancy: {names}",
                hint="make an ordered supercell and give that",
                field="structure",
            )
