"""The verdict on a band structure: that of its steps, up to the first that did not complete.

A step that another one follows has ended with exit code 0, or the script would have stopped. Used
by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crystalmath.codes.espresso.bands import script
from crystalmath.codes.espresso.bands.decks import BANDS, STEPS
from crystalmath.codes.espresso.bands.options import TASK
from crystalmath.codes.espresso.reading import load_crash, load_run
from crystalmath.codes.espresso.run import Run
from crystalmath.codes.espresso.series import progress_of
from crystalmath.codes.espresso.steps import SCF
from crystalmath.codes.espresso.stepwise import AGAIN, series_of_scf, went_on, written
from crystalmath.codes.espresso.verdict import judge_run
from crystalmath.errors import InputRejected
from crystalmath.services.ports import EndReceipt, Progress, Verdict


def is_one(directory: Path) -> bool:
    """Whether a job directory is that of a band structure."""
    return (directory / script.NAME).is_file()


def outputs(directory: Path) -> list[Path]:
    """What its steps have written, in their order."""
    return written(directory, STEPS)


def progress(directory: Path) -> Progress | None:
    """Which step runs, and how far it is: ``bands: k point 12 of 58``."""
    begun = outputs(directory)
    if not begun:
        return None
    found = progress_of(begun[-1])
    step = begun[-1].stem
    return Progress(step if found is None else f"{step}: {found.text}")


def series(directory: Path) -> dict[str, Any]:
    """The SCF by iteration."""
    return series_of_scf(directory)


def heaviest(directory: Path) -> Path | None:
    """The largest file that a verdict or its levels are read of."""
    files = [*outputs(directory), *(directory / f"{step}.xml" for step in STEPS)]
    return max((path for path in files if path.is_file()), key=_size, default=None)


def no_continuation() -> InputRejected:
    """Why a band structure is not continued."""
    return InputRejected(
        "a band structure has no state that it could go on from",
        hint="`jobs.rerun` computes it again, with other `inputs` if need be",
        field="id",
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def judge(directory: Path, end: EndReceipt | None) -> Verdict:
    """Judge the steps one after the other.

    Parameters
    ----------
    end
        How the script ended.
    """
    planned = [step for step in STEPS if step == SCF or _has_deck(directory, step)]
    begun = [step for step in planned if (directory / f"{step}.out").is_file()] or [SCF]
    runs: dict[str, Run] = {}
    verdicts: dict[str, Verdict] = {}
    for step in begun:
        runs[step] = run = load_run(directory / f"{step}.out")
        last = step == begun[-1]
        verdicts[step] = verdict = judge_run(
            run,
            task=step,
            directory=directory,
            end=end if last else went_on(end),
            crash=None if run.job_done else load_crash(directory),
        )
        if not verdict.completed:
            return _failed(step, verdict, verdicts[SCF])
    unfinished = _unfinished(directory, planned, begun)
    whole = _with_results(verdicts[SCF], verdicts[SCF].results, runs, verdicts)
    if unfinished is not None:
        failed = replace(whole, completed=False, reason="crashed", message=unfinished, hint=AGAIN)
        return replace(failed, results=_bare(whole.results))
    return whole


def _has_deck(directory: Path, step: str) -> bool:
    return (directory / f"{step}{script.DECK}").is_file()


def _failed(step: str, verdict: Verdict, scf: Verdict) -> Verdict:
    """What a user is told of a step: which it was, and what can be done about the whole."""
    hint = verdict.hint
    if step != SCF or verdict.reason == "walltime":
        hint = AGAIN
        if verdict.reason == "walltime":
            hint += "; give it more time: `resources.walltime_s`"
    results = {**scf.results, "task": TASK}
    message = f"step {step}: {verdict.message}"
    energy = scf.energy_ev if step != SCF else verdict.energy_ev
    return replace(verdict, message=message, hint=hint, results=results, energy_ev=energy)


def _unfinished(directory: Path, planned: Sequence[str], begun: Sequence[str]) -> str | None:
    """What is missing although every step that began has completed."""
    for step in planned:
        if step not in begun:
            return f"it ended before its step {step} began"
        if step != SCF and _size(directory / f"{step}.xml") == 0:
            return f"{step}.xml is missing, in which pw.x writes the levels"
    return None


def _with_results(
    scf: Verdict, results: Any, runs: dict[str, Run], verdicts: dict[str, Verdict]
) -> Verdict:
    """Those of the SCF, with what the other steps add."""
    document = {**results, "task": TASK, "levels_in": [f"{step}.xml" for step in runs]}
    bands = runs.get(BANDS)
    if bands is not None:
        document["n_bands"] = bands.n_bands
        document["n_path_points"] = bands.n_kpoints
    warnings = dict.fromkeys(word for one in verdicts.values() for word in one.warnings)
    return replace(scf, results=document, warnings=tuple(warnings))


def _bare(results: Any) -> dict[str, Any]:
    return {name: value for name, value in results.items() if name != "levels_in"}
