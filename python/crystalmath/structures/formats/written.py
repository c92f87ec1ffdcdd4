"""The formats that structures are written in, and what each of them can say.

Decides from names alone and loads nothing heavy, so the daemon uses it, too.
"""

from __future__ import annotations

from typing import Final

WRITTEN: Final[dict[str, str]] = {
    "cif": "cif",
    "poscar": "poscar",
    "contcar": "poscar",
    "vasp": "poscar",
    "xyz": "xyz",
    "extxyz": "extxyz",
    "xsf": "xsf",
    "gui": "gui",
    "f34": "gui",
    "json": "json",
}
"""What users call a format, which is also what file names end with → the writer."""

NEEDS_CELL: Final = frozenset({"cif", "poscar"})
"""Formats of crystals: what does not repeat needs empty space around it."""

KEEPS: Final[dict[str, frozenset[str]]] = {
    "cif": frozenset({"mass_numbers"}),
    "extxyz": frozenset({"moments"}),
    "json": frozenset({"moments"}),
}
"""What a format keeps of the data of atoms; the others lose it, with a warning."""
