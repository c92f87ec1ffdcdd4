"""Warm workers: one call at a time, killed by deadlines, replaced when dead."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.errors import DeadlinePassed, InputRejected, Overloaded, ShuttingDown, WorkerDied
from crystalmath.server.proc import WorkerPool
from support.daemon import wait_until

REJECT = "server_worker_functions:reject"
FUNCTIONS = (
    "os:getpid", "os:abort", "os:_exit", "json:loads", "builtins:print", "math:sqrt",
    "builtins:complex", REJECT,
)  # fmt: skip
SUPPORT = Path(__file__).parents[2] / "support"


@pytest.fixture
def findable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the workers import the functions of the tests."""
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(2, 60.0, FUNCTIONS)
    yield made
    made.close()


def test_value_and_warmth(pool: WorkerPool) -> None:
    first = pool.run("os:getpid", {}, 30)
    assert pool.run("os:getpid", {}, 30) == first
    assert pool.count == 1
    assert pool.run("json:loads", {"s": '{"a": [1, null]}'}, 30) == {"a": [1, None]}


def test_only_what_is_allowed(pool: WorkerPool) -> None:
    with pytest.raises(ValueError, match="not a function"):
        pool.run("os:system", {"command": "true"}, 30)
    assert pool.count == 0


def test_what_a_library_prints_is_not_an_answer(pool: WorkerPool) -> None:
    assert pool.run("builtins:print", {"sep": "x"}, 30) is None
    assert pool.run("os:getpid", {}, 30)


def test_unknown_exception(pool: WorkerPool) -> None:
    with pytest.raises(RuntimeError, match="TypeError"):
        pool.run("math:sqrt", {"number": 1}, 30)
    with pytest.raises(RuntimeError, match="Unencodable"):
        pool.run("builtins:complex", {"real": 1, "imag": 1}, 30)
    assert pool.count == 1


@pytest.mark.usefixtures("findable")
def test_exceptions_of_the_tree_come_back(pool: WorkerPool) -> None:
    with pytest.raises(InputRejected) as caught:
        pool.run(REJECT, {"field": "a.b"}, 30)
    error = caught.value
    assert (error.message, error.hint, error.field) == ("It is refused.", "Do better.", "a.b")


@pytest.mark.usefixtures("findable")
def test_deadline_kills(pool: WorkerPool) -> None:
    with pytest.raises(DeadlinePassed):
        pool.run(REJECT, {"field": "x", "after_s": 600}, 0.5)
    assert pool.count == 0
    assert pool.run("os:getpid", {}, 30)


def test_death(pool: WorkerPool) -> None:
    with pytest.raises(WorkerDied, match="signal 6"):
        pool.run("os:abort", {}, 30)
    with pytest.raises(WorkerDied, match="exit code 3"):
        pool.run("os:_exit", {"status": 3}, 30)
    assert pool.run("os:getpid", {}, 30)


def test_at_most_so_many_at_a_time() -> None:
    pool = WorkerPool(1, 60.0, FUNCTIONS)
    pid = pool.run("os:getpid", {}, 30)
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda: results.append(pool.run("os:getpid", {}, 30)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [pid] * 8
    pool.close()


@pytest.mark.usefixtures("findable")
def test_waiting_for_a_worker_has_the_deadline_too() -> None:
    pool = WorkerPool(1, 60.0, FUNCTIONS)

    def occupy() -> None:
        with pytest.raises(ShuttingDown):
            pool.run(REJECT, {"field": "x", "after_s": 600}, 60)

    busy = threading.Thread(target=occupy)
    busy.start()
    wait_until(lambda: pool.count == 1, "the worker is busy")
    with pytest.raises(Overloaded):
        pool.run("os:getpid", {}, 0.05)
    pool.close()
    busy.join(30)
    assert not busy.is_alive()
    with pytest.raises(ShuttingDown):
        pool.run("os:getpid", {}, 1)


def test_idle_workers_are_reaped() -> None:
    pool = WorkerPool(2, 0.1, FUNCTIONS)
    begin = time.monotonic()
    pool.run("os:getpid", {}, 30)
    wait_until(lambda: pool.count == 0, "the worker is reaped")
    assert time.monotonic() - begin >= 0.1
    assert pool.run("os:getpid", {}, 30)
    pool.close()
