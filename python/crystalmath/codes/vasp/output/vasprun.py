"""``vasprun.xml`` as a stream: energies, forces, stress, cells and levels of a run.

Own reader, as the one of structures: pymatgen's holds the whole file in memory, which of a long run
is gigabytes, and this one runs in the daemon for small files. Of the eigenvalues only the edges are
kept, of the densities of states nothing. The format: https://www.vasp.at/wiki/index.php/Vasprun.xml
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import BinaryIO, Final
from xml.etree import ElementTree as ET

from crystalmath.codes.vasp.output.run import Levels, Matrix, Run, Step, Vector
from crystalmath.domain.elements import SYMBOLS

HALF: Final = 0.5
"""Occupation from which a level counts as occupied."""
WHOLE: Final = 0.02
"""How far from 0 and 1 an occupation is, where a level is partly occupied."""
_PARAMETERS: Final = frozenset({
    "NELM", "NSW", "IBRION", "ISIF", "EDIFF", "EDIFFG", "ENCUT", "ENMAX", "ISPIN", "ISMEAR",
    "NBANDS", "NELECT", "ALGO", "ICHARG", "LNONCOLLINEAR", "LSORBIT", "SIGMA", "PREC", "LREAL",
    "GGA", "METAGGA",
})  # fmt: skip
_CLEARED: Final = frozenset(
    {"calculation", "dos", "projected", "parameters", "kpoints", "r", "v", "scstep"}
)
_TRUNCATED_NAMES: Final = {"r": "Zr"}


def parse_vasprun(stream: BinaryIO) -> Run:
    """Read a vasprun.xml as far as it goes."""
    reader = _Reader()
    try:
        # expat bounds what entities expand to, and nothing is fetched from elsewhere
        for event, node in ET.iterparse(stream, ("start", "end")):  # noqa: S314
            if event == "start":
                reader.begin(node)
            else:
                reader.end(node)
    except ET.ParseError as error:
        reader.run.broken = str(error)
    return reader.finish()


class _Reader:
    """Takes elements as they end, and forgets them."""

    def __init__(self) -> None:
        self.run = Run()
        self._inside: list[ET.Element] = []
        self._step: Step | None = None
        self._spin = -1
        self._kpoint = -1
        self._filled = 0
        self._rows: list[Vector] = []
        self._take: dict[str, Callable[[ET.Element], None]] = {
            "i": self._value,
            "v": self._vector,
            "varray": self._array,
            "array": self._table,
            "r": self._level,
            "scstep": self._scf_step,
            "calculation": self._calculation,
            "structure": self._structure,
            "modeling": self._closed,
        }

    def begin(self, node: ET.Element) -> None:
        """An element begins."""
        self._inside.append(node)
        if node.tag == "calculation":
            self._step = Step()
            self.run.levels = []
        elif node.tag == "eigenvalues" and not self._within("projected"):
            self.run.levels, self._spin = [], -1
        elif node.tag == "varray":
            self._rows = []
        elif node.tag == "set" and self._within("eigenvalues") and not self._within("projected"):
            comment = node.get("comment", "")
            if comment.startswith("spin"):
                self._spin, self._kpoint = self._spin + 1, -1
                self.run.levels.append(Levels())
            elif comment.startswith("kpoint"):
                self._kpoint += 1

    def end(self, node: ET.Element) -> None:
        """An element has ended."""
        self._inside.pop()
        if node.tag == "set" and node.get("comment", "").startswith("kpoint"):
            self._point_ended()
        take = self._take.get(node.tag)
        if take is not None:
            take(node)
        if node.tag in _CLEARED or (node.tag == "set" and self._step is not None):
            node.clear()

    def _point_ended(self) -> None:
        """Compare how many levels are filled: a band that is so at some points makes a metal."""
        if not self._within("eigenvalues") or self._within("projected") or self._spin < 0:
            return
        levels, filled, self._filled = self.run.levels[self._spin], self._filled, 0
        levels.partly |= levels.filled not in (None, filled)
        levels.filled = filled

    def finish(self) -> Run:
        """What was read."""
        if self._step is not None and not self.run.closed:
            self.run.unfinished = self._step
        return self.run

    def _within(self, tag: str) -> bool:
        return any(one.tag == tag for one in self._inside)

    @property
    def _parent(self) -> str:
        return self._inside[-1].tag if self._inside else ""

    def _closed(self, _: ET.Element) -> None:
        self.run.closed = True

    def _value(self, node: ET.Element) -> None:
        name, parent = node.get("name", ""), self._parent
        text = (node.text or "").strip()
        run = self.run
        if parent == "generator":
            if name == "version":
                run.version = text
            elif name == "date":
                run.started = text
        elif parent == "incar":
            run.given[name] = text
        elif parent in ("dos", "calculation") and name == "efermi":
            run.fermi_ev = _number(text)
        elif name in _PARAMETERS and self._within("parameters"):
            run.parameters.setdefault(name, text)

    def _vector(self, node: ET.Element) -> None:
        row = _vector(node.text)
        if self._parent == "varray" and row is not None:
            self._rows.append(row)
        elif self._parent == "generation" and row is not None:
            self.run.mesh[node.get("name", "")] = row
            self.run.mesh_style = self._inside[-1].get("param", "")

    def _array(self, node: ET.Element) -> None:
        name, parent = node.get("name", ""), self._parent
        rows, self._rows = self._rows, []
        step = self._step
        if parent == "kpoints" and name == "kpointlist":
            self.run.n_kpoints = len(rows)
            self.run.kpoints = rows
        elif name == "forces" and parent == "calculation" and step is not None:
            step.forces_ev_per_a = rows
        elif name == "stress" and parent == "calculation" and step is not None:
            step.stress_kbar = rows
        elif name == "basis" and parent == "crystal":
            self._place(rows, None)
        elif name == "positions" and parent == "structure":
            self._place(None, rows)

    def _place(self, basis: list[Vector] | None, positions: list[Vector] | None) -> None:
        """Keep a cell or positions where they belong: in a step, or behind all steps."""
        lattice: Matrix | None = None
        if basis is not None and len(basis) == 3:
            lattice = (basis[0], basis[1], basis[2])
        named = [one.get("name") for one in self._inside if one.tag == "structure"]
        if self._within("calculation") and self._step is not None:
            self._step.lattice = lattice or self._step.lattice
            self._step.fractions = positions or self._step.fractions
        elif named[-1:] == ["finalpos"]:
            self.run.final_lattice = lattice or self.run.final_lattice
            self.run.final_fractions = positions or self.run.final_fractions

    def _table(self, node: ET.Element) -> None:
        if self._parent != "atominfo":
            return
        name = node.get("name", "")
        rows = [[(cell.text or "").strip() for cell in row] for row in node.iterfind("set/rc")]
        if name == "atoms":
            self.run.symbols = [_symbol(row[0]) for row in rows if row]
        elif name == "atomtypes":
            self.run.titles = [row[4] for row in rows if len(row) > 4]

    def _level(self, node: ET.Element) -> None:
        if not self._within("eigenvalues") or self._within("projected") or self._spin < 0:
            return
        words = (node.text or "").split()
        energy, occupation = (_number(word) for word in [*words, "", ""][:2])
        if energy is None or occupation is None:
            return
        levels = self.run.levels[self._spin]
        if occupation >= HALF:
            self._filled += 1
            if levels.occupied_ev is None or energy > levels.occupied_ev:
                levels.occupied_ev, levels.occupied_at = energy, self._kpoint
        elif levels.empty_ev is None or energy < levels.empty_ev:
            levels.empty_ev, levels.empty_at = energy, self._kpoint
        if WHOLE < occupation < 1 - WHOLE:
            levels.partly = True

    def _scf_step(self, node: ET.Element) -> None:
        if self._step is None:
            return
        energies = _energies(node)
        free = energies.get("e_fr_energy")
        if free is None:
            free = energies.get("e_wo_entrp")
        if free is not None:
            self._step.scf_energies_ev.append(free)
        zero, with_smearing = energies.get("e_0_energy"), energies.get("e_fr_energy")
        if zero is not None and with_smearing is not None:
            self._step.energy_sigma0_ev = zero - with_smearing  # a difference, until the step ends

    def _calculation(self, node: ET.Element) -> None:
        step, self._step = self._step, None
        if step is None:
            return
        energies = _energies(node)
        step.free_energy_ev = energies.get("e_fr_energy")
        step.temperature_energy_ev = energies.get("kinetic")
        if step.free_energy_ev is not None and step.energy_sigma0_ev is not None:
            step.energy_sigma0_ev += step.free_energy_ev
        else:
            step.energy_sigma0_ev = None
        if len(self.run.steps) > 1:
            _slim(self.run.steps[-1])
        self.run.steps.append(step)

    def _structure(self, node: ET.Element) -> None:
        if self._parent == "modeling":
            node.clear()


def _slim(step: Step) -> None:
    """Drop the arrays of a step that another has followed; what is plotted stays."""
    step.fractions = []


def _energies(node: ET.Element) -> dict[str, float]:
    found = ((one.get("name", ""), _number(one.text or "")) for one in node.iterfind("energy/i"))
    return {name: value for name, value in found if value is not None}


def _number(text: str) -> float | None:
    """A number; None for ``****`` and the like."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _vector(text: str | None) -> Vector | None:
    values = [_number(word) for word in (text or "").split()]
    if len(values) != 3:
        return None
    x, y, z = values
    return None if x is None or y is None or z is None else (x, y, z)


def _symbol(name: str) -> str:
    name = _TRUNCATED_NAMES.get(name, name)
    return name if name in SYMBOLS else ""
