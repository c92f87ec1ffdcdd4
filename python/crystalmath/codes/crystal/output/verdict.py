"""The verdict on a CRYSTAL run: an error line, then the end mark, then convergence.

Normal termination is no proof: an SCF that ran out of cycles prints it too. An output that was cut
off anywhere is never judged completed. Used by ``adapter``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from crystalmath.codes.crystal.output.failures import explain
from crystalmath.codes.crystal.output.results import build_results, kind_of, reference_scf
from crystalmath.codes.crystal.output.run import Run
from crystalmath.codes.crystal.run.script import STOPPED
from crystalmath.codes.crystal.run.staging import ON_FAILURE
from crystalmath.codes.ending import judge_end
from crystalmath.codes.tail import read_tail
from crystalmath.services.ports import EndReceipt, Verdict

Status = Literal["completed", "failed", "incomplete"]

_MACHINE: Final = frozenset({"disk_full", "out_of_memory", "did_not_start"})
_MORE_TIME: Final = (
    "`jobs.continue` goes on from what was saved; give it more time: `resources.walltime_s`"
)
_SCF_HINT: Final = (
    "`jobs.continue` starts from its wave function with more cycles; FMIXING, LEVSHIFT or SMEAR "
    "(metals) help where the energy goes up and down"
)


@dataclass(frozen=True, slots=True)
class _Failed:
    reason: str | None
    message: str
    hint: str
    status: Status = "failed"


_STOPPED: Final = _Failed(
    "walltime",
    "stopped shortly before its time limit; what a restart needs was collected",
    _MORE_TIME,
)


def status_of(run: Run, error: str | None = None) -> Status:
    """``completed``, ``failed`` or ``incomplete``, by the output alone."""
    failed = _failed(run, error)
    return "completed" if failed is None else failed.status


def judge_run(
    run: Run,
    *,
    end: EndReceipt | None,
    directory: Path | None,
    place: Path | None = None,
    alone: bool = False,
) -> Verdict:
    """Judge a run.

    Parameters
    ----------
    end
        How the program ended; None when nobody saw it.
    directory
        The job directory; None for an output without one.
    place
        Where the output lies in it, with the program's error files.
    alone
        It is judged by itself: nothing is said about why an output stops before its end.
    """
    error = None if place is None else error_beside(place)
    failed = _failed(run, error)
    results = build_results(run, "completed" if failed is None else failed.status)
    verdict = _verdict(failed, end, directory, alone=alone)
    converged = None
    if verdict.completed:
        converged = True if run.scfs and kind_of(run) != "properties" else None
    elif verdict.reason == "not_converged":
        converged = False
    return replace(
        verdict,
        results=results,
        warnings=tuple(_warnings(run, results, known_end=end is not None)),
        converged=converged,
        energy_ev=results.get("energy_ev") if verdict.completed else None,
    )


def _verdict(
    failed: _Failed | None, end: EndReceipt | None, directory: Path | None, *, alone: bool
) -> Verdict:
    by_end = None if end is None or directory is None else judge_end(directory, end)
    if by_end is not None and by_end.reason in _MACHINE:
        return by_end
    if by_end is not None and by_end.reason == "walltime":
        return replace(by_end, hint=_MORE_TIME)
    if failed is not None and failed.status == "failed":
        return _refusal(failed.reason, failed)
    if failed is not None and directory is not None and _was_stopped(directory):
        return _refusal("walltime", _STOPPED)
    if by_end is None and failed is not None:
        return _refusal(None if alone else "crashed", failed)
    return by_end or Verdict(completed=True)


def _refusal(reason: str | None, failed: _Failed) -> Verdict:
    return Verdict(completed=False, reason=reason, message=failed.message, hint=failed.hint)


def _failed(run: Run, error: str | None) -> _Failed | None:
    line = run.error or error
    if line is not None:
        return _by_error(run, line)
    if not run.ended:
        where = "the output stops before its end" if run.started else "the program did not begin"
        return _Failed(None, where, "look at the end of the output, and run it again", "incomplete")
    return _unconverged(run)


def _by_error(run: Run, line: str) -> _Failed:
    has_cycles = any(scf.energies for scf in run.scfs)
    failure = explain(line, has_cycles=has_cycles)
    return _Failed(failure.reason, f"CRYSTAL: {line}"[:600], failure.hint)


def _unconverged(run: Run) -> _Failed | None:
    kind = kind_of(run)
    if kind == "eos":
        return _unscanned(run) or _scf_unconverged(run)
    if run.opt_ended is False or (kind == "optimisation" and run.opt_ended is None):
        points = run.opt_points or len(run.points)
        return _Failed(
            "not_converged",
            f"the geometry is not optimised after {points} points",
            "`jobs.continue` goes on from the last geometry",
        )
    failed = _scf_unconverged(run)
    if failed is not None:
        return failed
    reference = reference_scf(run, kind)
    if kind != "properties" and reference is not None and reference.converged is None:
        return _Failed(
            "not_converged", "the output has no converged SCF", "look at the end of the output"
        )
    return None


def _unscanned(run: Run) -> _Failed | None:
    """Why a scan of volumes is of no use."""
    if run.opt_failures:
        return _Failed(
            "not_converged",
            f"the geometry is not optimised at {run.opt_failures} of the volumes",
            "more steps (MAXCYCLE) or another range of volumes (RANGE) may help",
        )
    if run.equation is None or not run.equation.points:
        return _Failed(
            "crashed",
            "the output has no table of volumes and energies",
            "look at the end of the output",
        )
    return None


def _scf_unconverged(run: Run) -> _Failed | None:
    for number, scf in enumerate(run.scfs, start=1):
        if scf.converged is False:
            which = "" if len(run.scfs) == 1 else f" number {number}"
            return _Failed(
                "not_converged",
                f"the SCF{which} did not converge in {scf.cycles} cycles",
                _SCF_HINT,
            )
    return None


def error_beside(directory: Path) -> str | None:
    """The error line of fort.87 or an ERROR file: it counts like one in the output."""
    paths = [path for pattern in ON_FAILURE for path in sorted(directory.glob(pattern))]
    for path in paths[:20]:
        for line in read_tail(path).splitlines():
            if line.startswith((" ERROR ****", "ERROR ****")):
                return " ".join(line.split())
    return None


def _was_stopped(directory: Path) -> bool:
    return STOPPED in read_tail(directory / "stderr.log")


def _warnings(run: Run, results: dict[str, Any], *, known_end: bool) -> list[str]:
    warnings = list(run.warnings)
    if not known_end:
        warnings.append("the exit code is not known: judged from the output alone")
    if run.ended and not run.scfs and kind_of(run) == "scf":
        warnings.append("no SCF was run: there is no energy")
    scf = run.scf
    if scf is not None and scf.corrected is not None:
        if run.optimises:
            warnings.append(
                f"{scf.correction} was added to the first SCF energy; whether the energy of the "
                "OPT END line holds it the output does not say"
            )
        else:
            warnings.append(f"the final energy holds {scf.correction}, added behind the SCF")
    negative = results.get("frequencies", {}).get("negative", 0)
    if negative:
        warnings.append(f"{negative} imaginary frequencies (printed negative)")
    return warnings
