"""How a job of VASP goes on: from CONTCAR, with more steps where they ran out.

What is done differently is said and stands in INCAR, so that it can be seen before it runs. Used by
``adapter``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.ending import refuse_unbegun
from crystalmath.codes.outputs import read_head
from crystalmath.codes.vasp.deck.incar import incar_value, parse_incar, render_incar
from crystalmath.codes.vasp.deck.poscar import parse_poscar_head
from crystalmath.codes.vasp.order import RECORD, parse_order
from crystalmath.codes.vasp.output.files import find_vasprun, load_run
from crystalmath.codes.vasp.output.run import Run
from crystalmath.codes.vasp.run import potcar
from crystalmath.errors import InputRejected
from crystalmath.services.ports import Continuation, InputFile, JobRequest

MOST_ELECTRONIC: Final = 500
_MAX_BYTES: Final = 64 * 1024**2
_KEPT_INPUTS: Final = ("executable", "flavour", "density_from", "potcars", "potcar_functional")


def proceed(directory: Path, request: JobRequest, reason: str | None) -> Continuation:
    """Return what the job that goes on is made of.

    Parameters
    ----------
    directory
        Of the job that did not complete.
    request
        What it was asked for.
    reason
        Why it failed; None when it was cancelled.

    Raises
    ------
    InputRejected
        There is nothing to go on from.
    """
    refuse_unbegun(reason)
    incar, poscar = _text(directory, "INCAR"), _text(directory, "POSCAR")
    if not incar or not poscar:
        raise InputRejected("INCAR or POSCAR of the job is gone", hint="submit it anew", field="id")
    path = find_vasprun(directory)
    run = Run() if path is None else load_run(path)
    notes: list[str] = []
    tags, _ = parse_incar(incar)
    contcar = _text(directory, "CONTCAR")
    if contcar and len(run.steps) > 0 and _same_atoms(contcar, poscar):
        notes.append("starts from CONTCAR, its last geometry")
        poscar = contcar
    else:
        notes.append("starts again from its POSCAR: there is no later geometry")
    changes = _more_steps(run, tags) if reason == "not_converged" else {}
    for tag, value in changes.items():
        notes.append(f"{tag} {tags.get(tag, 'by default')} → {incar_value(value)}")
        tags[tag] = incar_value(value)
    text = incar if not changes else render_incar(tags)
    return Continuation(
        fix="; ".join(notes),
        inputs={
            **{key: request.inputs[key] for key in _KEPT_INPUTS if key in request.inputs},
            **_kept_order(directory),
        },
        files=(
            InputFile("INCAR", content=text),
            InputFile("POSCAR", content=poscar),
            *_kept_files(directory, request),
        ),
        structure=None,
    )


def _more_steps(run: Run, tags: Mapping[str, str]) -> dict[str, Any]:
    """Twice the steps that ran out; of what may help beside that the verdict speaks."""
    nelm, nsw = run.integer("NELM") or 60, run.integer("NSW") or 0
    last = run.steps[-1] if run.steps else None
    if last is not None and len(last.scf_energies_ev) >= nelm:
        return {"NELM": min(MOST_ELECTRONIC, 2 * nelm)}
    if nsw > 1 and len(run.steps) >= nsw and "NSW" in tags:
        return {"NSW": 2 * nsw}
    return {}


def _same_atoms(contcar: str, poscar: str) -> bool:
    try:
        first = parse_poscar_head(contcar, "id", "CONTCAR")
        return first.symbols == parse_poscar_head(poscar, "id").symbols
    except InputRejected:
        return False  # written half


def _kept_order(directory: Path) -> dict[str, Any]:
    """The order of the atoms, for a POSCAR that has another one than the structure had."""
    record = _text(directory, RECORD)
    if not record:
        return {}
    order = parse_order(record)
    if not order:
        raise InputRejected(
            f"{RECORD} of the job does not tell the order of its atoms any more",
            hint="submit it anew",
            field="id",
        )
    return {"atom_order": order}


def _kept_files(directory: Path, request: JobRequest) -> list[InputFile]:
    """KPOINTS, the list of potentials, and the user's other files as they are in the directory."""
    names = ["KPOINTS", potcar.SPEC]
    names += [file.path for file in request.files if file.path not in (*names, "INCAR", "POSCAR")]
    return [
        InputFile(name, source=str(directory / name))
        for name in names
        if (directory / name).is_file()
    ]


def _text(directory: Path, name: str) -> str:
    raw, size = read_head(directory / name, _MAX_BYTES)
    return "" if size > _MAX_BYTES else raw.decode("utf-8", "replace")
