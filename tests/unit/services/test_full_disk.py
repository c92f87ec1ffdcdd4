"""Cancels and removals while the database cannot be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crystalmath.contract.jobs import CancelJobsParams, DeleteParams, JobOutcome
from crystalmath.errors import DatabaseError
from crystalmath.services.ports_store import Move
from support.service_fakes import Bench


class FullDisk:
    """Lets no change of the database through while it is full."""

    def __init__(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self.refused = 0
        for name in ("move", "delete"):
            monkeypatch.setattr(bench.store, name, self._guarded(getattr(bench.store, name)))

    def _guarded(self, change: Any) -> Any:
        def guarded(argument: Move | int) -> bool:
            if self.full:
                self.refused += 1
                raise DatabaseError("the disk is full", hint="free some space, then try again")
            return bool(change(argument))

        return guarded


@pytest.fixture
def disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    return FullDisk(bench, monkeypatch)


def running(bench: Bench) -> int:
    job = bench.submit()
    bench.pump.turn()
    bench.pump.turn()
    assert bench.state(job) == "RUNNING"
    return job


def turn(bench: Bench) -> None:
    """A turn of the pump, which ends where the database refuses."""
    bench.now += 1
    try:
        bench.pump.turn()
    except DatabaseError:
        return


def cancel(bench: Bench, job: int) -> DatabaseError:
    with pytest.raises(DatabaseError, match=f"job {job} is being ended all the same") as caught:
        bench.service.cancel(CancelJobsParams(id=job))
    return caught.value


def test_the_run_is_ended_and_the_cancel_recorded_later(bench: Bench, disk: FullDisk) -> None:
    job = running(bench)
    disk.full = True
    error = cancel(bench, job)
    assert error.hint is not None
    assert error.hint.startswith("free some space")
    assert "if the daemon runs until then" not in error.hint
    turn(bench)
    assert set(bench.runner.cancelled) == {bench.key(job)}
    bench.runner.end(bench.key(job), cause="cancel", rc=None)
    turn(bench)
    assert bench.state(job) == "RUNNING"
    disk.full = False
    turn(bench)
    assert bench.state(job) == "CANCELLED"
    whys = [event["why"] for event in bench.store.events(job)]
    assert "cancel asked by the user, while the database could not be written" in whys


def test_the_next_daemon_knows_of_it(bench: Bench, disk: FullDisk) -> None:
    job, waiting = running(bench), bench.submit(after=[])
    bench.slots = 1
    bench.pump = bench.new_pump()
    bench.pump.turn()
    assert bench.state(waiting) == "STAGED"
    disk.full = True
    for each in (job, waiting):
        cancel(bench, each)
    bench.pump = bench.new_pump()
    turn(bench)
    assert bench.key(job) in bench.runner.cancelled, "also the next one can act before it can write"
    bench.runner.end(bench.key(job), cause="cancel", rc=None)
    disk.full = False
    launched = len(bench.runner.launched)
    for _ in range(3):
        turn(bench)
    assert (bench.state(job), bench.state(waiting)) == ("CANCELLED", "CANCELLED")
    assert len(bench.runner.launched) == launched


def test_a_program_that_ends_by_itself_first_keeps_its_end(bench: Bench, disk: FullDisk) -> None:
    job = running(bench)
    disk.full = True
    cancel(bench, job)
    bench.runner.end(bench.key(job), rc=0)
    turn(bench)
    disk.full = False
    for _ in range(2):
        turn(bench)
    assert bench.state(job) == "COMPLETED"


def test_what_has_no_directory_is_remembered_while_the_daemon_runs(
    bench: Bench, disk: FullDisk
) -> None:
    job = bench.submit()
    disk.full = True
    error = cancel(bench, job)
    assert "if the daemon runs until then" in str(error.hint)
    turn(bench)
    disk.full = False
    for _ in range(2):
        turn(bench)
    assert bench.state(job) == "CANCELLED"
    assert bench.runner.launched == []


def test_each_of_several_says_it(bench: Bench, disk: FullDisk) -> None:
    job = running(bench)
    disk.full = True
    first, second = bench.service.cancel(CancelJobsParams(ids=[job, 99])).data
    assert isinstance(first, JobOutcome)
    assert isinstance(second, JobOutcome)
    assert (first.ok, first.kind) == (False, "database")
    assert "being ended all the same" in str(first.message)
    assert (second.ok, second.kind) == (False, "not_found")


def test_a_wish_for_a_job_that_is_gone_is_forgotten(bench: Bench, disk: FullDisk) -> None:
    bench.pump.end_unrecorded(99)
    job = running(bench)
    bench.pump.end_unrecorded(job)
    bench.runner.end(bench.key(job))
    for _ in range(3):
        turn(bench)
    assert bench.state(job) == "COMPLETED", "its real end was seen first or wins"
    assert not bench.pump._unrecorded


def ended_job(bench: Bench) -> tuple[int, Path]:
    job = running(bench)
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    return job, bench.directories.path(bench.key(job))


def test_removing_the_files_makes_room_for_its_own_record(
    bench: Bench, disk: FullDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, directory = ended_job(bench)
    disk.full = True
    remove = bench.directories.remove

    def make_room(key: str) -> None:
        remove(key)
        disk.full = False

    monkeypatch.setattr(bench.directories, "remove", make_room)
    (outcome,) = bench.service.delete(DeleteParams(ids=[job], files=True)).data
    assert isinstance(outcome, JobOutcome)
    assert outcome.ok
    assert not directory.exists()
    assert bench.store.counts() == {}


def test_without_files_nothing_is_removed(bench: Bench, disk: FullDisk) -> None:
    job, directory = ended_job(bench)
    disk.full = True
    (outcome,) = bench.service.delete(DeleteParams(ids=[job])).data
    assert isinstance(outcome, JobOutcome)
    assert (outcome.ok, outcome.kind) == (False, "database")
    assert directory.is_dir()
    assert bench.store.counts() == {"COMPLETED": 1}
