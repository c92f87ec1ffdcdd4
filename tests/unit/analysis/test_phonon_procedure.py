"""What the workflow of phonons looks at before it runs, and how it makes sure of its forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crystalmath.analysis.phonons.born import polar_of
from crystalmath.analysis.phonons.displacements import plan_displacements
from crystalmath.analysis.procedures.phonon import checked, displaced, model_of
from crystalmath.errors import BadResult, InputRejected, SymmetryBroken
from crystalmath.services.workflows.content import bare_structure
from crystalmath.structures.read import structure_of
from crystalmath.structures.structure import Structure
from support import emt
from support.cases import case
from support.crystals import rocksalt, rocksalt_primitive

OPTIONS = {"supercell": None, "edge_angstrom": None, "born": None}
BORN = "14.4\n2 0 0 0 2 0 0 0 2\n1.1 0 0 0 1.1 0 0 0 1.1\n-1.1 0 0 0 -1.1 0 0 0 -1.1\n"


def look(structure: Structure, **options: Any) -> list[str]:
    found = checked(bare_structure(structure.document()), {**OPTIONS, **options})
    warnings: list[str] = found["warnings"]
    return warnings


def at_rest(structure: Structure) -> dict[str, Any]:
    return {
        "structure": bare_structure(structure.document()),
        "forces_ev_per_a": emt.forces(structure).tolist(),
        "stress_ev_per_a3": emt.stress(structure).tolist(),
    }


def test_a_supercell_that_loses_symmetry_is_refused_before_anything_runs() -> None:
    with pytest.raises(SymmetryBroken) as raised:
        look(rocksalt(), supercell=[2, 1, 1])
    assert (raised.value.field, raised.value.hint) == ("supercell", "use 2 × 2 × 2")


def test_a_narrow_supercell_is_doubtful() -> None:
    [said] = look(rocksalt(), supercell=[2, 2, 2])
    assert "8.4 Å from its image, less than 12 Å" in said
    assert look(rocksalt()) == []


@pytest.mark.parametrize("of", [{"supercell": [100] * 3}, {"edge_angstrom": 500.0}])
def test_a_supercell_of_too_many_atoms_is_refused_before_anything_runs(of: dict[str, Any]) -> None:
    with pytest.raises(InputRejected, match="at most 10000") as raised:
        look(rocksalt(), **of)
    assert raised.value.field == next(iter(of))


def test_a_layer_in_a_box_is_doubtful() -> None:
    thin = rocksalt()
    cell = np.array(thin.cell) * [[1], [1], [4]]
    [said, *_] = look(Structure(cell, (True,) * 3, thin.symbols, thin.positions))
    assert "Å along c: if that is vacuum" in said


@pytest.mark.parametrize(
    ("born", "said"),
    [
        ("14.4\n", "no Born charges"),
        (BORN.replace("1.1 0 0 0 1.1", "1.1 0 0 0 x", 1), "line 3 of BORN"),
        (BORN.replace("\n2 0 0", "\n2 0", 1), "line 2 of BORN"),
        (BORN + "1 0 0 0 1 0 0 0 1\n", "3 atoms; the crystal has 2"),
        (BORN.replace("-1.1", "-0.4"), "do not add up to zero"),
        (BORN.replace("2 0 0 0 2 0 0 0 2", "2 0 0 0 2 0 0 0 -2"), "must be positive"),
    ],
)
def test_born_charges_that_do_not_fit_are_refused(born: str, said: str) -> None:
    with pytest.raises(InputRejected) as raised:
        look(rocksalt(), born={"text": born})
    assert said in raised.value.message
    assert (raised.value.field or "").startswith("born")


def test_charges_of_a_file_reach_every_atom() -> None:
    plan = plan_displacements(rocksalt(), (1, 1, 1))
    found = polar_of(plan, {"text": BORN})
    wanted = [1.1 if symbol == "Mg" else -1.1 for symbol in plan.structure.symbols]
    assert found.born_charges == pytest.approx(np.array(wanted)[:, None, None] * np.eye(3))
    same = polar_of(
        plan, {"charges_e": found.born_charges.tolist(), "dielectric": (2 * np.eye(3)).tolist()}
    )
    assert same.born_charges == pytest.approx(found.born_charges)
    assert same.dielectric == pytest.approx(found.dielectric)
    assert look(rocksalt_primitive(), born={"text": BORN}) == []


def test_charges_turn_with_the_symmetry() -> None:
    """In rutile the two metal atoms have the same charges, turned by 90 degrees about c."""
    u = 0.305
    lattice = np.diag([4.6, 4.6, 2.96])
    places = [
        (0, 0, 0),
        (0.5, 0.5, 0.5),
        (u, u, 0),
        (-u, -u, 0),
        (0.5 + u, 0.5 - u, 0.5),
        (0.5 - u, 0.5 + u, 0.5),
    ]
    rutile = Structure(lattice, (True,) * 3, ["Ti"] * 2 + ["O"] * 4, np.array(places) @ lattice)
    plan = plan_displacements(rutile, (1, 1, 1))
    text = "#\n6 0 0 0 6 0 0 0 7\n6 1 0 1 6 0 0 0 7\n-3 -1 0 -1 -3 0 0 0 -3.5\n"
    charges = polar_of(plan, {"text": text}).born_charges
    assert charges[0][0, 1] == pytest.approx(1)
    assert charges[1][0, 1] == pytest.approx(-1)
    assert [charge[0, 1] for charge in charges[2:]] == pytest.approx([-1, -1, 1, 1])
    assert charges[:, 2, 2] == pytest.approx([7, 7] + [-3.5] * 4)


def test_forces_of_another_structure_are_not_taken() -> None:
    found = displaced(at_rest(emt.relaxed_fcc("Cu")), [2, 2, 2], 12.0, 0.01, True)
    [cell] = found["structures"]
    point = {"structure": cell, "forces_ev_per_a": np.zeros((8, 3)).tolist()}
    model_of(found["plan"], [point], None)

    def refused(said: str, **changed: Any) -> None:
        with pytest.raises(BadResult, match=said):
            model_of(found["plan"], [{**point, **changed}], None)

    moved = np.array(cell["positions"])
    shifted = moved + np.array(cell["lattice"])[0]  # the same atoms, in another cell
    model_of(found["plan"], [{**point, "structure": {**cell, "positions": shifted.tolist()}}], None)
    refused("an atom 0.01", structure={**cell, "positions": (moved - moved[0]).tolist()})
    refused("other atoms", structure={**cell, "symbols": ["Cu"] * 7 + ["Au"]})
    bigger = (1.001 * np.array(cell["lattice"])).tolist()
    refused("another cell", structure={**cell, "lattice": bigger})
    refused("gave no forces", forces_ev_per_a=None)


def test_the_non_analytical_term_of_sodium_chloride() -> None:
    """Forces and Born charges of phonopy's own example, as a workflow hands them on."""
    folder = case("outputs/phonopy_nacl")
    structure = structure_of({"path": str(folder / "POSCAR-unitcell"), "format": "poscar"})
    plan = plan_displacements(structure, (2, 2, 2))
    lines = [
        line.split() for line in (folder / "FORCE_SETS").read_text().split("\n") if line.strip()
    ]
    forces = {}
    for at in (2, 68):
        forces[int(lines[at][0]) - 1] = [[float(x) for x in row] for row in lines[at + 2 : at + 66]]
    points = [
        {"structure": bare_structure(cell.document()), "forces_ev_per_a": forces[item.atom]}
        for item, cell in zip(plan.displacements, plan.displaced(), strict=True)
    ]
    document = plan.document()
    gamma = [[0.0, 0.0, 0.0]]
    plain = model_of(document, points, None).frequencies(np.array(gamma), (1, 0, 0))[0]
    text = (folder / "BORN").read_text()
    polar = model_of(document, points, {"text": text}).frequencies(np.array(gamma), (1, 0, 0))[0]
    assert plain[3:] == pytest.approx([4.6164] * 3, abs=2e-3)
    assert polar[3:] == pytest.approx([4.6164, 4.6164, 7.3963], abs=2e-3)
