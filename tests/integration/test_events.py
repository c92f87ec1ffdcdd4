"""Events over the real socket of a real daemon: order, limits, coming back, slow readers (C4)."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from crystalmath.client import Client
from crystalmath.contract.events import EventsNotify
from support.daemon import (
    PATIENCE_S,
    Daemon,
    RawSocket,
    RpcFailure,
    resident_kib,
    wait_until,
)

NOTIFY: TypeAdapter[EventsNotify] = TypeAdapter(EventsNotify)


class Subscriber(RawSocket):
    """A connection that keeps notifications apart from replies."""

    def __init__(self, daemon: Daemon) -> None:
        super().__init__(daemon.socket)
        self.notifications: list[dict[str, Any]] = []

    def reply(self) -> Any:
        """The next reply; notifications on the way are kept."""
        while True:
            message = super().reply()
            if isinstance(message, list) or message.get("method") != "events.notify":
                return message
            self.notifications.append(message["params"])

    def subscribe(self, *topics: str, **more: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.data("events.subscribe", {"topics": list(topics), **more})
        return answer

    def next(self) -> dict[str, Any]:
        """The params of the next notification."""
        if self.notifications:
            return self.notifications.pop(0)
        message = super().reply()
        assert message["method"] == "events.notify", message
        assert "id" not in message
        params: dict[str, Any] = message["params"]
        return params

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Every event up to the first that is wanted."""
        found: list[dict[str, Any]] = []
        while not any(wanted(event) for event in found):
            found += self.next()["events"]
        return found


def publish(daemon: Daemon, count: int, jobs: int) -> None:
    daemon.call("test.publish", {"count": count, "jobs": jobs})


def last_of(count: int) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["kind"] == "job" and event["job"]["n"] == count - 1


def test_hello_says_that_there_are_events(running: Daemon) -> None:
    assert "events" in running.hello()["capabilities"]


def test_a_subscriber_is_told_after_its_reply_and_in_order(running: Daemon) -> None:
    """While events pour in, each subscription's reply comes before what it is told."""
    stop = threading.Event()

    def pour() -> None:
        while not stop.is_set():
            publish(running, 50, 50)

    pouring = threading.Thread(target=pour)
    pouring.start()
    try:
        for batch in (False, True) * 5:
            with Subscriber(running) as one:
                request = one.request("events.subscribe", {"topics": ["jobs"]})
                slow = one.request("test.sleep", {"seconds": 0.05})
                one.send([request, slow] if batch else request)
                first = one.reply()
                assert one.notifications == []
                first = first[0] if batch else first
                number = first["result"]["data"]["subscription"]
                seq = first["result"]["data"]["seq"]
                for _ in range(3):
                    told = one.next()
                    assert told["subscription"] == number
                    assert told["seq"] > seq
                    seq = told["seq"]
    finally:
        stop.set()
        pouring.join()


def test_replies_of_other_calls_let_nothing_out_too_early(running: Daemon) -> None:
    with Subscriber(running) as one:
        for _ in range(100):
            change = one.request("test.publish", {"count": 1, "jobs": 1})
            subscribe = one.request("events.subscribe", {"topics": ["jobs"]})
            one.send(change, subscribe)
            replies = {}
            while len(replies) < 2:
                before = list(one.notifications)
                reply = one.reply()
                replies[reply["id"]] = reply
                if reply["id"] == subscribe["id"]:
                    number = reply["result"]["data"]["subscription"]
                    assert all(n["subscription"] != number for n in before)
            one.data("events.unsubscribe", {"subscription": number})
            one.notifications.clear()


def test_nothing_follows_the_reply_to_unsubscribe(running: Daemon) -> None:
    with Subscriber(running) as one:
        number = one.subscribe("jobs")["subscription"]
        pouring = threading.Thread(target=publish, args=(running, 2000, 100))
        pouring.start()
        one.next()
        one.data("events.unsubscribe", {"subscription": number})
        one.notifications.clear()
        pouring.join()
        assert one.data("system.ping")["pong"] is True
        assert one.notifications == []
        with pytest.raises(RpcFailure) as failure:
            one.data("events.unsubscribe", {"subscription": number})
        assert failure.value.data["kind"] == "not_found"


def test_limits_and_bad_topics(running: Daemon) -> None:
    most = running.hello()["limits"]["subscriptions"]
    with Subscriber(running) as one:
        numbers = [one.subscribe("jobs")["subscription"] for _ in range(most)]
        assert one.outcome("events.subscribe", {"topics": ["jobs"]}) == -32011
        one.data("events.unsubscribe", {"subscription": numbers[0]})
        one.subscribe("clusters", "engines", "workflows", "job:1", "log:1")
        for topics in ([], ["job"], ["job:0"], ["job:x"], ["jobs:1"], ["log:1\n"], "jobs", [1]):
            assert one.outcome("events.subscribe", {"topics": topics}) == -32602


def test_coming_back_with_since(running: Daemon) -> None:
    with Subscriber(running) as one:
        first = one.subscribe("jobs")
        publish(running, 5, 5)
        seq = first["seq"]
        while seq < first["seq"] + 5:
            seq = one.next()["seq"]
    publish(running, 10, 10)
    with Subscriber(running) as one:
        again = one.subscribe("jobs", since=seq, instance=first["instance"])
        assert again["seq"] == seq
        told = one.next()
        assert [event["job"]["id"] for event in told["events"]] == list(range(1, 11))
    with Subscriber(running) as one:
        one.subscribe("jobs", since=seq, instance="another")
        assert one.next()["events"] == [{"kind": "resync"}]
    publish(running, 2000, 10)
    with Subscriber(running) as one:
        one.subscribe("jobs", since=seq, instance=first["instance"])
        assert one.next()["events"] == [{"kind": "resync"}]


def test_many_events_are_few_notifications(running: Daemon) -> None:
    with Subscriber(running) as one:
        one.subscribe("jobs")
        began = time.monotonic()
        publish(running, 20_000, 100)
        count = 1
        while not any(map(last_of(20_000), one.next()["events"])):
            count += 1
        took_s = time.monotonic() - began
        assert count <= 2 + took_s / 0.03


def blocked(daemon: Daemon) -> Subscriber:
    """A subscriber that does not read, and has little room in the kernel."""
    one = Subscriber(daemon)
    one.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.subscribe("jobs")
    return one


@pytest.mark.parametrize("jobs", [100, 5000], ids=["coalesced", "overflowing"])
def test_who_never_reads_costs_little_and_delays_nobody(running: Daemon, jobs: int) -> None:
    count = 30_000
    pid = running.pid()
    publish(running, 2000, 1000)  # fill the ring first
    before = resident_kib(pid)
    with blocked(running) as slow, Subscriber(running) as quick:
        quick.subscribe("jobs")
        pouring = threading.Thread(target=publish, args=(running, count, jobs))
        pouring.start()
        quick.until(last_of(count))
        pouring.join()
        assert running.call("system.ping")["pong"] is True
        assert resident_kib(pid) - before <= 16 * 1024
        told = slow.until(last_of(count))
    newest = {event["job"]["id"]: event["job"]["n"] for event in told if event["kind"] == "job"}
    if jobs == 100:
        assert newest == {1 + n % jobs: n for n in range(count - jobs, count)}
    else:
        assert {"kind": "resync"} in told
        after = told[max(i for i, e in enumerate(told) if e["kind"] == "resync") + 1 :]
        assert after[-1]["job"]["n"] == count - 1


def test_who_does_not_read_for_too_long_is_closed_and_may_come_back(
    make_daemon: Callable[..., Daemon],
) -> None:
    daemon = make_daemon(env={"CRYSTALMATH_DAEMON_UNWRITABLE_S": "0.3"})
    daemon.start()
    with blocked(daemon) as slow:
        publish(daemon, 5000, 1000)
        wait_until(lambda: daemon.call("system.status")["clients"] == 1, "it is closed")
        assert slow.is_closed()
    with Subscriber(daemon) as again:
        again.subscribe("jobs", since=0, instance=daemon.hello()["instance"])
        assert again.next()["events"][0] == {"kind": "resync"}


def test_subscribers_that_leave_are_forgotten(running: Daemon) -> None:
    for _ in range(50):
        with Subscriber(running) as one:
            one.subscribe("jobs")
            publish(running, 10, 10)
    wait_until(lambda: running.call("system.status")["clients"] == 1, "all are gone")
    publish(running, 10, 10)


def test_a_real_job_is_told_from_its_submission_to_its_end(daemon: Daemon) -> None:
    script = Path(daemon.root) / "run.sh"
    script.write_text("#!/bin/sh\nfor i in 1 2 3 4 5 6; do echo line $i; sleep 0.3; done\n")
    daemon.start()
    with Subscriber(daemon) as one:
        one.subscribe("jobs")
        job = {
            "name": "a job", "code": "command", "inputs": {"argv": ["./run.sh"]},
            "files": [{"path": "run.sh", "source": str(script), "executable": True}],
        }  # fmt: skip
        number = one.data("jobs.submit", job)["job"]["id"]
        one.subscribe(f"job:{number}", f"log:{number}")
        events: list[dict[str, Any]] = []
        while not any(e["kind"] == "job" and e["job"]["state"] == "COMPLETED" for e in events):
            params = one.next()
            NOTIFY.validate_python(params)
            events += params["events"]
        sizes = [e["size"] for e in events if e["kind"] == "log" and e["stream"] == "stdout"]
        assert len(sizes) >= 2
        assert sizes == sorted(sizes)
        assert one.data("jobs.delete", {"ids": [number]})[0]["ok"] is True
        one.until(lambda e: e == {"topic": "jobs", "kind": "job_removed", "id": number})


def test_the_python_client_iterates_and_outlives_the_daemon(
    make_daemon: Callable[..., Daemon],
) -> None:
    daemon = make_daemon()
    daemon.start()
    with Client(daemon.socket, env=daemon.env) as client:
        with client.events("jobs", timeout_s=PATIENCE_S) as events:
            publish(daemon, 1, 1)
            assert next(events)["job"]["id"] == 1
            os.kill(daemon.pid(), signal.SIGKILL)
            wait_until(lambda: not daemon.answers(), "it is dead")
            daemon.start()
            assert next(events) == {"kind": "resync"}
            publish(daemon, 2, 2)
            assert [next(events)["job"]["id"] for _ in range(2)] == [1, 2]
        with client.events("jobs", timeout_s=0.01) as events, pytest.raises(TimeoutError):
            next(events)
