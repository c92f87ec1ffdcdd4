"""Large outputs go to a worker, with the same answers; small ones do not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.crystal.large import READ, with_workers
from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.large import with_workers as espresso_with_workers
from crystalmath.codes.large import SMALL_BYTES, LargeOutputs
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import EndReceipt, InputFile, JobRequest, StructureData
from support.crystal import crystal, scf_output
from support.espresso import deck, output
from support.espresso import job as job_of_pwx
from support.workers import run_here

GOOD = EndReceipt(1, 0, None, "exit", None, 0.0, 1.0)
DECK = (
    "MgO\nCRYSTAL\n0 0 0\n225\n4.21\n2\n12 0 0 0\n8 .5 .5 .5\n"
    "BASISSET\nPOB-DZVP\nSHRINK\n8 8\nEND\n"
)
LARGE = scf_output().replace(" CYC   1", "    1   4  0.000  0.000\n" * 12_000 + " CYC   1", 1)


class Worker:
    """Runs what a worker would be asked, and counts it; every value passes as JSON."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, function: str, given: Mapping[str, Any], deadline_s: float) -> Any:
        assert function == READ
        assert deadline_s > 0
        self.asked.append(given["what"])
        said = run_here(function, json.loads(json.dumps(given)), deadline_s)
        return json.loads(json.dumps(said, allow_nan=False))


@pytest.fixture
def worker() -> Worker:
    return Worker()


@pytest.fixture
def adapter(worker: Worker) -> LargeOutputs:
    return with_workers(crystal(), worker)


def write(folder: Path, text: str) -> Path:
    """A directory with a deck and its output."""
    folder.mkdir(exist_ok=True)
    (folder / "mgo.d12").write_text(DECK)
    (folder / "mgo.out").write_text(text)
    (folder / "stderr.log").touch()
    return folder


def test_a_large_output_is_judged_and_read_the_same_elsewhere(
    tmp_path: Path, adapter: LargeOutputs, worker: Worker
) -> None:
    assert len(LARGE) > SMALL_BYTES
    job = write(tmp_path / "job", LARGE)
    alone = crystal()
    assert adapter.judge(job, GOOD) == alone.judge(job, GOOD)
    assert adapter.judge(job, None) == alone.judge(job, None)
    assert adapter.read(job / "mgo.out") == alone.read(job / "mgo.out")
    assert adapter.recognise(job) == alone.recognise(job)
    assert worker.asked == ["judge", "judge", "read", "recognise"]
    assert adapter.judge(job, GOOD).completed


def test_how_it_goes_on_is_the_same_too(
    tmp_path: Path, adapter: LargeOutputs, worker: Worker
) -> None:
    text = LARGE.replace("CONVERGENCE ON ENERGY     ", "TOO MANY CYCLES           ")
    job = write(tmp_path / "job", text)
    structure = StructureData(
        lattice=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        pbc=(True, True, True),
        symbols=("Mg",),
        positions=((0.0, 0.0, 0.0),),
        formula="Mg",
    )
    request = JobRequest(
        name="mgo", task=None, engine=None, model=None, structure=structure,
        inputs={"deck": "mgo.d12"}, files=(InputFile("mgo.d12", content=DECK),),
        context={"CRY_ARCH": "x"},
    )  # fmt: skip
    found = adapter.proceed(job, request, "not_converged")
    assert found == crystal().proceed(job, request, "not_converged")
    assert "MAXCYCLE" in found.fix
    assert worker.asked == ["proceed"]


def test_a_small_output_and_another_file_are_read_here(
    tmp_path: Path, adapter: LargeOutputs, worker: Worker
) -> None:
    job = write(tmp_path / "job", scf_output())
    assert adapter.judge(job, GOOD).completed
    assert adapter.read(job / "mgo.out") is not None
    other = tmp_path / "other.txt"
    other.write_text("x\n" * SMALL_BYTES)
    assert adapter.read(other) is None
    assert adapter.recognise(other) is None
    assert worker.asked == []


def test_a_growing_output_is_followed_here(
    tmp_path: Path, adapter: LargeOutputs, worker: Worker
) -> None:
    job = write(tmp_path / "job", LARGE)
    assert adapter.progress(job) is not None
    assert len(adapter.series(job)["scf_energy"]["x"]) == 2
    assert worker.asked == []


def test_large_outputs_of_pwx_too(tmp_path: Path) -> None:
    directory = job_of_pwx(
        tmp_path, deck("si.scf"), output("si.scf").replace("\n", "\n\n" * 800, 200)
    )
    assert (directory / "stdout.log").stat().st_size > SMALL_BYTES
    asked: list[str] = []

    def run(function: str, given: Mapping[str, Any], deadline_s: float) -> Any:
        asked.append(f"{function} {given['what']}")
        return json.loads(json.dumps(run_here(function, given, deadline_s)))

    adapter, alone = espresso_with_workers(EspressoAdapter(), run), EspressoAdapter()
    assert adapter.judge(directory, GOOD) == alone.judge(directory, GOOD)
    assert adapter.series(directory) == alone.series(directory)
    assert adapter.read(directory) == alone.read(directory)
    name = "crystalmath.codes.espresso.large:read"
    assert asked == [f"{name} judge", f"{name} series", f"{name} read"]


def test_what_is_refused_is_refused_as_before(tmp_path: Path, adapter: LargeOutputs) -> None:
    job = write(tmp_path / "job", LARGE)
    (job / "other.out").write_text(LARGE)
    with pytest.raises(InvalidParams, match="2 outputs"):
        adapter.recognise(job)
