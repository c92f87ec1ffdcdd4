"""Decks for the structures of jobs, made by the generator in a worker process.

Built by ``api`` for the adapter; the daemon itself loads no numerical library for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any, Final

from crystalmath.codes.espresso.prepare import Written
from crystalmath.codes.generator import generate, options_at
from crystalmath.services.ports import InputFile, RunWorker, StructureData

GENERATE: Final = "crystalmath.codes.espresso.generate.deck:generate_inputs"
"""What runs in the worker; ``server.proc`` allows it."""


class WorkerDecks:
    """Implements ``DeckWriter``.

    Parameters
    ----------
    run
        Runs ``module:function`` with JSON arguments in a worker process, within some seconds.
    deadline_s
        Seconds for one deck.
    """

    def __init__(self, run: RunWorker, deadline_s: float) -> None:
        self._run = run
        self._deadline_s = deadline_s

    def write(
        self,
        structure: StructureData,
        options: Mapping[str, Any],
        task: str | None,
        context: Mapping[str, str],
        files: Sequence[InputFile],
    ) -> Written:
        """Write the deck of a structure.

        Raises
        ------
        InputRejected, InvalidParams
            With the field of the submission at fault.
        """
        given = {
            "structure": {"document": asdict(structure)},
            "options": options,
            "task": task,
            "context": dict(context),
            "files": [asdict(file) for file in files if file.path.lower().endswith(".upf")],
        }
        made = generate(
            self._run,
            GENERATE,
            given,
            self._deadline_s,
            field=options_at("inputs"),
            words=_of_job,
        )
        notes = [_of_job(note) for note in made["report"]["warnings"]]
        return Written(tuple(InputFile(**file) for file in made["files"]), notes)


def run_here(function: str, given: Mapping[str, Any], _deadline_s: float) -> Any:
    """Run ``module:function`` in this process, for one that is no daemon."""
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)(**given)


def _of_job(text: str) -> str:
    """What the generator calls an option is one of the inputs of a job."""
    return text.replace("`options.", "`inputs.")
