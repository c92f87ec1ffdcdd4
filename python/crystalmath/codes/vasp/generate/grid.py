"""The k points of generated inputs: a Γ-centred mesh, or the path of a band structure.

Meshes are Γ-centred throughout: a Monkhorst-Pack mesh beside Γ breaks the symmetry of F-centred and
hexagonal cells. Runs in worker processes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from crystalmath.analysis.bands.path import own_path
from crystalmath.analysis.mesh import breaking_rotation, mesh_of, symmetric_mesh
from crystalmath.analysis.point_group import on_reciprocal, rotations_of
from crystalmath.codes.vasp.deck.kpoints import render_mesh, render_points
from crystalmath.codes.vasp.options import VaspInputs
from crystalmath.errors import InputRejected
from crystalmath.structures.structure import Structure
from crystalmath.structures.symmetry.crystal import find_symmetry

if TYPE_CHECKING:
    from crystalmath.codes.vasp.generate.inputs import FromSet


DENSER: Final = 2
"""How much denser the mesh of a density of states is than that of a static run."""


class Changes(Protocol):
    """Where it is listed what differs from the set."""

    def change(self, tag: str, value: Any, why: str) -> None:
        """Set a tag of INCAR, or take it out with None."""

    def say(self, what: str, before: str | None, now: str | None, why: str) -> None:
        """List what is no tag of INCAR."""


@dataclass(frozen=True, slots=True)
class Mesh:
    """The k points as the report has them.

    Attributes
    ----------
    sizes
        None for a path.
    count
        Points of the whole mesh, without symmetry; None for a path.
    """

    sizes: list[int] | None
    why: str
    count: int | None
    is_face_centred: bool
    notes: list[str] = field(default_factory=list)


def kpoints_of(
    asked: VaspInputs, task: str, given: Structure, found: FromSet, made: Changes
) -> tuple[str, Mesh]:
    """KPOINTS, empty where INCAR has KSPACING, and what it holds.

    Raises
    ------
    InputRejected
        A path on a cell that it does not fit.
    """
    face_centred = find_symmetry(given).symbol.startswith("F")
    own = asked.kpoints is not None or asked.k_spacing_inv_angstrom is not None
    if task == "bands":
        if own:
            raise InputRejected(
                "bands are computed along a path, not on a mesh",
                hint="leave `kpoints` and `k_spacing_inv_angstrom` out",
                field="options.kpoints",
            )
        text, why = _path(given)
        return text, Mesh(None, why, None, face_centred)
    if not own and ("KSPACING" in asked.incar or found.kpoints is None):
        spacing = float(str(asked.incar.get("KSPACING", found.incar.get("KSPACING", 0.5))))
        least = _counted(given, spacing)
        why = f"KSPACING = {spacing:g} 1/Å in INCAR, which VASP makes this mesh of"
        return "", Mesh(list(least), why, int(np.prod(least)), face_centred)
    notes: list[str] = []
    mesh, of_set = _mesh(asked, given, found, notes)
    why = "`kpoints`" if asked.kpoints else "`k_spacing_inv_angstrom`" if own else "the input set"
    if task == "dos" and not own:
        why = f"{DENSER} times the mesh of a static run by the input set"
    if own and found.incar.get("KSPACING") is not None:
        made.change("KSPACING", None, "a mesh is given")
    if of_set is not None and of_set != mesh:
        before, now = (" ".join(str(n) for n in one) for one in (of_set, mesh))
        made.say("KPOINTS", before, now, why)
    style = "" if found.kpoints is None else str(found.kpoints.style.name)
    if not own and style == "Monkhorst":
        made.say("KPOINTS", "Monkhorst-Pack", "Gamma", "meshes contain Γ throughout")
    text = render_mesh(mesh, f"Gamma-centred mesh {' x '.join(str(n) for n in mesh)}")
    return text, Mesh(list(mesh), f"{why}, Γ-centred", int(np.prod(mesh)), face_centred, notes)


def _mesh(
    asked: VaspInputs, given: Structure, found: FromSet, notes: list[str]
) -> tuple[tuple[int, int, int], tuple[int, int, int] | None]:
    """The mesh, and the one of the set where it has one."""
    of_set: tuple[int, int, int] | None = None
    if found.kpoints is not None:
        a, b, c = (int(n) for n in found.kpoints.kpts[0])
        of_set = (a, b, c)
    rotations = on_reciprocal(rotations_of(given))
    if asked.k_spacing_inv_angstrom is not None:
        return mesh_of(given.cell, asked.k_spacing_inv_angstrom, rotations, 3), of_set
    if asked.kpoints is not None:
        mesh = (asked.kpoints[0], asked.kpoints[1], asked.kpoints[2])
    else:
        assert of_set is not None, "asked for only where the set has a mesh"
        mesh = of_set
    if breaking_rotation(mesh, rotations) is not None:
        better = " × ".join(str(n) for n in symmetric_mesh(mesh, rotations))
        notes.append(
            f"the mesh {' × '.join(str(n) for n in mesh)} does not have the symmetry of the "
            f"crystal; {better} does"
        )
    return mesh, of_set


def _counted(given: Structure, spacing: float) -> tuple[int, int, int]:
    """The mesh that VASP makes of KSPACING: max(1, ceil(2π |b| / KSPACING))."""
    lengths = 2 * np.pi * np.linalg.norm(np.linalg.inv(given.cell).T, axis=1)
    a, b, c = (max(1, int(np.ceil(length / spacing))) for length in lengths)
    return a, b, c


def _path(given: Structure) -> tuple[str, str]:
    """KPOINTS along the band path, in the reciprocal vectors of the cell as given, and why."""
    found = own_path(given)
    points = [
        (place, 1.0, found.labels.get(i, "").replace("Γ", "\\Gamma"))
        for i, place in enumerate(found.fractions.tolist())
    ]
    plain = found.path.title.replace("Γ", "Gamma").replace("–", "-")
    return render_points(points, f"path {plain}"), found.why
