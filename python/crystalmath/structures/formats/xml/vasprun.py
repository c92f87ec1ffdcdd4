"""``vasprun.xml`` of VASP: the structure that the run ended with, or came to.

Own reader, because the usual ones hold the whole file in memory, which of a long run is gigabytes,
and give the first structure of a file that is cut off for its last. Everything but the structures
is passed over. The format: https://www.vasp.at/wiki/index.php/Vasprun.xml
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.xml.vector import vector
from crystalmath.structures.species import element, site_data
from crystalmath.structures.structure import Floats, Structure

_READER: Final = "crystalmath vasprun 1"
_LARGE: Final = frozenset(
    {"calculation", "dos", "eigenvalues", "projected", "kpoints", "parameters"}
)
_ASKED: Final = ("NELM", "NSW", "IBRION", "ALGO", "ISPIN")
_SCF_ALGORITHMS: Final = frozenset(
    {"", "normal", "fast", "veryfast", "very_fast", "all", "damped", "conjugate", "eigenval"}
)
"""Of others, the number of their steps says nothing of convergence."""
_TRUNCATED_NAMES: Final = {"r": "Zr"}
"""As some versions write them."""
_MOLECULAR_DYNAMICS: Final = 0


@dataclass(slots=True)
class _Found:
    """What was read.

    Attributes
    ----------
    steps, scf_steps
        Steps that were finished, and the electronic steps of the last one.
    final
        The structure behind all steps; None where the run did not come to it.
    broken
        Why the file cannot be read to its end.
    """

    names: list[str] = field(default_factory=list)
    steps: int = 0
    scf_steps: int = 0
    last: ET.Element | None = None
    final: ET.Element | None = None
    said: dict[str, str] = field(default_factory=dict)
    version: str = ""
    broken: str | None = None


def read_vasprun(path: Path, field: str) -> Structure:
    """Read the last structure of a finished step.

    Raises
    ------
    InputRejected
        No step was finished, or a species is no element.
    """
    found = _walk(path)
    cut_off = found.broken is not None or found.final is None
    node = found.last if cut_off else found.final
    if node is None:
        raise InputRejected(
            "the vasprun.xml ends before the first step of the run was finished",
            hint="POSCAR holds what the run was given",
            field=field,
        )
    lattice, positions = _geometry(node, len(found.names), field)
    return Structure(
        lattice=lattice,
        pbc=(True, True, True),
        symbols=[_element(name, field) for name in found.names],
        positions=positions,
        reader=_READER,
        source={"format": "vasprun.xml", "program": f"VASP {found.version}".strip()},
        warnings=[*([_how_it_ends(found)] if cut_off else _convergence(found)), *_spins(found)],
        sites=site_data(found.names),
    )


def _walk(path: Path) -> _Found:
    found = _Found()
    inside: list[ET.Element] = []
    with path.open("rb") as stream:
        try:
            # expat bounds what entities expand to, and nothing is fetched from elsewhere
            for event, node in ET.iterparse(stream, ("start", "end")):  # noqa: S314
                if event == "start":
                    inside.append(node)
                    continue
                inside.pop()
                _take(found, node, inside)
        except ET.ParseError as error:
            found.broken = str(error)
    return found


def _take(found: _Found, node: ET.Element, inside: list[ET.Element]) -> None:
    """Keep what is needed of an element that has ended, and forget the rest."""
    parent = inside[-1].tag if inside else ""
    name = node.get("name", "")
    if node.tag == "calculation":
        found.steps += 1
        found.scf_steps = len(node.findall("scstep"))
        structure = node.find("structure")
        found.last = structure if structure is not None else found.last
    elif node.tag == "structure" and parent == "modeling":
        if name == "finalpos":
            found.final = node
        elif not name:  # dynamics with a learned force field has no calculations
            found.steps, found.last = found.steps + 1, node
    elif node.tag == "array" and name == "atoms" and parent == "atominfo":
        found.names = [(row.findtext("c") or "").strip() for row in node.iterfind("set/rc")]
    elif node.tag == "i" and name in _ASKED:
        found.said.setdefault(name, (node.text or "").strip())
    elif node.tag == "i" and name == "version" and parent == "generator":
        found.version = (node.text or "").strip()
    if node.tag in _LARGE:
        node.clear()  # what was kept of it stays whole


def _geometry(node: ET.Element, n_atoms: int, field: str) -> tuple[Floats, Floats]:
    def rows(path: str, what: str) -> list[list[float]]:
        return [vector(row, f"{what} of the vasprun.xml", field) for row in node.iterfind(path)]

    lattice = rows("crystal/varray[@name='basis']/v", "a lattice vector")
    places = rows("varray[@name='positions']/v", "a position")
    if len(lattice) != 3 or not places or len(places) != n_atoms:
        raise InputRejected(
            f"the vasprun.xml has {len(lattice)} lattice vectors and {len(places)} positions for "
            f"{n_atoms} atoms",
            hint="is it complete?",
            field=field,
        )
    vectors = np.array(lattice)
    return vectors, np.array(places) @ vectors


def _element(name: str, field: str) -> str:
    symbol = element(_TRUNCATED_NAMES.get(name, name))
    if symbol is None:
        raise InputRejected(f"{name!r} of the vasprun.xml is no element", field=field)
    return symbol


def _how_it_ends(found: _Found) -> str:
    why = "does not hold its end" if found.broken is None else "is cut off"
    return f"the file {why}: this is the structure of step {found.steps}, the last that is whole"


def _spins(found: _Found) -> list[str]:
    """What a run of two spins leaves behind."""
    if found.said.get("ISPIN") != "2":
        return []
    return ["the run had two spins, and the file holds no moments of atoms: give them as an option"]


def _convergence(found: _Found) -> list[str]:
    def count(name: str) -> int | None:
        text = found.said.get(name, "")
        return int(text) if text.lstrip("-").isdigit() else None

    nelm, nsw = count("NELM"), count("NSW")
    is_scf = found.said.get("ALGO", "").lower() in _SCF_ALGORITHMS
    if is_scf and nelm is not None and found.scf_steps >= nelm:
        return [f"the SCF of the last step did not converge in {nelm} steps"]
    moves = nsw is not None and nsw > 1 and count("IBRION") != _MOLECULAR_DYNAMICS
    if moves and nsw is not None and found.steps >= nsw:
        return [f"the structure was not relaxed after {found.steps} steps"]
    return []
