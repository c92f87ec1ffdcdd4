"""The XML of pw.x (``data-file-schema.xml``): the structure that the run ended with.

ASE and pymatgen read pw.x's input and text, not this. It is read as a stream: most of it is
eigenvalues. The schema: https://www.quantum-espresso.org/ns/qes/qes-1.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import numpy as np

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.xml.vector import vector
from crystalmath.structures.species import element, site_data
from crystalmath.structures.structure import Floats, Structure
from crystalmath.units import BOHR_ANGSTROM

_READER: Final = "crystalmath pw.x xml 1"
_MEANINGS: Final = {
    "output": None,
    "step": "the run did not end: this is the structure of the last step that was written",
    "input": "the run did not end: this is the structure that it was given",
}
"""Part of the document → what is said of its structure; the first that is there counts."""
_LARGE: Final = frozenset({"ks_energies", "input", "step", "output"})


class _Found:
    """What was read, by the part of the document that it stands in."""

    def __init__(self) -> None:
        self.structures: dict[str, ET.Element] = {}
        self.said: dict[str, str] = {}
        self.version = ""


def read_pwscf(path: Path, field: str) -> Structure:
    """Read the structure of the output, else of the input.

    Raises
    ------
    InputRejected
        It holds none, or a species that is no element.
    """
    found = _Found()
    notes: list[str] = []
    try:
        _walk(path, found)
    except ET.ParseError as error:
        notes.append(f"the file cannot be read to its end: {error}")
    part = next((name for name in _MEANINGS if name in found.structures), None)
    if part is None:
        raise InputRejected(
            "the XML of pw.x holds no structure", hint="is it cut off?", field=field
        )
    atomic, meaning = found.structures[part], _MEANINGS[part]
    notes += [meaning] if meaning is not None else _convergence(found.said)
    names, positions = _atoms(atomic, field)
    if found.said.get("lsda") == "true":
        notes.append(
            "the run had two spins, and the moments of its atoms are not read: give them as an "
            "option"
        )
    return Structure(
        lattice=_lattice(atomic, field),
        pbc=(True, True, True),
        symbols=[_element(name, field) for name in names],
        positions=positions,
        reader=_READER,
        source={"format": "pw.x XML", "program": f"pw.x {found.version}".strip()},
        warnings=notes,
        sites=site_data(names),
    )


def _walk(path: Path, found: _Found) -> None:
    with path.open("rb") as stream:
        inside: list[str] = []
        # expat bounds what entities expand to, and nothing is fetched from elsewhere
        for event, node in ET.iterparse(stream, ("start", "end")):  # noqa: S314
            name = node.tag.rpartition("}")[2]
            if event == "start":
                inside.append(name)
                if name == "creator":
                    found.version = node.get("VERSION", "")
                continue
            inside.pop()
            part = inside[1] if len(inside) > 1 else ""
            if name == "atomic_structure" and part in _MEANINGS:
                found.structures[part] = node
            elif name == "convergence_achieved" and part == "output":
                found.said[inside[-1]] = (node.text or "").strip().lower()
            elif name == "lsda" and part == "input":
                found.said[name] = (node.text or "").strip().lower()
            elif name in _LARGE:
                node.clear()  # what was kept of it stays whole


def _convergence(said: dict[str, str]) -> list[str]:
    words = {
        "scf_conv": "the SCF did not converge",
        "opt_conv": "the structure was not relaxed to its end",
    }
    return [sentence for name, sentence in words.items() if said.get(name) == "false"]


def _atoms(atomic: ET.Element, field: str) -> tuple[list[str], Floats]:
    names: list[str] = []
    rows: list[list[float]] = []
    for node in atomic.iterfind("atomic_positions/atom"):
        names.append(node.get("name", ""))
        rows.append(vector(node, f"{node.tag} of the XML of pw.x", field))
    if not names or atomic.get("nat", str(len(names))) != str(len(names)):
        raise InputRejected(
            f"the XML of pw.x lists {len(names)} atoms in Cartesian coordinates and says that it "
            f"has {atomic.get('nat')}",
            hint="is it cut off?",
            field=field,
        )
    return names, np.array(rows) * BOHR_ANGSTROM


def _lattice(atomic: ET.Element, field: str) -> Any:
    nodes = [atomic.find(f"cell/{name}") for name in ("a1", "a2", "a3")]
    rows = [
        vector(node, f"{node.tag} of the XML of pw.x", field) for node in nodes if node is not None
    ]
    if len(rows) != 3:
        raise InputRejected("the XML of pw.x holds no cell", field=field)
    return np.array(rows) * BOHR_ANGSTROM


def _element(name: str, field: str) -> str:
    symbol = element(name)
    if symbol is None:
        raise InputRejected(
            f"the species {name!r} of the XML of pw.x is no element",
            hint="its name has to begin with one, like Fe1 or Fe_up",
            field=field,
        )
    return symbol
