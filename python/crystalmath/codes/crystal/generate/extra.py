"""Records that the user writes himself: into which section they go, and which are refused."""

from __future__ import annotations

from crystalmath.codes.crystal.tables import keywords as known
from crystalmath.contract.d12 import D12Options, ExtraRecords
from crystalmath.errors import InvalidParams

_REFUSED = {*known.DIMENSIONS, *known.TASKS, "BASISSET"} - {"CPHF", "CPKS"}


def extra_records(options: D12Options) -> dict[str, list[str]]:
    """Section → the records that go there.

    Raises
    ------
    InvalidParams
        What belongs to the lattice, to an option, or to no section that can be told.
    """
    found: dict[str, list[str]] = {"geometry": [], "scf": []}
    for index, given in enumerate(options.extra):
        field = f"options.extra.{index}"
        text = given.text if isinstance(given, ExtraRecords) else given
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        word = lines[0].split()[0].upper() if lines else ""
        if not word[:1].isalpha():
            raise InvalidParams(
                "extra records begin with a keyword",
                hint="write the keyword, and its data on the lines behind",
                field=field,
            )
        if word in _REFUSED or any(line.split()[0].upper() in known.DIMENSIONS for line in lines):
            raise InvalidParams(
                f"{word} is not for extra records: geometry, basis set and task have options",
                field=field,
            )
        section = given.section if isinstance(given, ExtraRecords) else _section(word, field)
        found[section] += lines
    return found


def _section(word: str, field: str) -> str:
    geometry, scf = word in known.GEOMETRY, word in known.SCF
    if geometry == scf:
        both = "stands in both sections" if geometry else "is not known here"
        raise InvalidParams(
            f"{word} {both}",
            hint='say where it goes: {"section": "geometry" or "scf", "text": …}',
            field=field,
        )
    return "geometry" if geometry else "scf"
