"""What the store's transactions and the watched logs tell."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from crystalmath.contract.events import Event
from crystalmath.contract.jobs import CancelJobsParams, DeleteParams, JobSummary, TagParams
from crystalmath.services.events import EventHub, Feed
from crystalmath.services.log_watch import LogWatch
from support.daemon import wait_until
from support.service_fakes import Bench


class Told:
    """A subscriber of the bench's hub."""

    def __init__(self, hub: EventHub, *topics: str) -> None:
        self._hub = hub
        self.feed: Feed = hub.open(1)
        hub.subscribe(1, topics)
        hub.release(self.feed)

    def take(self) -> list[dict[str, Any]]:
        """Everything since the last time; each fits the contract."""
        found = [
            {"topic": topic, **event.content()}
            for delivery in self._hub.take(self.feed)
            for topic, event in delivery.events
        ]
        adapter: TypeAdapter[Any] = TypeAdapter(Event)
        for event in found:
            adapter.validate_python(event)
        return found


def test_every_change_is_told_with_the_row_as_it_was_committed(bench: Bench) -> None:
    every = Told(bench.hub, "jobs")
    number = bench.submit()
    (event,) = every.take()
    assert (event["kind"], event["job"]["id"], event["job"]["state"]) == ("job", number, "CREATED")
    assert event["job"]["rev"] == bench.store.rev()
    bench.pump.turn()
    (event,) = every.take()
    assert event["job"]["state"] == "SUBMITTED"
    bench.service.tag(TagParams(ids=[number], add=["copper"]))
    (event,) = every.take()
    assert event["job"]["tags"] == ["copper"]
    assert JobSummary(**event["job"]) == bench.service._summary(number)


def test_what_changes_nothing_tells_nothing(bench: Bench) -> None:
    number = bench.submit()
    every = Told(bench.hub, "jobs")
    bench.pump.turn()
    every.take()
    bench.service.cancel(CancelJobsParams(id=number))
    every.take()
    bench.service.cancel(CancelJobsParams(id=number))
    assert every.take() == []


def test_the_history_is_told_line_by_line(bench: Bench) -> None:
    number = bench.submit()
    one = Told(bench.hub, f"job:{number}")
    bench.pump.turn()
    bench.pump.turn()
    bench.runner.end(bench.key(number))
    bench.pump.turn()
    found = one.take()
    lines = [event["event"] for event in found if event["kind"] == "event"]
    stored = bench.store.events(number)[1:]
    assert [(e["seq"], e["to_state"], e["why"], e["evidence"]) for e in lines] == [
        (e["seq"], e["to_state"], e["why"], e["evidence"]) for e in stored
    ]
    assert [e["to_state"] for e in lines][-1] == "COMPLETED"
    assert found[-1]["job"]["state"] == "COMPLETED"


def test_a_removal_is_told(bench: Bench) -> None:
    number = bench.submit()
    bench.service.cancel(CancelJobsParams(id=number))
    bench.pump.turn()
    every = Told(bench.hub, "jobs")
    bench.service.delete(DeleteParams(ids=[number], files=True))
    assert every.take() == [{"topic": "jobs", "kind": "job_removed", "id": number}]


def test_the_order_told_is_the_order_of_the_commits(bench: Bench) -> None:
    """Eight threads change jobs; revisions are told rising."""
    revs: list[int] = []
    hub, publish = bench.hub, bench.hub.publish

    def noted(happenings: Any) -> None:
        revs.extend(e.content()["job"]["rev"] for e in happenings if len(e.topics) == 2)
        publish(happenings)

    hub.publish = noted  # type: ignore[method-assign]
    jobs = [bench.submit() for _ in range(8)]
    threads = [
        threading.Thread(
            target=lambda n=n: [
                bench.service.tag(TagParams(ids=[n], add=[str(i)])) for i in range(20)
            ]
        )
        for n in jobs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(revs) == 8 * 21
    assert revs == sorted(set(revs))


@pytest.fixture
def logs(bench: Bench) -> Iterator[LogWatch]:
    watch = LogWatch(bench.hub, bench.store, bench.directories, every_s=0.005)
    bench.changes.on_ended = watch.job_ended
    yield watch
    watch.stop()


def running(bench: Bench) -> tuple[int, Path]:
    number = bench.submit()
    bench.pump.turn()
    bench.pump.turn()
    return number, bench.directories.path(bench.key(number)) / "stdout.log"


def sizes(told: Told) -> list[tuple[str, int]]:
    return [(event["stream"], event["size"]) for event in told.take()]


def test_a_watched_log_tells_its_size_when_it_has_grown(bench: Bench, logs: LogWatch) -> None:
    number, path = running(bench)
    assert logs.look() is False
    path.write_text("abc")
    one = Told(bench.hub, f"log:{number}")
    assert logs.look() is True
    assert ("stdout", 3) in sizes(one)
    logs.look()
    assert sizes(one) == []
    path.write_text("abcdef")
    logs.look()
    path.write_text("abcdefg")
    logs.look()
    assert ("stdout", 7) in sizes(one)
    path.write_text("")
    logs.look()
    assert ("stdout", 0) in sizes(one)


def test_an_ended_job_is_looked_at_once_more_and_then_not(bench: Bench, logs: LogWatch) -> None:
    number, path = running(bench)
    one = Told(bench.hub, f"log:{number}")
    assert logs.look() is True
    path.write_text("the end")
    bench.runner.end(bench.key(number))
    bench.pump.turn()
    assert logs.look() is False
    assert ("stdout", 7) in sizes(one)


@pytest.mark.parametrize("known", [True, False])
def test_a_log_that_cannot_grow_is_not_watched(bench: Bench, logs: LogWatch, known: bool) -> None:
    number, path = running(bench)
    path.write_text("the end")
    bench.runner.end(bench.key(number))
    bench.pump.turn()
    one = Told(bench.hub, f"log:{number if known else 99}")
    assert logs.look() is False
    assert [s for s in sizes(one) if s[0] == "stdout"] == ([("stdout", 7)] if known else [])


def test_the_watching_thread_sleeps_until_somebody_watches(bench: Bench, logs: LogWatch) -> None:
    number, path = running(bench)
    looks: list[int] = []
    look = logs.look

    def counted() -> bool:
        looks.append(1)
        return look()

    logs.look = counted  # type: ignore[method-assign]
    logs.start()
    wait_until(lambda: looks, "the first look")
    one = Told(bench.hub, f"log:{number}")
    assert len(looks) == 1
    logs.wake()
    path.write_text("abc")
    wait_until(lambda: ("stdout", 3) in sizes(one), "the growth is told")
