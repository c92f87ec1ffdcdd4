"""Lanes, deadlines, cancellation, the phases and the limits, over a socket pair."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from crystalmath.contract.rpc import Spec
from crystalmath.errors import DatabaseError
from crystalmath.server.lanes import Lane
from crystalmath.server.settings import WireLimits
from support.daemon import wait_until
from support.wire import Wire

READ = Spec(lane="db", read_only=True)
CHANGE = Spec(lane="db")
INLINE = Spec(lane="inline")


class Gate:
    """A handler that waits until it is let through; counts its runs."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun = 0
        self.done = 0

    def __call__(self, call: Any, /) -> str:
        self.begun += 1
        while not self.open.wait(0.002):
            call.check()
        self.done += 1
        return "through"


def request(method: str, call_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, "method": method}


def code(reply: Any) -> int | None:
    return reply["error"]["code"] if "error" in reply else None


@pytest.fixture
def gate() -> Gate:
    return Gate()


def ping(_call: Any, /) -> str:
    return "pong"


def test_a_slow_call_delays_no_quick_one(gate: Gate) -> None:
    with Wire({"wait": (gate, READ), "ping": (ping, INLINE)}) as wire:
        wire.send(request("wait", 1), request("ping", 2))
        assert wire.reply()["id"] == 2
        gate.open.set()
        assert wire.reply() == {"jsonrpc": "2.0", "id": 1, "result": "through"}


def test_full_lane_is_retryable(gate: Gate) -> None:
    with Wire({"wait": (gate, READ), "ping": ping}, db_workers=1, db_queue=2) as wire:
        wire.send(*(request("wait", i) for i in range(4)))
        refused = wire.reply()
        assert (refused["id"], code(refused)) == (3, -32011)
        assert refused["error"]["data"]["retryable"] is True
        gate.open.set()
        assert sorted(wire.reply()["id"] for _ in range(3)) == [0, 1, 2]


def test_too_many_in_flight(gate: Gate) -> None:
    with Wire({"wait": (gate, READ)}, limits=WireLimits(in_flight=3)) as wire:
        wire.send(*(request("wait", i) for i in range(4)))
        refused = wire.reply()
        assert (refused["id"], code(refused)) == (3, -32011)
        gate.open.set()
        assert sorted(wire.reply()["id"] for _ in range(3)) == [0, 1, 2]
        assert wire.ask(request("wait", 9))["result"] == "through"


def test_batch_counts_once(gate: Gate) -> None:
    with Wire({"wait": (gate, READ)}, limits=WireLimits(in_flight=1), db_workers=8) as wire:
        wire.send([request("wait", i) for i in range(20)])
        wait_until(lambda: gate.begun == 8, "eight at a time")
        assert code(wire.ask(request("wait", 99))) == -32011
        gate.open.set()
        assert [r["id"] for r in wire.reply()] == list(range(20))


def test_deadline_frees_the_client(gate: Gate) -> None:
    spec = Spec(lane="db", deadline_s=0.05)

    def stubborn(_call: Any, /) -> str:
        gate.open.wait(20)
        return "late"

    with Wire({"wait": (stubborn, spec), "ping": ping}) as wire:
        reply = wire.ask(request("wait", 1))
        assert code(reply) == -32012
        assert reply["error"]["data"]["retryable"] is True
        gate.open.set()
        assert wire.ask(request("ping", 2))["id"] == 2  # the late result went nowhere


def test_deadline_of_the_connection_caps(gate: Gate) -> None:
    with Wire({"wait": (gate, READ)}) as wire:
        wire.connection.deadline_cap_s = 0.05
        assert code(wire.ask(request("wait", 1))) == -32012


def test_deadline_closes_what_the_call_waits_for() -> None:
    closed = threading.Event()

    def wait(call: Any, /) -> str:
        call.on_cancel(closed.set)
        closed.wait(20)
        call.check()
        return "never"

    with Wire({"wait": (wait, Spec(lane="net", deadline_s=0.05))}) as wire:
        assert code(wire.ask(request("wait", 1))) == -32012
        assert closed.is_set()
        wait_until(lambda: wire.router.lane_counts()[1].running == 0, "the worker is freed")


def test_cancel_reading(gate: Gate) -> None:
    with Wire({"wait": (gate, READ)}) as wire:
        wire.send(request("wait", "a"))
        wait_until(lambda: gate.begun, "it runs")
        assert wire.router.cancel(wire.connection, "a") == "cancelled"
        assert code(wire.reply()) == -32800
        assert wire.router.cancel(wire.connection, "a") == "finished"
        assert wire.router.cancel(wire.connection, "b") == "unknown"


def test_cancel_before_it_starts(gate: Gate) -> None:
    with Wire({"wait": (gate, CHANGE)}, db_workers=1) as wire:
        wire.send(request("wait", 1), request("wait", 2))
        wait_until(lambda: gate.begun and wire.router.lane_counts()[0].queued == 1, "one waits")
        assert wire.router.cancel(wire.connection, 2) == "cancelled"
        reply = wire.reply()
        assert (reply["id"], code(reply)) == (2, -32800)
        gate.open.set()
        assert wire.reply()["result"] == "through"
        assert (gate.begun, gate.done) == (1, 1)


def test_cancelled_change_that_finishes_says_so() -> None:
    gate = threading.Event()

    def change(_call: Any, /) -> str:
        gate.wait(20)
        return "changed"

    with Wire({"change": (change, CHANGE)}) as wire:
        wire.send(request("change", 1))
        wait_until(lambda: wire.router.lane_counts()[0].running, "it runs")
        wire.router.cancel(wire.connection, 1)
        gate.set()
        assert wire.reply()["result"] == "changed"


def test_vanished_client(gate: Gate) -> None:
    change = Gate()
    wire = Wire({"read": (gate, READ), "change": (change, CHANGE)})
    wire.send(request("read", 1), request("change", 2))
    wait_until(lambda: gate.begun and change.begun, "both run")
    wire.close()
    wait_until(lambda: len(wire.router.active_calls()) == 1, "the reading one is given up")
    assert gate.done == 0
    change.open.set()
    wait_until(lambda: change.done, "the change finishes")
    wait_until(lambda: not wire.router.active_calls(), "nothing is left")


def test_duplicate_id_in_flight(gate: Gate) -> None:
    with Wire({"wait": (gate, READ), "ping": ping}) as wire:
        wire.send(request("wait", 5), request("ping", 5), request("ping", 5.0))
        for _ in range(2):
            refused = wire.reply()
            assert (refused["id"], code(refused)) == (None, -32600)
        gate.open.set()
        assert wire.reply() == {"jsonrpc": "2.0", "id": 5, "result": "through"}
        assert wire.ask(request("ping", 5))["result"] == "pong"


class TestPhases:
    def test_calls_wait_for_ready(self) -> None:
        early = {"hello": (ping, Spec(lane="inline", before_ready=True))}
        with Wire({**early, "ping": ping, "read": (ping, READ)}, ready=False) as wire:
            wire.router.set_early({"hello": wire.entries["hello"]})
            wire.send(request("read", 1), request("ping", 2), request("nope", 3))
            assert wire.ask(request("hello", 4))["id"] == 4
            wire.router.open(wire.entries)
            replies = {r["id"]: r for r in (wire.reply() for _ in range(3))}
            assert replies[1]["result"] == replies[2]["result"] == "pong"
            assert code(replies[3]) == -32601

    def test_failed_start_is_told_as_it_is(self) -> None:
        with Wire({}, ready=False) as wire:
            wire.send(request("jobs.list", 1))
            wait_until(wire.router.active_calls, "it waits")
            wire.router.fail(DatabaseError("The database is a stone.", hint="Get another."))
            for reply in (wire.reply(), wire.ask(request("jobs.list", 2))):
                assert code(reply) == -32001
                assert reply["error"]["message"] == "The database is a stone."

    def test_deadline_while_starting(self) -> None:
        with Wire({}, ready=False) as wire:
            wire.connection.deadline_cap_s = 0.05
            assert code(wire.ask(request("jobs.list", 1))) == -32012

    def test_stopping(self, gate: Gate) -> None:
        hello = (ping, Spec(lane="inline", before_ready=True))
        table = {"wait": (gate, READ), "ping": ping, "system.hello": hello}
        with Wire(table) as wire:
            wire.send(request("wait", 1))
            wait_until(lambda: gate.begun, "it runs")
            wire.router.stop()
            refused = wire.ask(request("ping", 2))
            assert code(refused) == -32010
            assert refused["error"]["data"]["retryable"] is True
            assert wire.ask(request("system.hello", 3))["result"] == "pong"
            gate.open.set()
            assert wire.reply()["result"] == "through"
            assert not wire.router.active_calls()


class TestLimits:
    def test_oversize_line(self) -> None:
        with Wire({"ping": ping}, limits=WireLimits(request_bytes=1000)) as wire:
            for length, expected in ((999, None), (1000, None), (1001, -32013)):
                message = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
                reply = wire.ask(message + b" " * (length - len(message)))
                assert code(reply) == expected
            assert wire.ask(request("ping", 2))["id"] == 2

    def test_third_oversize_line_closes(self) -> None:
        with Wire({"ping": ping}, limits=WireLimits(request_bytes=1000)) as wire:
            for _ in range(3):
                assert code(wire.ask(b"x" * 2000)) == -32013
            assert wire.is_closed()

    def test_endless_line_closes(self) -> None:
        limits = WireLimits(request_bytes=1000, discarded_bytes=10_000)
        with Wire({"ping": ping}, limits=limits) as wire:
            wire.sock.sendall(b"x" * 11_000)
            assert code(wire.reply()) == -32013
            assert wire.is_closed()

    def test_unfinished_line_closes(self) -> None:
        with Wire({"ping": ping}, limits=WireLimits(unfinished_line_s=0.05)) as wire:
            wire.sock.sendall(b'{"jsonrpc"')
            assert wire.is_closed()

    def test_idle_connection_stays(self) -> None:
        with Wire({"ping": ping}, limits=WireLimits(unfinished_line_s=0.02)) as wire:
            passed = threading.Event()
            passed.wait(0.2)
            assert wire.ask(request("ping", 1))["id"] == 1

    def test_response_too_large(self) -> None:
        limits = WireLimits(response_bytes=2000)
        with Wire({"big": lambda _call, /: "x" * 3000, "ping": ping}, limits=limits) as wire:
            reply = wire.ask(request("big", 1))
            assert (reply["id"], code(reply)) == (1, -32013)

    def test_batch_replies_too_large(self) -> None:
        limits = WireLimits(batch_response_bytes=4000)
        table = {"big": lambda _call, /: "x" * 1500, "ping": ping}
        with Wire(table, limits=limits) as wire:
            methods = ["big", "ping", "big", "big", "ping"]
            replies = wire.ask([request(m, i) for i, m in enumerate(methods)])
            assert [r["id"] for r in replies] == list(range(5))
            assert [code(r) for r in replies] == [None, None, None, -32013, None]

    def test_peer_that_never_reads_is_dropped(self) -> None:
        limits = WireLimits(unwritable_s=0.2)
        with Wire({"big": lambda _call, /: "x" * 4_000_000}, limits=limits) as wire:
            wire.send(request("big", 1))
            wait_until(lambda: wire.closed, "the connection is given up")

    def test_reading_stops_while_too_much_is_unsent(self) -> None:
        seen: list[int] = []

        def big(_call: Any, /) -> str:
            seen.append(1)
            return "x" * 1_000_000

        with Wire({"big": big}, limits=WireLimits(outbox_bytes=2_000_000)) as wire:
            for i in range(30):
                wire.send(request("big", i))
            replies = [wire.reply() for _ in range(3)]
            assert [r["id"] for r in replies] == [0, 1, 2]
            assert len(seen) < 30
            assert [wire.reply()["id"] for _ in range(27)] == list(range(3, 30))


def test_half_close_gets_its_replies(gate: Gate) -> None:
    import socket

    with Wire({"wait": (gate, READ)}) as wire:
        wire.send(request("wait", 1))
        wire.sock.shutdown(socket.SHUT_WR)
        gate.open.set()
        assert wire.reply()["result"] == "through"
        assert wire.line() == b""
        wait_until(lambda: wire.closed, "the connection ends")


def test_lane_survives_what_tasks_raise() -> None:
    lane = Lane("x", workers=1, queue=10)
    ran: list[int] = []

    def bad() -> None:
        raise SystemExit(3)

    tasks: list[Callable[[], None]] = [bad, bad, lambda: ran.append(1)]
    for task in tasks:
        assert lane.submit(task)
    wait_until(lambda: ran, "the third task ran")
    wait_until(lambda: lane.counts().running == 0, "the lane is idle")
    assert lane.counts().threads == 1
