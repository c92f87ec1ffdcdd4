"""What the daemon reads of a forces job: its steps while it runs, its result when it ended."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.forces import task as files
from crystalmath.codes.tail import read_tail
from crystalmath.domain.states import REASONS
from crystalmath.services.ports import Progress, Verdict

MAX_ARRAY_ATOMS: Final = 256
"""Arrays per atom of larger systems stay in the file ``result.json``."""
MAX_RESULT_BYTES: Final = 256 * 1024**2
MAX_STEPS_BYTES: Final = 32 * 1024**2

_SERIES: Final = {
    "energy": ("energy_ev", "energy", "eV"),
    "fmax": ("fmax_ev_per_a", "largest force", "eV/Å"),
    "smax": ("smax_gpa", "largest stress", "GPa"),
    "volume": ("volume_angstrom3", "volume", "Å³"),
    "a": ("a_angstrom", "lattice constant a", "Å"),
}
_DYNAMICS: Final = {
    "temperature": ("temperature_k", "temperature", "K"),
    "energy": ("energy_ev", "potential energy", "eV"),
    "total_energy": ("total_ev", "potential and kinetic energy", "eV"),
    "pressure": ("pressure_gpa", "pressure", "GPa"),
    "volume": ("volume_angstrom3", "volume", "Å³"),
}
MAX_HEAD_BYTES: Final = 8192
"""Of ``input.json``: the options come before the structure."""


def judge_result(directory: Path, rc: int | None) -> Verdict | None:
    """Judge by ``result.json`` and the exit code; None when they say nothing together."""
    if rc == files.EXIT_DISK_FULL:
        return Verdict(
            completed=False,
            reason="disk_full",
            message="the disk of the job directory was full",
            hint="free space on that disk; `jobs.continue` then goes on from its checkpoint",
        )
    if rc not in {files.EXIT_OK, files.EXIT_NOT_CONVERGED, files.EXIT_FAILED}:
        return None
    document = _load_result(directory)
    if document is None:
        return None
    if document.get("status") == "failed":
        reason = document.get("reason")
        return Verdict(
            completed=False,
            reason=reason if reason in REASONS else "crashed",
            message=str(document.get("message")),
            hint=document.get("hint"),
        )
    if rc == files.EXIT_FAILED:
        return None
    return _judge_numbers(document, rc)


def _judge_numbers(document: dict[str, Any], rc: int | None) -> Verdict | None:
    energy = document.get("energy_ev")
    if not isinstance(energy, float) or not math.isfinite(energy):
        return None
    converged = document.get("converged")
    if document.get("task") == "relax" and not isinstance(converged, bool):
        return None
    completed = converged is not False and rc == files.EXIT_OK
    return Verdict(
        completed=completed,
        reason=None if completed else "not_converged",
        message=None if completed else _not_converged(document),
        hint=None
        if completed
        else "`jobs.continue` goes on from the last geometry with more steps; or try another "
        "optimizer: `inputs.optimizer: FIRE`",
        results=_trim(document),
        warnings=tuple(str(warning) for warning in document.get("warnings", ())),
        converged=converged,
        energy_ev=energy,
    )


def _not_converged(document: dict[str, Any]) -> str:
    criteria = document.get("criteria", {})
    text = (
        f"not converged after {document.get('n_steps')} steps: "
        f"fmax {document.get('fmax_ev_per_a', math.nan):.3g} eV/Å "
        f"(wanted {criteria.get('fmax_ev_per_a')})"
    )
    if criteria.get("smax_gpa") is not None and "smax_gpa" in document:
        text += f", smax {document['smax_gpa']:.3g} GPa (wanted {criteria['smax_gpa']})"
    return text


def _load_result(directory: Path) -> dict[str, Any] | None:
    text = read_tail(directory / files.RESULT, MAX_RESULT_BYTES)
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return None
    if not isinstance(document, dict) or document.get("format") != 1:
        return None
    return document


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _trim(document: dict[str, Any]) -> dict[str, Any]:
    if int(document.get("n_atoms", 0)) <= MAX_ARRAY_ATOMS:
        return document
    left_out = {"forces_ev_per_a", "structure"}
    trimmed = {key: value for key, value in document.items() if key not in left_out}
    return {**trimmed, "arrays_in": files.RESULT}


def progress_of(directory: Path) -> Progress | None:
    """Return ``step 9  fmax 0.04 eV/Å  smax 0.3 GPa``, or None before the first step."""
    steps = _parse_steps(read_tail(directory / files.STEPS, 4096))
    if not steps:
        return None
    last = steps[-1]
    if "temperature_k" in last:
        text = (
            f"step {last['step']}  {last['time_fs'] / 1000:.3f} ps  {last['temperature_k']:.0f} K"
        )
        return Progress(text, _fraction(directory, last["step"]))
    text = f"step {last['step']}  fmax {last['fmax_ev_per_a']:.3g} eV/Å"
    if last.get("smax_gpa") is not None:
        text += f"  smax {last['smax_gpa']:.3g} GPa"
    return Progress(text)


def _fraction(directory: Path, step: int) -> float | None:
    """How much of a molecular dynamics is done."""
    try:
        with (directory / files.INPUT).open(encoding="utf-8") as stream:
            head = stream.read(MAX_HEAD_BYTES)
        wanted = int(re.search(r'"steps": (\d+)', head).group(1))  # type: ignore[union-attr]
    except (OSError, AttributeError, ValueError):
        return None
    return min(1.0, step / wanted)


def load_steps(directory: Path) -> list[dict[str, Any]]:
    """Return all steps, or the last :data:`MAX_STEPS_BYTES` of them."""
    return _parse_steps(read_tail(directory / files.STEPS, MAX_STEPS_BYTES))


def _parse_steps(text: str) -> list[dict[str, Any]]:
    """Parse whole lines; a line that is being written, or cut at either end, is left out."""
    steps: list[dict[str, Any]] = []
    for line in text.split("\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and all(
            isinstance(row.get(key), int | float) for key in ("step", "energy_ev", "fmax_ev_per_a")
        ):
            steps.append(row)
    return steps


def series_of(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the plots of a run; those without any value are left out."""
    plots: dict[str, Any] = {}
    moving = bool(steps) and "time_fs" in steps[0]
    axis, axis_label = ("time_fs", "time / fs") if moving else ("step", "step")
    for name, (key, label, unit) in (_DYNAMICS if moving else _SERIES).items():
        rows = [(row[axis], row[key]) for row in steps if row.get(key) is not None]
        if rows:
            plots[name] = {
                "x": [x for x, _ in rows],
                "y": [y for _, y in rows],
                "x_label": axis_label,
                "y_label": label,
                "unit": unit,
            }
    return plots
