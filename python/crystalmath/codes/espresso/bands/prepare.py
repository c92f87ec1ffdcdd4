"""From a request to the job of a band structure: the job of its SCF, made longer.

No side effects. Used by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from crystalmath.codes.espresso.bands import script
from crystalmath.codes.espresso.bands.decks import SCF, decks_of
from crystalmath.codes.espresso.bands.options import OWN, TASK, BandStructureOptions
from crystalmath.codes.espresso.deck import parse_deck
from crystalmath.codes.options import parse_options
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile, JobRequest, Prepared

_DECK_FLAG: Final = "-in"


def is_asked(task: str | None) -> bool:
    """Whether a task is a band structure."""
    return task is not None and task.lower() == TASK


def prepare(request: JobRequest, prepare_scf: Callable[[JobRequest], Prepared]) -> Prepared:
    """Check the request and say what to run.

    Parameters
    ----------
    prepare_scf
        Makes the job of an SCF, whatever it is asked with.

    Raises
    ------
    InvalidParams, InputRejected
        With the field at fault.
    """
    options = parse_options(BandStructureOptions, request.inputs)
    inputs = {name: value for name, value in request.inputs.items() if name not in OWN}
    scf = prepare_scf(replace(request, task=SCF, inputs=inputs))
    flag, name = scf.argv[-2:]
    assert flag == _DECK_FLAG
    text = next(file.content for file in scf.files if file.path == name)
    deck = parse_deck(text or "")
    at = "structure" if request.structure is not None else "files"
    texts = decks_of(deck, options.k_path, options.mesh_factor, at)
    plan = script.Plan(
        prefix=deck.prefix,
        command=scf.argv[:-2],
        steps=list(texts),
        n_bands=options.n_bands,
        spins=2 if deck.count("system", "nspin") == 2 else 1,
    )
    decks = [
        InputFile(f"{step}.in" if step == SCF else step + script.DECK, content=text)
        for step, text in texts.items()
    ]
    kept = [file for file in scf.files if file.path != name]
    _refuse_clashes(kept, [*(one.path for one in decks), *_written(texts)])
    run = InputFile(script.NAME, content=script.render(plan), executable=True)
    return replace(
        scf,
        task=TASK,
        argv=("/bin/sh", script.NAME),
        files=(*decks, run, *kept),
        output=f"{SCF}.out",
        starts_processes=True,
    )


def _written(steps: Iterable[str]) -> list[str]:
    """What the script writes."""
    return [f"{step}{ending}" for step in steps for ending in (".in", ".out", ".xml")]


def _refuse_clashes(files: Sequence[InputFile], taken: Sequence[str]) -> None:
    for index, file in enumerate(files):
        if file.path in (*taken, script.NAME):
            raise InvalidParams(
                f"{file.path} is written by the job itself",
                hint="give the file another name",
                field=f"files.{index}.path",
            )
