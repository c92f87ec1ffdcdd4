"""``jobs.import_results``, ``jobs.continue`` and ``codes.read_output`` over the services."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from crystalmath.codes.command.adapter import CommandAdapter
from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.contract.codes import ReadOutputParams
from crystalmath.contract.jobs import (
    CancelJobsParams,
    ContinueParams,
    ImportParams,
    Job,
    JobIdParams,
    LogParams,
    RerunParams,
)
from crystalmath.errors import (
    Conflict,
    IllegalTransition,
    InputRejected,
    InvalidParams,
    OutputUnreadable,
)
from crystalmath.services import job_import
from crystalmath.services.codes import CodesService
from crystalmath.services.differences import differences
from crystalmath.services.ports import JobRequest, StructureData, Verdict
from support.espresso import deck, output
from support.service_fakes import Bench, FakeCall

_CALL: Any = FakeCall()
_COPPER = StructureData(
    lattice=((3.6, 0.0, 0.0), (0.0, 3.6, 0.0), (0.0, 0.0, 3.6)),
    pbc=(True, True, True),
    symbols=("Cu",),
    positions=((0.0, 0.0, 0.0),),
    formula="Cu",
)


@pytest.fixture
def espresso(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, code=EspressoAdapter())
    yield made
    made.close()


@pytest.fixture
def forces(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, code=ForcesAdapter())
    yield made
    made.close()


@pytest.fixture
def by_hand(tmp_path: Path) -> Path:
    folder = tmp_path / "by hand"
    folder.mkdir()
    (folder / "si.scf.in").write_text(deck("si.scf"))
    (folder / "si.scf.out").write_text(output("si.scf"))
    os.utime(folder / "si.scf.out", (500.0, 500.0))
    return folder


def take_in(bench: Bench, path: Path, **fields: Any) -> Job:
    result = bench.service.import_results(ImportParams(path=str(path), **fields), _CALL)
    bench.pump.turn()
    return bench.service.get(JobIdParams(id=result.job.id))


def test_an_import_is_judged_and_never_started(espresso: Bench, by_hand: Path) -> None:
    full = take_in(espresso, by_hand, name="silicon")
    assert (full.state, full.name, full.code, full.task) == (
        "COMPLETED", "silicon", "espresso", "scf",
    )  # fmt: skip
    assert espresso.runner.launched == []
    assert [event.to_state for event in full.events] == ["CREATED", "FINISHED", "COMPLETED"]
    assert "imported" in full.events[1].why
    assert full.results["energy_ry"] == -15.84452726
    assert (full.formula, full.n_atoms) == ("Si", 2)
    assert full.finished_at is not None
    assert full.finished_at.timestamp() == 500.0
    assert full.elapsed_s is None
    assert full.provenance.imported is not None
    assert full.provenance.imported["path"] == str(by_hand)
    assert set(full.provenance.input_hashes) >= {"si.scf.in", "si.scf.out"}
    assert any("exit code" in warning for warning in full.warnings)
    log = espresso.service.log(LogParams(id=full.id, tail=1))
    assert (log.path, "=-----" in log.text) == ("si.scf.out", True)


@pytest.mark.parametrize("name", ["si.noconv", "si.relaxmax", "si.scftime", "si.badinput"])
def test_the_verdict_is_the_same_as_that_of_a_job(
    espresso: Bench, tmp_path: Path, name: str
) -> None:
    path = tmp_path / f"{name}.out"
    path.write_text(output(name))
    full = take_in(espresso, path)
    assert full.state == "FAILED"
    assert full.reason in {"not_converged", "walltime", "input_rejected"}
    assert full.hint


def test_several_outputs_must_be_told_apart(espresso: Bench, by_hand: Path) -> None:
    (by_hand / "old.out").write_text(output("si.noconv"))
    with pytest.raises(InvalidParams, match=r"old\.out, si\.scf\.out") as caught:
        take_in(espresso, by_hand)
    assert caught.value.field == "path"
    assert take_in(espresso, by_hand / "si.scf.out").state == "COMPLETED"


def test_a_deck_elsewhere_or_from_standard_input_is_found(espresso: Bench, by_hand: Path) -> None:
    elsewhere = by_hand.parent / "decks"
    elsewhere.mkdir()
    (by_hand / "si.scf.in").rename(elsewhere / "other.in")
    path = by_hand / "si.scf.out"
    text = output("si.scf")
    path.write_text(text.replace("input from si.scf.in", "input from ../decks/other.in"))
    full = take_in(espresso, by_hand)
    assert full.inputs["inputs"] == {"deck": "other.in"}
    assert {"other.in", "si.scf.out"} <= {file.path for file in full.files}
    (by_hand / "piped.in").write_text(deck("si.scf"))
    path.write_text(text.replace("input from si.scf.in", "input from standard input"))
    assert take_in(espresso, by_hand).inputs["inputs"] == {"deck": "piped.in"}
    (by_hand / "piped.in").unlink()
    assert any("deck was not found" in one for one in take_in(espresso, by_hand).warnings)


def test_large_files_stay_where_they_are(
    espresso: Bench, by_hand: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_import, "MAX_FILE_BYTES", 100)
    full = take_in(espresso, by_hand)
    assert full.state == "COMPLETED"
    assert full.provenance.imported is not None
    left = full.provenance.imported["left"]
    assert left["si.scf.in"] == str(by_hand / "si.scf.in")
    assert "si.scf.in" not in {file.path for file in full.files}
    monkeypatch.setattr(job_import, "MAX_OUTPUT_BYTES", 100)
    with pytest.raises(InputRejected, match="larger"):
        take_in(espresso, by_hand)


def test_what_cannot_be_taken_in(espresso: Bench, tmp_path: Path) -> None:
    with pytest.raises(InvalidParams) as caught:
        take_in(espresso, tmp_path / "nothing")
    assert caught.value.field == "path"
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputRejected, match="no finished calculation"):
        take_in(espresso, tmp_path / "empty")
    with pytest.raises(InvalidParams, match="no code 'vasp'"):
        take_in(espresso, tmp_path, code="vasp")
    assert espresso.store.counts() == {}


def test_a_token_makes_an_import_safe_to_repeat(espresso: Bench, by_hand: Path) -> None:
    params = ImportParams(path=str(by_hand), client_token="once-only")
    first = espresso.service.import_results(params, _CALL)
    again = espresso.service.import_results(params, _CALL)
    assert (again.job.id, first.repeated, again.repeated) == (first.job.id, False, True)
    with pytest.raises(Conflict):
        espresso.service.import_results(params.model_copy(update={"name": "other"}), _CALL)


def test_an_import_can_be_cancelled_before_it_is_judged(espresso: Bench, by_hand: Path) -> None:
    result = espresso.service.import_results(ImportParams(path=str(by_hand)), _CALL)
    espresso.service.cancel(CancelJobsParams(id=result.job.id))
    espresso.pump.turn()
    assert espresso.state(result.job.id) == "CANCELLED"


def relaxation(folder: Path, *, result: bool, steps: int = 5) -> Path:
    """What a run of the code forces leaves."""
    folder.mkdir()
    request = JobRequest("t", "relax", "emt", None, _COPPER, {"max_steps": steps}, (), {})
    text = ForcesAdapter().prepare(request).files[0].content or ""
    (folder / "input.json").write_text(text)
    (folder / "relax.log").write_text("relax of Cu\n")
    checkpoint = {
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "step": 5,
        "lattice": [[3.5, 0, 0], [0, 3.5, 0], [0, 0, 3.5]],
        "positions": [[0.1, 0, 0]],
    }
    (folder / "checkpoint.json").write_text(json.dumps(checkpoint))
    if result:
        document = {
            "format": 1, "status": "ok", "task": "relax", "n_atoms": 1, "energy_ev": -0.5,
            "converged": False, "n_steps": 5, "fmax_ev_per_a": 0.3,
        }  # fmt: skip
        (folder / "result.json").write_text(json.dumps(document))
    return folder


def test_a_relaxation_by_hand_is_taken_in_and_continued(forces: Bench, tmp_path: Path) -> None:
    full = take_in(forces, relaxation(tmp_path / "copper", result=True))
    assert (full.state, full.reason) == ("FAILED", "not_converged"), full.message
    assert (full.code, full.task, full.formula, full.name) == ("forces", "relax", "Cu", "copper")
    assert full.science.energy_ev == -0.5

    onward = forces.service.continue_(ContinueParams(id=full.id), _CALL)
    assert "step 5" in onward.fix
    assert "max_steps 5 → 10" in onward.fix
    assert onward.job is not None
    assert {change.file for change in onward.changes} == {"input.json"}
    assert any('"max_steps": 10' in change.after for change in onward.changes)
    new = forces.store.documents(onward.job.id)
    assert new.submission["structure_data"]["positions"] == [[0.1, 0, 0]]
    assert new.submission["structure_data"]["lattice"][0] == [3.5, 0, 0]
    assert forces.store.events(onward.job.id)[0]["why"].startswith(f"continues job {full.id}")
    again = forces.service.rerun(RerunParams(id=full.id), _CALL)
    assert again.job is not None


def test_a_relaxation_without_result_did_not_come_to_its_end(forces: Bench, tmp_path: Path) -> None:
    folder = relaxation(tmp_path / "copper", result=False)
    full = take_in(forces, folder / "relax.log")
    assert (full.state, full.reason) == ("FAILED", "crashed")


def test_continue_refuses_what_has_nothing_to_continue(bench: Bench) -> None:
    job = bench.submit()
    params = ContinueParams(id=job)
    with pytest.raises(IllegalTransition, match="CREATED"):
        bench.service.continue_(params, _CALL)
    bench.pump.turn()
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    with pytest.raises(IllegalTransition, match="COMPLETED"):
        bench.service.continue_(params, _CALL)


def test_continue_joins_the_fix_with_the_users_changes(bench: Bench) -> None:
    bench.code.verdict = Verdict(completed=False, reason="not_converged", message="no")
    files = [{"path": "deck.in", "content": "a\n"}]
    asked = {"ntasks": 2, "walltime_s": 60.0}
    job = bench.submit(inputs={"x": 1, "y": 2}, files=files, tags=["t"], resources=asked)
    bench.pump.turn()
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    changes = {"name": "onward", "inputs": {"y": None, "z": 3}, "resources": {"walltime_s": 90.0}}
    params = ContinueParams.model_validate({"id": job, "changes": changes})
    seen = bench.service.continue_(params.model_copy(update={"dry_run": True}), _CALL)
    assert seen.job is None
    assert seen.dry_run is not None
    onward = bench.service.continue_(params, _CALL)
    assert onward.job is not None
    full = bench.service.get(JobIdParams(id=onward.job.id))
    assert (full.name, full.rerun_of, full.tags) == ("onward", job, ["t"])
    assert (full.resources.ntasks, full.resources.walltime_s) == (2, 90.0)
    assert full.inputs["inputs"] == {"x": 1, "z": 3}
    assert onward.changes == []


def test_a_command_cannot_be_continued(tmp_path: Path) -> None:
    bench = Bench(tmp_path, code=CommandAdapter())
    job = bench.submit(inputs={"argv": ["false"]})
    bench.pump.turn()
    bench.runner.end(bench.key(job), rc=1)
    bench.pump.turn()
    with pytest.raises(InputRejected, match="cannot be continued"):
        bench.service.continue_(ContinueParams(id=job), _CALL)
    bench.close()


@pytest.fixture
def codes() -> CodesService:
    adapters = (CommandAdapter(), EspressoAdapter(), ForcesAdapter())
    return CodesService({adapter.name: adapter for adapter in adapters})


def test_an_output_is_read_without_a_job(codes: CodesService, by_hand: Path) -> None:
    by_text = codes.read_output(ReadOutputParams(text=output("si.scf")))
    assert (by_text.code, by_text.completed, by_text.formula) == ("espresso", True, "Si")
    assert by_text.energy_ev == pytest.approx(-215.575776, abs=1e-6)
    by_path = codes.read_output(ReadOutputParams(path=str(by_hand / "si.scf.out")))
    assert by_path.results["energy_ry"] == by_text.results["energy_ry"]
    by_directory = codes.read_output(ReadOutputParams(path=str(by_hand), code="espresso"))
    assert by_directory.completed
    failed = codes.read_output(ReadOutputParams(text=output("si.noconv")))
    assert (failed.completed, failed.reason, failed.energy_ev) == (False, "not_converged", None)


def test_a_relaxation_is_read_without_a_job(codes: CodesService, tmp_path: Path) -> None:
    folder = relaxation(tmp_path / "copper", result=True)
    for path in (folder, folder / "result.json", folder / "relax.log"):
        found = codes.read_output(ReadOutputParams(path=str(path)))
        assert (found.code, found.reason, found.energy_ev) == ("forces", "not_converged", -0.5)


def test_outputs_that_cannot_be_read(codes: CodesService, by_hand: Path) -> None:
    with pytest.raises(OutputUnreadable) as caught:
        codes.read_output(ReadOutputParams(text="Program PWSCG"))
    assert caught.value.field == "text"
    with pytest.raises(OutputUnreadable):
        codes.read_output(ReadOutputParams(path=str(by_hand / "si.scf.in")))
    with pytest.raises(OutputUnreadable):
        codes.read_output(ReadOutputParams(path=str(by_hand / "si.scf.out"), code="forces"))
    with pytest.raises(InvalidParams) as gone:
        codes.read_output(ReadOutputParams(path=str(by_hand / "gone.out")))
    assert gone.value.field == "path"
    with pytest.raises(InvalidParams, match="no code"):
        codes.read_output(ReadOutputParams(text="x", code="vasp"))
    for fields in ({}, {"text": "x", "path": "/x"}, {"path": "x"}):
        with pytest.raises(ValidationError):
            ReadOutputParams.model_validate(fields)


def test_differences_are_blocks_of_lines() -> None:
    assert list(differences("f", "a\nb\n", "a\nb\n")) == []
    found = [(d.before, d.after) for d in differences("f", "a\nb\nc\n", "a\nB\nc\nd\n")]
    assert found == [("b\n", "B\n"), ("", "d\n")]
    long = list(differences("f", "a\n" * 15_000, "b\n" * 15_000))
    assert len(long) == 1
    assert len(long[0].before) < 21_000
