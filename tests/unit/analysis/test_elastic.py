"""Elastic constants: EMT copper, constructed stresses, pymatgen's averages."""

from __future__ import annotations

import numpy as np
import pytest

from crystalmath.analysis.elastic.directions import PLANES, round_plane, young_moduli
from crystalmath.analysis.elastic.fit import ElasticConstants, fit_elastic
from crystalmath.analysis.elastic.invariants import free_stiffness, free_stress
from crystalmath.analysis.elastic.moduli import moduli, stability, zener
from crystalmath.analysis.elastic.strains import (
    Strain,
    second_piola_kirchhoff,
    strain_of,
    strains_of,
)
from crystalmath.analysis.elastic.voigt import (
    strain_tensor,
    strain_vector,
    stress_rotation,
    stress_tensor,
    turned_stiffness,
)
from crystalmath.analysis.point_group import on_cartesian, rotations_of
from crystalmath.errors import BadResult, InputRejected, Underdetermined
from crystalmath.structures.structure import Floats, Structure
from crystalmath.units import EV_PER_ANGSTROM3_GPA
from support import emt
from support.crystals import crystal, hexagonal, turned

CUBIC = crystal([4.0] * 3, ["Po"], [(0, 0, 0)])
TETRAGONAL = crystal([4.0, 4.0, 2.9], ["Sn"], [(0, 0, 0)])
HEXAGONAL = crystal(hexagonal(2.7, 4.4), ["Zn"] * 2, [(1 / 3, 2 / 3, 0.25), (2 / 3, 1 / 3, 0.75)])
ORTHORHOMBIC = crystal([3.0, 4.0, 5.0], ["U"], [(0, 0, 0)])
TRICLINIC = crystal(
    [[3.0, 0.1, 0.2], [0.4, 4.1, 0.3], [0.5, 0.6, 5.2]], ["C", "N", "O"],
    [(0, 0, 0), (0.3, 0.1, 0.2), (0.6, 0.7, 0.45)],
)  # fmt: skip
COPPER = np.array([
    [172.6, 115.4, 115.4, 0, 0, 0], [115.4, 172.6, 115.4, 0, 0, 0], [115.4, 115.4, 172.6, 0, 0, 0],
    [0, 0, 0, 89.9, 0, 0], [0, 0, 0, 0, 89.9, 0], [0, 0, 0, 0, 0, 89.9],
])  # fmt: skip


def _stiffness(seed: int) -> Floats:
    """A positive matrix without any symmetry, GPa."""
    random = np.random.default_rng(seed)
    half = random.normal(size=(6, 6))
    return np.asarray(60 * np.eye(6) + 4 * (half @ half.T))


def _symmetric(structure: Structure, seed: int) -> Floats:
    """A stiffness with the symmetry of a crystal, in its axes."""
    turns = on_cartesian(rotations_of(structure), structure.cell)
    return np.mean([turned_stiffness(_stiffness(seed), turn) for turn in turns], axis=0)


def _stresses(
    strains: list[Strain], stiffness: Floats, extra: Floats | None = None
) -> list[Floats]:
    """Cauchy stresses (eV/Å³) whose second Piola–Kirchhoff stress is linear in the strain."""
    found = []
    for strain in strains:
        pulled = stress_tensor(stiffness @ strain.strain) + (0 if extra is None else extra)
        f = strain.deformation
        found.append(f @ pulled @ f.T / np.linalg.det(f) / EV_PER_ANGSTROM3_GPA)
    return found


def _emt(structure: Structure) -> ElasticConstants:
    strains = strains_of(structure)
    return fit_elastic(structure, strains, [emt.stress(s.applied(structure)) for s in strains])


@pytest.mark.parametrize("cubic", [True, False])
def test_emt_copper(cubic: bool) -> None:
    found = _emt(emt.relaxed_fcc("Cu", cubic=cubic))
    c = found.stiffness_gpa
    assert found.space_group == 225
    assert found.free == 3
    assert c[0, 0] == pytest.approx(172.6, abs=0.3)
    assert c[0, 1] == pytest.approx(115.4, abs=0.3)
    assert c[3, 3] == pytest.approx(89.9, abs=0.3)
    assert found.residual_stress_gpa == pytest.approx(np.zeros(6), abs=0.02)
    assert moduli(c).bulk_hill_gpa == pytest.approx(134.4, abs=0.4)


def test_a_turned_crystal_has_the_same_constants_in_the_axes_of_its_standard_cell() -> None:
    straight = emt.relaxed_fcc("Cu")
    found = _emt(turned(straight, 4))
    assert found.stiffness_gpa == pytest.approx(_emt(straight).stiffness_gpa, abs=0.5)
    assert abs(found.stiffness_as_calculated_gpa[0, 0] - found.stiffness_gpa[0, 0]) > 1


@pytest.mark.parametrize(
    ("structure", "cells", "free", "stresses"),
    [
        (CUBIC, 6, 3, 1),
        (HEXAGONAL, 10, 5, 2),
        (TETRAGONAL, 12, 6, 2),
        (ORTHORHOMBIC, 18, 9, 3),
        (TRICLINIC, 24, 21, 6),
    ],
)
def test_symmetry_saves_strains_and_constants(
    structure: Structure, cells: int, free: int, stresses: int
) -> None:
    turns = on_cartesian(rotations_of(structure), structure.cell)
    assert len(free_stiffness(turns)) == free
    assert len(free_stress(turns)) == stresses
    assert len(strains_of(structure)) == cells


@pytest.mark.parametrize("structure", [CUBIC, HEXAGONAL, TETRAGONAL, ORTHORHOMBIC, TRICLINIC])
def test_the_constants_are_found_again(structure: Structure) -> None:
    stiffness = _symmetric(structure, 3)
    strains = strains_of(structure)
    found = fit_elastic(structure, strains, _stresses(strains, stiffness))
    assert found.stiffness_as_calculated_gpa == pytest.approx(stiffness, abs=1e-6)
    assert found.rms_gpa < 1e-9
    assert not found.flags


def test_residual_stress_does_not_enter_the_constants_and_is_said() -> None:
    strains = strains_of(CUBIC)
    found = fit_elastic(CUBIC, strains, _stresses(strains, COPPER, np.eye(3) * 0.5))
    assert found.stiffness_gpa == pytest.approx(COPPER, abs=1e-6)
    assert found.residual_stress_gpa == pytest.approx([0.5, 0.5, 0.5, 0, 0, 0], abs=1e-9)
    assert [flag.code for flag in found.flags] == ["residual_stress"]


def test_noise_is_in_the_errors() -> None:
    random = np.random.default_rng(2)
    strains = strains_of(CUBIC)
    clean = _stresses(strains, COPPER)
    found = [
        fit_elastic(
            CUBIC, strains, [s + 1e-5 * (n + n.T) for s, n in zip(clean, noise, strict=True)]
        )
        for noise in random.normal(size=(30, len(strains), 3, 3))
    ]
    scatter = np.std([each.stiffness_gpa[0, 0] for each in found])
    assert np.mean([each.errors_gpa[0, 0] for each in found]) == pytest.approx(scatter, rel=0.4)


def test_a_stress_off_the_line_is_said() -> None:
    strains = strains_of(CUBIC)
    stresses = _stresses(strains, COPPER)
    stresses[0] = stresses[0] * 1.5
    found = fit_elastic(CUBIC, strains, stresses)
    assert "not_linear" in [flag.code for flag in found.flags]


def test_one_sign_of_a_strain_is_said() -> None:
    strains = [s for s in strains_of(CUBIC) if s.name != "xx -1 %"]
    assert not fit_elastic(CUBIC, strains, _stresses(strains, COPPER)).flags
    strains = [s for s in strains if not s.name.startswith("xx -")]
    found = fit_elastic(CUBIC, strains, _stresses(strains, COPPER))
    assert [flag.code for flag in found.flags] == ["one_sided"]


def test_missing_strains_leave_constants_open() -> None:
    shear = [strain for strain in strains_of(CUBIC) if strain.name.startswith(("yz", "xz", "xy"))]
    with pytest.raises(Underdetermined, match="3 elastic constants"):
        fit_elastic(CUBIC, shear, _stresses(shear, COPPER))
    with pytest.raises(InputRejected, match="no strains"):
        fit_elastic(CUBIC, [], [])


def test_what_is_no_stress_is_refused() -> None:
    strains = strains_of(CUBIC)
    stresses = _stresses(strains, COPPER)
    with pytest.raises(InputRejected, match=f"{len(strains)} strains and 1 stresses"):
        fit_elastic(CUBIC, strains, stresses[:1])
    stresses[2] = np.full((3, 3), np.nan)
    with pytest.raises(BadResult, match=rf"{strains[2].name[:2]}.*not a finite"):
        fit_elastic(CUBIC, strains, stresses)


@pytest.mark.parametrize("sizes", [(0.01,), (0.01, 0.005), (-0.2, 0.2), ()])
def test_strains_of_one_sign_or_of_any_size_are_refused(sizes: tuple[float, ...]) -> None:
    with pytest.raises(InputRejected):
        strains_of(CUBIC, sizes)


def test_a_strained_cell_has_the_strain_that_it_is_named_after() -> None:
    for strain in strains_of(TRICLINIC):
        cell = strain.applied(TRICLINIC)
        assert strain_of(TRICLINIC.cell, cell.cell) == pytest.approx(strain.strain, abs=1e-12)
        assert cell.fractions == pytest.approx(TRICLINIC.fractions)
        assert strain_vector(strain_tensor(strain.strain)) == pytest.approx(strain.strain)


def test_turning_keeps_energy_and_matches_turned_tensors() -> None:
    turn = on_cartesian(rotations_of(CUBIC), CUBIC.cell)[7]
    vector = np.arange(1.0, 7.0)
    expected = turn @ stress_tensor(vector) @ turn.T
    assert stress_tensor(stress_rotation(turn) @ vector) == pytest.approx(expected)
    assert turned_stiffness(COPPER, turn) == pytest.approx(COPPER)


def test_averages_and_constants_are_those_of_pymatgen() -> None:
    from pymatgen.analysis.elasticity import ElasticTensor, Stress
    from pymatgen.analysis.elasticity import Strain as PymatgenStrain

    stiffness = _stiffness(9)
    theirs = ElasticTensor.from_voigt(stiffness)
    ours = moduli(stiffness)
    assert ours.bulk_voigt_gpa == pytest.approx(theirs.k_voigt)
    assert ours.bulk_reuss_gpa == pytest.approx(theirs.k_reuss)
    assert ours.shear_voigt_gpa == pytest.approx(theirs.g_voigt)
    assert ours.shear_reuss_gpa == pytest.approx(theirs.g_reuss)
    assert ours.bulk_hill_gpa == pytest.approx(theirs.k_vrh)
    assert ours.universal_anisotropy == pytest.approx(theirs.universal_anisotropy)
    assert ours.poisson == pytest.approx(theirs.homogeneous_poisson)
    strains = strains_of(TRICLINIC)
    pulled = [
        second_piola_kirchhoff(s, strain.deformation)
        for s, strain in zip(_stresses(strains, stiffness), strains, strict=True)
    ]
    fitted = ElasticTensor.from_independent_strains(
        [PymatgenStrain(strain_tensor(strain.strain)) for strain in strains],
        [Stress(stress * EV_PER_ANGSTROM3_GPA) for stress in pulled],
        eq_stress=np.zeros((3, 3)),
    )
    found = fit_elastic(TRICLINIC, strains, _stresses(strains, stiffness))
    assert found.stiffness_as_calculated_gpa == pytest.approx(fitted.voigt, abs=1e-3)


def test_an_isotropic_crystal() -> None:
    bulk, shear = 100.0, 40.0
    c = np.zeros((6, 6))
    c[:3, :3] = bulk - 2 / 3 * shear
    c[range(3), range(3)] = bulk + 4 / 3 * shear
    c[range(3, 6), range(3, 6)] = shear
    found = moduli(c)
    assert (found.bulk_reuss_gpa, found.shear_reuss_gpa) == pytest.approx((bulk, shear))
    assert found.universal_anisotropy == pytest.approx(0.0, abs=1e-9)
    assert found.young_gpa == pytest.approx(9 * bulk * shear / (3 * bulk + shear))
    assert found.pugh == pytest.approx(2.5)
    assert zener(c) == pytest.approx(1.0)


def test_stability() -> None:
    judged = stability(COPPER)
    assert judged.stable
    assert {item.expression: round(item.value_gpa, 1) for item in judged.conditions} == {
        "C11 − C12": 57.2, "C11 + 2 C12": 403.4, "C44": 89.9
    }  # fmt: skip
    assert judged.eigenvalues_gpa == pytest.approx([57.2, 57.2, 179.8, 179.8, 179.8, 403.4])
    soft = COPPER.copy()
    soft[0, 1] = soft[1, 0] = soft[0, 2] = soft[2, 0] = soft[1, 2] = soft[2, 1] = 180.0
    judged = stability(soft)
    assert not judged.stable
    assert [item.expression for item in judged.conditions if not item.holds] == ["C11 − C12"]
    with pytest.raises(Underdetermined, match="not stable"):
        moduli(soft)


def test_eigenvalues_do_not_depend_on_the_axes() -> None:
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    moved = turned_stiffness(COPPER, turn)
    assert zener(moved) is None
    assert stability(moved).conditions == ()
    assert stability(moved).eigenvalues_gpa == pytest.approx(stability(COPPER).eigenvalues_gpa)


def test_youngs_modulus_of_a_cubic_crystal_is_that_of_the_closed_formulas() -> None:
    c11, c12, c44 = 172.6, 115.4, 89.9
    s11 = (c11 + c12) / ((c11 - c12) * (c11 + 2 * c12))
    s12, s44 = -c12 / ((c11 - c12) * (c11 + 2 * c12)), 1 / c44
    least = 2 * (s11 - s12 - s44 / 2)
    expected = [1 / s11, 1 / (s11 - least / 4), 1 / (s11 - least / 3)]
    found = young_moduli(COPPER, np.array([[2.0, 0, 0], [0, 1, -1], [1, 1, 1]]))
    assert found == pytest.approx(expected, rel=1e-12)
    round_xy = young_moduli(COPPER, round_plane("xy", np.array([0.0, 45.0, 90.0, 180.0])))
    assert round_xy == pytest.approx([expected[0], expected[1], expected[0], expected[0]])


def test_youngs_modulus_turns_with_the_crystal() -> None:
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    directions = np.random.default_rng(6).normal(size=(5, 3))
    stiffness = _stiffness(4)
    turned_moduli = young_moduli(turned_stiffness(stiffness, turn), directions @ turn.T)
    assert turned_moduli == pytest.approx(young_moduli(stiffness, directions))


def test_youngs_modulus_of_an_isotropic_crystal_is_the_same_everywhere() -> None:
    bulk, shear = 100.0, 40.0
    c = np.diag([bulk + 4 / 3 * shear] * 3 + [shear] * 3)
    c[:3, :3] += (bulk - 2 / 3 * shear) * (1 - np.eye(3))
    for plane in PLANES:
        found = young_moduli(c, round_plane(plane, np.arange(0.0, 181.0, 15.0)))
        assert found == pytest.approx(np.full(13, 9 * bulk * shear / (3 * bulk + shear)))


def test_each_line_of_strains_has_its_stresses_and_their_fit() -> None:
    strains = strains_of(CUBIC)
    found = fit_elastic(CUBIC, strains, _stresses(strains, COPPER, np.eye(3) * 0.01)).responses
    assert [one.component for one in found] == ["xx", "yz"]
    xx, yz = found
    assert xx.strains == pytest.approx([-0.01, -0.005, 0.005, 0.01])
    assert xx.calculated.all()
    assert xx.stresses_gpa == pytest.approx(0.01 + 172.6 * xx.strains)
    assert yz.strains == pytest.approx([-0.01, -0.005, 0.005, 0.01])
    assert yz.calculated.tolist() == [True, True, False, False]
    fitted = xx.curve(np.array([0.0, 0.002]))
    assert fitted is not None
    assert fitted == pytest.approx([0.01, 0.01 + 172.6 * 0.002])


def test_a_line_of_one_strain_has_no_curve() -> None:
    strains = [s for s in strains_of(CUBIC) if s.name in ("xx +0.5 %", "xx +1 %", "yz -1 %")]
    found = fit_elastic(CUBIC, strains, _stresses(strains, COPPER)).responses
    assert found[0].curve(np.array([0.0])) == pytest.approx([0.0], abs=1e-9)
    assert found[1].calculated.tolist() == [True, False]
