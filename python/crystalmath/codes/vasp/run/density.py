"""The charge density that bands and a density of states start from: of the same crystal, or none.

Reads the head of CHGCAR, which is a POSCAR. Used by ``prepare``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from crystalmath.codes.decks import MAX_DECK_BYTES
from crystalmath.codes.outputs import read_head
from crystalmath.codes.vasp.deck.incar import parse_incar
from crystalmath.codes.vasp.deck.poscar import PoscarHead, parse_poscar_head
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile

CHGCAR: Final = "CHGCAR"
_FIELD: Final = "inputs.density_from"
_HEAD_BYTES: Final = 64 * 1024
_SAME_ANGSTROM: Final = 1e-3
SHARED: Final = (
    "ENCUT", "GGA", "METAGGA", "ISPIN", "LASPH", "PREC", "LREAL", "IVDW", "NUPDOWN",
    "LDAU", "LDAUTYPE", "LDAUL", "LDAUU", "LDAUJ", "LDAUPRINT", "LMAXMIX", "LSORBIT",
    "LNONCOLLINEAR", "MAGMOM", "ADDGRID", "LHFCALC", "HFSCREEN", "AEXX",
)  # fmt: skip
"""Tags that have to be those of the run before; VASP's default where it has none."""


def find_density(directory: str) -> InputFile:
    """The CHGCAR of a directory.

    Raises
    ------
    InvalidParams
        There is none, or nothing in it.
    """
    path = Path(directory) / CHGCAR
    if not path.is_file() or path.stat().st_size == 0:
        raise InvalidParams(
            f"{directory} holds no {CHGCAR}",
            hint="give the directory of a static run with LCHARG = .TRUE.",
            field=_FIELD,
        )
    return InputFile(CHGCAR, source=str(path))


def tags_of(directory: str) -> dict[str, str | None] | None:
    """Each tag that this run has to share with the run before, None for one that it left out.

    Returns
    -------
    dict or None
        None where the INCAR of that run is gone.
    """
    raw, size = read_head(Path(directory).resolve() / "INCAR", MAX_DECK_BYTES)
    if size == 0:
        return None
    tags, _ = parse_incar(raw.decode("utf-8", "replace"))
    return {tag: tags.get(tag) for tag in SHARED}


def check_density(density: InputFile, wanted: PoscarHead) -> None:
    """Refuse a density of another crystal.

    Raises
    ------
    InvalidParams
    """
    raw, _ = read_head(Path(str(density.source)).resolve(), _HEAD_BYTES)
    there = parse_poscar_head(raw.decode("utf-8", "replace"), _FIELD, CHGCAR)
    pairs = [
        abs(a - b)
        for one, other in zip(there.lattice, wanted.lattice, strict=True)
        for a, b in zip(one, other, strict=True)
    ]
    if there.symbols != wanted.symbols or max(pairs) > _SAME_ANGSTROM:
        raise InvalidParams(
            f"the {CHGCAR} is of another cell or of other atoms than this job",
            hint="use the structure that the static run used",
            field=_FIELD,
        )
