"""Progress and plots of a pw.x run, while it runs and afterwards. Bounded for outputs of any size.

Used by ``adapter``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from crystalmath.codes.espresso.fortran import number
from crystalmath.codes.espresso.geometry import lattice_angstrom
from crystalmath.codes.espresso.reading import load_end
from crystalmath.codes.espresso.run import Run, Scf
from crystalmath.codes.lattice import lattice_parameters, volume_angstrom3
from crystalmath.codes.plots import counted, plot
from crystalmath.services.ports import Progress
from crystalmath.units import KBAR_PER_GPA, RYDBERG_EV, RYDBERG_PER_BOHR_EV_PER_ANGSTROM

PROGRESS_BYTES: Final = 64 * 1024

_SCF: Final = re.compile(r"iteration #\s*(\d+)|estimated scf accuracy\s*<\s*(\S+) Ry")
_BFGS: Final = re.compile(r"number of bfgs steps\s*=\s*(\d+)")
_MD: Final = re.compile(r"Entering Dynamics:\s+iteration =\s*(\d+)")
_ENERGY: Final = re.compile(r"^!{1,2}\s+total energy\s*=\s*(\S+) Ry", re.MULTILINE)
_KPOINT: Final = re.compile(r"Computing kpt #:\s*(\d+)\s+of\s+(\d+)")


def progress_of(path: Path) -> Progress | None:
    """How far an output is, from its last lines, e.g. ``BFGS step 3, E -215.57 eV; SCF …``."""
    text = load_end(path, PROGRESS_BYTES)
    if not text:
        return None
    kpoint = _last(_KPOINT, text)
    if kpoint is not None:
        done, total = int(kpoint[1]), int(kpoint[2])
        return Progress(f"k point {done} of {total}", min(1.0, done / total) if total else None)
    words = [word for word in (_ionic(text), _scf(text)) if word is not None]
    return Progress("; ".join(words)) if words else None


def _ionic(text: str) -> str | None:
    step, energy = _last(_BFGS, text) or _last(_MD, text), _last(_ENERGY, text)
    if step is None:
        return None
    kind = "BFGS" if step.re is _BFGS else "MD"
    shown = "" if energy is None else f", E {number(energy[1]) * RYDBERG_EV:.4f} eV"
    return f"{kind} step {step[1]}{shown}"


def _scf(text: str) -> str | None:
    iteration, accuracy = "", ""
    for match in _SCF.finditer(text):
        if match[1] is not None:
            if match[1] == "1":
                accuracy = ""
            iteration = match[1]
        else:
            accuracy = match[2]
    if not iteration:
        return None
    try:
        shown = f", accuracy {number(accuracy):.1e} Ry" if accuracy else ""
    except ValueError:
        shown = ""
    return f"SCF iteration {iteration}{shown}"


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


def series_of(run: Run) -> Mapping[str, Any]:
    """Numbers for plots: the SCF by iteration, everything else by geometry."""
    accuracies = [value for scf in run.scfs for value in scf.accuracies_ry]
    energies = [value * RYDBERG_EV for scf in run.scfs for value in scf.energies_ry]
    iteration = "SCF iteration, all geometries"
    plots = {
        "scf_accuracy": plot(counted(accuracies), iteration, "SCF accuracy", "Ry"),
        "scf_energy": plot(counted(energies), iteration, "total energy", "eV"),
    }
    rows = [(index + 1, scf) for index, scf in enumerate(run.scfs)]
    for name, (label, unit) in _BY_GEOMETRY.items():
        points = [(float(n), value) for n, scf in rows for value in _value(name, scf)]
        plots[name] = plot(points, "geometry", label, unit)
    return {name: curve for name, curve in plots.items() if curve["y"]}


_BY_GEOMETRY: Final = {
    "energy": ("total energy", "eV"),
    "force": ("total force", "eV/Å"),
    "pressure": ("pressure", "GPa"),
    "magnetisation": ("total magnetisation", "μB"),
    "volume": ("volume", "Å³"),
    "a": ("lattice constant a", "Å"),
    "b": ("lattice constant b", "Å"),
    "c": ("lattice constant c", "Å"),
}


def _value(name: str, scf: Scf) -> Iterable[float]:
    """The value of one geometry, or nothing."""
    simple: dict[str, tuple[float | None, float]] = {
        "energy": (scf.energy_ry, RYDBERG_EV),
        "force": (scf.total_force_ry_per_bohr, RYDBERG_PER_BOHR_EV_PER_ANGSTROM),
        "pressure": (scf.pressure_kbar, 1 / KBAR_PER_GPA),
        "magnetisation": (scf.magnetisation, 1.0),
    }
    if name in simple:
        value, factor = simple[name]
        return () if value is None else (value * factor,)
    lattice = None if scf.cell is None else lattice_angstrom(scf.cell)
    if lattice is None or scf.energy_ry is None:
        return ()
    if name == "volume":
        return (volume_angstrom3(lattice),)
    return (lattice_parameters(lattice)[f"{name}_angstrom"],)
