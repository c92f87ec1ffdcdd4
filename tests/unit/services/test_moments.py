"""Magnetic moments on their way: through jobs, and through the steps of workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.analysis.procedures.bands import pathed
from crystalmath.analysis.procedures.convergence import points_of
from crystalmath.analysis.procedures.elastic import strained as strained_cells
from crystalmath.analysis.procedures.eos import strained
from crystalmath.analysis.procedures.md import repeated
from crystalmath.analysis.procedures.phonon import displaced
from crystalmath.contract.jobs import ContinueParams, JobIdParams, StructureIn
from crystalmath.errors import InvalidParams
from crystalmath.services.job_moments import lost_moments, with_moments
from crystalmath.services.ports import Continuation, StructureData, Verdict
from crystalmath.services.structure_in import StructureInputs
from crystalmath.services.workflows.content import bare_structure
from crystalmath.services.workflows.moments import settled_moments
from support.magnets import iron_data
from support.service_fakes import Bench, FakeCall

_CALL: Any = FakeCall()
UP, UNEVEN = iron_data(2.2, 2.2), iron_data(2.2, -2.2)


class IronReader:
    """Reads the same structure whatever is asked for."""

    def read(self, **_: Any) -> StructureData:
        return UNEVEN


def final(*symbols: str) -> dict[str, Any]:
    places = [[0.0, 0.0, 0.1 * i] for i in range(len(symbols))]
    cell = [[2.9, 0.0, 0.0], [0.0, 2.9, 0.0], [0.0, 0.0, 2.9]]
    return {"lattice": cell, "pbc": [True] * 3, "symbols": list(symbols), "positions": places}


def ended(bench: Bench, job: int, verdict: Verdict) -> Mapping[str, Any]:
    bench.code.verdict = verdict
    bench.pump.turn()
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    return bench.store.documents(job).results


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, reader=IronReader())


def of_job(bench: Bench, job: int) -> StructureData:
    return StructureInputs(bench.store, bench.reader).read(StructureIn(job=job))


def test_a_job_ends_with_the_moments_that_it_started_with(bench: Bench) -> None:
    job = bench.submit(structure={"path": "/fe.extxyz"})
    assert bench.store.documents(job).submission["structure_data"]["sites"] == {
        "moments": [2.2, -2.2]
    }
    done = Verdict(completed=True, results={"formula": "Fe", "structure": final("Fe", "Fe")})
    results = ended(bench, job, done)
    assert results["structure"]["sites"] == {"moments": [2.2, -2.2]}
    found = of_job(bench, job)
    assert (found.moments, found.warnings) == ((2.2, -2.2), ())
    bench.service.get(JobIdParams(id=job))


def test_so_does_the_job_that_goes_on_from_a_deck(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bench.submit(structure={"path": "/fe.extxyz"})
    ended(bench, job, Verdict(completed=False, reason="not_converged", message="no"))
    onward = Continuation("goes on", {}, (), None)
    monkeypatch.setattr(bench.code, "proceed", lambda *_: onward)
    going_on = bench.service.continue_(ContinueParams(id=job), _CALL).job
    assert going_on is not None
    done = Verdict(completed=True, results={"structure": final("Fe", "Fe")})
    results = ended(bench, going_on.id, done)
    assert results["structure"]["sites"] == {"moments": [2.2, -2.2]}


def test_moments_of_a_job_that_nobody_knows_are_told(bench: Bench) -> None:
    job = bench.submit()
    spins = {"absolute_magnetisation_mu_b": 4.5, "structure": final("Fe", "Fe")}
    ended(bench, job, Verdict(completed=True, results=spins))
    assert "had spin, and the moments of its atoms are not known" in of_job(bench, job).warnings[0]


def test_the_order_of_the_atoms_is_that_of_the_code() -> None:
    given = {"moments": {"symbols": ["Ni", "O", "Ni", "O"], "moments_mub": [2.0, 0.0, -2.0, 0.0]}}
    by_element = {"structure": final("Ni", "Ni", "O", "O")}
    found = with_moments("vasp", by_element, given)["structure"]
    assert found["sites"] == {"moments": [2.0, -2.0, 0.0, 0.0]}
    as_asked = {"structure": final("Ni", "O", "Ni", "O")}
    found = with_moments("vasp", as_asked, given)
    assert found["structure"]["sites"] == {"moments": [2.0, 0.0, -2.0, 0.0]}
    assert lost_moments("vasp", found, given) == ()
    for code, symbols in (("espresso", "Ni Ni O O"), ("crystal", "Ni O Ni O"), ("vasp", "Ni O")):
        lost = with_moments(code, {"structure": final(*symbols.split())}, given)["structure"]
        assert "sites" not in lost
        assert "another order" in lost["warnings"][0]
        assert "starts without them" in lost_moments(code, {"structure": lost}, given)[0]
        assert lost_moments(code, {"structure": lost}, {}) == lost_moments(code, {}, given) == ()
    even = {"moments": {"symbols": ["Ni", "O", "Ni", "O"], "moments_mub": [2.0, 0.0, 2.0, 0.0]}}
    found = with_moments("crystal", {"structure": final("O", "Ni")}, even)["structure"]
    assert found["sites"] == {"moments": [0.0, 2.0]}
    assert with_moments("crystal", {}, even) == {}
    assert with_moments("vasp", by_element, {}) == by_element


def test_what_options_say_outweighs_the_structure_of_a_workflow() -> None:
    same, said = settled_moments("eos", "espresso", None, {}, UNEVEN)
    assert (same, said) == (UNEVEN, ())
    inputs = {"moments_mu_b": {"Fe": 1.0}}
    bare, said = settled_moments("elastic", "espresso", None, inputs, UNEVEN)
    assert bare.moments is None
    assert "`inputs.moments_mu_b` is given" in said[0]
    with pytest.raises(InvalidParams, match="different moments") as refused:
        settled_moments("elastic", "espresso", None, {}, UNEVEN)
    assert refused.value.field == "structure"
    assert "`inputs.moments_mu_b.Fe: 2.2`" in str(refused.value.hint)
    with pytest.raises(InvalidParams, match="different moments") as refused:
        settled_moments("elastic", "vasp", None, {"incar": {"ISPIN": 2}}, UNEVEN)
    assert "moments_mu_b" not in str(refused.value.hint)
    assert "all Fe one moment: `inputs.incar.MAGMOM`" in str(refused.value.hint)
    for incar in ({"ISPIN": 1}, {"ISPIN": "1"}, {"MAGMOM": [2.0, 2.0]}):
        bare, said = settled_moments("elastic", "vasp", None, {"incar": incar}, UNEVEN)
        assert bare.moments is None
        assert f"`inputs.incar.{next(iter(incar))}` is given" in said[0]
    assert settled_moments("elastic", "espresso", None, {}, UP) == (UP, ())
    plain = iron_data(0.0, 0.0)
    assert settled_moments("elastic", "forces", "emt", {}, plain) == (plain, ())


def test_an_engine_chooses_no_steps_by_them() -> None:
    for kind, kept in (("phonon", None), ("relax", (2.2, -2.2))):
        found, said = settled_moments(kind, "forces", "emt", {}, UNEVEN)
        assert found.moments == kept
        assert said == ("emt does not use magnetic moments: those of the structure change nothing",)


def step(structure: StructureData) -> dict[str, Any]:
    """What a relaxation of it would give."""
    n = len(structure.symbols)
    return {
        "structure": bare_structure(asdict(structure)),
        "forces_ev_per_a": [[0.0] * 3] * n,
        "stress_ev_per_a3": [[0.0] * 3] * 3,
    }


def moments_of(structures: list[dict[str, Any]]) -> list[list[float]]:
    return [one["sites"]["moments"] for one in structures]


def test_strained_cells_have_them() -> None:
    found = strained(5, 0.06, structure=bare_structure(asdict(UNEVEN)))
    assert moments_of(found["structures"]) == [[2.2, -2.2]] * 5
    assert found["free"] == "shape"  # not cubic, once the moments count
    assert strained(5, 0.06, structure=bare_structure(asdict(UP)))["free"] == "nothing"
    cells = strained_cells(step(UP), [0.005])["structures"]
    assert {tuple(one) for one in moments_of(cells)} == {(2.2, 2.2)}


def test_displaced_supercells_have_them() -> None:
    found = displaced(step(UNEVEN), [2, 2, 2], 5.0, 0.01, was_relaxed=True)
    for cell in found["structures"]:
        moments = np.array(cell["sites"]["moments"])
        # of the two atoms of a cell one stands at its corner
        places = np.array(cell["positions"]) / 2.87
        at_corner = np.abs(places - np.rint(places)).max(axis=1) < 0.1
        assert at_corner.sum() == 8
        assert (moments == np.where(at_corner, 2.2, -2.2)).all()
    assert found["plan"]["structure"]["sites"] == {"moments": [2.2, -2.2]}


def test_larger_cells_have_them() -> None:
    larger = repeated(bare_structure(asdict(UNEVEN)), 5.0)["structure"]
    assert larger["symbols"] == ["Fe"] * 16
    assert larger["sites"]["moments"] == [2.2] * 8 + [-2.2] * 8
    series = points_of(bare_structure(asdict(UNEVEN)), "supercell", [1, 2])
    assert series["points"][1]["structure"]["sites"]["moments"] == [2.2, -2.2] * 8
    cutoffs = points_of(bare_structure(asdict(UNEVEN)), "cutoff", [20, 30])
    assert moments_of([one["structure"] for one in cutoffs["points"]]) == [[2.2, -2.2]] * 2


def test_bands_are_those_of_the_magnetic_cell() -> None:
    found = pathed(bare_structure(asdict(UNEVEN)), 0.5)
    assert sorted(found["structure"]["sites"]["moments"]) == [-2.2, 2.2]
    assert (found["path"]["lattice"], found["path"]["given_cells"]) == ("cP2", 1)
    even = pathed(bare_structure(asdict(UP)), 0.5)
    assert even["structure"]["sites"] == {"moments": [2.2]}
    assert (even["path"]["lattice"], even["path"]["given_cells"]) == ("cI1", 2)
    plain = pathed(bare_structure(asdict(replace(UP, sites={}))), 0.5)
    assert "sites" not in plain["structure"]
    assert plain["structure"] == {k: v for k, v in even["structure"].items() if k != "sites"}
    assert even["path"]["warnings"] == []
