"""Decks, outputs and job directories of pw.x for the tests of this folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from crystalmath.services.ports import StructureData
from crystalmath.structures.formula import reduced_formula

FIXTURES: Final = Path(__file__).parents[1] / "fixtures" / "espresso"
DECKS: Final = Path(__file__).parents[1] / "testbed" / "qe"
CASES: Final = (
    Path(os.environ.get("CRYSTALMATH_CASES", Path(__file__).parents[3] / "shared" / "cases"))
    / "outputs"
    / "qe"
)
"""A larger collection of outputs with their right answers, which a checkout need not have."""


def output(name: str) -> str:
    return (FIXTURES / f"{name}.out").read_text(encoding="utf-8")


def deck(name: str) -> str:
    return (DECKS / f"{name}.in").read_text(encoding="utf-8")


def job(directory: Path, deck_text: str, output_text: str, name: str = "si.in") -> Path:
    """A job directory with a deck and what pw.x wrote."""
    (directory / ".cm").mkdir()
    (directory / "pseudo").mkdir()
    (directory / "pseudo" / "Si.pz-vbc.UPF").write_text("<UPF/>")
    (directory / name).write_text(deck_text, encoding="utf-8")
    (directory / "stdout.log").write_text(output_text, encoding="utf-8")
    (directory / "stderr.log").write_text("")
    return directory


def upf(
    element: str,
    *,
    kind: str = "NC",
    functional: str = "PBE",
    valence: float = 4.0,
    wfc_ry: float = 0.0,
    rho_ry: float = 0.0,
) -> str:
    """The header of a pseudopotential in the newer format, and nothing else."""
    return (
        '<UPF version="2.0.1">\n<PP_INFO>\nGenerated for tests\n</PP_INFO>\n'
        f'<PP_HEADER\n generated=\'by "nobody"\'\n element="{element}"\n pseudo_type="{kind}"\n'
        f' functional="{functional}"\n z_valence="{valence:.6E}"\n'
        f' wfc_cutoff="{wfc_ry:.6E}"\n rho_cutoff="{rho_ry:.6E}"\n/>\n</UPF>\n'
    )


def crystal(symbols: str, lattice: list[list[float]], places: list[list[float]]) -> StructureData:
    """A crystal of elements, lattice vectors in Å and fractions."""
    positions = tuple(
        tuple(sum(place[i] * lattice[i][axis] for i in range(3)) for axis in range(3))
        for place in places
    )
    names = tuple(symbols.split())
    return StructureData(
        lattice=tuple(tuple(vector) for vector in lattice),  # type: ignore[misc]
        pbc=(True, True, True),
        symbols=names,
        positions=positions,  # type: ignore[arg-type]
        formula=reduced_formula(list(names)),
    )


def fcc(symbols: str, a_angstrom: float) -> StructureData:
    """The primitive cell of one atom, or of two as in diamond."""
    half = a_angstrom / 2
    lattice = [[-half, 0.0, half], [0.0, half, half], [-half, half, 0.0]]
    places = [[0.0, 0.0, 0.0], [0.25, 0.25, 0.25]]
    return crystal(symbols, lattice, places[: len(symbols.split())])
