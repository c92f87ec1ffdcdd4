"""A pw.x calculation that somebody ran by hand: its output, its deck and what else belongs to it.

Used by ``adapter``.
"""

from __future__ import annotations

from pathlib import Path

from crystalmath.codes.espresso import pseudo
from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.prepare import ENDINGS
from crystalmath.codes.espresso.reading import (
    CRASH,
    find_run_deck,
    load_deck,
    load_run,
    sniff,
)
from crystalmath.codes.espresso.results import build_results
from crystalmath.codes.espresso.run import Run
from crystalmath.codes.espresso.verdict import guess_task
from crystalmath.codes.outputs import meant_output
from crystalmath.services.ports import Finished, InputFile


def find_output(path: Path) -> Path | None:
    """The output of pw.x that a path means; None when it is none.

    Raises
    ------
    InvalidParams
        The directory holds several.
    """
    return meant_output(path, sniff, "pw.x")


def recognise(path: Path) -> Finished | None:
    """Say what a finished calculation consists of; None when it is not one of pw.x.

    Raises
    ------
    InvalidParams
        The directory holds several.
    """
    output = find_output(path)
    if output is None:
        return None
    directory = output.parent
    run = load_run(output)
    warnings: list[str] = []
    files = [InputFile(output.name, source=str(output))]
    inputs: list[InputFile] = []
    deck = find_run_deck(directory, run) or _only_deck(directory, run)
    if deck is None:
        warnings.append("its deck was not found, so it can be neither rerun nor continued")
    elif deck[0].name != output.name:
        inputs.append(InputFile(deck[0].name, source=str(deck[0].resolve())))
    inputs += _pseudos(directory, run)
    if not run.job_done and (directory / CRASH).is_file():
        files.append(InputFile(CRASH, source=str(directory / CRASH)))
    task = deck[1].calculation if deck is not None else guess_task(run)
    results = build_results(run, task)
    return Finished(
        task=task,
        output=output.name,
        files=(*files, *inputs),
        input_files=tuple(file.path for file in inputs),
        inputs={} if deck is None else {"deck": deck[0].name},
        formula=results.get("formula"),
        n_atoms=run.n_atoms,
        warnings=tuple(warnings),
    )


def _only_deck(directory: Path, run: Run) -> tuple[Path, Deck] | None:
    """The deck of a run that read standard input, when only one can be meant."""
    found: list[tuple[Path, Deck]] = []
    for path in sorted(directory.iterdir()):
        if path.name.lower().endswith(ENDINGS) and path.is_file():
            deck = load_deck(path)
            if deck is not None and deck.count("system", "nat") == run.n_atoms:
                found.append((path, deck))
    return found[0] if len(found) == 1 else None


def _pseudos(directory: Path, run: Run) -> list[InputFile]:
    """The pseudopotentials, where they still are."""
    found: list[InputFile] = []
    for one in run.pseudos:
        path = directory / one.path
        if path.is_file():
            found.append(InputFile(f"{pseudo.FOLDER}/{path.name}", source=str(path.resolve())))
    return found
