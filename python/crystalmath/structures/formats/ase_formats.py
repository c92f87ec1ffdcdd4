"""The formats that are read by ase as they are.

Called by ``structures.read`` in a worker process.
"""

from __future__ import annotations

import io
import re
from typing import Any, Final

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.number import ase_version
from crystalmath.structures.structure import SiteData, Structure

_MAGNETIC: Final = re.compile(r"starting_magnetization\s*\(", re.IGNORECASE)


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
    if name == "espresso-in":
        _take_out_fractions(atoms, text, raw.warnings)
    raw.sites = SiteData(moments=_moments(atoms, raw.warnings))
    raw.warnings += _charges(atoms)
    if len(images) > 1:
        raw.warnings.append(f"the text holds {len(images)} structures; the last one is taken")
    if atoms.constraints:
        raw.warnings.append("constraints are not taken over: all atoms are free")
    _refuse_special(atoms)
    return raw


def _take_out_fractions(atoms: Any, text: str, warnings: list[str]) -> None:
    """Of a deck ase gives parts of the valence electrons as moments, and one for Fe1 and Fe2."""
    atoms.set_initial_magnetic_moments(np.zeros(len(atoms)))
    if any(_MAGNETIC.search(line.partition("!")[0]) for line in text.splitlines()):
        warnings.append(
            "starting_magnetization is not taken over, since it counts in parts of the valence "
            "electrons: give the moments as an option"
        )


def _moments(atoms: Any, warnings: list[str]) -> tuple[float, ...] | None:
    """Moments in μB along one axis: those to start from, else those that were computed."""
    computed = {} if atoms.calc is None else atoms.calc.results
    given = atoms.arrays.get("initial_magmoms")
    # ase takes a column of either name for a result; magmom is that of the whole cell elsewhere
    columns = (given, *(computed.get(one) for one in ("magmoms", "magmom") if one in computed))
    known = [np.asarray(one) for one in columns if one is not None and np.ndim(one) > 0]
    found = next((one for one in known if np.any(one)), None)
    if found is None:
        return None if given is None or given.ndim != 1 else (0.0,) * len(atoms)
    if found.ndim == 2:
        found = _along_one_axis(found)
    if found is None or found.shape != (len(atoms),):
        warnings.append(
            "the magnetic moments are not along one axis and are not taken over; give one number "
            "for each atom, as an option or in the file"
        )
        return None
    wrong = np.flatnonzero(~np.isfinite(found.astype(float)))
    if wrong.size:
        raise InputRejected(
            f"the magnetic moment of atom {wrong[0] + 1} is {found[wrong[0]]}", field="structure"
        )
    return tuple(float(moment) for moment in found)


def _along_one_axis(vectors: Any) -> Any:
    """Vectors along one of the three axes as numbers; None for others."""
    used = np.flatnonzero(np.abs(vectors).max(axis=0) > 0)
    return vectors[:, used[0]] if used.size == 1 else None


def _charges(atoms: Any) -> list[str]:
    charges = atoms.arrays.get("initial_charges")
    if charges is None or not np.any(charges):
        return []
    total = round(float(np.sum(charges)), 6) + 0.0
    said = f"the charges of the atoms, {total:+g} e in all, are not taken over: "
    return [said + "give the charge of the cell as an option"]


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
