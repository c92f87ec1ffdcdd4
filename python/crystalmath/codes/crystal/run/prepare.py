"""From a request to a job: the deck, the files that it needs, and the script that runs it.

No side effects, and nothing starts that CRYSTAL is certain to refuse. Used by ``adapter``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final, Protocol

from crystalmath.codes.crystal.deck.parse import parse_deck
from crystalmath.codes.crystal.deck.properties import parse_properties
from crystalmath.codes.crystal.options import CrystalOptions
from crystalmath.codes.crystal.run import auxiliary, program, script
from crystalmath.codes.crystal.run.keywords import needed, problem_of, task_of
from crystalmath.codes.crystal.run.staging import DECKS, PROPERTIES_DECK
from crystalmath.codes.decks import find_deck, read_deck
from crystalmath.codes.files import check_files
from crystalmath.codes.mpi import environment
from crystalmath.codes.options import parse_options, refuse_engine
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile, JobRequest, Prepared, StructureData

CRLF: Final = "which CRYSTAL takes as part of its keywords"
_RESERVED: Final = (script.NAME, "crystal.scratch")


@dataclass(frozen=True, slots=True)
class Written:
    """A deck for a structure.

    Attributes
    ----------
    gui
        The geometry file that an EXTERNAL deck reads, None for the others.
    notes
        What a user should know of it.
    """

    text: str
    gui: str | None
    notes: Sequence[str]


class DeckWriter(Protocol):
    """Writes a deck for a structure: the generator, handed in by ``api``."""

    def write(self, structure: StructureData, options: Mapping[str, Any]) -> Written:
        """Write it; raises ``InputRejected`` and ``InvalidParams`` below ``inputs.options``."""

    def lint(self, text: str) -> Sequence[Mapping[str, Any]]:
        """Find what is wrong with a deck: the fields of ``contract.codes.LintFinding``."""


def prepare(request: JobRequest, writer: DeckWriter) -> Prepared:
    """Check the request and say what to run.

    Raises
    ------
    InvalidParams, InputRejected
        With the field at fault.
    """
    refuse_engine(request, "crystal")
    options = parse_options(CrystalOptions, request.inputs)
    files, notes = _with_deck(request, options, writer)
    given = find_deck(
        files,
        options.deck,
        endings=DECKS,
        program="CRYSTAL",
        is_last=lambda path: path.lower().endswith(PROPERTIES_DECK),
    )
    text, warnings = read_deck(given, crlf=CRLF)
    deck = given.file.path
    is_properties = deck.lower().endswith(PROPERTIES_DECK)
    read = parse_properties(text) if is_properties else parse_deck(text)
    problem = problem_of(read)
    if problem is not None:
        raise InvalidParams(f"{deck} {problem[0]}", hint=problem[1], field=given.field)
    task = task_of(read)
    _check_task(request.task, task)
    stem = PurePosixPath(deck).with_suffix("").as_posix()
    staged, others = auxiliary.collect(files, given, options.auxiliary, needed(read), stem)
    _refuse_reserved(files)
    chosen = program.choose(options.executable, request, properties=is_properties)
    plan = script.Plan(
        deck=deck,
        staged=[file.path for file in staged],
        ntasks=chosen.ntasks,
        cores=request.ntasks * request.cpus_per_task,
        properties=is_properties,
        program=chosen.program,
        folder=chosen.folder,
        launcher=chosen.launcher,
    )
    run = InputFile(script.NAME, content=script.render(plan), executable=True)
    variables = {} if request.remote else environment(chosen.ntasks)
    doubts = _linted(text, writer) if request.structure is None else []
    return Prepared(
        task=task,
        argv=("/bin/sh", script.NAME),
        files=(InputFile(deck, content=text), *staged, *others, run),
        env={**request.context, **variables},
        output=plan.output,
        starts_processes=True,
        warnings=(*notes, *warnings, *doubts, *chosen.warnings),
        **_known_atoms(request.structure),
    )


def _linted(text: str, writer: DeckWriter) -> list[str]:
    """What the linter says of a deck that a user has written; errors first.

    It is told, not refused: the linter knows the manual, and CRYSTAL has the last word.
    """
    found = sorted(writer.lint(text), key=lambda one: one["severity"] != "error")
    return [f"the linter, line {one['line']}: {one['severity']}: {one['message']}" for one in found]


def _known_atoms(structure: StructureData | None) -> dict[str, Any]:
    if structure is None:
        return {}
    return {"formula": structure.formula, "n_atoms": len(structure.symbols)}


def _with_deck(
    request: JobRequest, options: CrystalOptions, writer: DeckWriter
) -> tuple[tuple[InputFile, ...], list[str]]:
    """The files of the request, with a deck written for its structure where it has none."""
    files = check_files(request.files)
    if request.structure is None:
        if options.options is not None:
            raise InvalidParams(
                "`inputs.options` is for writing a deck, and there is no structure",
                hint="give a structure, or set what you need in the deck",
                field="inputs.options",
            )
        return files, []
    if options.deck is not None or any(file.path.lower().endswith(DECKS) for file in files):
        raise InvalidParams(
            "there are a structure and a deck, and the deck holds a structure of its own",
            hint="leave one of them out",
            field="structure",
        )
    written = writer.write(request.structure, options.options or {})
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", request.name).strip("._")[:60] or "crystal"
    deck = InputFile(f"{stem}.d12", content=written.text)
    gui = () if written.gui is None else (InputFile(f"{stem}.gui", content=written.gui),)
    return (*files, deck, *gui), list(written.notes)


def _check_task(task: str | None, asked: str) -> None:
    if task is not None and task.lower() != asked:
        raise InvalidParams(
            f"the task is {task[:60]!r}, the deck asks for {asked!r}",
            hint="leave the task out: the deck decides",
            field="task",
        )


def _refuse_reserved(files: tuple[InputFile, ...]) -> None:
    for index, file in enumerate(files):
        if file.path in _RESERVED:
            raise InvalidParams(
                f"{file.path} is written by CrystalMath for this job",
                hint="give the file another name",
                field=f"files.{index}.path",
            )
