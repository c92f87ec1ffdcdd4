"""Large outputs of CRYSTAL, in a worker process. ``read`` is what the worker runs."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from crystalmath.codes.crystal import foreign
from crystalmath.codes.crystal.adapter import CrystalAdapter
from crystalmath.codes.crystal.run import places
from crystalmath.codes.crystal.run.writer import WorkerDecks
from crystalmath.codes.large import LargeOutputs, answer
from crystalmath.services.ports import RunWorker

READ: Final = "crystalmath.codes.crystal.large:read"
"""``server.proc`` allows it."""


def with_workers(adapter: CrystalAdapter, run: RunWorker) -> LargeOutputs:
    """The adapter, with large outputs read in workers."""
    return LargeOutputs(
        adapter, READ, run, of_job=places.find_output, meant=foreign.find_output, follows=True
    )


def read(what: str, path: str, **given: Any) -> Any:
    """Say in a worker what the adapter says of an output."""
    return answer(reader(), what, path, **given)


@cache
def reader() -> CrystalAdapter:
    """An adapter that reads whatever its size, and writes no decks."""
    return CrystalAdapter(WorkerDecks(_no_worker, 0.0))


def _no_worker(function: str, *_: Any) -> Any:
    raise RuntimeError(f"{function}: a worker asks no other")
