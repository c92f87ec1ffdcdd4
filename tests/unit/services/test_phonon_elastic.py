"""Phonons and elastic constants as workflows, with EMT in place of their jobs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.contract.workflow_options.phonon import PhononOptions
from crystalmath.contract.workflows import CreatePhononParams
from crystalmath.services.ports import StructureData
from crystalmath.services.workflows import kinds_here
from crystalmath.services.workflows.calculations import ESPRESSO
from crystalmath.services.workflows.kinds.elastic import Elastic
from crystalmath.services.workflows.kinds.phonon import Phonon, wanted_supercell
from crystalmath.services.workflows.plan import Plan, Procedure
from crystalmath.services.workflows.step_jobs import JobEnd
from crystalmath.structures.structure import Structure
from support import emt
from support.crystals import crystal
from support.kind_bench import KindBench, bench_of
from support.workflow_fakes import make_template

Make = Callable[..., KindBench]
SMALL = {"supercell": [2, 2, 2], "mesh": 4, "relax": False}
FAILED = JobEnd("FAILED", reason="not_converged", message="no luck", hint="try")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_template(tmp_path_factory.mktemp("template") / "crystalmath.db")


@pytest.fixture
def make(tmp_path: Path, template: Path) -> Iterator[Make]:
    made: list[KindBench] = []

    def bench(kind: Procedure, options: Mapping[str, Any]) -> KindBench:
        root = tmp_path / str(len(made))
        root.mkdir()
        made.append(bench_of(root, template, kind, options))
        return made[-1]

    yield bench
    for one in made:
        one.close()


def rock_salt_of_metals() -> Structure:
    """Cu and Au on the sites of rock salt: no forces by symmetry, two displacements."""
    places = [(0, 0, 0), (0.5, 0.5, 0.5)]
    half = 2.6
    lattice = half * np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    positions = np.array(places) @ lattice
    return Structure(lattice, (True,) * 3, ["Cu", "Au"], positions)


def quantities(bench: KindBench, workflow_id: int) -> dict[str, float]:
    document = json.loads(bench.results(workflow_id) or "{}")
    return {one["name"]: one["value"] for one in document["quantities"]}


def flags(bench: KindBench, workflow_id: int) -> list[str]:
    document = json.loads(bench.results(workflow_id) or "{}")
    return [one["code"] for one in document["flags"]]


def test_phonons_of_copper(make: Make) -> None:
    bench = make(Phonon(), {**SMALL, "mesh": 10, "relax": True})
    i = bench.begin(emt.relaxed_fcc("Cu"))
    assert bench.play(i) == "COMPLETED", bench.store.workflow(i).message
    assert bench.job_names() == ["relax", "displacement-1"]
    assert bench.step(i, "displacement-1").title.startswith("Cu (atom 1 of 8) moved by ")
    found = quantities(bench, i)
    assert found["lowest"] == pytest.approx(0, abs=1e-3)
    assert 7.5 < found["highest"] < 8.5
    assert found["heat_capacity_300k"] == pytest.approx(23.4, abs=0.2)
    assert flags(bench, i) == ["small_supercell"]


def test_a_displacement_that_fails_is_named_and_retried_alone(make: Make) -> None:
    plain = make(Phonon(), SMALL)
    i = plain.begin(rock_salt_of_metals())
    assert plain.play(i) == "COMPLETED", plain.store.workflow(i).message
    names = ["start", "displacement-1", "displacement-2"]
    assert plain.job_names() == names

    bench = make(Phonon(), SMALL)
    bench.jobs.ends["displacement-2"] = FAILED
    j = bench.begin(rock_salt_of_metals())
    assert bench.play(j, bench.conductor) == "WAITING"
    assert bench.store.workflow(j).message == "step displacement-2: no luck"
    assert bench.states(j)["displacement-1"] == "COMPLETED"
    del bench.jobs.ends["displacement-2"]
    assert bench.store.again(j, ["displacement-2"])
    assert bench.play(j) == "COMPLETED"
    assert bench.job_names() == [*names, "displacement-2"]
    assert bench.results(j) == plain.results(i)


def test_elastic_constants_of_copper(make: Make) -> None:
    bench = make(Elastic(), {})
    i = bench.begin(emt.relaxed_fcc("Cu", cubic=True))
    assert bench.play(i) == "COMPLETED", bench.store.workflow(i).message
    found = quantities(bench, i)
    constants = {name: value for name, value in found.items() if name[1:].isdigit()}
    assert constants == pytest.approx({"c11": 172.6, "c12": 115.4, "c44": 89.9}, abs=0.2)
    assert found["bulk_hill"] == pytest.approx(134.5, abs=0.2)
    assert bench.job_names() == ["relax", *(f"strain-{n}" for n in range(1, 7))]
    assert bench.step(i, "strain-1").title == "strain xx -1 %"
    assert flags(bench, i) == []


@pytest.mark.parametrize("kind", [Phonon(), Elastic()])
def test_a_structure_that_is_not_relaxed_is_refused(make: Make, kind: Procedure) -> None:
    bench = make(kind, {"relax": False})
    i = bench.begin(crystal([2.87] * 3, ["Cu"] * 2, [(0, 0, 0), (0.5, 0.5, 0.45)]))
    assert bench.play(i) == "FAILED"
    assert "a force of" in (bench.store.workflow(i).message or "")
    assert bench.job_names() == ["start"]


def test_a_cell_under_stress_has_phonons_but_no_elastic_constants(make: Make) -> None:
    compressed = crystal(
        [3.4] * 3, ["Cu"] * 4, [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]
    )
    bench = make(Phonon(), {**SMALL, "supercell": [1, 1, 1]})
    i = bench.begin(compressed)
    assert bench.play(i) == "COMPLETED", bench.store.workflow(i).message
    assert "under_stress" in flags(bench, i)
    other = make(Elastic(), {"relax": False})
    j = other.begin(compressed)
    assert other.play(j) == "FAILED"
    assert "a stress of" in (other.store.workflow(j).message or "")


def test_codes_of_density_functional_theory_get_wider_supercells() -> None:
    options = PhononOptions().model_dump(mode="json")

    def edge(code: str, **more: Any) -> float:
        plan = Plan("a test", code, None, None, "", {}, {**options, **more})
        return float(wanted_supercell(plan)["edge_angstrom"])

    assert (edge("forces"), edge(ESPRESSO), edge("forces", edge_angstrom=9.0)) == (12, 15, 9)


def test_the_edge_that_is_looked_at_before_anything_runs_is_that_of_the_code() -> None:
    options = PhononOptions().model_dump(mode="json")
    params = CreatePhononParams.model_validate({"structure": {"path": "/a"}, "engine": "emt"})
    cell = ((3.6, 0.0, 0.0), (0.0, 3.6, 0.0), (0.0, 0.0, 3.6))
    copper = StructureData(cell, (True,) * 3, ("Cu",), ((0.0, 0.0, 0.0),), "Cu")
    for code, expected in (("forces", 12), (ESPRESSO, 15)):
        found = kinds_here.settled(params, code, options, copper)
        assert found["edge_angstrom"] == expected
    asked = kinds_here.settled(params, ESPRESSO, {**options, "edge_angstrom": 9.0}, copper)
    assert asked["edge_angstrom"] == 9
