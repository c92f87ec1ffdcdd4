"""Progress and plots of a run of VASP, while it runs and afterwards. Used by ``adapter``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.lattice import lattice_parameters, volume_angstrom3
from crystalmath.codes.plots import counted, plot
from crystalmath.codes.tail import read_tail
from crystalmath.codes.vasp.output.files import OSZICAR
from crystalmath.codes.vasp.output.run import Run, Step
from crystalmath.services.ports import Progress
from crystalmath.units import KBAR_PER_GPA

_BYTES: Final = 16 * 1024
_ELECTRONIC: Final = re.compile(
    r"^\s*(?:DAV|RMM|CG|DMP|CGA|SDA):\s*(\d+)\s+(\S+)\s+(\S+)", re.MULTILINE
)
_IONIC: Final = re.compile(r"^\s*(\d+)\s+F=\s*(\S+)", re.MULTILINE)


def progress_of(directory: Path) -> Progress | None:
    """How far a run is, from the end of OSZICAR, e.g. ``step 3, E -12.0313 eV; SCF step 7``."""
    text = read_tail(directory / OSZICAR, _BYTES)
    ionic = list(_IONIC.finditer(text))
    words: list[str] = []
    begin = 0
    if ionic:
        begin = ionic[-1].end()
        words.append(f"step {ionic[-1][1]}, E {_shown(ionic[-1][2])} eV")
    electronic = list(_ELECTRONIC.finditer(text, begin))
    if electronic:
        words.append(f"SCF step {electronic[-1][1]}, change {electronic[-1][3]} eV")
    return Progress("; ".join(words)) if words else None


def _shown(text: str) -> str:
    try:
        return f"{float(text):.4f}"
    except ValueError:
        return text


def series_of(run: Run) -> Mapping[str, Any]:
    """Numbers for plots: the SCF by step, everything else by ionic step."""
    steps = [*run.steps, *([run.unfinished] if run.unfinished is not None else [])]
    energies = [value for step in steps for value in step.scf_energies_ev]
    plots = {
        "scf_energy": plot(
            counted(energies), "electronic step, all geometries", "free energy", "eV"
        )
    }
    for name, (label, unit) in _BY_STEP.items():
        points = [
            (float(n), value)
            for n, step in enumerate(run.steps, start=1)
            if (value := _value(name, step)) is not None
        ]
        plots[name] = plot(points, "ionic step", label, unit)
    return {name: curve for name, curve in plots.items() if curve["y"]}


_BY_STEP: Final = {
    "energy": ("free energy", "eV"),
    "force": ("largest force", "eV/Å"),
    "pressure": ("pressure", "GPa"),
    "volume": ("volume", "Å³"),
    "a": ("lattice constant a", "Å"),
}


def _value(name: str, step: Step) -> float | None:
    if name == "energy":
        return step.free_energy_ev
    if name == "force" and step.forces_ev_per_a:
        return max(sqrt(sum(c * c for c in force)) for force in step.forces_ev_per_a)
    if name == "pressure" and len(step.stress_kbar) == 3:
        return sum(step.stress_kbar[i][i] for i in range(3)) / 3 / KBAR_PER_GPA
    if step.lattice is None:
        return None
    if name == "volume":
        return volume_angstrom3(step.lattice)
    return lattice_parameters(step.lattice)["a_angstrom"] if name == "a" else None
