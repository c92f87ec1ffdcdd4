"""How a pw.x job that did not complete goes on: from its saved state, or its last geometry.

The fix is proposed from what went wrong and written into the deck, so that it can be seen before
it runs. Used by ``adapter``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from crystalmath.codes.ending import refuse_unbegun
from crystalmath.codes.espresso import pseudo, saved
from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.geometry import positions_angstrom
from crystalmath.codes.espresso.options import MOVING, RELAXING, DeckOptions
from crystalmath.codes.espresso.prepare import find_deck
from crystalmath.codes.espresso.reading import find_outputs, load_deck, load_run
from crystalmath.codes.espresso.run import Cell, Positions, Run
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import Continuation, InputFile, JobRequest

MOST_ITERATIONS: Final = 500
LEAST_MIXING: Final = 0.1
_CELL_KEYS: Final = (
    *(f"celldm({i})" for i in range(1, 7)),
    *("a", "b", "c", "cosab", "cosac", "cosbc"),
)


def proceed(directory: Path, request: JobRequest, reason: str | None) -> Continuation:
    """Return what the job that goes on is made of.

    Parameters
    ----------
    directory
        Of the job that did not complete.
    request
        What it was asked for.
    reason
        Why it failed; None when it was cancelled.

    Raises
    ------
    InputRejected
        There is nothing to go on from.
    """
    refuse_unbegun(reason)
    name = _deck_name(directory, request)
    deck, outputs = load_deck(directory / name), find_outputs(directory)
    if deck is None or not outputs:
        raise InputRejected(
            "the deck or the output of the job is gone", hint="submit it anew", field="id"
        )
    run = load_run(outputs[0])
    notes: list[str] = []
    deck = deck.without("control", "max_seconds").without("control", "restart_mode")
    earlier = _restart_files(directory, deck, run)
    if earlier:
        deck = deck.with_value("control", "restart_mode", "restart")
        notes.append("goes on from the saved state (restart_mode = 'restart')")
    else:
        deck = _from_geometry(deck, run, notes)
    deck = _repaired(deck, run, reason, notes)
    written = {*DeckOptions.model_fields, "save_from"}  # they stand in the deck now
    inputs = {k: v for k, v in request.inputs.items() if k not in written}
    return Continuation(
        fix="; ".join(notes),
        inputs={**inputs, "deck": name},
        files=(
            InputFile(name, content=deck.text),
            *_kept_files(directory, request.files, name, deck),
            *earlier,
        ),
        structure=None,
    )


def _deck_name(directory: Path, request: JobRequest) -> str:
    """The deck among the files of the request, or the one that was written for its structure."""
    if request.structure is not None:
        written = sorted(path.name for path in directory.glob("*.in") if path.is_file())
        if written:
            return written[0]
    return find_deck(request.files, request.inputs.get("deck")).file.path


def _restart_files(directory: Path, deck: Deck, run: Run) -> tuple[InputFile, ...]:
    """The saved state, where pw.x stopped by itself and it can be copied."""
    stopped_well = run.stopped_by_time and run.job_done
    dynamics = deck.calculation in {"md", "vc-md"} and run.md_steps > 0
    if not (stopped_well or dynamics):
        return ()
    folder = directory / saved.FOLDER
    if not (folder / f"{deck.prefix}.save").is_dir():
        return ()
    try:
        return saved.files_of(folder, deck.prefix, everything=True)
    except InvalidParams:
        # More than is copied: the last geometry costs some SCF iterations and no disk.
        return ()


def _from_geometry(deck: Deck, run: Run, notes: list[str]) -> Deck:
    # The first positions are those of the deck.
    moved = len(run.scfs) > 1 or run.max_steps_reached
    usable = run.cell is not None and run.positions is not None and deck.lists_every_atom
    if deck.calculation not in MOVING or not moved or not usable:
        notes.append("starts again from its beginning: no state was saved")
        return deck
    assert run.cell is not None
    assert run.positions is not None
    lost = "" if deck.calculation in RELAXING else ", without its velocities"
    notes.append(f"starts from its last geometry, number {len(run.scfs)}{lost}")
    return with_geometry(deck, run.cell, run.positions)


def with_geometry(deck: Deck, cell: Cell, positions: Positions) -> Deck:
    """The deck with another geometry, as pw.x printed it."""
    if not deck.calculation.startswith("vc-"):
        return deck.with_card("ATOMIC_POSITIONS", positions.unit, positions.lines)
    lines: Sequence[str] = positions.lines
    unit = positions.unit
    if unit == "alat" and cell.unit != "alat":
        # alat would become the length of the new first vector.
        lines, unit = _in_angstrom(cell, positions), "angstrom"
    for key in _CELL_KEYS:
        if key != "celldm(1)" or cell.unit == "alat":
            deck = deck.without("system", key)
    deck = deck.with_value("system", "ibrav", 0)
    if cell.unit == "alat" and cell.alat_bohr is not None:
        deck = deck.with_value("system", "celldm(1)", cell.alat_bohr)
    rows = [" ".join(f"{value:14.9f}" for value in vector) for vector in cell.vectors]
    deck = deck.with_card("CELL_PARAMETERS", cell.unit, rows)
    return deck.with_card("ATOMIC_POSITIONS", unit, lines)


def _in_angstrom(cell: Cell, positions: Positions) -> list[str]:
    places = positions_angstrom(positions, cell) or ()
    flags = [" ".join(line.split()[4:]) for line in positions.lines]
    return [
        f"{label} {x:.10f} {y:.10f} {z:.10f} {flag}".rstrip()
        for label, (x, y, z), flag in zip(positions.labels, places, flags, strict=True)
    ]


def _repaired(deck: Deck, run: Run, reason: str | None, notes: list[str]) -> Deck:
    """Change what made it fail."""
    scf = run.scf
    if scf is not None and scf.converged is False:
        return _better_scf(deck, scf.accuracies_ry, notes)
    if deck.calculation in RELAXING and run.max_steps_reached:
        steps = deck.count("control", "nstep") or 50
        notes.append(f"nstep {steps} → {2 * steps}")
        return deck.with_value("control", "nstep", 2 * steps)
    if any("radial FFT" in message for _, message in run.errors) and "cell" in deck.namelists:
        notes.append("cell_factor = 2, because the cell grew more than was foreseen")
        return deck.with_value("cell", "cell_factor", 2.0)
    if reason in {"disk_full", "out_of_memory"}:
        notes.append("nothing in the deck was changed: first give it the space that it lacked")
    elif run.stopped_by_time:
        notes.append("max_seconds is taken out; the job's time limit sets it again")
    return deck


def _better_scf(deck: Deck, accuracies_ry: Sequence[float], notes: list[str]) -> Deck:
    """More iterations; and, where the accuracy did not get better any more, less mixing."""
    most = deck.count("electrons", "electron_maxstep") or 100
    more = min(MOST_ITERATIONS, max(100, 2 * most))
    if more > most:
        notes.append(f"electron_maxstep {most} → {more}")
        deck = deck.with_value("electrons", "electron_maxstep", more)
    best = min(accuracies_ry, default=0.0)
    if accuracies_ry and accuracies_ry[-1] <= 2 * best and more > most:
        return deck
    beta = deck.value("electrons", "mixing_beta", 0.7)
    beta = beta if isinstance(beta, int | float) else 0.7
    if beta > LEAST_MIXING:
        less = max(LEAST_MIXING, round(beta / 2, 3))
        notes.append(f"mixing_beta {beta:g} → {less:g}")
        return deck.with_value("electrons", "mixing_beta", less)
    notes.append("mixing_mode = 'local-TF'")
    return deck.with_value("electrons", "mixing_mode", "local-TF")


def _kept_files(
    directory: Path, files: Sequence[InputFile], deck_name: str, deck: Deck
) -> tuple[InputFile, ...]:
    """The other files of the job, as they are in its directory."""
    kept: dict[str, InputFile] = {}
    for species in deck.species:
        path = directory / pseudo.FOLDER / species.file
        if path.is_file():
            target = f"{pseudo.FOLDER}/{species.file}"
            kept[target] = InputFile(target, source=str(path))
    names = {PurePosixPath(path).name for path in kept}
    for file in files:
        is_restart = file.path.startswith(f"{saved.FOLDER}/")
        path = directory / file.path
        if file.path == deck_name or is_restart or PurePosixPath(file.path).name in names:
            continue
        if path.is_file():
            kept[file.path] = InputFile(file.path, source=str(path), executable=file.executable)
    return tuple(kept.values())
