"""The verdict on a run of VASP: convergence by the run's own parameters, its texts, its end.

An exit code of 0 is no proof: VASP ends with it also when its electrons or its ions have not
converged. A vasprun.xml that was cut off is never judged completed. Used by ``adapter``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.ending import judge_end
from crystalmath.codes.tail import read_tail
from crystalmath.codes.vasp.order import RECORD, in_order_asked
from crystalmath.codes.vasp.output.failures import find_failure
from crystalmath.codes.vasp.output.files import VASPRUN, Words
from crystalmath.codes.vasp.output.results import build_results
from crystalmath.codes.vasp.output.run import Run
from crystalmath.codes.vasp.output.settings import settings_of
from crystalmath.codes.vasp.run import potcar, script
from crystalmath.codes.vasp.run.potcar import parse_record
from crystalmath.services.ports import EndReceipt, Verdict

MOVING: Final = (1, 2, 3)
_MACHINE: Final = frozenset({"disk_full", "out_of_memory", "did_not_start"})
_NO_LOOP: Final = frozenset({
    "none", "nothing", "chi", "gw", "gw0", "g0w0", "evgw", "evgw0", "scgw", "scgw0", "rpa", "acfdt",
    "bse", "tdhf", "timeev", "crpa", "eigenval", "exact", "subrot",
})  # fmt: skip
"""Of these the number of steps says nothing of convergence."""
_MORE_TIME: Final = (
    "`jobs.continue` goes on from CONTCAR; give it more time: `resources.walltime_s`"
)


def judge_run(run: Run, words: Words, directory: Path, end: EndReceipt | None) -> Verdict:
    """Judge a run.

    Parameters
    ----------
    directory
        Where the output lies.
    end
        How the program ended; None when nobody saw it.
    """
    task = guess_task(run)
    verdict = _judge(run, words, task, directory, end)
    results, untold = in_order_asked(build_results(run, task), read_tail(directory / RECORD))
    results["settings"] = settings_of(run)
    scf = _scf_converged(run, words)
    if "scf" in results:
        results["scf"] = {**results["scf"], "converged": scf}
    relaxed = _relaxed(run, words)
    if task == "relax":
        results["relaxation"] = {"converged": relaxed is True, "steps": len(run.steps)}
    recorded = parse_record(read_tail(directory / potcar.RECORD))
    if recorded:
        results["potentials"] = recorded
    energy = results.get("energy_ev") if scf is not False else None
    converged = True if verdict.completed and task not in ("bands", "dos") else None
    return replace(
        verdict,
        results=results,
        warnings=(*_warnings(run, task, end, recorded), *untold),
        converged=False if verdict.reason == "not_converged" else converged,
        energy_ev=energy,
    )


def guess_task(run: Run) -> str:
    """What a run was asked for, by its own parameters."""
    nsw, ibrion = run.integer("NSW") or 0, run.integer("IBRION")
    if nsw > 0 and ibrion == 0:
        return "md"
    if nsw > 0 and ibrion in MOVING:
        return "relax"
    if (run.integer("ICHARG") or 0) >= 10:
        return "bands" if _is_path(run) else "dos"
    return "static"


def _is_path(run: Run) -> bool:
    """Whether the k points lie on lines: of a mesh, no three neighbours in a row keep a step."""
    points = run.kpoints
    if len(points) < 10:
        return False
    steps = [
        tuple(round(b - a, 5) for a, b in zip(one, other, strict=True))
        for one, other in pairwise(points)
    ]
    turns = sum(one != other for one, other in pairwise(steps))
    return turns < len(points) / 4


def _judge(run: Run, words: Words, task: str, directory: Path, end: EndReceipt | None) -> Verdict:
    said = read_tail(directory / "stderr.log")
    by_end = None if end is None else judge_end(directory, end)
    return (
        _without_potential(run, said)
        or _stopped(words, said, by_end)
        or _known_failure(run, words)
        or by_end
        or _cut_off(run)
        or _unconverged(run, words, task)
        or Verdict(completed=True)
    )


def _without_potential(run: Run, said: str) -> Verdict | None:
    """The script found no potential where it ran."""
    line = next((line for line in said.splitlines() if line.startswith(script.MISSING)), None)
    if line is None or run.steps:
        return None
    return _failed(
        "input_rejected",
        f"{line.removeprefix(script.SAYS)}"[:600],
        "set PMG_VASP_PSP_DIR where the job runs, or name another potential: `potcars`",
    )


def _stopped(words: Words, said: str, by_end: Verdict | None) -> Verdict | None:
    """The machine ended it, or its time."""
    if by_end is not None and by_end.reason in _MACHINE:
        return by_end
    if by_end is not None and by_end.reason == "walltime":
        return replace(by_end, hint=_MORE_TIME)
    if words.stopped or script.STOPPED in said:
        return _failed("walltime", "VASP was told to stop before its end (STOPCAR)", _MORE_TIME)
    return None


def _known_failure(run: Run, words: Words) -> Verdict | None:
    failure = find_failure(words.text)
    # VASP goes on after a warning: then only a run that did not come to its end died of it
    if failure is None or (run.closed and failure.sentence.startswith("WARNING")):
        return None
    fixes = "; ".join(failure.fixes)
    return _failed(failure.reason, f"VASP: {failure.sentence}", f"one of these may help: {fixes}")


def _cut_off(run: Run) -> Verdict | None:
    if run.closed:
        return None
    steps = f" after {len(run.steps)} ionic steps" if run.steps else ""
    what = f"{VASPRUN} is cut off{steps}" if run.version else f"there is no {VASPRUN}"
    return _failed("crashed", what, "look at the end of OUTCAR and at the log, then run it again")


def _unconverged(run: Run, words: Words, task: str) -> Verdict | None:
    if not run.steps:
        return _failed("crashed", f"{VASPRUN} holds no calculation", "look at OUTCAR")
    if _scf_converged(run, words) is False:
        nelm = run.integer("NELM")
        return _failed(
            "not_converged",
            f"the electrons did not converge in {len(run.steps[-1].scf_energies_ev)} steps "
            f"(NELM = {nelm})",
            "a larger NELM, another ALGO (All, Damped), or smaller AMIX and BMIX; "
            "`jobs.continue` doubles NELM",
        )
    if task == "relax" and _relaxed(run, words) is False:
        return _failed(
            "not_converged",
            f"not relaxed after {len(run.steps)} steps (NSW = {run.integer('NSW')})",
            "`jobs.continue` goes on from CONTCAR",
        )
    if run.steps[-1].free_energy_ev is None and task in ("static", "relax", "md"):
        return _failed("crashed", f"{VASPRUN} holds no energy of the last step", "look at OUTCAR")
    return None


def _scf_converged(run: Run, words: Words) -> bool | None:
    """Whether the electrons of the last step converged; None where that cannot be said."""
    if not run.steps:
        return None
    nelm = run.integer("NELM")
    algorithm = run.word("ALGO").lower()
    count = len(run.steps[-1].scf_energies_ev)
    if algorithm in _NO_LOOP or nelm is None or count == 0:
        return None
    if count < nelm:
        return words.scf_reached is not False
    return words.scf_reached is True


def _relaxed(run: Run, words: Words) -> bool | None:
    """Whether the ions converged; None where nothing was to move."""
    nsw, ibrion = run.integer("NSW") or 0, run.integer("IBRION")
    if ibrion not in MOVING or nsw <= 1:
        return None
    return words.relaxed or (run.closed and not words.stopped and len(run.steps) < nsw)


def _failed(reason: str, message: str, hint: str) -> Verdict:
    return Verdict(completed=False, reason=reason, message=message, hint=hint)


def _warnings(
    run: Run, task: str, end: EndReceipt | None, recorded: list[dict[str, Any]]
) -> list[str]:
    said: list[str] = []
    if end is None:
        said.append("the exit code is not known: judged from the output alone")
    nelm = run.integer("NELM")
    earlier = sum(nelm is not None and len(s.scf_energies_ev) >= nelm for s in run.steps[:-1])
    if earlier:
        said.append(f"the electrons of {earlier} earlier steps did not converge")
    if task == "relax" and (run.integer("ISIF") or 0) >= 3 and len(run.steps) > 1:
        said.append(
            "the plane waves are those of the first cell: run a static calculation of the last "
            "structure for its energy"
        )
    titles = [row.get("title") for row in recorded]
    if recorded and run.titles and [" ".join(t.split()) for t in run.titles] != titles:
        said.append(
            f"VASP used the potentials {'; '.join(run.titles)}, the job was set up with "
            f"{'; '.join(str(title) for title in titles)}"
        )
    return said
