"""From a request to a job: the deck checked and set up for its job directory, and all it needs.

No side effects, and nothing starts that pw.x is certain to refuse. Used by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from crystalmath.codes import decks
from crystalmath.codes.decks import Given, read_deck
from crystalmath.codes.espresso import program, pseudo, saved
from crystalmath.codes.espresso.checks import check_deck
from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.espresso.options import EspressoOptions
from crystalmath.codes.files import check_files
from crystalmath.codes.options import parse_options, refuse_engine
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile, JobRequest, Prepared
from crystalmath.structures.formula import reduced_formula

ENDINGS: Final = (".in", ".pwi", ".pw")
CRLF: Final = "with which pw.x skips cards"
STOP_EARLIER: Final = 0.05
"""Part of the time limit that pw.x gets for stopping by itself, so that it can be continued;"""
LEAST_EARLIER_S: Final = 30.0
"""but not less than this, or a quarter of a short limit: an iteration has to end and be written."""


def prepare(request: JobRequest) -> Prepared:
    """Check the request and say what to run.

    Raises
    ------
    InvalidParams, InputRejected
        With the field at fault.
    """
    _refuse_foreign(request)
    options = parse_options(EspressoOptions, request.inputs)
    files = check_files(request.files)
    given = find_deck(files, options.deck)
    text, warnings = read_deck(given, crlf=CRLF)
    deck = _with_values(parse_deck(text), options)
    check_deck(deck, given.file.path, given.field)
    _check_task(request.task, deck)
    espresso_pseudo = request.context.get("ESPRESSO_PSEUDO")
    if espresso_pseudo and not espresso_pseudo.startswith("/"):
        raise InvalidParams(
            "ESPRESSO_PSEUDO is relative",
            hint="give the absolute path",
            field="context.ESPRESSO_PSEUDO",
        )
    looked_in = pseudo.places(deck, given.beside, espresso_pseudo)
    pseudos = pseudo.collect(deck, files, looked_in, given.field)
    earlier = saved.collect(deck, files, options.save_from, given.beside, given.field)
    argv = program.command(given.file.path, options, request)
    deck, notes = _for_job_directory(deck, request.walltime_s)
    kept = [file for i, file in enumerate(files) if i != given.index and not _is(file, pseudos)]
    symbols = [label_element(deck, label) for label in deck.labels]
    known = deck.lists_every_atom and None not in symbols
    return Prepared(
        task=deck.calculation,
        argv=argv,
        files=(InputFile(given.file.path, content=deck.text), *pseudos, *earlier, *kept),
        env={**request.context, **program.environment(request)},
        formula=reduced_formula([s for s in symbols if s is not None]) if known else None,
        n_atoms=len(symbols) if known else None,
        warnings=(*warnings, *notes),
    )


def find_deck(files: Sequence[InputFile], named: str | None) -> Given:
    """Find the deck among the files of a request.

    Raises
    ------
    InvalidParams
        There is none, or not the one that is named.
    """
    return decks.find_deck(
        files,
        named,
        endings=ENDINGS,
        program=program.PROGRAM,
        is_last=lambda path: path.startswith(f"{saved.FOLDER}/"),
    )


def label_element(deck: Deck, label: str) -> str | None:
    """The element of an atom's label."""
    return next((one.element for one in deck.species if one.label == label), None)


def _with_values(deck: Deck, options: EspressoOptions) -> Deck:
    for name, value in options.values.items():
        namelist, _, key = name.partition(".")
        if namelist not in deck.namelists:
            raise InvalidParams(
                f"the deck has no namelist &{namelist}",
                hint=f"it has {', '.join(deck.namelists) or 'none'}",
                field=f"inputs.values.{name}",
            )
        deck = deck.with_value(namelist, key.replace(" ", ""), value)
    return deck


def _check_task(task: str | None, deck: Deck) -> None:
    if task is not None and task.lower() != deck.calculation:
        raise InvalidParams(
            f"the task is {task[:60]!r}, the deck says calculation = {deck.calculation!r}",
            hint="leave the task out: the deck decides",
            field="task",
        )


def _for_job_directory(deck: Deck, walltime_s: float | None) -> tuple[Deck, list[str]]:
    """Keep everything that pw.x writes inside the job directory, and let it stop in time."""
    notes: list[str] = []
    here = {"pseudo_dir": f"./{pseudo.FOLDER}", "outdir": f"./{saved.FOLDER}"}
    if deck.value("control", "wfcdir") is not None:
        here["wfcdir"] = here["outdir"]
    for key, wanted in here.items():
        before = deck.value("control", key)
        if str(before).rstrip("/") != wanted:
            deck = deck.with_value("control", key, wanted)
            if before is not None:
                notes.append(f"{key} = '{before}' was set to '{wanted}', in the job directory")
    if walltime_s is not None:
        earlier_s = max(walltime_s * STOP_EARLIER, min(LEAST_EARLIER_S, walltime_s / 4))
        limit_s = max(1, int(walltime_s - earlier_s))
        asked = deck.value("control", "max_seconds")
        if not isinstance(asked, int | float) or asked > limit_s:
            deck = deck.with_value("control", "max_seconds", limit_s)
            notes.append(f"max_seconds was set to {limit_s}: pw.x stops before the time limit")
    return deck, notes


def _is(file: InputFile, pseudos: tuple[InputFile, ...]) -> bool:
    """Whether a file of the request is one of the pseudopotentials already taken."""
    name = PurePosixPath(file.path).name
    return any(PurePosixPath(one.path).name == name for one in pseudos)


def _refuse_foreign(request: JobRequest) -> None:
    """Refuse what would be ignored."""
    refuse_engine(request, "espresso")
    if request.structure is not None:
        raise InvalidParams(
            "the code espresso takes the structure that stands in the deck",
            hint="give the deck among the files, and no structure",
            field="structure",
        )
