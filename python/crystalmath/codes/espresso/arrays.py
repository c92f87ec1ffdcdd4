"""Structure and forces of a system that is too large for the results of its job.

Run by a worker process, which reads them from the output that the results were made of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crystalmath.codes.espresso.reading import find_run_deck, load_run
from crystalmath.codes.espresso.results import ARRAYS, build_results
from crystalmath.codes.espresso.verdict import guess_task
from crystalmath.errors import OutputUnreadable


def read(directory: str, name: str) -> dict[str, Any]:
    """The arrays of a job.

    Parameters
    ----------
    directory
        Of the job.
    name
        Its output.

    Returns
    -------
    dict
        ``structure`` (Å) and ``forces_ev_per_a`` (eV/Å), as results of fewer atoms have them.

    Raises
    ------
    OutputUnreadable
        The output is gone, or does not hold them any more.
    """
    place = Path(directory)
    run = load_run(place / name)
    deck = find_run_deck(place, run)
    task = guess_task(run) if deck is None else deck[1].calculation
    results = build_results(run, task, most_atoms=None)
    missing = [array for array in ARRAYS if array not in results]
    if missing:
        raise OutputUnreadable(
            f"the job completed, but {' and '.join(missing)} cannot be read from its output {name}",
            hint="was its directory deleted? `workflows.retry` runs the step again",
        )
    return {array: results[array] for array in ARRAYS}
