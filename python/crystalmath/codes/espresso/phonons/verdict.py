"""The verdict on a phonon job: that of its SCF, then that of ph.x. Used by ``adapter``.

ph.x prints ``JOB DONE`` below a response that did not converge: every representation of every wave
vector has to say that it did.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from crystalmath.codes.ending import judge_end
from crystalmath.codes.espresso import failures
from crystalmath.codes.espresso.phonons import script
from crystalmath.codes.espresso.phonons.decks import PH
from crystalmath.codes.espresso.phonons.options import TASK
from crystalmath.codes.espresso.phonons.output import PhRun, parse
from crystalmath.codes.espresso.phonons.results import add, doubts
from crystalmath.codes.espresso.reading import WHOLE_BYTES, load_crash, load_run
from crystalmath.codes.espresso.run import Run
from crystalmath.codes.espresso.series import progress_of
from crystalmath.codes.espresso.steps import SCF
from crystalmath.codes.espresso.stepwise import AGAIN, series_of_scf, went_on, written
from crystalmath.codes.espresso.verdict import judge_run
from crystalmath.codes.outputs import read_head
from crystalmath.codes.plots import counted, plot
from crystalmath.errors import InputRejected
from crystalmath.services.ports import EndReceipt, Progress, Verdict


def is_one(directory: Path) -> bool:
    """Whether a job directory is that of a phonon job."""
    return (directory / script.NAME).is_file()


def outputs(directory: Path) -> list[Path]:
    """What its steps have written, in their order."""
    return written(directory, (SCF, PH))


def heaviest(directory: Path) -> Path | None:
    """The largest file that a verdict is read of."""
    return max(outputs(directory), key=lambda path: path.stat().st_size, default=None)


def load(path: Path) -> PhRun:
    """Read an output of ph.x; one that is too large to be read whole is none."""
    raw, size = read_head(path, WHOLE_BYTES)
    return parse(raw.decode("utf-8", "replace") if size <= WHOLE_BYTES else "")


def progress(directory: Path) -> Progress | None:
    """Which step runs, and how far: ``ph: representation 2 of 4, iteration 5``."""
    begun = outputs(directory)
    if not begun:
        return None
    if begun[-1].stem == SCF:
        found = progress_of(begun[-1])
        return Progress(SCF if found is None else f"{SCF}: {found.text}")
    ph = load(begun[-1])
    if not ph.points:
        return Progress(PH)
    point = ph.points[-1]
    words = PH
    if point.representation:
        words += f": representation {point.representation} of {point.n_representations}"
    return Progress(f"{words}, iteration {point.iteration}" if point.iteration else words)


def series(directory: Path) -> dict[str, Any]:
    """The SCF by iteration, and the frequencies by mode, where there is one wave vector."""
    return {**series_of_scf(directory), **_curves(directory)}


def _curves(directory: Path) -> dict[str, Any]:
    ph = load(directory / f"{PH}.out")
    if len(ph.points) != 1 or not ph.points[0].is_complete:
        return {}
    return {"frequencies": plot(counted(ph.points[0].cm1), "mode", "frequency", "cm⁻¹")}


def no_continuation() -> InputRejected:
    """Why a phonon job is not continued."""
    return InputRejected(
        "a phonon job keeps no responses that it could go on from",
        hint="`jobs.rerun` computes it again, with other `inputs` if need be",
        field="id",
    )


def judge(directory: Path, end: EndReceipt | None) -> Verdict:
    """Judge the SCF, then ph.x.

    Parameters
    ----------
    end
        How the script ended.
    """
    begun = (directory / f"{PH}.out").is_file()
    run = load_run(directory / f"{SCF}.out")
    scf = judge_run(
        run,
        task=SCF,
        directory=directory,
        end=went_on(end) if begun else end,
        crash=None if run.job_done else load_crash(directory),
    )
    scf = replace(scf, results={**scf.results, "task": TASK})
    if not scf.completed:
        hint = AGAIN if scf.reason == "walltime" else scf.hint
        return replace(scf, message=f"step {SCF}: {scf.message}", hint=hint)
    if not begun:
        return _failed(scf, "crashed", "it ended before ph.x began", AGAIN)
    ph = load(directory / f"{PH}.out")
    failed = _judge(scf, ph, directory, end)
    if failed is not None:
        return replace(failed, message=f"step {PH}: {failed.message}")
    return _with_results(scf, run, ph)


def _failed(scf: Verdict, reason: str, message: str, hint: str | None) -> Verdict:
    return replace(
        scf,
        completed=False,
        converged=False if reason == "not_converged" else None,
        reason=reason,
        message=message,
        hint=hint,
    )


def _judge(scf: Verdict, ph: PhRun, directory: Path, end: EndReceipt | None) -> Verdict | None:
    """What is wrong with the response; None when nothing is."""
    by_end = None if end is None else judge_end(directory, end)
    if by_end is not None and by_end.reason not in (None, "crashed"):
        return _failed(scf, by_end.reason or "", by_end.message or "", by_end.hint)
    found = _not_converged(scf, ph) or _error(scf, ph, directory)
    if found is not None:
        return found
    if ph.stopped_by_time:
        return _failed(scf, "walltime", "ph.x stopped by itself at its time limit", AGAIN)
    if by_end is not None:
        return _failed(scf, by_end.reason or "crashed", by_end.message or "", by_end.hint)
    if not ph.job_done or len(ph.points) != 1 or not ph.points[0].is_complete:
        return _failed(scf, "crashed", "the output stops before its end", AGAIN)
    return None


def _not_converged(scf: Verdict, ph: PhRun) -> Verdict | None:
    point = next((one for one in ph.points if one.failed is not None), None)
    if point is not None:
        message = f"representation {point.failed} of the response did not converge in "
        message += f"{point.iteration} iterations"
        return _failed(scf, "not_converged", message, "a metal needs more k points; " + AGAIN)
    asked = any(one.field_asked for one in ph.points) and not ph.stopped_by_time
    if asked and ph.job_done and not (ph.dielectric and ph.born):
        message = "the response to an electric field did not converge"
        return _failed(scf, "not_converged", message, "more k points; " + AGAIN)
    return None


def _error(scf: Verdict, ph: PhRun, directory: Path) -> Verdict | None:
    found = ph.error or (None if ph.job_done else load_crash(directory))
    if found is None:
        return None
    failure = failures.explain(*found, has_started=bool(ph.points))
    message = f"ph.x: {found[0]}: {found[1]}"[:600]
    return _failed(scf, failure.reason, message, failure.hint)


def _with_results(scf: Verdict, run: Run, ph: PhRun) -> Verdict:
    results = add(dict(scf.results), run, ph)
    return replace(scf, results=results, warnings=(*scf.warnings, *doubts(results, ph)))
