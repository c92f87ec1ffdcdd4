"""When a notification goes out: after the reply, and only to a peer that reads."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any

from crystalmath.contract.rpc import Spec
from crystalmath.server.notifier import notification
from crystalmath.server.settings import WireLimits
from crystalmath.services.events import Delivery, Feed, Happening, Subscription
from support.daemon import wait_until
from support.wire import Wire


def job(number: int, text: str = "") -> Happening:
    content = {"kind": "job", "job": {"id": number, "text": text}}
    return Happening(("jobs",), ("job", number), 100 + len(text), lambda: content)


class Subscribe:
    """Subscribes and publishes at once; its reply waits until it is let through."""

    def __init__(self, *, waits: bool) -> None:
        self.wire: Wire | None = None
        self.subscribed = threading.Event()
        self.reply = threading.Event()
        self.other = threading.Event()
        if not waits:
            self.reply.set()

    def __call__(self, call: Any, /, **_params: Any) -> str:
        assert self.wire is not None
        hub = self.wire.notifier.hub
        hub.subscribe(call.connection.id, ["jobs"])
        hub.publish([job(1)])
        self.subscribed.set()
        assert self.reply.wait(20)
        return "subscribed"


def wired(subscribe: Subscribe, **more: Any) -> Wire:
    def other(_call: Any, /) -> str:
        assert subscribe.other.wait(20)
        return "other"

    wire = Wire(
        {"events.subscribe": subscribe, "other": (other, Spec(lane="db")), "ping": ping}, **more
    )
    subscribe.wire = wire
    return wire


def ping(_call: Any, /) -> str:
    return "pong"


def request(method: str, call_id: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, "method": method}


def test_a_reply_of_another_call_lets_nothing_out() -> None:
    subscribe = Subscribe(waits=True)
    with wired(subscribe) as wire:
        wire.send(request("other", 1), request("events.subscribe", 2))
        assert subscribe.subscribed.wait(20)
        subscribe.other.set()
        assert wire.reply()["result"] == "other"
        lane = next(c for c in wire.router.lane_counts() if c.name == "db").name

        def idle() -> bool:
            return all(c.running == 0 for c in wire.router.lane_counts() if c.name == lane)

        wait_until(idle, "the other call is over and done with")
        assert wire.connection._feed.held
        subscribe.reply.set()
        assert wire.reply()["result"] == "subscribed"
        assert wire.reply()["method"] == "events.notify"


def test_a_batch_is_answered_before_anything_is_told() -> None:
    subscribe = Subscribe(waits=False)
    with wired(subscribe) as wire:
        wire.send([request("events.subscribe", 1), request("other", 2)], request("ping", 3))
        assert wire.reply()["result"] == "pong"
        # Whatever follows a reply is done when the next one is there.
        assert wire.ask(request("ping", 4))["result"] == "pong"
        assert wire.connection._feed.held
        subscribe.other.set()
        assert [reply["id"] for reply in wire.reply()] == [1, 2]
        assert wire.reply()["method"] == "events.notify"


def test_a_subscription_without_id_is_told_at_once() -> None:
    subscribe = Subscribe(waits=False)
    with wired(subscribe) as wire:
        wire.send({"jsonrpc": "2.0", "method": "events.subscribe"})
        assert wire.reply()["params"]["events"][0]["job"]["id"] == 1


def test_a_subscription_that_waits_for_the_start() -> None:
    subscribe = Subscribe(waits=False)
    with wired(subscribe, ready=False) as wire:
        wire.send(request("events.subscribe", 1))
        wait_until(wire.router.active_calls, "it waits")
        wire.router.open(wire.entries)
        assert wire.reply()["result"] == "subscribed"
        assert wire.reply()["method"] == "events.notify"


def test_nothing_more_is_sent_to_a_peer_that_does_not_read() -> None:
    subscribe = Subscribe(waits=False)
    with wired(subscribe, limits=WireLimits(waiting_events=10)) as wire:
        wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.ask(request("events.subscribe", 1))
        connection, hub = wire.connection, wire.notifier.hub

        def blocked() -> bool:
            hub.publish([job(1, "x" * 200_000)])
            return not connection._outbox.is_empty

        wait_until(blocked, "the kernel takes no more")
        unsent_bytes = connection._outbox._bytes
        for number in range(25):
            hub.publish([job(number)])
            wire.notifier._tell(connection._feed)
        assert connection._outbox._bytes <= unsent_bytes
        assert hub.feeds_with_news() == [connection._feed]
        told: list[dict[str, Any]] = []
        while not any(event.get("job", {}).get("id") == 24 for event in told):
            told += wire.reply()["params"]["events"]
        assert {"kind": "resync"} in told


def test_what_has_no_form_in_json_is_read_again() -> None:
    subscription = Subscription(3, Feed(1), ("jobs",))
    odd = Happening(("jobs",), None, 1, lambda: {"kind": "job", "job": object()})
    line = notification(Delivery(subscription, 9, False, [("jobs", job(1)), ("jobs", odd)]))
    assert line.endswith(b"\n")
    params = json.loads(line)["params"]
    assert (params["subscription"], params["seq"]) == (3, 9)
    assert params["events"][0] == {
        "topic": "jobs", "kind": "job", "job": {"id": 1, "text": ""},
    }  # fmt: skip
    assert params["events"][1] == {"kind": "resync"}
