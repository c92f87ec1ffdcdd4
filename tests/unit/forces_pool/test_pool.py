"""The pool with a worker that behaves as told: starting, sharing, dying, stopping."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crystalmath.errors import (
    Cancelled,
    CrystalMathError,
    ForcesError,
    InputRejected,
    NotFound,
    OutOfMemory,
    Overloaded,
    WorkerDied,
    WorkerTimeout,
)
from crystalmath.forces.pool.key import key_of
from crystalmath.forces.pool.knock import knock
from crystalmath.forces.pool.machine import Machine
from crystalmath.forces.pool.pool import Pool
from crystalmath.services.ports_pool import Evaluation, PoolLimits, Wanted, WorkerRow
from support.forces import PlainHost, WaitingCall, atoms, fake_engine, until

QUICK = PoolLimits(memory_mib=4096, threads=4, look_s=0.05, term_s=0.3, kill_s=5.0)

MakePool = Callable[..., Pool]


@pytest.fixture
def host() -> PlainHost:
    return PlainHost()


@pytest.fixture
def make(host: PlainHost, tmp_path: Path) -> Iterator[MakePool]:
    pools: list[Pool] = []

    def build(limits: PoolLimits = QUICK) -> Pool:
        pool = Pool(host, limits, str(tmp_path / "door"))
        pools.append(pool)
        return pool

    yield build
    for pool in pools:
        pool.close()
    assert until(lambda: host.running() == 0)


def evaluate(pool: Pool, wanted: Wanted, *positions: Any, **more: Any) -> Evaluation:
    structures = [atoms(*(positions or ((1.0, 2.0, 3.0),)))]
    return pool.evaluate(wanted, structures, ["energy", "forces"], WaitingCall(), **more)


def energy_of(evaluation: Evaluation, index: int = 0) -> float:
    (energy,) = struct.unpack("<d", evaluation.structures[index].arrays["energy"])
    return float(energy)


def rows(pool: Pool) -> dict[str, WorkerRow]:
    return {row.id: row for row in pool.workers()}


def test_a_worker_is_started_on_first_use_and_shared(make: MakePool, host: PlainHost) -> None:
    pool = make()
    assert pool.workers() == []
    first = evaluate(pool, fake_engine())
    second = evaluate(pool, fake_engine(), (1.0, 1.0, 1.0))
    assert (energy_of(first), energy_of(second)) == (6.0, 3.0)
    assert len(host.started) == 1
    (row,) = pool.workers()
    assert (row.requests, row.structures, row.evaluations) == (2, 2, 2)
    assert row.state == "idle"
    assert row.capabilities is not None
    assert row.load_s == 0.25


def test_other_models_devices_and_options_have_workers_of_their_own(
    make: MakePool, host: PlainHost
) -> None:
    pool = make()
    wanted = (fake_engine(), fake_engine("n"), fake_engine(device="cuda:0"), fake_engine(color=1))
    ids = {evaluate(pool, w).worker for w in (*wanted, *wanted)}
    assert len(ids) == len(host.started) == 4


def test_many_structures_go_in_turns(make: MakePool) -> None:
    pool = make()
    structures = [atoms((float(i), 0.0, 0.0)) for i in range(200)]
    found = pool.evaluate(fake_engine(), structures, ["energy"], WaitingCall())
    assert [energy_of(found, i) for i in range(200)] == [float(i) for i in range(200)]
    (row,) = pool.workers()
    assert row.requests == 4  # 64 each
    assert row.structures == 200


def test_one_bad_structure_of_many(make: MakePool) -> None:
    structures = [atoms((1.0, 0, 0)), atoms((1.0, 0, 0), (2.0, 0, 0)), atoms((3.0, 0, 0))]
    found = make().evaluate(fake_engine(fail_atoms=2), structures, ["energy"], WaitingCall())
    assert [one.kind for one in found.structures] == [None, "unsupported_species", None]
    assert not found.structures[1].arrays


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"load": "raise"}, ForcesError, "no such weights"),
        ({"load": "exit"}, WorkerDied, "exit code 3"),
        ({"load": "nonsense"}, WorkerDied, "was ended"),
        ({"call": "exit"}, WorkerDied, "exit code 7"),
        ({"call": "segv"}, WorkerDied, "SIGSEGV"),
    ],
)
def test_death_is_told_with_phase_and_tail(
    make: MakePool, options: dict[str, Any], kind: type[CrystalMathError], text: str
) -> None:
    pool = make()
    with pytest.raises(kind) as caught:
        evaluate(pool, fake_engine(**options))
    assert text in str(caught.value)
    (row,) = pool.workers()
    assert row.state == "crashed"
    assert row.crash is not None
    assert ("loading" if "load" in options else "evaluating") in row.crash.phase
    if options in ({"load": "exit"}, {"call": "exit"}):
        assert row.crash.stderr_tail.strip() in str(caught.value.hint)
    assert pool.totals().crashes == 1


def test_after_a_crash_the_next_request_has_a_new_worker(make: MakePool, host: PlainHost) -> None:
    pool = make()
    first = evaluate(pool, fake_engine())
    os.kill(host.started[0].pid, signal.SIGKILL)
    until(lambda: rows(pool)[first.worker].state == "crashed")
    second = evaluate(pool, fake_engine())
    assert second.worker != first.worker


def test_death_is_noticed_at_once(make: MakePool, host: PlainHost) -> None:
    """By pidfd and end-of-file, not by the next look."""
    pool = make(PoolLimits(look_s=5.0))
    failed: list[CrystalMathError] = []
    evaluate(pool, fake_engine(call_s=0))

    def ask() -> None:
        try:
            evaluate(pool, fake_engine(call="hang"))
        except CrystalMathError as error:
            failed.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: any(row.state == "busy" for row in pool.workers()))
    began = time.monotonic()
    os.kill(host.started[1].pid, signal.SIGKILL)
    thread.join(4.0)
    assert time.monotonic() - began < 2.5
    assert "SIGKILL" in str(failed[0])


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_hanging_call_ends_with_its_worker(
    make: MakePool, host: PlainHost, *, stubborn: bool
) -> None:
    pool = make()
    wanted = fake_engine(call="hang", stubborn=stubborn)
    pool.attach(wanted, WaitingCall())  # so that the deadline is not spent on loading
    with pytest.raises(WorkerTimeout, match="took longer than"):
        evaluate(pool, wanted, deadline_s=0.5)
    assert until(lambda: host.running() == 0)
    assert pool.workers()[0].crash is not None


def test_a_worker_that_is_expected_is_the_one_that_is_used(make: MakePool) -> None:
    pool = make()
    wanted = fake_engine()
    for _ in range(2):
        pool.expect(wanted)
    (coming,) = pool.workers()
    assert evaluate(pool, wanted).worker == coming.id
    assert len(pool.workers()) == 1


def test_what_is_wrong_with_an_expected_worker_is_told_to_whoever_needs_it(make: MakePool) -> None:
    pool = make(PoolLimits(look_s=0.05, crashes=1))
    broken = fake_engine(load="raise")
    pool.expect(broken)
    assert until(lambda: pool.totals().paused)
    pool.expect(broken)  # paused after its crash: nothing is raised, nothing is started
    assert not [row for row in pool.workers() if row.state != "crashed"]
    with pytest.raises(WorkerDied, match="not started again"):
        evaluate(pool, broken)
    pool.close()
    pool.expect(fake_engine())
    assert len(pool.workers()) == 1


def test_a_hanging_load_ends_at_its_deadline(make: MakePool) -> None:
    pool = make(PoolLimits(look_s=0.05, load_s=0.3))
    with pytest.raises(WorkerTimeout, match=r"not loaded within 0\.3"):
        evaluate(pool, fake_engine(load="hang"))


def test_ten_megabytes_of_output_harm_nothing(make: MakePool) -> None:
    assert energy_of(evaluate(make(), fake_engine(load="print"))) == 6.0


def test_three_crashes_and_it_pauses(make: MakePool, host: PlainHost) -> None:
    pool = make()
    for _ in range(3):
        with pytest.raises(WorkerDied, match="exit code 3"):
            evaluate(pool, fake_engine(load="exit"))
    with pytest.raises(WorkerDied, match="crashed 3 times") as caught:
        evaluate(pool, fake_engine(load="exit"))
    assert "exit code 3" in str(caught.value)
    assert len(host.started) == 3
    (paused,) = pool.totals().paused
    assert 50 < paused.retry_in_s <= 60
    evaluate(pool, fake_engine())  # others are not concerned


def test_a_mistake_of_the_caller_pauses_nothing(make: MakePool, host: PlainHost) -> None:
    pool = make()
    for _ in range(4):
        with pytest.raises(InputRejected, match="no such option"):
            evaluate(pool, fake_engine(load="input"))
    assert len(host.started) == 4
    assert pool.totals().paused == []


def test_idle_workers_are_stopped_and_started_again(make: MakePool) -> None:
    pool = make(PoolLimits(look_s=0.05, idle_s=0.2))
    first = evaluate(pool, fake_engine())
    until(lambda: not pool.workers())
    assert pool.workers(first.worker)[0].state == "stopped"
    assert evaluate(pool, fake_engine()).worker != first.worker
    assert pool.totals().requests == 2


def test_memory_is_made_by_stopping_the_least_recently_used(make: MakePool) -> None:
    pool = make(PoolLimits(look_s=0.05, memory_mib=1200, term_s=0.3))
    first = evaluate(pool, fake_engine("a", rss_mib=500))
    second = evaluate(pool, fake_engine("b", rss_mib=500))
    until(lambda: all((row.rss_bytes or 0) > 4e8 for row in pool.workers()))
    evaluate(pool, fake_engine("a", rss_mib=500))
    third = evaluate(pool, fake_engine("c", rss_mib=100))
    assert set(rows(pool)) == {first.worker, third.worker}
    assert pool.workers(second.worker)[0].state == "stopped"


def test_what_a_worker_has_learnt_of_memory_is_told_to_the_next(
    make: MakePool, host: PlainHost
) -> None:
    pool = make()
    points = [[10.0, 1e6], [1000.0, 5e6]]
    first = evaluate(pool, fake_engine(points=points))
    until(lambda: pool._supervisor.peaks.points(key_of(fake_engine(points=points))))
    os.kill(host.started[0].pid, signal.SIGKILL)
    until(lambda: rows(pool)[first.worker].state == "crashed")
    second = evaluate(pool, fake_engine(points=points))
    assert second.capabilities["memory_points"] == points


def test_the_pid_is_the_programs_own(make: MakePool, host: PlainHost) -> None:
    pool = make()
    evaluate(pool, fake_engine())
    (row,) = pool.workers()
    assert row.pid == host.started[0].pid  # this host has no guard between


def test_who_takes_the_last_memory_of_the_machine_is_ended(make: MakePool) -> None:
    pool = make(PoolLimits(look_s=0.05, term_s=30.0))
    pool._supervisor.machine = lambda: Machine(4, 0)  # whoever there is has a quarter of it
    with pytest.raises(OutOfMemory, match="this machine ran out of memory"):
        evaluate(pool, fake_engine("a", call_s=60.0))
    (row,) = pool.workers("w1")
    assert row.state == "crashed"


def test_what_cannot_fit_is_refused_with_the_numbers(make: MakePool) -> None:
    pool = make(PoolLimits(look_s=0.05, memory_mib=600))
    busy = threading.Thread(
        target=lambda: evaluate(pool, fake_engine("a", rss_mib=400, call_s=1.0))
    )
    busy.start()
    until(lambda: any(row.state == "busy" and row.rss_bytes for row in pool.workers()))
    with pytest.raises(Overloaded, match="512 MiB"):
        evaluate(pool, fake_engine("b"))
    busy.join()


def test_a_new_file_of_weights_replaces_the_old_one(make: MakePool) -> None:
    """Under load; nobody loses a request."""
    pool = make()
    failures: list[BaseException] = []
    seen: set[str] = set()
    current = ["old"]
    over = threading.Event()

    def client() -> None:
        try:
            while not over.is_set():
                found = evaluate(pool, fake_engine(key=current[0], call_s=0.002))
                assert energy_of(found) == 6.0
                seen.add(found.worker)
        except BaseException as error:  # noqa: BLE001 - told to the test's thread
            failures.append(error)

    threads = [threading.Thread(target=client) for _ in range(4)]
    for thread in threads:
        thread.start()
    until(lambda: pool.workers() and pool.workers()[0].requests > 20)
    current[0] = "new"
    until(lambda: len(seen) > 1)
    until(lambda: len(pool.workers()) == 1)
    before = pool.totals().requests
    until(lambda: pool.totals().requests > before + 20)
    over.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert pool.workers()[0].wanted.model.key == "new"


def test_who_uses_replaced_weights_keeps_them_until_he_leaves(make: MakePool) -> None:
    pool = make()
    evaluate(pool, fake_engine(key="old"))
    way = pool.attach(fake_engine(key="old"), WaitingCall())
    client = knock(way.path, way.token, engine="fake")
    until(lambda: rows(pool)[way.worker].clients == 1)
    evaluate(pool, fake_engine(key="new"))
    evaluate(pool, fake_engine(key="new"))
    assert {row.wanted.model.key for row in pool.workers()} == {"old", "new"}
    client.close()
    until(lambda: {row.wanted.model.key for row in pool.workers()} == {"new"})


def test_stopping_by_name(make: MakePool) -> None:
    pool = make()
    worker = evaluate(pool, fake_engine()).worker
    assert pool.stop(worker, "drain").state == "draining"
    until(lambda: not pool.workers())
    assert pool.workers(worker)[0].crash is None
    with pytest.raises(NotFound, match="w99") as caught:
        pool.stop("w99", "now")
    assert caught.value.field == "worker"


def test_stopping_now_ends_what_it_computes(make: MakePool) -> None:
    pool = make()
    failed: list[CrystalMathError] = []

    def ask() -> None:
        try:
            evaluate(pool, fake_engine(call="hang"))
        except CrystalMathError as error:
            failed.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    row = until(lambda: next((r for r in pool.workers() if r.state == "busy"), None))
    pool.stop(row.id, "now")
    thread.join(5)
    assert "was stopped" in str(failed[0])
    assert pool.totals().crashes == 0


def test_a_cancelled_call_is_free_at_once_and_the_worker_goes_on(make: MakePool) -> None:
    pool = make()
    for options, state in (({"load_s": 1.0}, "starting"), ({"call_s": 1.0}, "busy")):
        call = WaitingCall()
        failed: list[CrystalMathError] = []

        def ask(call: WaitingCall = call, options: Any = options, failed: Any = failed) -> None:
            try:
                pool.evaluate(fake_engine(**options), [atoms((0, 0, 1.0))], ["energy"], call)
            except CrystalMathError as error:
                failed.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        until(lambda state=state: any(row.state == state for row in pool.workers()))
        call.cancel()
        thread.join(0.8)
        assert isinstance(failed[0], Cancelled)
        assert energy_of(evaluate(pool, fake_engine(**options))) == 6.0


def test_threads_are_shared(make: MakePool) -> None:
    pool = make()
    evaluate(pool, fake_engine("a"))
    busy = threading.Thread(target=lambda: evaluate(pool, fake_engine("b", call_s=1.0)))
    busy.start()
    until(lambda: any(row.state == "busy" for row in pool.workers()))
    evaluate(pool, fake_engine("c"))
    assert [row.threads for row in pool.workers()] == [4, 4, 2]
    busy.join()


def test_listeners_are_told_states_and_not_counters(make: MakePool) -> None:
    pool = make()
    told: list[tuple[str, str]] = []
    pool.listen(lambda row: told.append((row.id, row.state)))
    for _ in range(50):
        evaluate(pool, fake_engine())
    pool.stop("w1", "drain")
    until(lambda: told and told[-1] == ("w1", "stopped"))
    states = [state for _, state in told]
    assert states[0] == "starting"
    assert "idle" in states
    assert len(told) < 30


def test_closing_leaves_nothing(make: MakePool, host: PlainHost, tmp_path: Path) -> None:
    pool = make()
    evaluate(pool, fake_engine())
    pool.attach(fake_engine("b", stubborn=True), WaitingCall())
    assert (tmp_path / "door").exists()
    pool.close()
    assert until(lambda: host.running() == 0)
    assert not (tmp_path / "door").exists()
    with pytest.raises(CrystalMathError, match="stopping"):
        evaluate(pool, fake_engine())
