"""How a CRYSTAL job that did not complete goes on: from what was collected of it.

The fix is proposed from what went wrong and written into the deck, so that it can be seen before
it runs. Used by ``adapter``.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from crystalmath.codes.crystal.output.run import Run
from crystalmath.codes.crystal.run import restart
from crystalmath.codes.crystal.run.prepare import CRLF
from crystalmath.codes.crystal.run.staging import DECKS, STAGED, WAVE_DECK
from crystalmath.codes.decks import MAX_DECK_BYTES, clean_text
from crystalmath.codes.ending import refuse_unbegun
from crystalmath.codes.outputs import read_head
from crystalmath.errors import InputRejected
from crystalmath.services.ports import Continuation, InputFile, JobRequest


def proceed(directory: Path, request: JobRequest, reason: str | None, run: Run) -> Continuation:
    """Return what the job that goes on is made of.

    Parameters
    ----------
    directory
        Of the job that did not complete.
    request
        What it was asked for.
    reason
        Why it failed; None when it was cancelled.
    run
        What its output holds.

    Raises
    ------
    InputRejected
        There is nothing to go on from.
    """
    refuse_unbegun(reason)
    name = _deck_name(directory, request)
    raw, _ = read_head(directory / name, MAX_DECK_BYTES) if name else (b"", 0)
    if name is None or not raw:
        raise InputRejected("the deck of the job is gone", hint="submit it anew", field="id")
    text, _ = clean_text(raw, crlf=CRLF)
    stem = PurePosixPath(name).with_suffix("").as_posix()
    notes: list[str] = []
    if name.lower().endswith(WAVE_DECK):
        text = _changed(text, directory, stem, reason, run, notes)
    if not notes:
        notes.append("starts again from its beginning: no state was saved")
    kept = {
        f"{stem}{ending}": InputFile(f"{stem}{ending}", source=str(directory / f"{stem}{ending}"))
        for ending in STAGED
        if _has(directory, f"{stem}{ending}")
    }
    others = [
        InputFile(file.path, source=str(directory / file.path), executable=file.executable)
        for file in request.files
        if file.path != name
        and PurePosixPath(file.path).suffix.lower() not in STAGED
        and _has(directory, file.path)
    ]
    dropped = {"deck", "auxiliary", "options"}
    inputs = {key: value for key, value in request.inputs.items() if key not in dropped}
    return Continuation(
        fix="; ".join(notes),
        inputs={**inputs, "deck": name},
        files=(InputFile(name, content=text), *kept.values(), *others),
        structure=None,
    )


def _deck_name(directory: Path, request: JobRequest) -> str | None:
    """The deck's path; it was written here where the job was given a structure."""
    named = request.inputs.get("deck")
    paths = [file.path for file in request.files if file.path.lower().endswith(DECKS)]
    paths.sort(key=lambda path: not path.lower().endswith(WAVE_DECK))
    if isinstance(named, str):
        return PurePosixPath(named).as_posix()
    if paths:
        return PurePosixPath(paths[0]).as_posix()
    written = sorted(directory.glob(f"*{WAVE_DECK}"))
    return written[0].name if len(written) == 1 else None


def _has(directory: Path, name: str) -> bool:
    path = directory / name
    return path.is_file() and path.stat().st_size > 0


def _changed(
    text: str, directory: Path, stem: str, reason: str | None, run: Run, notes: list[str]
) -> str:
    for block, ending, what in (
        ("OPTGEOM", ".optinfo", "the optimisation"),
        ("FREQCALC", ".freqinfo", "the calculation of frequencies"),
    ):
        if _has(directory, f"{stem}{ending}") and restart.block_of(text.splitlines(), block):
            text = restart.with_restart(text, block)
            notes.append(f"goes on with {what} (RESTART in {block})")
    if _has(directory, f"{stem}.f9"):
        text = restart.with_guess(text)
        notes.append("starts from its wave function (GUESSP)")
    change = None
    scf = run.scf
    if reason == "not_converged" and scf is not None and scf.converged is False:
        text, change = restart.with_more_scf_cycles(text)
    elif reason == "not_converged" and run.optimises:
        text, change = restart.with_more_opt_cycles(text)
    if change is not None:
        notes.append(change)
    if reason in {"disk_full", "out_of_memory"}:
        notes.append("nothing else was changed: first give it the space that it lacked")
    return text
