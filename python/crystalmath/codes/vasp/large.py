"""Large outputs of VASP, in a worker process. ``read`` is what the worker runs."""

from __future__ import annotations

from typing import Any, Final

from crystalmath.codes.large import LargeOutputs, answer
from crystalmath.codes.vasp.adapter import VaspAdapter
from crystalmath.codes.vasp.output.files import find_vasprun, meant_vasprun
from crystalmath.codes.vasp.run.writer import GENERATE, WorkerInputs
from crystalmath.services.codes import Linter
from crystalmath.services.ports import RunWorker

__all__ = ["GENERATE", "LINTER", "READ", "in_daemon", "read", "with_workers"]

READ: Final = "crystalmath.codes.vasp.large:read"
"""``server.proc`` allows it."""
LINTER: Final = Linter((), "crystalmath.codes.vasp.lint.source:lint_source", ("INCAR",))


def with_workers(adapter: VaspAdapter, run: RunWorker) -> LargeOutputs:
    """The adapter, with large outputs read in workers."""
    return LargeOutputs(adapter, READ, run, of_job=find_vasprun, meant=meant_vasprun, follows=False)


def in_daemon(run: RunWorker, deadline_s: float) -> LargeOutputs:
    """The adapter as the daemon has it: inputs are written, and large outputs read, in workers.

    Parameters
    ----------
    deadline_s
        Seconds for the inputs of one job.
    """
    return with_workers(VaspAdapter(WorkerInputs(run, deadline_s)), run)


def read(what: str, path: str, **given: Any) -> Any:
    """Say in a worker what the adapter says of an output."""
    return answer(VaspAdapter(WorkerInputs(_no_worker, 0.0)), what, path, **given)


def _no_worker(function: str, *_: Any) -> Any:
    raise RuntimeError(f"{function}: a worker asks no other")
