"""What jobs of VASP are asked for with by workflows, and which inputs a workflow refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from crystalmath.analysis.procedures.eos import strained
from crystalmath.analysis.procedures.own_basis import joined
from crystalmath.analysis.procedures.relaxed import basis_doubt, changed_basis
from crystalmath.codes.vasp.options import TASKS_OF_SET
from crystalmath.errors import BadResult, InvalidParams
from crystalmath.services.ports_workflows import NewStep
from crystalmath.services.workflows.calculations import (
    VASP,
    Criteria,
    at_volume,
    has_uneven_moments,
    of_supercell,
    same_mesh,
    single_point,
    told,
    unit_of,
    varied,
)
from crystalmath.services.workflows.kinds import PROCEDURES
from crystalmath.services.workflows.plan import Plan
from crystalmath.services.workflows.vasp import RELAXING_SETS

CRITERIA = Criteria(fmax_ev_per_a=1e-3, smax_gpa=1e-3, max_steps=40, optimizer="LBFGS")


def plan(kind: str = "eos", inputs: Mapping[str, Any] | None = None, **options: Any) -> Plan:
    if kind == "convergence":
        options = {"parameter": "cutoff", "values": [300.0, 400.0, 500.0], **options}
    if kind == "relax":
        options = {"cell": "full", **options}
    filled = PROCEDURES[kind].options(**options).model_dump(mode="json")
    return Plan("p", VASP, None, None, "0" * 64, {}, filled, inputs=dict(inputs or {}))


def incar(action: Mapping[str, Any]) -> dict[str, Any]:
    return dict(action["inputs"]["incar"])


def names(steps: Any) -> list[str]:
    return [step.name for step in steps]


def test_all_jobs_of_a_workflow_have_one_accuracy() -> None:
    asked = plan(inputs={"incar": {"ENCUT": 600}, "k_spacing_inv_angstrom": 0.3})
    static, moving = single_point(asked), at_volume(asked, CRITERIA, "atoms")
    assert (static["task"], moving["task"]) == ("static", "relax")
    assert incar(static) == incar(moving)
    assert incar(static) == {
        "PREC": "Accurate", "ALGO": "Normal", "LREAL": False, "ISMEAR": 0, "SIGMA": 0.05,
        "LWAVE": False, "LCHARG": False, "EDIFF": 1e-8, "ENCUT": 600,
    }  # fmt: skip
    assert static["inputs"]["set"] == moving["inputs"]["set"] == "MPRelaxSet"
    assert moving["inputs"]["fmax_ev_per_a"] == 1e-3
    assert moving["inputs"]["max_steps"] == 40
    assert incar(single_point(plan("relax")))["EDIFF"] == 1e-6
    assert incar(single_point(plan("phonon")))["EDIFF"] == 1e-8
    assert incar(single_point(plan(inputs={"incar": {"EDIFF": 1e-7}})))["EDIFF"] == 1e-7


def test_tags_of_the_workflow_are_not_said_to_be_those_of_the_user() -> None:
    asked = plan(inputs={"incar": {"ENCUT": 600}})
    said = [f"{tag}: 1, by `incar`; MPRelaxSet has 2" for tag in ("ENCUT", "ALGO")]
    assert told(asked, [*said, "more"]) == (
        said[0], "ALGO: 1, by the workflow; MPRelaxSet has 2", "more",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("free", "task", "cell"),
    [
        ("nothing", "static", None),
        ("atoms", "relax", "fixed"),
        ("shape", "relax", "constant_volume"),
    ],
)
def test_at_a_volume_what_the_symmetry_leaves_free_is_relaxed(
    free: str, task: str, cell: str | None
) -> None:
    asked = plan(inputs={"k_spacing_inv_angstrom": 0.3})
    action = at_volume(asked, CRITERIA, free, [5, 5, 5])
    assert (action["task"], action["inputs"].get("cell")) == (task, cell)
    assert action["inputs"]["kpoints"] == [5, 5, 5]
    assert action["inputs"]["k_spacing_inv_angstrom"] is None
    assert same_mesh(plan(inputs={"kpoints": [4, 4, 4]}), [5, 5, 5]) == {}


def test_a_relaxed_cell_is_computed_with_its_own_plane_waves() -> None:
    for kind in ("eos", "phonon", "elastic"):
        steps = PROCEDURES[kind].first_steps(plan(kind))
        assert names(steps)[:3] == ["relax", "relax-atoms", "minimum"]
        assert [step.action["inputs"]["cell"] for step in steps[:2]] == ["full", "fixed"]
        assert names(steps[3:]) != []
        assert next(iter(steps[3].uses.values())).step == "minimum"  # type: ignore[union-attr]
    given = PROCEDURES["relax"].first_steps(plan("relax"))
    assert names(given) == ["relax", "relax-energy", "minimum", "report"]
    assert [step.action["task"] for step in given[:2]] == ["relax", "static"]
    report = given[-1]
    assert report.uses["relaxed"].step == "minimum"  # type: ignore[union-attr]
    fixed = PROCEDURES["relax"].first_steps(plan("relax", cell="fixed"))
    assert names(fixed) == ["relax", "report"]
    assert names(PROCEDURES["phonon"].first_steps(plan("phonon", relax=False)))[0] == "start"


def test_volumes_around_a_structure_as_it_is_have_one_mesh() -> None:
    with pytest.raises(InvalidParams, match="which mesh") as refused:
        PROCEDURES["eos"].first_steps(plan(relax=False))
    assert refused.value.field == "inputs.kpoints"
    given = plan(inputs={"kpoints": [4, 4, 4]}, relax=False)
    [volumes] = PROCEDURES["eos"].first_steps(given)
    assert "k_spacing_inv_angstrom" not in volumes.action["given"]
    spaced = plan(inputs={"k_spacing_inv_angstrom": 0.3}, relax=False)
    [volumes] = PROCEDURES["eos"].first_steps(spaced)
    assert volumes.action["given"]["k_spacing_inv_angstrom"] == 0.3
    cube = {"lattice": [[4, 0, 0], [0, 4, 0], [0, 0, 4]], "pbc": [True] * 3, "symbols": ["Mg"]}
    structure = {**cube, "positions": [[0, 0, 0]], "formula": "Mg"}
    found = strained(5, 0.06, structure=structure, k_spacing_inv_angstrom=0.3)
    assert found["k_mesh"] == [6, 6, 6]  # 2π / 4 Å / 0.3, upwards


def test_energies_at_volumes_are_those_of_the_last_shape() -> None:
    given = {"structures": [{}, {}], "changes": [-0.01, 0.01], "k_mesh": [5, 5, 5]}

    def steps(free: str) -> list[NewStep]:
        found = PROCEDURES["eos"].next_steps(plan(), "volumes", {**given, "free": free})
        return list(found)

    shaped = steps("shape")
    assert names(shaped) == [
        "volume-1", "volume-2", "energy-1", "energy-2", "fit",
    ]  # fmt: skip
    assert [use.step for use in shaped[-1].uses["points"]] == names(shaped[2:4])  # type: ignore[union-attr]
    assert shaped[2].action["task"] == "static"
    assert shaped[2].action["inputs"]["kpoints"] == [5, 5, 5]
    for free in ("nothing", "atoms"):
        assert names(steps(free)) == ["volume-1", "volume-2", "fit"]


def test_a_set_of_a_workflow_is_one_for_relaxations_and_static_runs() -> None:
    both = {name for name, tasks in TASKS_OF_SET.items() if {"relax", "static"} <= set(tasks)}
    assert set(RELAXING_SETS) == both - {"MVLSlabSet"}, "a slab is no crystal"


def test_supercells_have_a_coarser_mesh_and_what_grows_with_them() -> None:
    asked = plan("phonon", {"incar": {"NBANDS": 12, "NELECT": 9.5, "NUPDOWN": 1}})
    assert of_supercell(asked, [2, 2, 1], [9, 9, 4]) == {
        "incar": {"NBANDS": 48, "NELECT": 38.0, "NUPDOWN": 4},
        "kpoints": [5, 5, 4],
        "k_spacing_inv_angstrom": None,
    }
    given = plan("phonon", {"kpoints": [8, 8, 8], "incar": {"ENCUT": 500}})
    inputs = of_supercell(given, [4, 4, 4], [9, 9, 9])
    assert inputs["kpoints"] == [2, 2, 2]
    assert incar(single_point(given, inputs))["ENCUT"] == 500
    assert of_supercell(plan("phonon"), [2, 2, 2]) == {}


def test_a_series_sets_its_parameter() -> None:
    asked = plan("convergence", {"incar": {"LREAL": "Auto"}})
    cutoff = single_point(asked, varied(asked, "cutoff", 450.0))
    assert (incar(cutoff)["ENCUT"], incar(cutoff)["LREAL"]) == (450.0, "Auto")
    assert incar(single_point(asked, varied(asked, "degauss", 0.2)))["SIGMA"] == 0.2
    assert varied(asked, "k_spacing", [7, 7, 7])["kpoints"] == [7, 7, 7]
    assert [unit_of(asked, one) for one in ("cutoff", "degauss", "k_spacing", "supercell")] == [
        "eV", "eV", "1/Å", "",
    ]  # fmt: skip
    static = plan("convergence", {"set": "MatPESStaticSet"})
    assert single_point(static)["inputs"]["set"] == "MatPESStaticSet"


@pytest.mark.parametrize(
    ("kind", "inputs", "field"),
    [
        *(
            ("relax", {"incar": {tag: 1}}, f"inputs.incar.{tag}")
            for tag in ("NSW", "IBRION", "ISIF")
        ),
        ("eos", {"incar": {"EDIFFG": -0.01}}, "inputs.incar.EDIFFG"),
        ("eos", {"incar": {"KSPACING": 0.2}}, "inputs.incar.KSPACING"),
        ("eos", {"incar": "ENCUT = 600"}, "inputs.incar"),
        ("eos", {"max_steps": 5}, "inputs.max_steps"),
        ("eos", {"density_from": "/tmp"}, "inputs.density_from"),
        ("elastic", {"set": "MPStaticSet"}, "inputs.set"),
        ("elastic", {"incar": {"MAGMOM": [5, -5]}}, "inputs.incar.MAGMOM"),
        ("phonon", {"incar": {"MAGMOM": "2*5"}}, "inputs.incar.MAGMOM"),
        ("phonon", {"incar": {"NGX": 40}}, "inputs.incar.NGX"),
        ("phonon", {"incar": {"NBANDS": "12"}}, "inputs.incar.NBANDS"),
    ],
)
def test_what_would_break_the_procedure_is_refused_by_its_field(
    kind: str, inputs: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidParams) as refused:
        PROCEDURES[kind].first_steps(plan(kind, inputs))
    assert (refused.value.field, bool(refused.value.hint)) == (field, True)


@pytest.mark.parametrize(
    ("parameter", "inputs", "field"),
    [
        ("cutoff", {"incar": {"ENCUT": 500}}, "inputs.incar.ENCUT"),
        ("degauss", {"incar": {"ISMEAR": -5}}, "inputs.incar.ISMEAR"),
        ("k_spacing", {"kpoints": [4, 4, 4]}, "inputs.kpoints"),
        ("supercell", {"incar": {"MAGMOM": [1, 1]}}, "inputs.incar.MAGMOM"),
        ("shrink", {}, "options.parameter"),
    ],
)
def test_a_series_refuses_what_is_set_for_all_of_it(
    parameter: str, inputs: dict[str, Any], field: str
) -> None:
    asked = plan("convergence", inputs, parameter=parameter, values=[1.0, 2.0, 3.0])
    with pytest.raises(InvalidParams) as refused:
        PROCEDURES["convergence"].trial(asked)  # type: ignore[attr-defined]
    assert refused.value.field == field


def test_moments_of_atoms_are_read_as_incar_has_them() -> None:
    assert has_uneven_moments(plan(inputs={"incar": {"MAGMOM": "2*5 2*-5 4*0"}}))
    assert not has_uneven_moments(plan(inputs={"incar": {"MAGMOM": [5, 5, 0]}}))
    assert not has_uneven_moments(plan(inputs={"incar": {"MAGMOM": "text"}}))
    assert not has_uneven_moments(plan())


def test_a_relaxation_and_its_last_calculation_are_one_result() -> None:
    cell = {"lattice": [[4, 0, 0], [0, 4, 0], [0, 0, 4]], "pbc": [True] * 3, "symbols": ["Mg"]}
    structure = {**cell, "positions": [[0, 0, 0]], "formula": "Mg"}
    relaxed = {"structure": structure, "energy_ev": -1.0, "n_ionic_steps": 7, "smax_gpa": 0.0}
    final = {"structure": structure, "energy_ev": -1.1, "smax_gpa": 0.4}
    both = joined({**relaxed, "relaxation": {"steps": 7}}, final)
    assert (both["energy_ev"], both["n_ionic_steps"]) == (-1.1, 7)
    assert both["relaxation"] == {"steps": 7, "final_enthalpy_ev": -1.0}
    assert changed_basis(both)
    [doubt] = basis_doubt(both)
    assert doubt.code == "basis_of_first_cell"
    pressed = {**both, "stress_ev_per_a3": [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]}
    assert basis_doubt(pressed, "constant_volume") == []
    assert basis_doubt(pressed, "isotropic") != []
    sheared = {**both, "stress_ev_per_a3": [[0, 0.01, 0], [0.01, 0, 0], [0, 0, 0]]}
    assert basis_doubt(sheared, "constant_volume") != []
    assert basis_doubt(sheared, "isotropic") == []
    other = {**structure, "lattice": [[4, 0, 0], [0, 4, 0], [0, 0, 4.1]]}
    with pytest.raises(BadResult, match="in another cell"):
        joined(relaxed, {**final, "structure": other})
