"""The structures that real users bring, and the forms in which one crystal may be given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np

from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry.crystal import find_symmetry
from crystalmath.structures.symmetry.dimensionality import dimensionality
from crystalmath.structures.symmetry.primitive import conventional_structure, primitive_structure
from rig.cases import CASES
from soak.decks.crystals import Generator, given_otherwise, proper_rotation

NOISE_A: Final = 2e-4


def case_files() -> list[tuple[Path, bool]]:
    """Every structure of the collection, if it is there, and whether it is to be refused."""
    found = []
    for expected in sorted((CASES / "structures").glob("*.expected.json")):
        case = json.loads(expected.read_text(encoding="utf-8"))
        path = expected.parent / case["input"]
        if path.suffix in (".cif", ".vasp"):
            result = str(case["expected"].get("result", ""))
            found.append((path, result.startswith("refused")))
    return found


def forms_of(given: Structure, rng: Generator) -> dict[str, Structure]:
    """The crystal as it is given, and in every other form."""
    forms = {"given": given}
    if dimensionality(given).kind == "crystal":
        symmetry = find_symmetry(given)
        forms["primitive"] = primitive_structure(given, symmetry)
        forms["conventional"] = conventional_structure(given, symmetry)
        forms["another basis"] = given_otherwise(given, rng)
    turn = proper_rotation(rng)
    forms["rotated"] = Structure(
        given.cell @ turn, given.pbc, list(given.symbols), given.positions @ turn
    )
    forms["shifted"] = Structure(
        given.cell, given.pbc, list(given.symbols), given.positions + rng.uniform(-3, 3, 3)
    )
    forms["permuted"] = given.take(rng.permutation(len(given.symbols)))
    noise = rng.uniform(-NOISE_A, NOISE_A, given.positions.shape) / np.sqrt(3)
    forms["noisy"] = Structure(given.cell, given.pbc, list(given.symbols), given.positions + noise)
    return forms
