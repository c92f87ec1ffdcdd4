"""The levels that pw.x writes into its XML file: read as a stream, in hartree, returned in eV.

Run by a worker process: such a file may hold many thousands of k points. Plain values only.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from crystalmath.codes.espresso.bands.decks import BANDS, NSCF
from crystalmath.codes.espresso.steps import SCF
from crystalmath.codes.outputs import open_regular
from crystalmath.errors import OutputUnreadable
from crystalmath.units import BOHR_ANGSTROM, HARTREE_EV

_DECIMALS: Final = 6
"""Of energies in eV: a hundred times better than what an SCF gives."""


def read(directory: str) -> dict[str, Any]:
    """The levels of a job: ``bands`` and, where there is a mesh, ``nscf``.

    Returns
    -------
    dict
        For each step what :func:`read_levels` gives; of the SCF ``magnetisation_mu_b``,
        ``scf_fermi_ev``, ``scf_mesh`` and ``scf_occupations``.

    Raises
    ------
    OutputUnreadable
    """
    place = Path(directory)
    found: dict[str, Any] = {BANDS: read_levels(place / f"{BANDS}.xml")}
    if (place / f"{NSCF}.xml").is_file():
        found[NSCF] = read_levels(place / f"{NSCF}.xml")
    scf = read_levels(place / f"{SCF}.xml")
    found["magnetisation_mu_b"] = scf["magnetisation_mu_b"]
    found["scf_fermi_ev"] = scf["fermi_ev"]
    found["scf_mesh"] = scf["mesh"]
    found["scf_occupations"] = scf["occupations"]
    return found


def read_levels(path: Path) -> dict[str, Any]:
    """Read one file.

    Returns
    -------
    dict
        ``lattice`` (Å, rows), ``k_points`` (fractions of the reciprocal vectors), ``weights``,
        ``energies_ev`` (by spin, k point, band), ``occupied_ev``, ``electrons``, ``fermi_ev``,
        ``magnetisation_mu_b``, ``occupations`` (``fixed`` …), ``mesh`` (sizes and half
        steps; None where k points were listed),
        ``rotations`` (on fractions of positions, as pw.x prints them), ``inverts`` (−k stands for
        k).

    Raises
    ------
    OutputUnreadable
    """
    stream = open_regular(path)
    if stream is None:
        raise OutputUnreadable(f"{path.name} is gone, in which pw.x has written the levels")
    reader = _Reader()
    try:
        with stream:
            for names, element in _elements(stream):
                reader.take(names, element)
        return reader.document()
    except (ET.ParseError, ValueError, KeyError, IndexError, TypeError) as error:
        raise OutputUnreadable(
            f"{path.name} cannot be read: {type(error).__name__}: {error}"[:300],
            hint="was pw.x ended while it wrote? `jobs.rerun` computes it again",
        ) from error


def _elements(stream: Any) -> Iterator[tuple[tuple[str, ...], ET.Element]]:
    """Every element at its end, with the names of what it stands in; freed when it was taken."""
    names: list[str] = []
    for event, element in ET.iterparse(stream, events=("start", "end")):  # noqa: S314 - written by our own job
        if event == "start":
            names.append(element.tag.rpartition("}")[2])
            continue
        if len(names) > 1 and names[1] in ("output", "input"):
            yield tuple(names[1:]), element
        names.pop()
        if names and names[-1] not in ("ks_energies", "symmetry", "k_point"):
            element.clear()


def _numbers(element: ET.Element | None) -> list[float]:
    if element is None or element.text is None:
        raise KeyError("a list of numbers is missing")
    return [float(word) for word in element.text.split()]


class _Reader:
    """Takes the elements one after the other."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._cell: list[list[float]] = []
        self._alat = 0.0
        self._mesh: list[int] | None = None
        self._rotations: list[list[int]] = []
        self._k: list[list[float]] = []
        self._weights: list[float] = []
        self._levels: list[list[float]] = []
        self._no_inversion = False

    def take(self, names: tuple[str, ...], element: ET.Element) -> None:
        """Keep what is needed of one element."""
        tag, text = names[-1], (element.text or "").strip()
        if names[0] == "input":
            if tag == "noinv":
                self._no_inversion = text == "true"
            return
        if names[1:2] == ("atomic_structure",):
            self._take_cell(tag, element)
        elif tag == "symmetry":
            self._take_symmetry(element)
        elif tag == "ks_energies":
            self._take_k_point(element)
        elif names[1:3] == ("band_structure", "starting_k_points") and tag == "monkhorst_pack":
            self._mesh = [
                int(element.get(key, "")) for key in ("nk1", "nk2", "nk3", "k1", "k2", "k3")
            ]
        elif names[1:2] in (("band_structure",), ("magnetization",)) and len(names) == 3:
            self._values[tag] = text

    def _take_cell(self, tag: str, element: ET.Element) -> None:
        if tag in ("a1", "a2", "a3"):
            self._cell.append(_numbers(element))
        elif tag == "atomic_structure":
            self._alat = float(element.get("alat", "nan"))

    def _take_symmetry(self, element: ET.Element) -> None:
        info = element.find("info")
        if info is not None and (info.text or "").strip() == "crystal_symmetry":
            self._rotations.append([round(value) for value in _numbers(element.find("rotation"))])
        element.clear()

    def _take_k_point(self, element: ET.Element) -> None:
        point = element.find("k_point")
        self._k.append(_numbers(point))
        self._weights.append(float("nan" if point is None else point.get("weight", "nan")))
        self._levels.append(_numbers(element.find("eigenvalues")))
        element.clear()

    def document(self) -> dict[str, Any]:
        """What was found."""
        if self._values.get("noncolin") == "true":
            raise ValueError("levels of spinors")
        spins = 2 if self._values["lsda"] == "true" else 1
        if not self._k or len(self._cell) != 3 or not self._alat > 0:
            raise KeyError("the cell or the k points are missing")
        # k points are Cartesian, in 2π/alat; the cell is in bohr
        fractions = [
            [sum(a * b for a, b in zip(row, k, strict=True)) / self._alat for row in self._cell]
            for k in self._k
        ]
        return {
            "lattice": [[value * BOHR_ANGSTROM for value in row] for row in self._cell],
            "k_points": [[round(value, 9) + 0.0 for value in k] for k in fractions],
            "weights": self._weights,
            "energies_ev": _by_spin(self._levels, spins),
            "electrons": float(self._values["nelec"]),
            "fermi_ev": self._energy("fermi_energy"),
            "occupied_ev": self._energy("highestOccupiedLevel"),
            "magnetisation_mu_b": float(self._values.get("total", 0.0)),
            "mesh": self._mesh,
            "occupations": self._values.get("occupations_kind"),
            "rotations": self._rotations,
            "inverts": not self._no_inversion,
        }

    def _energy(self, name: str) -> float | None:
        text = self._values.get(name)
        return None if text is None else round(float(text) * HARTREE_EV, _DECIMALS)


def _by_spin(levels: list[list[float]], spins: int) -> list[list[list[float]]]:
    """Levels in eV by spin: pw.x writes those of both spins of a k point one after the other."""
    n = len(levels[0]) // spins
    if any(len(row) != n * spins for row in levels):
        raise ValueError("k points have different numbers of levels")
    return [
        [
            [round(value * HARTREE_EV, _DECIMALS) for value in row[s * n : (s + 1) * n]]
            for row in levels
        ]
        for s in range(spins)
    ]
