"""Bcc iron with magnetic moments, as a file gives it and as the daemon has it."""

from __future__ import annotations

from crystalmath.services.ports import StructureData
from crystalmath.services.structure_in import decode_structure
from crystalmath.structures.read import read_structure


def iron(*moments: float | str, column: str = "initial_magmoms", more: str = "") -> str:
    """The extended xyz of a cubic cell; more than one number for an atom as a text."""
    width = len(str(moments[0]).split())
    return (
        f'2\nLattice="2.87 0 0 0 2.87 0 0 0 2.87" '
        f'Properties=species:S:1:pos:R:3:{column}:R:{width} {more} pbc="T T T"\n'
        f"Fe 0 0 0 {moments[0]}\nFe 1.435 1.435 1.435 {moments[1]}\n"
    )


def iron_data(*moments: float) -> StructureData:
    """What the daemon has of it, once it is read."""
    return decode_structure(read_structure(text=iron(*moments), format="extxyz"))
