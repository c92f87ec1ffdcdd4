"""Phonons of EMT metals and of NaCl from phonopy's own example, which lies with the cases.

Frequencies of EMT: cells of 4 × 4 × 4 conventional ones, 0.01 Å, one displacement.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from crystalmath.analysis.bands.path import band_path, in_cell
from crystalmath.analysis.phonons.displacements import (
    DisplacementPlan,
    plan_displacements,
    plan_of_document,
    primitive_matrix,
)
from crystalmath.analysis.phonons.model import PhononModel, phonons_of
from crystalmath.analysis.phonons.nac import PolarResponse
from crystalmath.analysis.phonons.spectrum import (
    phonon_bands,
    phonon_dos,
    thermodynamics,
    unstable,
)
from crystalmath.errors import BadResult, InputRejected, SymmetryBroken
from crystalmath.structures.read import structure_of
from crystalmath.structures.structure import Floats, Structure
from support import emt
from support.cases import case
from support.crystals import crystal, rocksalt, rocksalt_primitive, turned

GAS_CONSTANT = 8.314462618


@cache
def _model(metal: str, sizes: tuple[int, int, int] = (4, 4, 4), cubic: bool = True) -> PhononModel:
    plan = plan_displacements(emt.relaxed_fcc(metal, cubic=cubic), sizes)
    return phonons_of(plan, [emt.forces(cell) for cell in plan.displaced()])


def _at(model: PhononModel, label: str) -> Floats:
    """Frequencies at a point of the standard path, in the cell of the model."""
    path = band_path(model.plan.structure)
    q = np.array([path.points[label]])
    return model.frequencies(in_cell(path, q, model.plan.primitive_lattice))[0]


@pytest.mark.parametrize(
    ("metal", "x", "l_point", "heat"),
    [
        ("Cu", (5.530, 5.530, 8.141), (3.549, 3.549, 8.067), 23.368),
        ("Al", (5.634, 5.634, 8.600), (3.497, 3.497, 8.560), 23.268),
    ],
)
def test_emt_metals(
    metal: str, x: tuple[float, ...], l_point: tuple[float, ...], heat: float
) -> None:
    model = _model(metal)
    assert len(model.plan.displacements) == 1
    assert len(model.plan.supercell().symbols) == 256
    assert _at(model, "X") == pytest.approx(x, abs=0.005)
    assert _at(model, "L") == pytest.approx(l_point, abs=0.005)
    assert _at(model, "GAMMA") == pytest.approx([0, 0, 0], abs=1e-3)
    thermal = thermodynamics(model, [0.0, 300.0])
    assert thermal.heat_capacities_j_per_k_mol[1] == pytest.approx(heat, abs=0.005)
    assert thermal.heat_capacities_j_per_k_mol[0] == pytest.approx(0.0, abs=1e-9)
    assert thermal.atoms == 1
    assert not thermal.flags


def test_bands_and_states_of_copper() -> None:
    model = _model("Cu")
    bands = phonon_bands(model, 0.2)
    assert bands.path.title == "Γ–X–U | K–Γ–L–W–X"
    assert bands.lines[0][-1] == pytest.approx(_at(model, "X"), abs=1e-6)
    assert bands.lines[-1][-1] == pytest.approx(_at(model, "X"), abs=1e-6)
    assert not bands.flags
    dos = phonon_dos(model, 10, 0.05)
    area = np.trapezoid(dos.densities_per_thz, dos.frequencies_thz)
    assert area == pytest.approx(3.0, rel=0.01)
    assert not dos.flags


def test_high_temperature_is_dulong_and_petit() -> None:
    thermal = thermodynamics(_model("Cu"), [5000.0], 16)
    assert thermal.heat_capacities_j_per_k_mol[0] == pytest.approx(3 * GAS_CONSTANT, rel=2e-3)


def test_the_cell_it_is_computed_in_does_not_matter() -> None:
    """A supercell of the primitive cell, and a turned crystal, have the bands of the other ones."""
    straight = phonon_bands(_model("Cu", (2, 2, 2)), 0.5)
    given = turned(emt.relaxed_fcc("Cu", cubic=True), 6)
    plan = plan_displacements(given, (2, 2, 2))
    model = phonons_of(plan, [emt.forces(cell) for cell in plan.displaced()])
    found = phonon_bands(model, 0.5)
    for one, other in zip(straight.lines, found.lines, strict=True):
        assert one == pytest.approx(other, abs=2e-3)


def test_an_unstable_crystal_is_flagged_and_its_imaginary_modes_are_left_out() -> None:
    given = crystal([2.87] * 3, ["Cu"] * 2, [(0, 0, 0), (0.5, 0.5, 0.5)])
    plan = plan_displacements(given, (3, 3, 3))
    model = phonons_of(plan, [emt.forces(cell) for cell in plan.displaced()])
    bands = phonon_bands(model, 0.2)
    assert "unstable" in {flag.code for flag in bands.flags}
    thermal = thermodynamics(model, [300.0], 9)
    codes = [flag.code for flag in thermal.flags]
    assert codes == ["unstable", "modes_excluded"]
    assert thermal.excluded > 0
    assert np.isfinite(thermal.free_energies_kj_per_mol).all()
    assert thermal.heat_capacities_j_per_k_mol[0] < 3 * GAS_CONSTANT


def test_noise_of_the_acoustic_rule_is_no_instability() -> None:
    assert not unstable(np.array([[-0.04, 1.0]]), "on the mesh")
    (flag,) = unstable(np.array([[-0.4, 1.0]]), "on the mesh")
    assert "0.40i THz" in flag.message


def test_a_plan_is_complete_and_can_be_stored() -> None:
    plan = plan_displacements(rocksalt(), (2, 2, 2), 0.02)
    again = plan_of_document(plan.document())
    assert again.displacements == plan.displacements
    assert len(plan.displacements) == 2
    for one, other in zip(plan.displaced(), again.displaced(), strict=True):
        assert one.symbols == other.symbols
        assert one.positions == pytest.approx(other.positions)
    for item, cell in zip(plan.displacements, plan.displaced(), strict=True):
        moved = cell.positions - plan.supercell().positions
        assert np.linalg.norm(moved[item.atom]) == pytest.approx(0.02)
        assert np.abs(np.delete(moved, item.atom, axis=0)).max() == 0
    assert {plan.supercell().symbols[item.atom] for item in plan.displacements} == {"Mg", "O"}


def test_the_primitive_cell_is_not_guessed() -> None:
    assert abs(np.linalg.det(primitive_matrix(rocksalt()))) == pytest.approx(0.25)
    assert abs(np.linalg.det(primitive_matrix(rocksalt_primitive()))) == pytest.approx(1.0)
    plan = plan_displacements(rocksalt(), (1, 1, 1))
    assert abs(np.linalg.det(plan.primitive_lattice)) == pytest.approx(4.21**3 / 4)


def _forces(plan: DisplacementPlan) -> list[Floats]:
    atoms = len(plan.structure.symbols) * int(np.prod(plan.sizes))
    return [np.zeros((atoms, 3)) for _ in plan.displacements]


def test_missing_and_broken_forces_are_named() -> None:
    plan = plan_displacements(rocksalt(), (2, 2, 2))
    forces = _forces(plan)
    with pytest.raises(InputRejected, match=r"missing \(1 of 2\)"):
        phonons_of(plan, forces[:1])
    with pytest.raises(InputRejected, match=r"missing \(2\)"):
        phonons_of(plan, [forces[0], None])
    with pytest.raises(BadResult, match="displacement 2 has forces of shape"):
        phonons_of(plan, [forces[0], forces[1][:5]])
    with pytest.raises(BadResult, match="displacement 1 has a force that is not finite"):
        phonons_of(plan, [forces[0] * np.nan, forces[1]])


def test_forces_that_do_not_add_up_are_said() -> None:
    plan = plan_displacements(emt.relaxed_fcc("Cu", cubic=True), (2, 2, 2))
    forces = [emt.forces(cell) + 0.001 for cell in plan.displaced()]
    codes = {flag.code for flag in phonons_of(plan, list(forces)).flags}
    assert codes == {"force_drift"}
    at_rest = np.full_like(forces[0], 0.001)
    assert not phonons_of(plan, list(forces), forces_at_rest=at_rest).flags


def test_plans_of_nothing_are_refused() -> None:
    with pytest.raises(SymmetryBroken):
        plan_displacements(rocksalt(), (2, 1, 1))
    with pytest.raises(InputRejected, match=r"0\.0001 and 0\.2"):
        plan_displacements(rocksalt(), (2, 2, 2), 1.0)
    with pytest.raises(InputRejected, match="0 K"):
        thermodynamics(_model("Cu", (2, 2, 2)), [-1.0])
    with pytest.raises(InputRejected, match="mesh"):
        phonon_dos(_model("Cu", (2, 2, 2)), 0)


@cache
def _sodium_chloride() -> tuple[DisplacementPlan, tuple[Floats, ...], PolarResponse]:
    folder = case("outputs/phonopy_nacl")
    structure = structure_of({"path": str(folder / "POSCAR-unitcell"), "format": "poscar"})
    plan = plan_displacements(structure, (2, 2, 2))
    lines = (folder / "FORCE_SETS").read_text().split("\n")
    words = [line.split() for line in lines if line.strip()]
    atoms, sets = int(words[0][0]), int(words[1][0])
    assert atoms == 64
    forces, at = [], 2
    found = {}
    for _ in range(sets):
        atom = int(words[at][0]) - 1
        found[atom] = np.array(words[at + 2 : at + 2 + atoms], dtype=float)
        at += 2 + atoms
        forces.append(atom)
    assert [item.atom for item in plan.displacements] == forces
    for item in plan.displacements:
        assert item.vector == pytest.approx((0.01, 0, 0), abs=1e-9)
    born = (folder / "BORN").read_text().split("\n")
    dielectric, sodium, chlorine = (
        np.array(born[i].split(), dtype=float).reshape(3, 3) for i in (1, 2, 3)
    )
    charges = np.array([sodium if s == "Na" else chlorine for s in structure.symbols])
    return plan, tuple(found[atom] for atom in forces), PolarResponse(charges, dielectric)


def _rock_salt(*, polar: bool) -> PhononModel:
    plan, forces, response = _sodium_chloride()
    return phonons_of(plan, list(forces), response if polar else None)


X_POINT = (2.4138, 2.4138, 4.0662, 4.8668, 4.8668, 5.2557)
L_POINT = (3.2727, 3.2727, 3.7596, 3.7596, 5.1157, 6.2417)


def test_nacl_with_the_non_analytical_term() -> None:
    model = _rock_salt(polar=True)
    gamma = model.frequencies(np.zeros((1, 3)), direction=(1, 0, 0))[0]
    assert gamma[3:5] == pytest.approx([4.6164] * 2, abs=2e-3)
    assert gamma[5] == pytest.approx(7.3963, abs=2e-3)
    assert _at(model, "X") == pytest.approx(X_POINT, abs=2e-3)
    assert _at(model, "L") == pytest.approx(L_POINT, abs=2e-3)
    thermal = thermodynamics(model, [0.0, 300.0])
    assert thermal.free_energies_kj_per_mol[0] == pytest.approx(4.8634, abs=2e-3)
    assert thermal.entropies_j_per_k_mol[1] == pytest.approx(74.916, abs=0.05)
    assert thermal.heat_capacities_j_per_k_mol[1] == pytest.approx(48.034, abs=0.01)


def test_nacl_without_it() -> None:
    gamma = _rock_salt(polar=False).frequencies(np.zeros((1, 3)))[0]
    assert gamma[3:] == pytest.approx([4.6164] * 3, abs=2e-3)


def test_the_lo_branch_arrives_at_gamma_along_its_line() -> None:
    bands = phonon_bands(_rock_salt(polar=True), 0.3)
    assert bands.lines[0][0][-1] == pytest.approx(7.3963, abs=2e-3)


@pytest.mark.parametrize(
    ("charges", "dielectric", "said"),
    [
        (np.zeros((3, 3, 3)), np.eye(3), "cell of 8 atoms"),
        (np.tile(np.eye(3), (8, 1, 1)), np.eye(3), "do not add up to zero"),
        (np.zeros((8, 3, 3)), -np.eye(3), "positive"),
        (np.full((8, 3, 3), np.nan), np.eye(3), "not finite"),
    ],
)
def test_born_charges_that_cannot_be_are_refused(
    charges: Floats, dielectric: Floats, said: str
) -> None:
    plan = plan_displacements(rocksalt(), (1, 1, 1))
    with pytest.raises(InputRejected, match=said):
        phonons_of(plan, list(_forces(plan)), PolarResponse(charges, dielectric))


def test_antiferromagnetic_cells_are_not_folded() -> None:
    given = rocksalt(4.17, "Ni", "O")
    up = tuple(2.0 if i % 2 else -2.0 for i in range(4))
    magnetic = Structure(
        given.cell, given.pbc, given.symbols, given.positions,
        sites=type(given.sites)(moments=(*up, 0.0, 0.0, 0.0, 0.0)),
    )  # fmt: skip
    assert abs(np.linalg.det(primitive_matrix(magnetic))) > 0.3
