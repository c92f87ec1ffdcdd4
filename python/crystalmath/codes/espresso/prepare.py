"""From a request to a job: the deck checked and set up for its job directory, and all it needs.

No side effects, and nothing starts that pw.x is certain to refuse. Used by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, Protocol

from crystalmath.codes import decks
from crystalmath.codes.decks import Given, read_deck
from crystalmath.codes.espresso import program, pseudo, saved
from crystalmath.codes.espresso.checks import check_deck, with_values
from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.espresso.density.check import check_density
from crystalmath.codes.espresso.options import DeckOptions, EspressoOptions
from crystalmath.codes.files import check_files
from crystalmath.codes.options import parse_options, refuse_engine
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile, JobRequest, Prepared, StructureData
from crystalmath.structures.formula import reduced_formula

ENDINGS: Final = (".in", ".pwi", ".pw")
CRLF: Final = "with which pw.x skips cards"
STOP_EARLIER: Final = 0.05
"""Part of the time limit that pw.x gets for stopping by itself, so that it can be continued;"""
LEAST_EARLIER_S: Final = 30.0
"""but not less than this, or a quarter of a short limit: an iteration has to end and be written."""


@dataclass(frozen=True, slots=True)
class Written:
    """A deck for a structure.

    Attributes
    ----------
    files
        The deck first, then its pseudopotentials.
    notes
        What a user should know of it.
    """

    files: tuple[InputFile, ...]
    notes: Sequence[str]


class DeckWriter(Protocol):
    """Writes a deck for a structure: the generator, in a worker process."""

    def write(
        self,
        structure: StructureData,
        options: Mapping[str, Any],
        task: str | None,
        context: Mapping[str, str],
        files: Sequence[InputFile],
    ) -> Written:
        """Write it; raises ``InputRejected`` and ``InvalidParams`` below ``inputs``."""


def prepare(request: JobRequest, writer: DeckWriter) -> Prepared:
    """Check the request and say what to run.

    Raises
    ------
    InvalidParams, InputRejected
        With the field at fault.
    """
    refuse_engine(request, "espresso")
    options = parse_options(EspressoOptions, request.inputs)
    files, written = _with_deck(request, options, writer)
    given = find_deck(files, options.deck)
    text, warnings = read_deck(given, crlf=CRLF)
    deck = with_values(parse_deck(text), options.values, "inputs.values")
    check_deck(deck, given.file.path, given.field)
    _check_task(request.task, deck)
    espresso_pseudo = request.context.get("ESPRESSO_PSEUDO")
    pseudo.check_variable(espresso_pseudo)
    looked_in = pseudo.places(deck, given.beside, espresso_pseudo)
    pseudos = pseudo.collect(deck, files, looked_in, given.field)
    earlier = saved.collect(deck, files, options.save_from, given.beside, given.field)
    at = "inputs.save_from" if options.save_from else given.field
    unsure = check_density(deck, (*files, *earlier), pseudos, at)
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
        warnings=(*written, *warnings, *unsure, *notes),
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


def _with_deck(
    request: JobRequest, options: EspressoOptions, writer: DeckWriter
) -> tuple[tuple[InputFile, ...], Sequence[str]]:
    """The files of the request, with a deck written for its structure where it has none."""
    files = check_files(request.files)
    if request.structure is None:
        _refuse_unused(options)
        return files, ()
    if options.deck is not None or any(file.path.lower().endswith(ENDINGS) for file in files):
        raise InvalidParams(
            "there are a structure and a deck, and the deck holds a structure of its own",
            hint="leave one of them out",
            field="structure",
        )
    asked = options.model_dump(
        mode="json", include=set(DeckOptions.model_fields), exclude_unset=True
    )
    made = writer.write(request.structure, asked, request.task, request.context, files)
    names = {file.path for file in made.files}
    return (*made.files, *(file for file in files if file.path not in names)), made.notes


def _refuse_unused(options: EspressoOptions) -> None:
    """Refuse what would be ignored: a deck of the user holds the physics itself."""
    unused = [
        name
        for name in DeckOptions.model_fields
        if name in options.model_fields_set and name != "values"
    ]
    if unused:
        raise InvalidParams(
            f"{', '.join(unused[:5])} {'is' if len(unused) == 1 else 'are'} for writing a deck, "
            "and there is no structure",
            hint="give a structure, or set it in the deck: `inputs.values` changes single values",
            field=f"inputs.{unused[0]}",
        )
