"""Born charges as users have them: tensors of every atom, or the text of phonopy's file BORN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from crystalmath.analysis.phonons.displacements import DisplacementPlan
from crystalmath.analysis.phonons.nac import PolarResponse
from crystalmath.analysis.phonons.phonopy_object import phonopy_of
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Floats

_TENSOR: Final = 9


def polar_of(plan: DisplacementPlan, born: Mapping[str, Any]) -> PolarResponse:
    """Born charges of every atom of the plan's structure, and the dielectric tensor.

    Parameters
    ----------
    born
        ``text`` of a file BORN, or ``charges_e`` and ``dielectric``.

    Raises
    ------
    InputRejected
        With the line at fault.
    """
    if born.get("text") is None:
        charges = np.array(born["charges_e"], dtype=float)
        return PolarResponse(charges, np.array(born["dielectric"], dtype=float))
    return _expanded(plan, _rows(born["text"]))


def _rows(text: str) -> Floats:
    """The tensors of a file BORN, as rows of nine: dielectric first.

    Its first line is a factor of units, or a comment: the charges are in e whatever it says.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    numbered = [(i, line.split()) for i, line in enumerate(lines, start=1)]
    rows = []
    for number, words in numbered[1:]:
        if not words or words[0].startswith("#"):
            continue
        try:
            row = [float(word) for word in words]
        except ValueError:
            row = []
        if len(row) != _TENSOR or not np.isfinite(row).all():
            raise InputRejected(
                f"line {number} of BORN does not hold nine numbers, a tensor row by row",
                hint="the first line is a factor or a comment, the second the dielectric tensor, "
                "then a line for each atom that symmetry does not make of others",
                field="born.text",
            )
        rows.append(row)
    if len(rows) < 2:
        raise InputRejected(
            "BORN holds no Born charges: a line with a factor, one with the dielectric tensor and "
            "at least one with charges are needed",
            field="born.text",
        )
    return np.array(rows)


def _expanded(plan: DisplacementPlan, rows: Floats) -> PolarResponse:
    """Charges of all atoms from those that are independent in the primitive cell."""
    phonopy = phonopy_of(plan)
    symmetry, primitive, supercell = (
        phonopy.primitive_symmetry,
        phonopy.primitive,
        phonopy.supercell,
    )
    independent = [int(atom) for atom in symmetry.get_independent_atoms()]
    if len(rows) != 1 + len(independent):
        named = ", ".join(f"{primitive.symbols[atom]}" for atom in independent)
        raise InputRejected(
            f"BORN holds the charges of {len(rows) - 1} atoms; the crystal has "
            f"{len(independent)} that symmetry does not make of others: {named}",
            field="born.text",
        )
    tensors = dict(zip(independent, rows[1:].reshape(-1, 3, 3), strict=True))
    lattice = primitive.cell.T
    rotations = symmetry.symmetry_operations["rotations"]
    operations, sources = symmetry.get_map_operations(), symmetry.get_map_atoms()
    charges = np.empty((len(primitive), 3, 3))
    for atom in range(len(primitive)):
        # the operation carries the atom onto its source
        turn = lattice @ rotations[operations[atom]] @ np.linalg.inv(lattice)
        charges[atom] = turn.T @ tensors[int(sources[atom])] @ turn
    at = [primitive.p2p_map[int(primitive.s2p_map[s])] for s in supercell.u2s_map]
    return PolarResponse(charges[at], rows[0].reshape(3, 3))
