"""The verdict on a pw.x run, by evidence in this order: exit code, convergence, errors, CRASH, end.

``JOB DONE`` is no proof: an SCF that did not converge prints it too. An output that was cut off
anywhere is never judged completed. Used by ``adapter``.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.ending import judge_end
from crystalmath.codes.espresso import failures, pseudo
from crystalmath.codes.espresso.options import NEEDS_DENSITY, RELAXING
from crystalmath.codes.espresso.results import build_results, last_complete
from crystalmath.codes.espresso.run import Run
from crystalmath.services.ports import EndReceipt, Verdict

PRESSURE_KBAR: Final = 0.5
"""The press_conv_thr of pw.x; a larger pressure after vc-relax is worth a word."""
MAX_PSEUDO_BYTES: Final = 64 * 1024**2
_MORE_TIME: Final = (
    "`jobs.continue` goes on from the last geometry; give it more time: `resources.walltime_s`"
)
_MACHINE: Final = frozenset({"disk_full", "out_of_memory", "did_not_start"})


def judge_run(
    run: Run,
    *,
    task: str | None,
    directory: Path,
    end: EndReceipt | None,
    crash: tuple[str, str] | None,
) -> Verdict:
    """Judge a run.

    Parameters
    ----------
    task
        What the deck asked for; None when the deck is not there.
    directory
        Where the output lies.
    end
        How the program ended; None when nobody saw it.
    crash
        Routine and message of the file CRASH.
    """
    task = task or guess_task(run)
    verdict = _judge(run, task, directory, end, crash)
    results = build_results(run, task)
    pseudos = pseudo_documents(run, directory)
    if pseudos:
        results["pseudopotentials"] = pseudos
    scf = last_complete(run)
    usable = scf is not None and scf.converged is not False
    converged: bool | None = None
    if verdict.completed and task not in NEEDS_DENSITY:
        converged = True
    elif verdict.reason == "not_converged":
        converged = False
    return replace(
        verdict,
        results=results,
        warnings=tuple(_warnings(run, results, end)),
        converged=converged,
        energy_ev=results.get("energy_ev") if usable else None,
    )


def guess_task(run: Run) -> str:
    """What a run was asked for, by its output alone."""
    if run.md_steps:
        return "md"
    if run.relaxes_cell:
        return "vc-relax"
    if run.relaxes_atoms:
        return "relax"
    return "nscf" if run.bands_started and not run.scfs else "scf"


def _judge(
    run: Run, task: str, directory: Path, end: EndReceipt | None, crash: tuple[str, str] | None
) -> Verdict:
    by_end = None if end is None else judge_end(directory, end)
    if by_end is not None and by_end.reason in _MACHINE:
        return by_end
    if by_end is not None and by_end.reason == "walltime":
        return replace(by_end, hint=_MORE_TIME)
    failed = _scf_failed(run) or _error(run, crash) or _stopped(run) or _not_relaxed(run, task)
    if failed is not None:
        return failed
    if by_end is not None:
        return by_end
    missing = _missing(run, task, end)
    if missing is not None:
        return _failed("crashed", missing, "look at the end of the output, and run it again")
    return Verdict(completed=True)


def _failed(reason: str, message: str, hint: str) -> Verdict:
    return Verdict(completed=False, reason=reason, message=message, hint=hint)


def _scf_failed(run: Run) -> Verdict | None:
    scf = run.scf
    if scf is None or scf.converged is not False:
        return None
    accuracy = f", accuracy {scf.accuracies_ry[-1]:.2g} Ry" if scf.accuracies_ry else ""
    return _failed(
        "not_converged",
        f"the SCF did not converge in {scf.iterations} iterations{accuracy}",
        "`jobs.continue` allows more iterations (electron_maxstep) and lowers mixing_beta, if the "
        "accuracy went up and down",
    )


def _error(run: Run, crash: tuple[str, str] | None) -> Verdict | None:
    found = run.errors[0] if run.errors else crash
    if found is None:
        return None
    routine, message = found
    failure = failures.explain(routine, message, has_started=run.has_started)
    return _failed(failure.reason, f"pw.x: {routine}: {message}"[:600], failure.hint)


def _stopped(run: Run) -> Verdict | None:
    if not run.stopped_by_time:
        return None
    limit = f" of {run.max_seconds:g} s (max_seconds)" if run.max_seconds is not None else ""
    return _failed(
        "walltime",
        f"pw.x stopped by itself at its time limit{limit} and saved its state",
        "`jobs.continue` goes on from the saved state",
    )


def _not_relaxed(run: Run, task: str) -> Verdict | None:
    if task not in RELAXING:
        return None
    if run.max_steps_reached:
        return _failed(
            "not_converged",
            f"not relaxed after {len(run.scfs)} geometries (nstep)",
            "`jobs.continue` goes on from the last geometry, with more steps",
        )
    if run.bfgs_failed:
        return _failed(
            "not_converged",
            f"BFGS gave up after {len(run.scfs)} geometries",
            "`jobs.continue` goes on from the last geometry; if it fails again, a smaller conv_thr "
            "makes the forces better",
        )
    return None


def _missing(run: Run, task: str, end: EndReceipt | None) -> str | None:
    """What a complete output would have and this one has not."""
    if not run.job_done or (end is None and not run.closed):
        return "the output stops before its end"
    if task in NEEDS_DENSITY:
        return None if run.bands_ended else "the bands were not calculated"
    scf = run.scf
    if scf is None or scf.energy_ry is None or scf.converged is not True:
        return "the output has no converged SCF"
    if task in RELAXING and not (run.bfgs_converged and run.final_coordinates):
        return "the output has no final coordinates"
    if task.endswith("md") and not (run.md_ended or run.max_steps_reached):
        return "the molecular dynamics did not come to its end"
    return None


def pseudo_documents(run: Run, directory: Path) -> list[dict[str, Any]]:
    """Each pseudopotential as printed, with the MD5 of the file where it is still there."""
    documents: list[dict[str, Any]] = []
    for one in run.pseudos:
        name = Path(one.path).name
        printed = {"element": one.element, "file": name, "md5_printed": one.md5}
        md5, sha256 = next(
            (
                found
                for path in (directory / pseudo.FOLDER / name, directory / one.path)
                if (found := _digests(path)) is not None
            ),
            (None, None),
        )
        agree = None if md5 is None or one.md5 is None else md5 == one.md5
        documents.append({**printed, "md5_file": md5, "sha256_file": sha256, "agree": agree})
    return documents


def _digests(path: Path) -> tuple[str, str] | None:
    """MD5, which pw.x prints, and SHA-256."""
    try:
        if path.stat().st_size > MAX_PSEUDO_BYTES or not path.is_file():
            return None
        raw = path.read_bytes()
    except OSError:
        return None
    return hashlib.md5(raw, usedforsecurity=False).hexdigest(), hashlib.sha256(raw).hexdigest()


def _warnings(run: Run, results: dict[str, Any], end: EndReceipt | None) -> list[str]:
    task = results["task"]
    pseudos = results.get("pseudopotentials", [])
    warnings = [
        f"{one['file']}: pw.x read another file than the one that lies here (MD5)"
        for one in pseudos
        if one["agree"] is False
    ]
    if end is None:
        warnings.append("the exit code is not known: judged from the output alone")
    if run.partial:
        warnings.append("the output is very large: only its beginning and its end were read")
    gap_ev = results.get("gap_ev")
    if gap_ev is not None and gap_ev <= 0:
        warnings.append(
            "occupations are fixed, but an empty band lies below an occupied one: it is a metal, "
            "and needs a smearing"
        )
    unconverged = sum(scf.converged is False for scf in run.scfs[:-1])
    if unconverged:
        warnings.append(f"the SCF of {unconverged} earlier geometries did not converge")
    pressure = run.scf.pressure_kbar if run.scf is not None and run.scf.is_final else None
    if task == "vc-relax" and pressure is not None and abs(pressure) > PRESSURE_KBAR:
        warnings.append(
            f"the final SCF, with plane waves for the final cell, has a pressure of {pressure:g} "
            "kbar: relax again from this cell, or raise ecutwfc"
        )
    return warnings
