"""Inputs for the structures of jobs, made by the generator in a worker process.

Built by ``api`` for the adapter; the daemon itself loads no numerical library for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from crystalmath.codes.generator import generate, options_at
from crystalmath.services.ports import RunWorker, StructureData

GENERATE: Final = "crystalmath.codes.vasp.generate.inputs:generate_inputs"
"""What runs in the worker; ``server.proc`` allows it."""


class WorkerInputs:
    """Implements ``prepare.InputWriter``.

    Parameters
    ----------
    run
        Runs ``module:function`` with JSON arguments in a worker process, within some seconds.
    deadline_s
        Seconds for the inputs of one job.
    """

    def __init__(self, run: RunWorker, deadline_s: float) -> None:
        self._run = run
        self._deadline_s = deadline_s

    def write(
        self,
        structure: StructureData,
        options: Mapping[str, Any],
        task: str,
        previous_incar: Mapping[str, Any] | None,
    ) -> Mapping[str, Any]:
        """Write the inputs of a structure.

        Raises
        ------
        InputRejected, InvalidParams
            With the field of the submission at fault.
        """
        given = {
            "structure": {"document": asdict(structure)},
            "options": dict(options),
            "task": task,
            "previous_incar": None if previous_incar is None else dict(previous_incar),
        }
        field = options_at("inputs")
        made: Mapping[str, Any] = generate(
            self._run, GENERATE, given, self._deadline_s, field=field
        )
        return made
