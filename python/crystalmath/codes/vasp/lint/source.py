"""The linter of an INCAR on disk or as text, with what lies beside it, for ``codes.lint``.

:func:`lint_source` is what a worker process of the ``proc`` lane runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.decks import MAX_DECK_BYTES
from crystalmath.codes.outputs import read_head
from crystalmath.codes.vasp.deck.incar import parse_incar
from crystalmath.codes.vasp.deck.kpoints import parse_kpoints
from crystalmath.codes.vasp.deck.poscar import parse_poscar_head
from crystalmath.codes.vasp.lint.incar import Beside, lint_incar
from crystalmath.errors import InputRejected

INCAR: Final = "INCAR"


def lint_source(path: str | None = None, text: str | None = None) -> list[dict[str, Any]]:
    """Find what is wrong with an INCAR; POSCAR and KPOINTS beside it are taken into account.

    Parameters
    ----------
    path
        Absolute path of a file, or
    text
        the INCAR itself.

    Returns
    -------
    list of dict
        The fields of ``contract.codes.LintFinding``.

    Raises
    ------
    InputRejected
        The file cannot be read.
    """
    given = text if text is not None else _text(Path(path or ""), required=True)
    beside = Beside() if path is None else _beside(Path(path).parent)
    tags, twice = parse_incar(given)
    rows = [
        _row(given, tag, "warning", f"{tag} stands there twice; VASP takes the first", "")
        for tag in twice
    ]
    rows += [
        _row(given, one.tag, one.severity, one.message, one.fix) for one in lint_incar(tags, beside)
    ]
    return sorted(rows, key=lambda row: (row["line"], row["column"]))


def _row(text: str, tag: str, severity: str, message: str, fix: str) -> dict[str, Any]:
    """The finding at the last place where its tag stands; of a missing tag, at the beginning."""
    at = [
        match.start(1)
        for match in re.finditer(
            rf"(?:^|;)[ \t]*({re.escape(tag)})\s*=", text, re.MULTILINE | re.IGNORECASE
        )
    ]
    before = text[: at[-1]] if at else ""
    return {
        "line": before.count("\n") + 1,
        "column": len(before) - (before.rfind("\n") + 1) + 1,
        "severity": severity,
        "code": tag.lower(),
        "message": message,
        "hint": fix,
    }


def _beside(folder: Path) -> Beside:
    """What POSCAR and KPOINTS say, where they are there and can be read."""
    atoms = species = points = None
    try:
        head = parse_poscar_head(_text(folder / "POSCAR"), "path")
        atoms, species = sum(head.counts), len(head.elements)
    except InputRejected:
        pass
    try:
        kpoints = parse_kpoints(_text(folder / "KPOINTS"), "path")
        if kpoints.mesh is not None:
            a, b, c = kpoints.mesh
            points = a * b * c
    except InputRejected:
        pass
    return Beside(atoms, species, points)


def _text(path: Path, *, required: bool = False) -> str:
    raw, size = read_head(path, MAX_DECK_BYTES)
    if required and (not path.is_file() or size > MAX_DECK_BYTES):
        raise InputRejected(
            "there is no such file, or it is larger than 8 MiB",
            hint="is it an INCAR?",
            field="path",
        )
    return raw.decode("utf-8", "replace")
