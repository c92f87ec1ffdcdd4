"""Decks for the structures of jobs, made by the generator in a worker process.

Built by ``api`` for the adapter; the daemon itself loads no numerical library for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from crystalmath.codes.crystal.run.prepare import Written
from crystalmath.codes.generator import generate, options_at
from crystalmath.codes.options import parse_options
from crystalmath.contract.d12 import D12Options
from crystalmath.services.ports import RunWorker, StructureData

GENERATE: Final = "crystalmath.codes.crystal.generate.deck:generate_deck"
GENERATE_PROPERTIES: Final = "crystalmath.codes.crystal.generate.properties:generate_properties"
LINT: Final = "crystalmath.codes.crystal.lint.lint:lint_source"
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

    def write(self, structure: StructureData, options: Mapping[str, Any]) -> Written:
        """Write the deck of a structure.

        Raises
        ------
        InputRejected, InvalidParams
            With the field of the submission at fault.
        """
        asked = parse_options(D12Options, options, at="inputs.options")
        given = {
            "structure": {"document": asdict(structure)},
            "options": asked.model_dump(mode="json", exclude_unset=True),
        }
        field = options_at("inputs.options")
        made = generate(self._run, GENERATE, given, self._deadline_s, field=field)
        return Written(made["d12"], made["gui"], made["report"]["warnings"])

    def lint(self, text: str) -> list[Mapping[str, Any]]:
        """Find what is wrong with a deck."""
        found: list[Mapping[str, Any]] = self._run(LINT, {"text": text}, self._deadline_s)
        return found
