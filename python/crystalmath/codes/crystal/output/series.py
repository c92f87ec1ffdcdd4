"""Progress and plots of a CRYSTAL run, while it runs and afterwards. Pure; used by ``adapter``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crystalmath.codes.crystal.output.curves import Bands, Dos
from crystalmath.codes.crystal.output.run import Geometry, Point, Run
from crystalmath.codes.plots import Points, counted, plot
from crystalmath.services.ports import Progress
from crystalmath.units import HARTREE_EV

MAX_BAND_POINTS: Final = 10_000
_TESTS: Final = {
    "max_gradient": "largest gradient",
    "rms_gradient": "mean gradient",
    "max_displacement": "largest displacement",
    "rms_displacement": "mean displacement",
}
"""Printed without units: the coordinates of an optimisation are of several kinds."""


def progress_of(run: Run) -> Progress | None:
    """How far a run is, e.g. ``geometry 3, E -7474.0361 eV; SCF cycle 5, change 2.1e-06 Ha``."""
    words = []
    if run.points:
        energy = next((p.energy for p in reversed(run.points) if p.energy is not None), None)
        shown = "" if energy is None else f", E {energy * HARTREE_EV:.4f} eV"
        words.append(f"geometry {run.points[-1].number}{shown}")
    scf = run.scf
    # In an optimisation only the SCF of the first geometry is in the output.
    if scf is not None and scf.energies and (scf.converged is None or not run.points):
        cycle = scf.first + len(scf.energies) - 1
        words.append(f"SCF cycle {cycle}, change {abs(scf.changes[-1]):.1e} Ha")
    return Progress("; ".join(words)) if words else None


def series_of(run: Run, bands: Bands | None = None, dos: Dos | None = None) -> Mapping[str, Any]:
    """Every curve that there is."""
    curves = {**_scf(run), **_optimisation(run), **_spectrum(run), **_equation(run)}
    if bands is not None:
        curves |= _bands(bands)
    if dos is not None:
        curves |= _dos(dos)
    return {name: curve for name, curve in curves.items() if curve["y"]}


def _scf(run: Run) -> dict[str, Any]:
    scf = run.scf
    if scf is None:
        return {}
    energies = counted([value * HARTREE_EV for value in scf.energies], scf.first)
    changes = counted([abs(value) * HARTREE_EV for value in scf.changes], scf.first)
    # The first change is the whole energy.
    return {
        "scf_energy": plot(energies, "SCF cycle", "total energy", "eV"),
        "scf_accuracy": plot(changes[1:], "SCF cycle", "change of the energy", "eV"),
    }


def _optimisation(run: Run) -> dict[str, Any]:
    points = run.points
    curves = {
        "energy": plot(
            [(float(n), e * HARTREE_EV) for n, e in _energies(run)],
            "geometry",
            "total energy",
            "eV",
        )
    }
    for name, label in _TESTS.items():
        values = [(float(p.number), p.tests[name].value) for p in points if name in p.tests]
        curves[name] = plot(values, "geometry", label, "")
    for name, unit in (("volume", "Å³"), ("a", "Å"), ("b", "Å"), ("c", "Å")):
        label = name if name == "volume" else f"lattice constant {name} (primitive cell)"
        curves[name] = plot(_cells(points, name, run.dimensionality), "geometry", label, unit)
    return curves


def _energies(run: Run) -> Iterator[tuple[int, float]]:
    """The energy of each geometry; that of the first one stands in its SCF."""
    first = run.scfs[0] if run.scfs else None
    for point in run.points:
        energy = point.energy
        if energy is None and point.number == 1 and first is not None and first.converged:
            energy = first.energy
        if energy is not None:
            yield point.number, energy


def _cells(points: list[Point], name: str, dimensionality: int | None) -> Points:
    found: Points = []
    if dimensionality != len("abc"):
        return found
    for point in points:
        value = _of_cell(point.geometry, name)
        if value is not None:
            found.append((float(point.number), value))
    return found


def _of_cell(geometry: Geometry | None, name: str) -> float | None:
    if geometry is None or geometry.cell is None:
        return None
    if name == "volume":
        return geometry.cell.volume
    return geometry.cell.lengths["abc".index(name)]


def _equation(run: Run) -> dict[str, Any]:
    if run.equation is None:
        return {}
    points = [(volume, energy * HARTREE_EV) for volume, energy in run.equation.points]
    return {"eos_energy": plot(points, "volume / Å³", "total energy", "eV")}


def _spectrum(run: Run) -> dict[str, Any]:
    """Intensities over frequencies, as sticks: up and down again at each."""
    curves: dict[str, Any] = {}
    infrared = [(m.cm1, m.ir_km_per_mol) for m in run.modes if m.ir_km_per_mol]
    raman = [(m.cm1, m.raman["total"]) for m in run.modes if m.raman.get("total")]
    for name, lines, label, unit in (
        ("ir_intensity", infrared, "IR intensity", "km/mol"),
        ("raman_intensity", raman, "Raman intensity", ""),
    ):
        sticks = [(x, value) for x, y in sorted(lines) for value in (0.0, y, 0.0)]
        curves[name] = plot(sticks, "frequency / cm⁻¹", label, unit)
    frequencies = [mode.cm1 for mode in run.modes for _ in range(mode.first, mode.last + 1)]
    curves["frequencies"] = plot(counted(frequencies), "mode", "frequency", "cm⁻¹")
    return curves


_CHANNELS: Final = {1: ("",), 2: ("_alpha", "_beta")}


def _bands(bands: Bands) -> dict[str, Any]:
    """All bands of a spin as one curve: each from left to right, with a gap before the next."""
    corners = ", ".join(
        f"({' '.join(str(n) for n in label.place)})/{label.per}" for label in bands.labels
    )
    x_label = f"path {corners}" if corners else "path"
    curves: dict[str, Any] = {}
    shown = min(bands.n_bands, MAX_BAND_POINTS // (bands.n_kpoints + 1))
    for channel, rows in zip(_CHANNELS[bands.n_spins], bands.energies, strict=True):
        points: list[tuple[float, float | None]] = []
        for band in _nearest(rows, shown):
            points += [
                (x, row[band] * HARTREE_EV) for x, row in zip(bands.distances, rows, strict=True)
            ]
            points.append((bands.distances[-1], None))
        curves[f"bands{channel}"] = plot(points, x_label, "energy from the Fermi level", "eV")
    return curves


def _nearest(rows: list[list[float]], count: int) -> list[int]:
    """The bands nearest to the Fermi level, in their order; core levels would flatten the rest."""
    middle = rows[0]
    ranked = sorted(range(len(middle)), key=lambda band: abs(middle[band]))
    near = [band for band in ranked if abs(middle[band]) * HARTREE_EV <= VALENCE_EV]
    return sorted((near or ranked)[:count])


VALENCE_EV: Final = 40.0
"""Bands further from the Fermi level are not drawn."""


def _dos(dos: Dos) -> dict[str, Any]:
    curves: dict[str, Any] = {}
    for channel, columns in zip(_CHANNELS[dos.n_spins], dos.densities, strict=True):
        for number, column in enumerate(columns, start=1):
            is_total = number == len(columns)
            name = f"dos{channel}" if is_total else f"dos{channel}_{number}"
            what = "all states" if is_total else f"projection {number}"
            points = [
                (x * HARTREE_EV, y / HARTREE_EV) for x, y in zip(dos.energies, column, strict=True)
            ]
            curves[name] = plot(
                points, "energy from the Fermi level / eV", f"density of {what}", "1/eV"
            )
    return curves
