"""What jobs of other cells than the given one are asked for with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from crystalmath.analysis.procedures.relaxed import changed_mesh, mesh_of
from crystalmath.contract.workflow_options.elastic import ElasticOptions
from crystalmath.contract.workflow_options.eos import EosOptions
from crystalmath.contract.workflow_options.phonon import PhononOptions
from crystalmath.errors import InvalidParams
from crystalmath.services.workflows.calculations import (
    CRYSTAL,
    ESPRESSO,
    FORCES,
    Criteria,
    at_volume,
    has_uneven_moments,
    of_primitive,
    of_supercell,
    relaxation,
    same_mesh,
    varied,
)
from crystalmath.services.workflows.crystal import toldeg_of
from crystalmath.services.workflows.kinds.elastic import Elastic
from crystalmath.services.workflows.kinds.eos import Eos
from crystalmath.services.workflows.kinds.phonon import Phonon
from crystalmath.services.workflows.plan import Plan

CRITERIA = Criteria(fmax_ev_per_a=1e-3, smax_gpa=1e-3, max_steps=10, optimizer="LBFGS")


def plan(
    inputs: Mapping[str, Any], code: str = ESPRESSO, options: Mapping[str, Any] | None = None
) -> Plan:
    return Plan("p", code, None, None, "0" * 64, {}, dict(options or {}), inputs=inputs)


def test_what_belongs_to_a_cell_grows_with_the_supercell() -> None:
    given = {"total_magnetization_mu_b": 2.2, "charge": 1, "n_bands": 12, "k_mesh": [8, 8, 4]}
    assert of_supercell(plan(given), [2, 2, 1]) == {
        "total_magnetization_mu_b": pytest.approx(8.8),
        "charge": 4,
        "n_bands": 48,
        "k_mesh": [4, 4, 4],
    }
    assert of_supercell(plan({"ecutwfc_ry": 30}), [2, 2, 2]) == {}


def test_what_belongs_to_a_cell_is_divided_among_its_primitive_cells() -> None:
    given = {"total_magnetization_mu_b": 4.4, "charge": 2.0, "n_bands": 12}
    assert of_primitive(plan(given), 2) == {
        "total_magnetization_mu_b": pytest.approx(2.2),
        "charge": 1.0,
        "n_bands": 6,
    }
    with pytest.raises(InvalidParams, match="13 bands"):
        of_primitive(plan({"n_bands": 13}), 2)


def test_cells_of_a_scan_have_one_mesh() -> None:
    spaced = plan({"k_spacing_inv_angstrom": 0.2})
    assert same_mesh(spaced, [7, 7, 7]) == {"k_mesh": [7, 7, 7], "k_spacing_inv_angstrom": None}
    assert same_mesh(plan({"k_mesh": [4, 4, 4]}), [7, 7, 7]) == {}
    assert same_mesh(spaced, None) == {}
    assert same_mesh(plan({}, FORCES), [7, 7, 7]) == {}
    for free in ("nothing", "atoms", "shape"):
        inputs = at_volume(spaced, CRITERIA, free, [7, 7, 7])["inputs"]
        assert (inputs["k_mesh"], inputs["k_spacing_inv_angstrom"]) == ([7, 7, 7], None)


def test_different_meshes_are_a_doubt() -> None:
    one, other = ({"settings": {"k_points": f"{n} {n} {n} 0 0 0"}} for n in (15, 16))
    assert (mesh_of(one), mesh_of({}), mesh_of({"settings": {"k_points": "gamma"}})) == (
        [15, 15, 15],
        None,
        None,
    )
    assert changed_mesh([one, one, {}]) == []
    [flag] = changed_mesh([one, other])
    assert flag.code == "meshes_differ"


def test_moments_of_atoms_that_symmetry_would_mix_up() -> None:
    antiferromagnet = {"moments_mu_b": [2, -2, 0, 0]}
    assert has_uneven_moments(plan(antiferromagnet))
    assert not has_uneven_moments(plan({"moments_mu_b": [2, 2, 0, 0]}))
    assert not has_uneven_moments(plan({"moments_mu_b": {"Ni": 2}}))
    elastic = plan(antiferromagnet, options=ElasticOptions().model_dump(mode="json"))
    phonon = plan({"moments_mu_b": [2, 2]}, options=PhononOptions().model_dump(mode="json"))
    for kind, asked in ((Elastic(), elastic), (Phonon(), phonon)):
        with pytest.raises(InvalidParams, match="moments") as refused:
            kind.first_steps(asked)
        assert refused.value.field == "inputs.moments_mu_b"


def crystal_plan(options: Mapping[str, Any] | None = None, **of_kind: Any) -> Plan:
    return plan({"options": dict(options or {})}, CRYSTAL, of_kind)


@pytest.mark.parametrize(
    "given",
    [{}, {"shrink": [6, 12]}, {"shrink": [4, 4, 2]}, {"k_spacing_inv_angstrom": 0.2}],
)
def test_a_series_sets_shrink_whatever_stood_there(given: dict[str, Any]) -> None:
    assert varied(crystal_plan(given), "shrink", 8.0) == {"options": {"shrink": [8, 8]}}
    metal = varied(crystal_plan({**given, "metal": True}), "shrink", 8.0)
    assert metal == {"options": {"metal": True, "shrink": [8, 16]}}


def test_a_series_sets_integrals_and_basis_beside_what_was_given() -> None:
    made = crystal_plan({"functional": "PBE0", "tolinteg": [6, 6, 6, 6, 12]})
    assert varied(made, "tolinteg", "7 7 7 7 14") == {
        "options": {"functional": "PBE0", "tolinteg": [7, 7, 7, 7, 14]}
    }
    basis = varied(made, "basis", "STO-3G")["options"]
    assert (basis["basis"], basis["functional"]) == ("STO-3G", "PBE0")
    for wrong in ("7 7 7 7", "7 7 7 7 x", "0 7 7 7 14", "7 7 7 7 140"):
        with pytest.raises(InvalidParams, match="no TOLINTEG"):
            varied(made, "tolinteg", wrong)


def test_an_optimisation_of_crystal_is_asked_for_by_its_gradient() -> None:
    """A force is at most √3 times the largest component, whose limit is 1.5 TOLDEG."""
    loose = Criteria(fmax_ev_per_a=0.02, smax_gpa=0.1, max_steps=70, optimizer="LBFGS")
    action = relaxation(crystal_plan({"functional": "PBE0"}), loose, "full")
    optgeom = action["inputs"]["options"].pop("optgeom")
    assert action["task"] == "optimisation"
    assert action["inputs"]["options"] == {"functional": "PBE0"}
    assert optgeom["toldeg"] * 1.5 * 3**0.5 * 51.4220675 == pytest.approx(0.02)
    assert optgeom["toldex"] == pytest.approx(4 * optgeom["toldeg"])
    assert (optgeom["type"], optgeom["maxcycle"]) == ("FULLOPTG", 70)
    tight = relaxation(crystal_plan(), CRITERIA, "full")["inputs"]["options"]
    assert tight["toldee"] == 10.0
    own = relaxation(crystal_plan({"toldee": 9.0}), CRITERIA, "full")["inputs"]["options"]
    assert own["toldee"] == 9.0


@pytest.mark.parametrize(
    ("given", "cell", "limits", "field"),
    [
        ({}, "isotropic", {}, "options.cell"),
        ({}, "full", {"fmax_ev_per_a": 1e-5}, "options.fmax_ev_per_a"),
        ({}, "full", {"max_steps": 10_001}, "options.max_steps"),
        ({"optgeom": {}}, "full", {}, "inputs.options.optgeom"),
        ({"eos": {}}, "full", {}, "inputs.options.eos"),
    ],
)
def test_what_optgeom_cannot_do_is_refused(
    given: dict[str, Any], cell: str, limits: dict[str, Any], field: str
) -> None:
    usual = {"fmax_ev_per_a": 0.02, "smax_gpa": 0.1, "max_steps": 70, "optimizer": "LBFGS"}
    with pytest.raises(InvalidParams) as refused:
        relaxation(crystal_plan(given), Criteria(**{**usual, **limits}), cell)
    assert refused.value.field == field


def test_the_least_force_that_is_named_is_taken() -> None:
    with pytest.raises(InvalidParams) as refused:
        toldeg_of(1e-5)
    least = float(str(refused.value.hint).split()[1])
    assert toldeg_of(least) >= 2e-6


def test_a_volume_of_crystal_moves_what_the_symmetry_leaves_free() -> None:
    types = {"nothing": None, "atoms": "ATOMONLY", "shape": "CVOLOPT"}
    for free, expected in types.items():
        action = at_volume(crystal_plan({"metal": True}), CRITERIA, free, [8, 8, 5])
        options = action["inputs"]["options"]
        assert (options.get("optgeom") or {}).get("type") == expected
        assert action["task"] == ("scf" if expected is None else "optimisation")
        assert (options["shrink"], options["metal"]) == ([8, 8, 5], True)
    spaced = at_volume(crystal_plan({"k_spacing_inv_angstrom": 0.2}), CRITERIA, "shape", [7, 7, 7])
    assert "k_spacing_inv_angstrom" not in spaced["inputs"]["options"]
    given = at_volume(crystal_plan({"shrink": [6, 6]}), CRITERIA, "shape", [7, 7, 7])
    assert given["inputs"]["options"]["shrink"] == [6, 6]


def test_spins_of_atoms_do_not_fit_what_a_relaxation_ends_with() -> None:
    spins = {"spin": {"atom_spins": {"1": 1, "2": -1}}}
    options = EosOptions().model_dump(mode="json")
    with pytest.raises(InvalidParams) as refused:
        Eos().first_steps(crystal_plan(spins, **options))
    assert refused.value.field == "inputs.options.spin.atom_spins"
    as_it_is = crystal_plan({**spins, "shrink": [8, 8]}, **{**options, "relax": False})
    Eos().first_steps(as_it_is)
    assert has_uneven_moments(as_it_is)


def test_volumes_around_a_structure_as_it_is_need_one_mesh() -> None:
    options = EosOptions(relax=False).model_dump(mode="json")
    with pytest.raises(InvalidParams, match="mesh of its own") as refused:
        Eos().first_steps(crystal_plan({"k_spacing_inv_angstrom": 0.2}, **options))
    assert refused.value.field == "inputs.options.shrink"
    Eos().first_steps(crystal_plan({"shrink": [8, 16]}, **options))
    Eos().first_steps(crystal_plan(**EosOptions().model_dump(mode="json")))


def test_limits_are_looked_at_before_there_are_volumes() -> None:
    options = EosOptions(relax=False, fmax_ev_per_a=1e-5).model_dump(mode="json")
    with pytest.raises(InvalidParams) as refused:
        Eos().trial(crystal_plan(**options))
    assert refused.value.field == "options.fmax_ev_per_a"
    wide = EosOptions(relax=False).model_dump(mode="json")
    assert Eos().trial(crystal_plan(**wide))["task"] == "scf"
