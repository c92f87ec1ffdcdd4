"""Large outputs of pw.x, in a worker process. ``read`` is what the worker runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from crystalmath.codes.espresso import foreign
from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.reading import find_outputs
from crystalmath.codes.espresso.several import found_in
from crystalmath.codes.large import LargeOutputs, answer
from crystalmath.services.ports import RunWorker

READ: Final = "crystalmath.codes.espresso.large:read"
"""``server.proc`` allows it."""


def with_workers(adapter: EspressoAdapter, run: RunWorker) -> LargeOutputs:
    """The adapter, with large outputs read in workers."""
    return LargeOutputs(
        adapter, READ, run, of_job=_of_job, meant=foreign.find_output, follows=False
    )


def read(what: str, path: str, **given: Any) -> Any:
    """Say in a worker what the adapter says of an output."""
    return answer(EspressoAdapter(), what, path, **given)


def _of_job(directory: Path) -> Path | None:
    several = found_in(directory)
    if several is not None:
        return several.heaviest(directory)
    outputs = find_outputs(directory)
    return outputs[0] if outputs else None
