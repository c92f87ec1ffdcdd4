"""The charge density that bands and a density of states start from: of the same crystal, or none.

Reads the head of CHGCAR, which is a POSCAR. Used by ``prepare``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from crystalmath.codes.decks import MAX_DECK_BYTES
from crystalmath.codes.outputs import read_head
from crystalmath.codes.vasp.deck.incar import flag, number, parse_incar, words
from crystalmath.codes.vasp.deck.kpoints import parse_kpoints
from crystalmath.codes.vasp.deck.poscar import PoscarHead, parse_poscar_head
from crystalmath.codes.vasp.run.potcar import RECORD, parse_record
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import InputFile

CHGCAR: Final = "CHGCAR"
_FIELD: Final = "inputs.density_from"
_LOGICAL: Final = {"T": "TRUE", "F": "FALSE"}
_HEAD_BYTES: Final = 64 * 1024
_SAME_ANGSTROM: Final = 1e-3
SHARED: Final = (
    "ENCUT", "GGA", "METAGGA", "ISPIN", "LASPH", "PREC", "LREAL", "IVDW", "NUPDOWN",
    "LDAU", "LDAUTYPE", "LDAUL", "LDAUU", "LDAUJ", "LDAUPRINT", "LMAXMIX", "LSORBIT",
    "LNONCOLLINEAR", "MAGMOM", "ADDGRID", "LHFCALC", "HFSCREEN", "AEXX", "NELECT",
    "LUSE_VDW", "AGGAC", "PARAM1", "PARAM2", "ZAB_VDW", "XC",
)  # fmt: skip
"""Tags that have to be those of the run before; VASP's default where it has none."""
_SETTLES: Final = (
    "ENCUT", "ISPIN", "GGA", "METAGGA", "LASPH", "NELECT", "LHFCALC", "LUSE_VDW", "AGGAC",
    "PARAM1", "PARAM2", "ZAB_VDW", "XC",
)  # fmt: skip
"""Those without which the levels are not of the density's own Hamiltonian,"""
_OF_HUBBARD: Final = ("LDAU", "LDAUTYPE", "LDAUL", "LDAUU", "LDAUJ")
"""and these where one of the two runs has a U."""
_OF_EXCHANGE: Final = ("HFSCREEN", "AEXX")
_DEFAULTS: Final = {"ISPIN": "1", "METAGGA": "NONE", "GGA": "--", "LDAUTYPE": "2"}


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


def tags_before(directory: str) -> tuple[dict[str, str | None] | None, list[str]]:
    """The tags to share with the run before, and what a user should know of them.

    Raises
    ------
    InvalidParams
        The density alone does not fix the potential of its functional.
    """
    tags = tags_of(directory)
    if tags is None:
        said = "whether cutoff, functional and U are those of its density is not known"
        return None, [f"{directory} has no INCAR: {said}"]
    check_functional(tags)
    return tags, []


def check_tags(tags: Mapping[str, str], directory: str) -> list[str]:
    """Compare an INCAR of the user with that of the run before.

    Returns
    -------
    list of str
        What differs and may.

    Raises
    ------
    InvalidParams
        A tag differs that settles cutoff, functional, spins or U.
    """
    before, notes = tags_before(directory)
    if before is None:
        return notes
    has_u = flag(tags.get("LDAU")) or flag(before.get("LDAU"))
    settles = (*_SETTLES, *(_OF_HUBBARD if has_u else ()))
    free = [tag for tag in SHARED if tag not in (*_SETTLES, *_OF_HUBBARD, *_OF_EXCHANGE)]
    for tag in settles:
        there, here = before.get(tag), tags.get(tag)
        if _meant(tag, there) != _meant(tag, here):
            raise InvalidParams(
                f"INCAR has {tag} = {here or 'nothing'}, and the run before, whose density it "
                f"starts from, {there or 'nothing'}",
                hint=f"give the same: `inputs.incar`, e.g. {tag}: {there}"
                if there
                else "give the same in both runs",
                field="inputs.incar",
            )
    differ = [
        f"{tag} ({before.get(tag) or 'nothing'} there, {tags.get(tag) or 'nothing'} here)"
        for tag in free
        if _meant(tag, before.get(tag)) != _meant(tag, tags.get(tag))
    ]
    if differ:
        notes.append(f"INCAR differs from that of the run before: {', '.join(differ)}")
    return notes


def _meant(tag: str, value: str | None) -> list[float | str]:
    """A value to compare: numbers as such, no flag as false."""
    found: list[float | str] = []
    for word in words(value or _DEFAULTS.get(tag)):
        plain = word.strip(".").upper()
        number_of = number(word)
        found.append(number_of if number_of is not None else _LOGICAL.get(plain, plain))
    return [] if found == ["FALSE"] else found


def coarse_mesh(directory: str, kpoints: str | None) -> str | None:
    """Say that the mesh of a density of states is not twice as dense as that of the run before.

    Parameters
    ----------
    kpoints
        The KPOINTS of this job; None where VASP makes its mesh of KSPACING.
    """
    raw, size = read_head(Path(directory).resolve() / "KPOINTS", MAX_DECK_BYTES)
    if size == 0 or kpoints is None:
        return None
    try:
        before = parse_kpoints(raw.decode("utf-8", "replace"), _FIELD).mesh
        now = parse_kpoints(kpoints, "inputs.kpoints").mesh
    except InputRejected:
        return None
    if before is None or now is None or all(2 * a <= b for a, b in zip(before, now, strict=True)):
        return None
    mesh, least = (" ".join(str(n) for n in one) for one in (now, [2 * n for n in before]))
    return (
        f"the mesh {mesh} is not twice as dense as that of the static run: give `kpoints`, "
        f"at least {least}"
    )


def check_functional(tags: Mapping[str, str | None]) -> None:
    """Refuse a density that alone does not fix the potential of its functional.

    Of a meta-GGA and of exact exchange the orbitals are needed too, on the mesh of the run before:
    https://www.vasp.at/wiki/index.php/Band-structure_calculation_using_meta-GGA_functionals

    Raises
    ------
    InvalidParams
    """
    meta = (tags.get("METAGGA") or "none").strip().lower() not in ("none", "--")
    if meta or flag(tags.get("LHFCALC")):
        what = "a meta-GGA" if meta else "exact exchange"
        raise InvalidParams(
            f"the run before has {what}, whose potential does not follow from the density alone",
            hint="compute the bands of a GGA, or give inputs of your own that start from WAVECAR",
            field=_FIELD,
        )


def check_potentials(directory: str, record: str | None) -> None:
    """Refuse potentials that are not those of the density, as far as both are known.

    Parameters
    ----------
    record
        The ``potcar.json`` of this job.

    Raises
    ------
    InvalidParams
    """
    raw, size = read_head(Path(directory).resolve() / RECORD, MAX_DECK_BYTES)
    if size == 0 or record is None:
        return
    before, now = (_pieces(text) for text in (raw.decode("utf-8", "replace"), record))
    if before and before != now:
        raise InvalidParams(
            f"the density was made with other potentials: {', '.join(one for one, _ in before)}; "
            f"this job has {', '.join(one for one, _ in now)}",
            hint="take the same `potcars` and `potcar_functional` as in that run",
            field=_FIELD,
        )


def _pieces(text: str) -> list[tuple[str, str]]:
    """Label and SHA-256 of each potential of a ``potcar.json``."""
    return [(str(one.get("label")), str(one.get("sha256"))) for one in parse_record(text)]


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
