"""The program of a forces job whose engine has an environment of its own.

``python -P -m crystalmath.calculators.job input.json``: the same program as
``crystalmath.codes.forces.job``, with the engine behind a connection.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from threading import Thread
from typing import Any, Final

from crystalmath.calculators.lasting import GRACE_S, LastingSource
from crystalmath.calculators.request import Request
from crystalmath.codes.forces import job
from crystalmath.codes.forces.task import Task
from crystalmath.errors import InputRejected
from crystalmath.forces.lean import LeanCalculator

GRACE: Final = "CRYSTALMATH_DAEMON_GRACE_S"
"""Variable: seconds that a job waits for a daemon before it goes on alone."""


def make_engine(task: Task, say: Callable[[str], None]) -> tuple[Any, dict[str, Any]]:
    """Connect to the engines of a task.

    Raises
    ------
    InputRejected
        The weights are not those of the submission any more.
    """
    requests = [
        Request(part.engine, part.model, part.dtype, part.device, part.options)
        for part in task.parts
    ]
    source = LastingSource(
        requests,
        {"engine": task.engine},
        say,
        grace_s=float(os.environ.get(GRACE, "") or GRACE_S),
        threads=int(os.environ.get("OMP_NUM_THREADS", "") or 1),
    )
    frames = Thread(target=import_module, args=("ase.io",), name="frames")
    frames.start()  # what writes them is slow to import, and the engine slower to answer
    calc = LeanCalculator(source, allow_toy_elements=task.options.allow_toy_elements)
    found = calc.identity
    if task.name != "single_point":
        frames.join()  # what moves atoms imports other parts of ase
    for part, identity in zip(task.parts, found, strict=True):
        if identity["model_key"] != part.model_key:
            raise InputRejected(
                f"the weights of {part.engine} ({part.model_id}) have changed since the job was "
                "submitted",
                hint="submit it again to use the new ones",
                field="model",
            )
    if len(found) == 1:
        return calc, {"name": task.engine, **found[0]}
    return calc, {"name": task.engine, "parts": found}


if __name__ == "__main__":
    sys.exit(job.main(sys.argv[1:], make_engine))
