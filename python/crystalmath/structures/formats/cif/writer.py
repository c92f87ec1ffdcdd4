"""Writing CIF: all atoms in P 1, or the independent sites with the operators of a standard setting.

Called by ``structures.convert`` in a worker process.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from crystalmath.structures.cell import cell_parameters
from crystalmath.structures.structure import Floats, Integers, Structure
from crystalmath.structures.symmetry.crystal import Symmetry

_TAGS = ("length_a", "length_b", "length_c", "angle_alpha", "angle_beta", "angle_gamma")
_COLUMNS = ("label", "type_symbol", "fract_x", "fract_y", "fract_z", "symmetry_multiplicity")


def write_cif(structure: Structure, symmetry: Symmetry | None = None) -> str:
    """Write a CIF.

    Parameters
    ----------
    structure
        All atoms; the conventional cell of ``symmetry`` when that is given.
    symmetry
        Of a space group; None writes P 1.
    """
    lines = [f"data_{structure.formula}", f"_chemical_formula_sum '{structure.formula}'"]
    parameters = cell_parameters(structure.cell)
    lines += [f"_cell_{tag} {value:.8f}" for tag, value in zip(_TAGS, parameters, strict=True)]
    if symmetry is None:
        lines += _group("P 1", "P 1", 1, (np.eye(3, dtype=np.int64)[None], np.zeros((1, 3))))
        sites = [(atom, 1) for atom in range(len(structure.symbols))]
    else:
        operations = (symmetry.rotations, symmetry.translations)
        lines += _group(symmetry.symbol, symmetry.hall, symmetry.number, operations)
        sites = [(orbit.atom, orbit.multiplicity) for orbit in symmetry.orbits]
    lines += ["loop_", *(f"_atom_site_{name}" for name in _COLUMNS)]
    fractions = structure.fractions % 1.0
    masses = structure.sites.mass_numbers or (None,) * len(structure.symbols)
    counts: dict[str, int] = {}
    for atom, multiplicity in sites:
        symbol = "D" if masses[atom] == 2 else structure.symbols[atom]
        counts[symbol] = counts.get(symbol, 0) + 1
        place = " ".join(f"{_inside(value):.10f}" for value in fractions[atom])
        lines.append(f"{symbol}{counts[symbol]} {symbol} {place} {multiplicity}")
    return "\n".join(lines) + "\n"


def _group(symbol: str, hall: str, number: int, operations: tuple[Integers, Floats]) -> list[str]:
    quote = '"' if "'" in hall else "'"
    hall = hall.replace('"', "''") if quote == '"' and '"' in hall else hall
    return [
        f"_space_group_name_H-M_alt '{symbol.replace('_', '')}'",
        f"_space_group_IT_number {number}",
        f"_space_group_name_Hall {quote}{hall}{quote}",
        "loop_",
        "_space_group_symop_operation_xyz",
        *(f"'{_xyz(r, t)}'" for r, t in zip(*operations, strict=True)),
    ]


def _xyz(rotation: Integers, translation: Floats) -> str:
    """``-x+1/2,y,z`` and the like."""
    parts = []
    for row, shift in zip(rotation, translation, strict=True):
        text = "".join(
            f"{'+' if factor > 0 else '-'}{axis}"
            for factor, axis in zip(row, "xyz", strict=True)
            if factor
        )
        fraction = Fraction(float(shift) % 1.0).limit_denominator(24)
        parts.append(text.removeprefix("+") + (f"+{fraction}" if fraction else ""))
    return ",".join(parts)


def _inside(value: float) -> float:
    """What would be printed as 1 is 0."""
    return 0.0 if value > 1.0 - 5e-11 else float(value)
