"""``forces.*`` with engines on paper and a pool whose worker behaves as told."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase.io import read as ase_read

from crystalmath.contract.force_rows import InstallTask
from crystalmath.contract.forces import (
    AttachParams,
    CollectParams,
    EvaluateParams,
    InstallParams,
    ModelsParams,
    RelaxParams,
    StopWorkerParams,
    WorkersParams,
)
from crystalmath.contract.jobs import StructureIn, SubmitParams, SubmitResult
from crystalmath.contract.rpc import NoParams
from crystalmath.errors import (
    Conflict,
    EngineNotInstalled,
    EnvironmentUnbuildable,
    ForcesError,
    InputRejected,
    InvalidParams,
    LicenceNotAccepted,
    NotFound,
)
from crystalmath.forces.pool.pool import Pool
from crystalmath.services.events import EventHub
from crystalmath.services.forces import ForcesParts, ForcesService
from crystalmath.services.forces_fingerprints import Fingerprints
from crystalmath.services.ports import StructureData
from crystalmath.services.ports_forces import InstallStep
from crystalmath.services.ports_pool import PoolLimits, Waiter
from support.forces import FakeProvider, PlainHost, WaitingCall, until

CU = {"symbols": ["Cu"], "positions_angstrom": [[1.0, 2.0, 3.0]]}
CELL = [[3.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 5.0]]


class Bench:
    """The service with everything around it."""

    def __init__(self, tmp_path: Path) -> None:
        self.provider = FakeProvider()
        self.host = PlainHost()
        self.pool = Pool(self.host, PoolLimits(look_s=0.05), str(tmp_path / "door"))
        self.hub = EventHub("i")
        self.submitted: list[SubmitParams] = []
        self.examined: list[tuple[str, tuple[str, ...]]] = []
        self.examination: Callable[[Waiter], list[str]] = lambda _call: []
        self.results = tmp_path / "results"
        self.service = ForcesService(
            ForcesParts(
                provider=self.provider,
                pool=self.pool,
                hub=self.hub,
                read=self.read,
                submit=self.submit,
                results=self.results,
                fingerprints=Fingerprints(self.results.parent / "fingerprints"),
                examine=self.examine,
            )
        )
        self.feed = self.hub.open(1)
        self.hub.subscribe(1, ["engines"], None, None)
        self.hub.release(self.feed)

    def examine(self, engine: str, models: Sequence[str], call: Waiter) -> list[str]:
        self.examined.append((engine, tuple(models)))
        return self.examination(call)

    def read(self, asked: StructureIn) -> StructureData:
        if asked.path == "/no":
            raise InputRejected("cannot be read", field="structure.path", hint="another")
        given = StructureData(None, (False,) * 3, ("Ag",), ((0.5, 0.0, 0.0),), "Ag")
        return replace(given, sites={"moments": (1.0,)}) if asked.path == "/spin" else given

    def submit(self, params: SubmitParams, _call: Any) -> SubmitResult:
        self.submitted.append(params)
        return SubmitResult(job=None)

    def evaluate(self, *structures: Any, **more: Any) -> Any:
        params = {"engine": "fake", "structures": list(structures or (CU,)), **more}
        return self.service.evaluate(EvaluateParams.model_validate(params), WaitingCall())

    def install(self, engine: str = "far", **more: Any) -> InstallTask:
        return self.service.install(InstallParams(engine=engine, **more)).task

    def task(self) -> InstallTask:
        return self.service.environments(NoParams()).meta.installs[-1]

    def told(self, kind: str) -> list[Any]:
        bodies = []
        for delivery in self.hub.take(self.feed):
            bodies += [happening.content() for _, happening in delivery.events]
        return [body[kind] for body in bodies if body["kind"] == kind]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.service.close()
    bench.pool.close()
    assert until(lambda: bench.host.running() == 0)


# --- engines --------------------------------------------------------------------------------------


def test_engines_say_what_is_installed_and_what_to_do(bench: Bench) -> None:
    listing = bench.service.engines(NoParams())
    rows = {row.name: row for row in listing.data}
    assert listing.meta.default_engine == "sevenn"
    assert rows["fake"].installed
    assert rows["fake"].versions == {"fake": "1.0", "numpy": "2.0"}
    assert rows["fake"].devices[0] == "cpu"
    assert not rows["far"].installed
    assert rows["far"].problem == "not installed"
    assert rows["far"].hint == "crystalmath engines install far (about 3 GB to fetch)"
    assert rows["far"].download_bytes == 3_000_000_000
    assert [m.default for m in rows["fake"].models] == [True, False]


def test_workers_are_counted_where_they_belong(bench: Bench) -> None:
    bench.evaluate()
    rows = {row.name: row.workers for row in bench.service.engines(NoParams()).data}
    assert rows == {"fake": 1, "far": 0, "plus": 0}
    found = {row.id: row.workers for row in bench.service.environments(NoParams()).data}
    assert found == {"env-fake": 1, "env-plus": 0}
    assert bench.provider.touched == ["env-fake"]


def test_what_does_not_exist_lists_what_does(bench: Bench) -> None:
    with pytest.raises(NotFound, match="no engine") as caught:
        bench.service.models(ModelsParams(engine="nope"))
    assert "fake" in str(caught.value.hint)
    with pytest.raises(NotFound, match="no model"):
        bench.evaluate(model="nope")


def test_what_is_not_installed_says_how(bench: Bench) -> None:
    with pytest.raises(EngineNotInstalled) as caught:
        bench.evaluate(engine="far")
    assert caught.value.field == "engine"
    assert caught.value.hint == "crystalmath engines install far (about 3 GB to fetch)"


# --- installing -----------------------------------------------------------------------------------


def test_an_installation_is_told_from_its_begin_to_its_end(bench: Bench) -> None:
    bench.provider.steps = (
        InstallStep("resolving", "which versions"),
        InstallStep("downloading", "torch", 0.5, 100, 200),
    )
    bench.provider.go_on.clear()
    task = bench.install()
    assert task.state == "waiting"
    until(lambda: bench.task().phase == "downloading")
    assert (bench.task().fraction, bench.task().total_bytes) == (0.5, 200)
    engine = next(r for r in bench.service.engines(NoParams()).data if r.name == "far")
    assert engine.install is not None
    assert engine.install.state == "running"
    bench.provider.go_on.set()
    until(lambda: bench.task().state == "done")
    assert bench.task().finished_at is not None
    last = until(lambda: [row for row in bench.told("engine") if row["name"] == "far"])
    assert last[-1]["installed"] is True


def test_asking_again_joins(bench: Bench) -> None:
    bench.provider.go_on.clear()
    first = bench.install()
    assert bench.install().id == first.id
    assert bench.install("plus").id != first.id
    bench.provider.go_on.set()
    until(lambda: all(t.state == "done" for t in bench.service._installer.tasks()))
    assert bench.install().id != first.id


def test_one_at_a_time(bench: Bench) -> None:
    bench.provider.go_on.clear()
    bench.install()
    other = bench.install("plus")
    until(lambda: len(bench.service.environments(NoParams()).meta.installs) == 2)
    assert bench.task().id == other.id
    assert bench.task().state == "waiting"


def test_a_failure_is_told_and_may_be_tried_again(bench: Bench) -> None:
    bench.provider.error = EnvironmentUnbuildable("torch==9 does not exist", hint="another pin")
    bench.install()
    task = until(lambda: bench.task() if bench.task().state == "failed" else None)
    assert (task.kind, task.message, task.hint) == (
        "environment_unbuildable",
        "torch==9 does not exist",
        "another pin",
    )
    bench.provider.error = None
    bench.install()
    until(lambda: bench.task().state == "done")


def test_an_unexpected_failure_keeps_the_next_one_going(bench: Bench) -> None:
    bench.provider.error = RuntimeError("/secret/path")
    bench.install()
    task = until(lambda: bench.task() if bench.task().state == "failed" else None)
    assert "secret" not in str(task.message)
    bench.provider.error = None
    bench.install("plus")
    until(lambda: bench.task().state == "done")


def test_cancelling_an_installation(bench: Bench) -> None:
    bench.provider.go_on.clear()
    first, second = bench.install(), bench.install("plus")
    for task in (second, first):
        bench.service.stop(StopWorkerParams(task=task.id))
    until(lambda: {t.state for t in bench.service._installer.tasks()} == {"cancelled"})
    with pytest.raises(NotFound):
        bench.service.stop(StopWorkerParams(task="nope"))


def test_closing_cancels(bench: Bench) -> None:
    bench.provider.go_on.clear()
    bench.install()
    until(lambda: bench.task().state == "running")
    bench.service.close()
    assert bench.task().state == "cancelled"


def test_what_was_installed_is_examined_and_its_findings_are_told(bench: Bench) -> None:
    bench.examination = lambda _call: ["stress is switched off: the sign is the opposite one"]
    bench.install(models=["other"])
    until(lambda: bench.task().state == "done")
    assert bench.examined == [("far", ("other",))]
    assert bench.task().text == ("installed; stress is switched off: the sign is the opposite one")


def test_an_engine_that_cannot_be_loaded_is_no_success(bench: Bench) -> None:
    def fails(_call: Waiter) -> list[str]:
        raise ForcesError("far is installed, but cannot be loaded: no weights")

    bench.examination = fails
    bench.install()
    until(lambda: bench.task().state == "failed")
    assert "cannot be loaded" in str(bench.task().message)


def test_an_examination_ends_when_the_installation_is_cancelled(bench: Bench) -> None:
    freed, begun = threading.Event(), threading.Event()

    def waits(call: Waiter) -> list[str]:
        call.on_cancel(freed.set)
        begun.set()
        assert freed.wait(20)
        call.check()
        raise AssertionError("check must raise")

    bench.examination = waits
    task = bench.install()
    assert begun.wait(20)
    assert bench.task().phase == "checking"
    installed = next(r for r in bench.service.engines(NoParams()).data if r.name == "far")
    assert installed.installed  # it can be used while it is examined
    bench.service.stop(StopWorkerParams(task=task.id))
    until(lambda: bench.task().state == "cancelled")


def test_a_licence_must_be_accepted_once(bench: Bench) -> None:
    bench.provider.consent = "needed"
    with pytest.raises(LicenceNotAccepted) as caught:
        bench.install()
    assert "--accept-license" in str(caught.value.hint)
    assert bench.provider.accepted == []
    bench.install(accept_license=True)
    assert bench.provider.accepted == [("far", "m")]
    with pytest.raises(NotFound, match="no model"):
        bench.install(models=["nope"])


# --- evaluating -----------------------------------------------------------------------------------


def test_moments_are_said_to_change_nothing(bench: Bench) -> None:
    assert bench.evaluate(CU, {"path": "/ag"}).warnings == []
    [said] = bench.evaluate({"path": "/spin"}, {"path": "/spin"}).warnings
    assert "does not use magnetic moments" in said


def test_small_answers_come_as_json(bench: Bench) -> None:
    found = bench.evaluate(CU, {**CU, "positions_angstrom": [[0.0, 3.0, 4.0]]}, {"path": "/ag"})
    assert [row.energy_ev for row in found.structures] == [6.0, 7.0, 0.5]
    assert found.structures[1].forces_ev_per_a == [[0.0, 3.0, 4.0]]
    assert found.structures[1].fmax_ev_per_a == 5.0
    assert [row.formula for row in found.structures] == ["Cu", "Cu", "Ag"]
    assert found.file is None
    assert found.failed == 0
    (identity,) = found.identity
    assert (identity.engine, identity.version, identity.model) == ("fake", "fake 1.0", "m")
    assert (identity.model_key, identity.environment) == ("fake 1.0:m", "env-fake")


def test_large_answers_come_in_a_file(bench: Bench) -> None:
    big = {
        "symbols": ["Cu"] * 200,
        "positions_angstrom": [[float(i), 0.0, 1.0] for i in range(200)],
        "cell_angstrom": CELL,
        "pbc": [True, True, False],
    }
    found = bench.evaluate(big, CU, big)
    assert found.structures[0].forces_ev_per_a is None
    assert found.structures[0].energy_ev == 200 + 199 * 100
    assert found.file is not None
    assert Path(found.file).parent == bench.results
    with np.load(found.file) as data:
        assert data["counts"].tolist() == [200, 1, 200]
        assert data["forces"].shape == (401, 3)
        assert data["forces"][200].tolist() == [1.0, 2.0, 3.0]
        assert data["positions"][3].tolist() == [3.0, 0.0, 1.0]
        assert data["cell"][0].tolist() == CELL
        assert data["pbc"].tolist() == [[True, True, False], [False] * 3, [True, True, False]]
        assert data["numbers"].tolist() == [29] * 401
        assert data["energy"].tolist() == [row.energy_ev for row in found.structures]
    assert zipfile.ZipFile(found.file).testzip() is None


def test_a_file_of_the_caller(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "out.extxyz"
    periodic = {**CU, "cell_angstrom": CELL}
    found = bench.evaluate(CU, periodic, file=str(path))
    assert found.file == str(path)
    frames = ase_read(path, index=":")
    assert [frame.get_potential_energy() for frame in frames] == [6.0, 6.0]
    assert frames[1].cell.tolist() == CELL
    assert frames[1].pbc.tolist() == [True] * 3
    assert frames[1].get_forces().tolist() == [[1.0, 2.0, 3.0]]
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("name", ["out.txt", "no/out.npz"])
def test_a_file_that_cannot_be_written_is_refused_first(
    bench: Bench, tmp_path: Path, name: str
) -> None:
    with pytest.raises(InputRejected) as caught:
        bench.evaluate(file=str(tmp_path / name))
    assert caught.value.field == "file"
    assert bench.host.started == []


def test_elements_are_checked_before_anything_runs(bench: Bench) -> None:
    with pytest.raises(InvalidParams, match="no parameters for Fe") as caught:
        bench.evaluate({**CU, "symbols": ["Fe"]})
    assert caught.value.field == "structures.0"
    with pytest.raises(InvalidParams, match="toy parameters"):
        bench.evaluate({**CU, "symbols": ["H"]})
    assert bench.host.started == []
    assert bench.evaluate({**CU, "symbols": ["H"]}, allow_toy_elements=True).failed == 0


def test_of_many_only_the_bad_one_fails(bench: Bench) -> None:
    found = bench.evaluate(CU, {**CU, "symbols": ["Fe"]}, CU)
    assert [row.kind for row in found.structures] == [None, "unsupported_species", None]
    assert [row.energy_ev for row in found.structures] == [6.0, None, 6.0]
    assert found.failed == 1


def test_reading_errors_name_the_structure(bench: Bench) -> None:
    with pytest.raises(InputRejected) as caught:
        bench.evaluate(CU, {"path": "/no"})
    assert caught.value.field == "structures.1.path"


def test_a_sum_adds(bench: Bench) -> None:
    found = bench.evaluate(engine="fake+plus")
    assert found.structures[0].energy_ev == 12.0
    assert found.structures[0].forces_ev_per_a == [[2.0, 4.0, 6.0]]
    assert [one.engine for one in found.identity] == ["fake", "plus"]


def test_the_model_of_a_term_stands_among_its_options(bench: Bench) -> None:
    options = {"plus": {"model": "other"}}
    found = bench.evaluate(engine="fake+plus", options=options)
    assert [(who.model, who.options) for who in found.identity] == [("m", {}), ("other", {})]
    with pytest.raises(NotFound, match="has no model 'nope'"):
        bench.evaluate(engine="fake+plus", options={"plus": {"model": "nope"}})


def test_what_is_no_sum_is_refused(bench: Bench) -> None:
    with pytest.raises(InvalidParams, match="not made to be added"):
        bench.evaluate(engine="plus+fake")
    with pytest.raises(InvalidParams, match="charges"):
        bench.evaluate(engine="fake+plus", properties=["energy", "charges"])
    with pytest.raises(InvalidParams) as caught:
        bench.evaluate(engine="fake+plus", options={"method": "d3"})
    assert caught.value.field == "options.method"


def test_attaching_gives_a_way_in(bench: Bench) -> None:
    found = bench.service.attach(AttachParams(engine="fake"), WaitingCall())
    assert len(found.token) == 32
    assert found.identity.dtype == "float64"
    assert found.capabilities.properties == ["energy", "forces"]
    (row,) = bench.service.workers(WorkersParams()).data
    assert (row.id, row.engine, row.load_s) == (found.worker, "fake", 0.25)


# --- workers, status, gc, relax -------------------------------------------------------------------


def test_status_and_stop(bench: Bench) -> None:
    bench.evaluate()
    status = bench.service.status(NoParams())
    assert status.workers == {"idle": 1}
    assert (status.requests, status.structures, status.crashes) == (1, 1, 0)
    stopped = bench.service.stop(StopWorkerParams(worker="w1", mode="now")).worker
    assert stopped is not None
    until(lambda: bench.service.status(NoParams()).workers == {})
    assert bench.service.workers(WorkersParams(worker="w1")).data[0].state == "stopped"
    states = [row["state"] for row in bench.told("worker")]
    assert states[-1] == "stopped"


def test_a_crash_is_kept_and_told(bench: Bench) -> None:
    with pytest.raises(Exception, match="exit code 7"):
        bench.evaluate(options={"call": "exit"})
    (row,) = bench.service.workers(WorkersParams()).data
    assert row.state == "crashed"
    assert row.last_error is not None
    assert row.last_error.stderr_tail == "giving up\n"
    assert row.last_error.versions == {"fake": "1.0", "numpy": "2.0"}
    assert row.last_error.request == "1 atom"


def test_gc_keeps_what_runs_and_names_old_results(bench: Bench) -> None:
    bench.evaluate()
    bench.results.mkdir()
    old = bench.results / "a.npz"
    old.write_bytes(b"123")
    listing = bench.service.gc(CollectParams(keep_days=0, apply=False))
    assert bench.provider.collected["in_use"] == {"env-fake"}
    assert {row.name: row.size_bytes for row in listing.data} == {"env-old": 10, "a.npz": 3}
    assert listing.meta.size_bytes == 13
    assert old.exists()
    bench.service.gc(CollectParams(keep_days=0, apply=True))
    assert not old.exists()


def test_relax_is_a_job(bench: Bench) -> None:
    params = RelaxParams(
        engine="fake",
        structure=StructureIn(path="/cu.xyz"),
        cell="isotropic",
        fmax_ev_per_a=0.01,
        keep_symmetry=True,
        options={"modal": "omat"},
    )
    with pytest.raises(Conflict):  # this bench stores nothing
        bench.service.relax(params, WaitingCall())
    (job,) = bench.submitted
    assert (job.code, job.task, job.engine) == ("forces", "relax", "fake")
    assert job.inputs == {
        "cell": "isotropic",
        "fmax_ev_per_a": 0.01,
        "keep_symmetry": True,
        "engine_options": {"modal": "omat"},
        "allow_toy_elements": False,
    }


def test_calls_at_once_share_one_worker(bench: Bench) -> None:
    found: list[float] = []
    threads = [
        threading.Thread(target=lambda: found.append(bench.evaluate().structures[0].energy_ev))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [6.0] * 8
    assert len(bench.host.started) == 1
