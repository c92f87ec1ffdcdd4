"""What ``data-file-schema.xml`` says of the run that made a density.

pw.x writes it in Hartree and bohr: https://www.quantum-espresso.org/ns/qes/qes-1.0. Without numpy,
and only up to the eigenvalues; used by ``check``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from crystalmath.codes.espresso.run import Matrix, Vector
from crystalmath.codes.outputs import open_regular
from crystalmath.units import BOHR_ANGSTROM

_MOST_BYTES: Final = 64 * 1024 * 1024
_RYDBERG_PER_HARTREE: Final = 2.0


@dataclass(frozen=True, slots=True)
class Before:
    """The run before.

    Attributes
    ----------
    lattice, places
        Å, Cartesian, of the end of the run.
    labels
        Species of each atom.
    pseudos
        Species → file.
    """

    lattice: Matrix
    labels: tuple[str, ...]
    places: tuple[Vector, ...]
    pseudos: Mapping[str, str]
    ecutwfc_ry: float | None
    ecutrho_ry: float | None
    nspin: int | None
    charge: float | None


def read_schema(path: Path) -> Before | None:
    """Read it; None where it is not there, cut off before its structure, or another file."""
    stream = open_regular(path.resolve())
    if stream is None:
        return None
    parts: dict[str, ET.Element] = {}
    inside: list[str] = []
    with stream:
        try:
            # expat bounds what entities expand to, and nothing is fetched from elsewhere
            for event, node in ET.iterparse(stream, ("start", "end")):  # noqa: S314
                name = node.tag.rpartition("}")[2]
                if event == "start":
                    inside.append(name)
                    if inside[1:] == ["output", "band_structure"]:
                        break
                    continue
                if len(inside) == 3 and inside[1] in ("input", "output"):
                    parts[f"{inside[1]}/{name}"] = node
                inside.pop()
                if name == "step":
                    node.clear()
                if stream.tell() > _MOST_BYTES:
                    return None
            return _of_parts(parts)
        except (ET.ParseError, ValueError, OSError):
            return None


def _of_parts(parts: dict[str, ET.Element]) -> Before | None:
    """The run, of its parts: those of its end count, then those that it was given.

    Raises
    ------
    ValueError
        A number is none.
    """
    atomic = parts.get("output/atomic_structure")
    if atomic is None:
        return None
    rows = [_vector(atomic.findtext(f"cell/{name}")) for name in ("a1", "a2", "a3")]
    atoms = atomic.findall("atomic_positions/atom")
    species = parts.get("output/atomic_species", ET.Element("none"))
    basis = parts.get("output/basis_set", ET.Element("none"))
    spin = parts.get("input/spin", ET.Element("none"))
    charge = parts.get("input/bands", ET.Element("none")).findtext("tot_charge")
    return Before(
        lattice=(rows[0], rows[1], rows[2]),
        labels=tuple(atom.get("name", "") for atom in atoms),
        places=tuple(_vector(atom.text) for atom in atoms),
        pseudos={
            one.get("name", ""): (one.findtext("pseudo_file") or "").strip()
            for one in species.findall("species")
        },
        ecutwfc_ry=_rydberg(basis.findtext("ecutwfc")),
        ecutrho_ry=_rydberg(basis.findtext("ecutrho")),
        nspin=_nspin(spin),
        charge=None if charge is None else float(charge),
    )


def _nspin(spin: ET.Element) -> int | None:
    lsda, noncolin = ((spin.findtext(name) or "").strip() for name in ("lsda", "noncolin"))
    if noncolin == "true":
        return 4
    return {"true": 2, "false": 1}.get(lsda)


def _vector(text: str | None) -> Vector:
    x, y, z = (float(word) * BOHR_ANGSTROM for word in (text or "").split())
    return x, y, z


def _rydberg(text: str | None) -> float | None:
    return None if text is None else float(text) * _RYDBERG_PER_HARTREE
