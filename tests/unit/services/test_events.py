"""The hub: who is told what, the ring, coalescing, and what stands for too much."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.errors import Cancelled, NotFound, Overloaded
from crystalmath.services.events import Delivery, EventHub, EventLimits, Feed, Happening


def job(number: int, state: Any = 0, weight_bytes: int = 10) -> Happening:
    content = {"kind": "job", "id": number, "state": state}
    return Happening(("jobs", f"job:{number}"), ("job", number), weight_bytes, lambda: content)


def line(number: int, why: Any = 0) -> Happening:
    content = {"kind": "event", "why": why}
    return Happening((f"job:{number}",), None, 10, lambda: content)


def told(hub: EventHub, feed: Feed) -> list[dict[str, Any]]:
    """Take everything, flat, in order."""
    found: list[dict[str, Any]] = []
    for delivery in hub.take(feed):
        found += flat(delivery)
    return found


def flat(delivery: Delivery) -> list[dict[str, Any]]:
    rest = [{"topic": topic, **event.content()} for topic, event in delivery.events]
    return [{"kind": "resync"}, *rest] if delivery.resync else rest


def subscribed(hub: EventHub, *topics: str, connection: int = 1, **more: Any) -> Feed:
    feed = hub.open(connection)
    hub.subscribe(connection, topics, **more)
    hub.release(feed)
    return feed


def test_each_is_told_its_topics_once_under_the_first_that_fits() -> None:
    hub = EventHub("i")
    every = subscribed(hub, "jobs", "job:1", connection=1)
    one = subscribed(hub, "job:1", connection=2)
    other = subscribed(hub, "clusters", connection=3)
    hub.publish([line(1), job(1), job(2)])
    assert [(e["topic"], e["kind"]) for e in told(hub, every)] == [
        ("job:1", "event"), ("jobs", "job"), ("jobs", "job"),
    ]  # fmt: skip
    assert [(e["topic"], e["kind"]) for e in told(hub, one)] == [
        ("job:1", "event"), ("job:1", "job"),
    ]  # fmt: skip
    assert told(hub, other) == []
    assert told(hub, every) == []


def test_of_the_same_job_the_last_state_is_told_where_its_commit_puts_it() -> None:
    hub = EventHub("i")
    feed = subscribed(hub, "jobs")
    hub.publish([job(1, "old"), job(2, "x"), job(1, "new")])
    assert [(e["id"], e["state"]) for e in told(hub, feed)] == [(2, "x"), (1, "new")]


def test_lines_of_a_history_are_all_told() -> None:
    hub = EventHub("i")
    feed = subscribed(hub, "job:1")
    hub.publish([line(1, n) for n in range(5)])
    assert [e["why"] for e in told(hub, feed)] == [0, 1, 2, 3, 4]


def test_nothing_is_told_before_the_reply_is_sent() -> None:
    news = threading.Event()
    hub = EventHub("i", on_news=news.set)
    feed = hub.open(1)
    hub.subscribe(1, ["jobs"])
    hub.publish([job(1)])
    assert feed.held
    assert not news.is_set()
    assert hub.take(feed) == []
    hub.release(feed)
    assert news.is_set()
    assert hub.feeds_with_news() == [feed]
    assert [e["id"] for e in told(hub, feed)] == [1]


def test_who_comes_back_in_time_misses_nothing() -> None:
    hub = EventHub("i", EventLimits(ring=10))
    feed = subscribed(hub, "jobs")
    hub.publish([job(n) for n in range(1, 6)])
    (delivery,) = hub.take(feed)
    hub.close(1)
    hub.publish([job(n) for n in range(6, 12)])
    again = hub.open(2)
    _, seq = hub.subscribe(2, ["jobs"], since=delivery.seq, instance="i")
    hub.release(again)
    assert seq == delivery.seq == 5
    assert [e["id"] for e in told(hub, again)] == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize(
    ("since", "instance", "resync"),
    [
        (20, "i", False), (20, None, False), (10, "i", False), (9, "i", True), (0, None, True),
        (21, "i", True), (20, "another", True),
    ],
)  # fmt: skip
def test_too_late_or_of_another_instance_is_resync(
    since: int, instance: str | None, resync: bool
) -> None:
    hub = EventHub("i", EventLimits(ring=10))
    hub.publish([job(n) for n in range(20)])
    feed = subscribed(hub, "jobs", since=since, instance=instance)
    found = told(hub, feed)
    assert ({"kind": "resync"} in found) is resync
    assert len(found) == (1 if resync else 20 - since)


def test_since_of_a_fresh_hub() -> None:
    hub = EventHub("i")
    feed = subscribed(hub, "jobs", since=0, instance="i")
    assert told(hub, feed) == []


@pytest.mark.parametrize(
    "limits", [EventLimits(waiting=3), EventLimits(waiting_bytes=30)], ids=["count", "bytes"]
)
def test_too_much_is_resync_and_the_newest(limits: EventLimits) -> None:
    hub = EventHub("i", limits)
    feed = subscribed(hub, "jobs")
    hub.publish([job(n) for n in range(3)])
    hub.publish([job(0, "again")])
    assert [e["id"] for e in told(hub, feed)] == [1, 2, 0]
    hub.publish([job(n) for n in range(4)])
    assert told(hub, feed) == [
        {"kind": "resync"}, {"topic": "jobs", "kind": "job", "id": 3, "state": 0},
    ]  # fmt: skip
    assert (feed.count, feed.weight_bytes) == (0, 0)


def test_subscriptions_are_limited_and_end_with_the_connection() -> None:
    hub = EventHub("i", EventLimits(subscriptions=2))
    feed = hub.open(1)
    first, _ = hub.subscribe(1, ["jobs"])
    hub.subscribe(1, ["jobs"])
    with pytest.raises(Overloaded):
        hub.subscribe(1, ["jobs"])
    with pytest.raises(NotFound):
        hub.unsubscribe(2, first)
    hub.release(feed)
    hub.publish([job(1)])
    hub.unsubscribe(1, first)
    with pytest.raises(NotFound):
        hub.unsubscribe(1, first)
    assert len(hub.take(feed)) == 1
    hub.subscribe(1, ["log:7", "log:12"])
    assert hub.watched("log:") == {7, 12}
    hub.close(1)
    assert hub.watched("log:") == set()
    with pytest.raises(Cancelled):
        hub.subscribe(1, ["jobs"])
    hub.publish([job(1)])
    assert hub.feeds_with_news() == []


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("job"), st.integers(1, 12)),
        st.tuples(st.just("line"), st.integers(1, 3)),
        st.tuples(st.just("take"), st.integers(1, 2)),
        st.tuples(st.just("return"), st.integers(1, 2)),
    ),
    max_size=120,
)


@given(STEPS, st.integers(3, 8), st.integers(3, 12))
def test_whoever_heeds_resync_ends_with_the_last_state_of_every_job(
    steps: list[tuple[str, int]], waiting: int, ring: int
) -> None:
    """Two clients that take now and then, and go away and come back with ``since``."""
    hub = EventHub("i", EventLimits(ring=ring, waiting=waiting))
    truth: dict[int, int] = {}
    feeds = {n: subscribed(hub, "jobs", connection=n) for n in (1, 2)}
    known: dict[int, dict[int, int]] = {1: {}, 2: {}}
    seqs = {1: 0, 2: 0}
    connection = 2

    def take(client: int) -> None:
        for delivery in hub.take(feeds[client]):
            assert delivery.seq >= seqs[client]
            seqs[client] = delivery.seq
            numbers = [event.seq for _, event in delivery.events]
            assert numbers == sorted(set(numbers))
            assert len(numbers) <= waiting
            if delivery.resync:
                known[client] = dict(truth)  # reads the list again
            for _, event in delivery.events:
                content = event.content()
                known[client][content["id"]] = content["state"]

    for number, (what, which) in enumerate(steps):
        if what == "job":
            truth[which] = number
            hub.publish([job(which, number)])
        elif what == "line":
            hub.publish([line(which)])
        elif what == "take":
            take(which)
        else:
            hub.close(feeds[which].connection)
            connection += 1
            feeds[which] = subscribed(
                hub, "jobs", connection=connection, since=seqs[which], instance="i"
            )
    for client in (1, 2):
        take(client)
        assert known[client] == truth
        assert (feeds[client].count, feeds[client].weight_bytes) == (0, 0)
