"""What jobs of other cells than the given one are asked for with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from crystalmath.analysis.procedures.relaxed import changed_mesh, mesh_of
from crystalmath.contract.workflow_options.elastic import ElasticOptions
from crystalmath.contract.workflow_options.phonon import PhononOptions
from crystalmath.errors import InvalidParams
from crystalmath.services.workflows.calculations import (
    ESPRESSO,
    FORCES,
    Criteria,
    at_volume,
    has_uneven_moments,
    of_primitive,
    of_supercell,
    same_mesh,
)
from crystalmath.services.workflows.kinds.elastic import Elastic
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
