"""Equations of state against their own formulas, pymatgen, EMT and the cases."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crystalmath.analysis.eos.fit import fit_eos
from crystalmath.analysis.eos.forms import FORMS, Form, pressure
from crystalmath.analysis.eos.scan import scaled, scan_volumes
from crystalmath.analysis.flags import Flag
from crystalmath.errors import InputRejected, NotBracketed, TooFewPoints
from crystalmath.structures.structure import Floats
from crystalmath.units import EV_PER_ANGSTROM3_GPA
from support import emt
from support.cases import case
from support.crystals import rocksalt, water

E0, V0, B0, B0_PRIME = -3.7, 11.57, 0.84, 4.6
FORM_NAMES: list[Form] = ["birch_murnaghan", "vinet", "murnaghan"]
VOLUMES = V0 * np.linspace(0.94, 1.06, 9)


def _curve(form: Form, volumes: Floats = VOLUMES) -> Floats:
    return FORMS[form](volumes, E0, V0, B0, B0_PRIME)


def _codes(flags: tuple[Flag, ...]) -> set[str]:
    return {flag.code for flag in flags}


@pytest.mark.parametrize("form", FORM_NAMES)
def test_the_parameters_of_a_form_are_what_their_names_say(form: Form) -> None:
    step = 1e-3 * V0
    at = np.array([V0 - step, V0, V0 + step])
    low, middle, high = _curve(form, at)
    assert middle == pytest.approx(E0, abs=1e-12)
    assert V0 * (low - 2 * middle + high) / step**2 == pytest.approx(B0, rel=1e-4)
    p = pressure(form, at, V0, B0, B0_PRIME)
    bulk = -at[1] * (p[2] - p[0]) / (2 * step)
    assert bulk == pytest.approx(B0, rel=1e-4)
    # B' = dB/dP, from the bulk moduli half a step to each side
    left, right = -(at[0] + step / 2) * (p[1] - p[0]), -(at[1] + step / 2) * (p[2] - p[1])
    steps = (p[2] - p[0]) / 2
    assert (right - left) / step / steps == pytest.approx(B0_PRIME, rel=1e-3)


@pytest.mark.parametrize("form", FORM_NAMES)
def test_the_pressure_is_the_slope_of_the_energy(form: Form) -> None:
    step = 1e-4
    slope = (_curve(form, VOLUMES + step) - _curve(form, VOLUMES - step)) / (2 * step)
    assert pressure(form, VOLUMES, V0, B0, B0_PRIME) == pytest.approx(-slope, abs=1e-7)


@pytest.mark.parametrize("form", FORM_NAMES)
def test_a_form_is_found_again_from_its_own_points(form: Form) -> None:
    found = fit_eos(VOLUMES[::-1], _curve(form)[::-1])
    fit = next(item for item in (found.fit, *found.beside) if item.form == form)
    assert fit.v0_angstrom3 == pytest.approx(V0, abs=1e-6)
    assert fit.e0_ev == pytest.approx(E0, abs=1e-9)
    assert fit.b0_gpa == pytest.approx(B0 * EV_PER_ANGSTROM3_GPA, rel=1e-6)
    assert fit.b0_prime == pytest.approx(B0_PRIME, rel=1e-5)
    assert fit.rms_ev < 1e-8
    assert not found.flags


def test_the_numbers_are_those_of_pymatgen() -> None:
    from pymatgen.analysis.eos import EOS

    random = np.random.default_rng(3)
    energies = _curve("vinet") + 1e-4 * random.normal(size=VOLUMES.size)
    found = fit_eos(VOLUMES, energies)
    for fit in (found.fit, *found.beside):
        theirs = EOS(fit.form).fit(VOLUMES, energies)
        assert fit.v0_angstrom3 == pytest.approx(theirs.v0, abs=1e-5)
        assert fit.b0_gpa == pytest.approx(float(theirs.b0_GPa), rel=1e-4)
        assert fit.b0_prime == pytest.approx(theirs.b1, rel=1e-3)


def test_the_standard_errors_are_the_scatter_of_repeated_fits() -> None:
    random = np.random.default_rng(11)
    noise = 1e-4 * random.normal(size=(40, VOLUMES.size))
    fits = [fit_eos(VOLUMES, _curve("birch_murnaghan") + row).fit for row in noise]
    for value, error in (("v0_angstrom3", "v0_error_angstrom3"), ("b0_gpa", "b0_error_gpa")):
        scatter = np.std([getattr(fit, value) for fit in fits])
        stated = np.mean([getattr(fit, error) for fit in fits])
        assert stated == pytest.approx(scatter, rel=0.4)


def test_case_21() -> None:
    given = json.loads(case("structures/21_eos_cu_emt.json").read_text())
    expected = json.loads(case("structures/21_eos_cu_emt.expected.json").read_text())["expected"]
    found = fit_eos(given["volumes"], given["energies"], relaxed_volume_angstrom3=11.5654)
    by_form = {fit.form: fit for fit in (found.fit, *found.beside)}
    for form, numbers in ((name, expected[name]) for name in FORM_NAMES):
        assert by_form[form].v0_angstrom3 == pytest.approx(numbers["V0"], abs=1e-3)
        assert by_form[form].b0_gpa == pytest.approx(numbers["B0_GPa"], abs=0.3)
        if "B0_prime" in numbers:
            assert by_form[form].b0_prime == pytest.approx(numbers["B0_prime"], abs=0.05)
    assert found.fit.e0_ev == pytest.approx(expected["birch_murnaghan"]["E0"], abs=1e-5)
    assert (4 * found.fit.v0_angstrom3) ** (1 / 3) == pytest.approx(expected["a0_fcc_A"], abs=1e-4)
    assert found.fit.rms_ev == pytest.approx(np.sqrt(np.mean(found.fit.residuals_ev**2)))
    assert found.relaxed_volume_angstrom3 == 11.5654
    assert "decisive_point" not in _codes(found.flags)


def test_case_22() -> None:
    given = json.loads(case("structures/22_eos_onesided.json").read_text())
    with pytest.raises(NotBracketed, match="smaller volumes") as caught:
        fit_eos(given["volumes"], given["energies"])
    assert "add points at smaller volumes" in (caught.value.hint or "")


@pytest.mark.parametrize(("part", "side"), [(slice(0, 6), "larger"), (slice(4, 9), "smaller")])
def test_a_scan_beside_the_minimum_is_refused_with_its_side(part: slice, side: str) -> None:
    volumes = V0 * (np.linspace(0.86, 0.99, 9) if side == "larger" else np.linspace(1.01, 1.15, 9))
    with pytest.raises(NotBracketed, match=f"{side} volumes"):
        fit_eos(volumes[part], _curve("vinet", volumes)[part])


def test_a_curve_without_a_minimum_is_refused() -> None:
    energies = -_curve("birch_murnaghan")
    energies[4] = energies.min() - 1e-3
    with pytest.raises(NotBracketed):
        fit_eos(VOLUMES, energies)


def test_four_points_are_too_few() -> None:
    with pytest.raises(TooFewPoints, match="4 points"):
        fit_eos(VOLUMES[2:6], _curve("vinet")[2:6])


@pytest.mark.parametrize(
    ("volumes", "energies", "said"),
    [
        ([10, 11, 12, 13, 14], [1, 0, 1, 2], "5 volumes and 4 energies"),
        ([10, 11, 12, 13, 14], [1, 0, float("nan"), 2, 3], "number 3 of the energies is nan"),
        ([-1, 11, 12, 13, 14], [1, 0, 1, 2, 3], "positive"),
        ([10, 11, 11, 13, 14], [1, 0, 1, 2, 3], "11 Å³ is there twice"),
    ],
)
def test_points_that_are_none_are_refused(
    volumes: list[float], energies: list[float], said: str
) -> None:
    with pytest.raises(InputRejected, match=said):
        fit_eos(volumes, energies)


def test_a_point_that_is_off_is_named() -> None:
    energies = _curve("birch_murnaghan")
    energies[6] += 0.004
    found = fit_eos(VOLUMES, energies)
    assert any(
        flag.code == "outlier" and f"{VOLUMES[6]:.4f}" in flag.message for flag in found.flags
    )


def test_a_point_that_decides_the_bulk_modulus_is_named() -> None:
    energies = _curve("birch_murnaghan")
    energies[0] += 0.02
    found = fit_eos(VOLUMES, energies)
    assert any(
        flag.code == "decisive_point" and f"{VOLUMES[0]:.4f}" in flag.message
        for flag in found.flags
    )


@pytest.mark.parametrize(("b0_prime", "unusual"), [(1.8, True), (4.3, False), (7.8, True)])
def test_a_strange_pressure_derivative_is_doubted(b0_prime: float, unusual: bool) -> None:
    found = fit_eos(VOLUMES, FORMS["birch_murnaghan"](VOLUMES, E0, V0, B0, b0_prime))
    said = [flag.message for flag in found.flags if flag.code == "unusual_b0_prime"]
    assert bool(said) == unusual
    assert all(f"{b0_prime:.2f} is outside 2 to 7, where nearly all" in one for one in said)


def test_few_points_and_wide_ranges_are_said() -> None:
    wide = V0 * np.linspace(0.85, 1.15, 5)
    assert {"few_points", "wide_range"} <= _codes(fit_eos(wide, _curve("vinet", wide)).flags)


def test_a_scan_is_around_the_volume_and_keeps_the_shape() -> None:
    given = rocksalt()
    volumes = scan_volumes(given.volume, 7, 0.05)
    assert volumes[[0, 3, 6]] == pytest.approx(given.volume * np.array([0.95, 1.0, 1.05]))
    assert np.diff(volumes) == pytest.approx(given.volume / 60)
    small = scaled(given, float(volumes[0]))
    assert small.volume == pytest.approx(volumes[0])
    assert small.fractions == pytest.approx(given.fractions)


@pytest.mark.parametrize(("points", "reach"), [(4, 0.06), (9, 0.0), (9, 0.7)])
def test_scans_of_nothing_are_refused(points: int, reach: float) -> None:
    with pytest.raises(InputRejected):
        scan_volumes(40.0, points, reach)


def test_a_molecule_has_no_equation_of_state() -> None:
    with pytest.raises(InputRejected, match="three directions"):
        scaled(water(), 10.0)


@pytest.mark.parametrize(
    ("metal", "a", "e0", "b0", "b0_prime", "vinet"),
    [
        ("Cu", 3.58983, -0.007036, 134.23, 4.148, 134.39),
        ("Al", 3.99427, -0.004883, 38.64, 1.364, 38.44),
        ("Ag", 4.06355, -0.000367, 100.01, 4.704, 100.16),
        ("Au", 4.05617, -0.000135, 173.59, 5.358, 173.85),
        ("Ni", 3.48714, -0.013307, 173.95, 3.327, 173.97),
        ("Pd", 3.87874, -0.000270, 179.08, 4.991, 179.37),
        ("Pt", 3.92180, -0.000150, 277.45, 5.146, 277.89),
    ],
)
def test_emt_metals(
    metal: str, a: float, e0: float, b0: float, b0_prime: float, vinet: float
) -> None:
    relaxed = emt.relaxed_fcc(metal)
    assert (4 * relaxed.volume) ** (1 / 3) == pytest.approx(a, abs=1e-4)
    assert emt.energy(relaxed) == pytest.approx(e0, abs=2e-6)
    volumes = relaxed.volume * np.linspace(0.97, 1.03, 11) ** 3
    energies = [emt.energy(scaled(relaxed, float(volume))) for volume in volumes]
    found = fit_eos(volumes, energies, relaxed.volume)
    # a kink of EMT's cut-off lies in the scan of aluminium; nickel is 1.6e-4 off third order
    expected = 3.9948 if metal == "Al" else a
    allowed = 2e-4 if metal == "Ni" else 1e-4
    assert (4 * found.fit.v0_angstrom3) ** (1 / 3) == pytest.approx(expected, abs=allowed)
    assert found.fit.b0_gpa == pytest.approx(b0, abs=0.3)
    assert found.fit.b0_prime == pytest.approx(b0_prime, abs=0.02)
    assert {fit.form: fit.b0_gpa for fit in found.beside}["vinet"] == pytest.approx(vinet, abs=0.3)
    assert ("unusual_b0_prime" in _codes(found.flags)) == (metal == "Al")


def test_a_range_of_twelve_percent_lowers_the_bulk_modulus_and_is_flagged() -> None:
    relaxed = emt.relaxed_fcc("Cu")
    volumes = relaxed.volume * np.linspace(0.88, 1.12, 11) ** 3
    found = fit_eos(volumes, [emt.energy(scaled(relaxed, float(volume))) for volume in volumes])
    assert found.fit.b0_gpa == pytest.approx(130.7, abs=0.3)
    assert "wide_range" in _codes(found.flags)
