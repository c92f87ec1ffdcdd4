"""What the pump does with a job, step by step, with a fake runner and a real database."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import pytest

from crystalmath.contract.jobs import CancelJobsParams, DeleteParams
from crystalmath.errors import ShuttingDown
from crystalmath.services import job_directory, pump
from crystalmath.services.ports import EndReceipt, Observation, Progress, Verdict
from crystalmath.services.ports_store import Move
from support.service_fakes import Bench


def states(bench: Bench, job_id: int) -> list[str]:
    """Every state the job went through."""
    moves = [e["to_state"] for e in bench.store.events(job_id) if e["from_state"] != e["to_state"]]
    return [str(state) for state in moves]


def test_a_job_goes_through_every_state_to_completed(bench: Bench) -> None:
    job = bench.submit()
    bench.pump.turn()
    bench.pump.turn()
    assert bench.state(job) == "RUNNING"
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    assert states(bench, job) == [
        "CREATED", "STAGED", "SUBMITTED", "RUNNING", "FINISHED", "COMPLETED",
    ]  # fmt: skip
    row = bench.store.row(job)
    assert (row["started_at"], row["finished_at"]) == (100.0, 103.5)
    assert row["energy_per_atom_ev"] == pytest.approx(-0.5)
    assert [launch.key for launch in bench.runner.launched] == [bench.key(job)]


def test_a_step_that_the_end_of_the_daemon_breaks_off_leaves_no_trouble(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bench.submit()
    bench.pump.turn()
    bench.runner.end(bench.key(job))

    def stopping(*_: object) -> Verdict:
        raise ShuttingDown("The daemon is stopping.")

    with monkeypatch.context() as broken:
        broken.setattr(bench.code, "judge", stopping)
        bench.pump.turn()
    row = bench.store.row(job)
    assert (row["state"], row["tries"], row["attention"]) == ("FINISHED", 0, None)
    bench.pump.turn()
    assert bench.state(job) == "COMPLETED"


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "AT_ONCE", 2)


@pytest.mark.usefixtures("few_at_once")
def test_postponed_jobs_hide_no_others(bench: Bench) -> None:
    stuck = [bench.submit() for _ in range(5)]
    for job in stuck:
        later = {"next_try_at": bench.now + 1000}
        bench.store.move(Move(job, ("CREATED",), None, bench.now, changes=later))
    fresh = bench.submit()
    assert bench.pump.turn(), "there is more to do"
    assert bench.state(fresh) in ("SUBMITTED", "RUNNING")
    assert {bench.state(job) for job in stuck} == {"CREATED"}
    bench.runner.end(bench.key(fresh))
    bench.pump.turn()
    assert bench.state(fresh) == "COMPLETED"
    assert not bench.pump.turn(), "what is postponed is nothing to hurry for"


@pytest.mark.usefixtures("few_at_once")
def test_every_live_job_is_looked_at_and_counted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, slots=7)
    jobs = [bench.submit() for _ in range(9)]
    for _ in range(6):
        bench.pump.turn()
    assert [bench.state(job) for job in jobs] == ["RUNNING"] * 7 + ["STAGED"] * 2
    bench.service.cancel(CancelJobsParams(ids=jobs[7:]))
    bench.runner.end(bench.key(jobs[6]))
    bench.pump.turn()
    assert [bench.state(job) for job in jobs[6:]] == ["COMPLETED", "CANCELLED", "CANCELLED"]
    bench.close()


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_directory, "PIECE_BYTES", 8)
    monkeypatch.setattr(job_directory, "CHUNK_BYTES", 4)


@pytest.mark.usefixtures("small_pieces")
def test_large_files_are_copied_piece_by_piece(bench: Bench) -> None:
    text = "0123456789" * 3
    (bench.root / "large").write_text(text)
    file = {"path": "sub/large", "source": str(bench.root / "large"), "executable": True}
    large, second = (bench.submit(files=[file]) for _ in range(2))
    small = bench.submit(files=[{"path": "a", "content": "A"}])
    assert bench.pump.turn()
    assert [bench.state(job) for job in (large, second)] == ["CREATED", "CREATED"]
    assert bench.state(small) == "RUNNING" or bench.state(small) == "SUBMITTED"
    assert bench.store.row(large)["progress_text"] == "copying its files: 0 MiB so far"
    turns = 1
    while bench.state(large) == "CREATED":
        bench.pump.turn()
        turns += 1
    assert turns == 4, "30 bytes, 8 at a time"
    assert bench.state(second) == "CREATED", "the older one goes first"
    for _ in range(4):
        bench.pump.turn()
    for job in (large, second):
        directory = bench.directories.path(bench.key(job))
        assert (directory / "sub/large").read_text() == text
        assert (directory / "sub/large").stat().st_mode & 0o777 == 0o700
        hashes = bench.store.documents(job).provenance["input_hashes"]
        assert hashes == {"sub/large": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.usefixtures("small_pieces")
def test_a_job_that_is_cancelled_in_the_middle_of_its_files_leaves_nothing(bench: Bench) -> None:
    (bench.root / "large").write_text("x" * 100)
    file = {"path": "large", "source": str(bench.root / "large")}
    job, other = bench.submit(files=[file]), bench.submit(files=[file])
    bench.pump.turn()
    assert any(bench.directories.root.iterdir())
    bench.service.cancel(CancelJobsParams(ids=[job, other]))
    bench.pump.turn()
    assert {bench.state(job), bench.state(other)} == {"CANCELLED"}
    assert list(bench.directories.root.iterdir()) == []
    assert not bench.pump.turn()


@pytest.mark.usefixtures("small_pieces")
def test_a_new_daemon_begins_the_files_anew(bench: Bench) -> None:
    (bench.root / "large").write_text("y" * 20)
    job = bench.submit(files=[{"path": "large", "source": str(bench.root / "large")}])
    bench.pump.turn()
    bench.pump = bench.new_pump()
    for _ in range(4):
        bench.pump.turn()
    assert bench.state(job) == "RUNNING"
    path = bench.directories.path(bench.key(job)) / "large"
    assert path.read_text() == "y" * 20


def test_processes_that_were_left_behind_are_told(bench: Bench) -> None:
    done, cancelled = bench.submit(), bench.submit()
    bench.pump.turn()
    receipt = EndReceipt(1, 0, None, "exit", None, 100.0, 103.5, leftover=2)
    bench.runner.seen[bench.key(done)] = Observation("ended", end=receipt)
    bench.service.cancel(CancelJobsParams(id=cancelled))
    hung = EndReceipt(1, None, 9, "cancel", None, 100.0, 103.5, unkillable=1)
    bench.runner.seen[bench.key(cancelled)] = Observation("ended", end=hung)
    bench.pump.turn()
    assert (bench.state(done), bench.state(cancelled)) == ("COMPLETED", "CANCELLED")
    (left,) = bench.store.documents(done).warnings
    assert left.startswith("when the program ended, 2 processes that it had started still ran")
    (stuck,) = bench.store.documents(cancelled).warnings
    assert stuck.startswith("1 process of the run could not be ended")
    evidence = bench.store.events(cancelled)[-1]["evidence"]
    assert evidence["receipt"]["unkillable"] == 1


def test_a_job_too_short_to_be_seen_running(bench: Bench) -> None:
    job = bench.submit()
    bench.pump.turn()
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    assert states(bench, job) == ["CREATED", "STAGED", "SUBMITTED", "FINISHED", "COMPLETED"]


def test_a_bad_verdict_is_kept_with_reason_and_hint(bench: Bench) -> None:
    bench.code.verdict = Verdict(
        completed=False, reason="not_converged", message="no end in sight", hint="more steps"
    )
    job = bench.submit()
    bench.pump.turn()
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    row = bench.store.row(job)
    assert (row["state"], row["reason"], row["hint"]) == ("FAILED", "not_converged", "more steps")


def test_the_core_budget_makes_jobs_wait_in_order(bench: Bench) -> None:
    wide = bench.submit(resources={"ntasks": 2})
    small = bench.submit()
    bench.pump.turn()
    assert (bench.state(wide), bench.state(small)) == ("SUBMITTED", "STAGED")
    bench.runner.end(bench.key(wide))
    bench.pump.turn()
    assert (bench.state(wide), bench.state(small)) == ("COMPLETED", "SUBMITTED")


def test_a_wide_job_is_not_overtaken_for_ever(bench: Bench) -> None:
    bench.submit()
    wide = bench.submit(resources={"cpus_per_task": 2})
    late = bench.submit()
    bench.pump.turn()
    assert (bench.state(wide), bench.state(late)) == ("STAGED", "STAGED")


def test_after_waits_for_the_parent_and_then_goes(bench: Bench) -> None:
    parent = bench.submit()
    child = bench.submit(after=[parent])
    bench.pump.turn()
    assert bench.state(child) == "STAGED"
    bench.runner.end(bench.key(parent))
    bench.pump.turn()
    bench.pump.turn()
    assert bench.state(child) == "RUNNING"


def test_after_a_failed_parent_the_child_fails_with_its_name(bench: Bench) -> None:
    parent = bench.submit()
    child = bench.submit(after=[parent])
    bench.code.verdict = Verdict(completed=False, reason="crashed", message="boom")
    bench.pump.turn()
    bench.runner.end(bench.key(parent))
    bench.pump.turn()
    bench.pump.turn()
    row = bench.store.row(child)
    assert (row["state"], row["reason"]) == ("FAILED", "dependency_failed")
    assert f"job {parent}" in row["message"]


def test_an_input_file_that_vanished_is_named(bench: Bench) -> None:
    source = bench.root / "gone.dat"
    source.write_text("x")
    job = bench.submit(files=[{"path": "in/gone.dat", "source": str(source)}])
    source.unlink()
    bench.pump.turn()
    row = bench.store.row(job)
    assert (row["state"], row["reason"]) == ("FAILED", "input_rejected")
    assert "gone.dat" in row["message"]
    assert list(bench.directories.root.iterdir()) == []


def test_trouble_with_the_machine_is_not_a_verdict(bench: Bench) -> None:
    bench.runner.fail_with = OSError(errno.ENOSPC, "No space left on device")
    job = bench.submit()
    bench.pump.turn()
    row = bench.store.row(job)
    assert row["state"] == "SUBMITTED"
    assert row["tries"] == 1
    assert "No space left" in row["attention"]
    bench.runner.fail_with = None
    bench.pump.turn()
    assert bench.runner.launched == []
    bench.now += 31
    bench.pump.turn()
    assert len(bench.runner.launched) == 1
    bench.pump.turn()
    row = bench.store.row(job)
    assert (row["state"], row["tries"], row["attention"]) == ("RUNNING", 0, None)


def test_a_bug_in_an_adapter_is_shown_and_stops_nobody_else(bench: Bench) -> None:
    first, second = bench.submit(), bench.submit()
    bench.pump.turn()
    bench.runner.end(bench.key(first))
    bench.code.judge = lambda directory, end: 1 / 0
    bench.pump.turn()
    row = bench.store.row(first)
    assert row["state"] == "FINISHED"
    assert row["attention"] == "an internal error; the log has the details"
    assert bench.state(second) == "RUNNING"


def test_progress_is_written_only_when_it_changes(bench: Bench) -> None:
    bench.submit()
    bench.pump.turn()
    bench.pump.turn()
    bench.code.shown = Progress("step 3", 0.5)
    bench.pump.turn()
    rev = bench.store.rev()
    bench.pump.turn()
    assert bench.store.rev() == rev
    bench.code.shown = Progress("step 4", 0.6)
    bench.pump.turn()
    assert bench.store.rev() == rev + 1


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_cancel_wins_when_the_run_ends_because_of_it(bench: Bench, turns: int) -> None:
    job = bench.submit()
    for _ in range(turns):
        bench.pump.turn()
    bench.service.cancel(CancelJobsParams(id=job))
    bench.pump.turn()
    if turns:
        assert bench.state(job) == "CANCELLING"
        assert bench.runner.cancelled == [bench.key(job)]
        bench.runner.end(bench.key(job), cause="cancel", rc=None)
        bench.pump.turn()
    assert bench.state(job) == "CANCELLED"


def test_the_real_end_wins_over_a_late_cancel(bench: Bench) -> None:
    job = bench.submit()
    bench.pump.turn()
    bench.pump.turn()
    bench.runner.end(bench.key(job))
    bench.service.cancel(CancelJobsParams(id=job))
    bench.pump.turn()
    assert bench.state(job) == "COMPLETED"


@pytest.mark.parametrize(
    ("phase", "state", "reason"),
    [("other_boot", "FAILED", "node_failure"), ("vanished", "COMPLETED", None)],
)
def test_an_end_without_receipt(bench: Bench, phase: str, state: str, reason: str | None) -> None:
    job = bench.submit()
    bench.pump.turn()
    bench.pump.turn()
    bench.runner.seen[bench.key(job)] = Observation(phase, t_start=100.0)  # type: ignore[arg-type]
    bench.pump.turn()
    row = bench.store.row(job)
    assert (row["state"], row["reason"]) == (state, reason)


def test_turn_says_whether_to_look_again_soon(bench: Bench) -> None:
    assert bench.pump.turn() is False
    job = bench.submit()
    assert bench.pump.turn() is True
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    assert bench.pump.turn() is False


@pytest.mark.parametrize("turns", [1, 2])
def test_a_job_whose_bookkeeping_vanished_is_never_started_again(bench: Bench, turns: int) -> None:
    job = bench.submit()
    for _ in range(turns):
        bench.pump.turn()
    key = bench.key(job)
    bench.runner.seen.pop(key)
    bench.runner.alive.add(key)
    bench.pump.turn()
    assert bench.state(job) == "RUNNING"
    bench.runner.alive.clear()
    bench.pump.turn()
    assert bench.state(job) == "COMPLETED"
    assert len(bench.runner.launched) == 1


def test_cancelling_a_job_whose_bookkeeping_vanished_ends_its_processes(bench: Bench) -> None:
    job = bench.submit()
    bench.pump.turn()
    bench.pump.turn()
    key = bench.key(job)
    bench.runner.seen.pop(key)
    bench.runner.alive.add(key)
    bench.service.cancel(CancelJobsParams(id=job))
    bench.pump.turn()
    assert bench.runner.alive == set()
    bench.pump.turn()
    assert bench.state(job) == "CANCELLED"
    assert bench.store.events(job)[-1]["why"] == "its processes have ended"


def test_a_cancel_does_not_wait_for_a_postponed_step(bench: Bench) -> None:
    bench.runner.fail_with = OSError(errno.ENOSPC, "No space left on device")
    job = bench.submit()
    bench.pump.turn()
    bench.service.cancel(CancelJobsParams(id=job))
    bench.pump.turn()
    assert bench.state(job) == "CANCELLED"


def test_a_failed_parent_cannot_be_deleted_under_its_child(bench: Bench) -> None:
    parent = bench.submit()
    child = bench.submit(after=[parent])
    bench.code.verdict = Verdict(completed=False, reason="crashed", message="boom")
    bench.pump.turn()
    bench.runner.end(bench.key(parent))
    bench.pump.turn()
    (outcome,) = bench.service.delete(DeleteParams(ids=[parent])).data
    assert (outcome.ok, outcome.kind) == (False, "conflict")  # type: ignore[union-attr]
    bench.pump.turn()
    assert bench.state(child) == "FAILED"
    assert bench.service.delete(DeleteParams(ids=[parent])).data[0].ok  # type: ignore[union-attr]
