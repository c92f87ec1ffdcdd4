"""Several calls at once: C3, C5, C7, C8, and the lanes with a sleeping method."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support.daemon import Daemon, RawSocket, RpcFailure, wait_until


@pytest.fixture
def watch(running: Daemon) -> Iterator[RawSocket]:
    """A second connection, to look at the daemon with."""
    with running.connect() as connection:
        yield connection


def lane(watch: RawSocket, name: str) -> dict[str, Any]:
    lanes = {row["name"]: row for row in watch.data("system.status")["lanes"]}
    found: dict[str, Any] = lanes[name]
    return found


def test_slow_method_and_ping_on_one_connection(raw: RawSocket) -> None:
    raw.send(raw.request("test.sleep", {"seconds": 1.0}, id="slow"))
    times = []
    for i in range(200):
        begin = time.monotonic()
        assert raw.ask(raw.request("system.ping", {}, id=i))["id"] == i
        times.append(time.monotonic() - begin)
    assert sorted(times)[100] < 0.05  # the aim is 5 ms
    assert raw.reply()["id"] == "slow"


def test_sleeping_lane_delays_no_other(running: Daemon, raw: RawSocket, watch: RawSocket) -> None:
    raw.send(*(raw.request("test.sleep", {"seconds": 30}, id=i) for i in range(20)))
    wait_until(lambda: lane(watch, "db")["running"] == 4, "the db lane is full")
    assert lane(watch, "db")["queued"] == 16
    assert watch.data("test.change", {"seconds": 0}) == {"done": True}  # the net lane
    status = watch.data("system.status")
    assert len(status["in_flight"]) == 20
    assert {row["method"] for row in status["in_flight"]} == {"test.sleep"}
    raw.close()
    wait_until(lambda: lane(watch, "db")["running"] == 0, "a vanished client frees the lane")
    assert lane(watch, "db")["threads"] == 4
    assert running.answers()


def test_cancel(raw: RawSocket) -> None:
    def cancel(call_id: Any) -> str:
        outcome: str = raw.data("$/cancel", {"id": call_id})["outcome"]
        return outcome

    assert cancel("nobody") == "unknown"
    # during: the reply of the call may come before or behind that of the cancel
    raw.send(raw.request("test.sleep", {"seconds": 30}, id="a"))
    raw.send(raw.request("$/cancel", {"id": "a"}, id="c"))
    replies = {reply["id"]: reply for reply in (raw.reply(), raw.reply())}
    assert replies["c"]["result"]["data"] == {"outcome": "cancelled"}
    assert replies["a"]["error"]["code"] == -32800
    # after
    assert cancel("a") == "finished"
    raw.data("test.sleep", {"seconds": 0})
    # before it starts
    raw.send(*(raw.request("test.sleep", {"seconds": 0.3}, id=i) for i in range(4)))
    raw.send(raw.request("test.sleep", {"seconds": 30}, id="queued"))
    raw.send({"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": "queued"}})
    first = raw.reply()
    assert (first["id"], first["error"]["code"]) == ("queued", -32800)
    assert sorted(raw.reply()["id"] for _ in range(4)) == [0, 1, 2, 3]
    assert raw.is_silent()  # one reply per id, no more


def test_cancelled_change_finishes(raw: RawSocket, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    raw.send(raw.request("test.change", {"seconds": 0.2, "mark": str(mark)}, id="x"))
    raw.send(raw.request("$/cancel", {"id": "x"}, id="c"))
    replies = {reply["id"]: reply for reply in (raw.reply(), raw.reply())}
    # it had begun (then it says that it is done), or it had not (then it did not happen)
    if "result" in replies["x"]:
        assert mark.exists()
    else:
        assert replies["x"]["error"]["code"] == -32800
        assert not mark.exists()


def test_vanished_client_of_a_change(running: Daemon, watch: RawSocket, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with running.connect() as gone:
        gone.send(gone.request("test.change", {"seconds": 0.2, "mark": str(mark)}))
        wait_until(lambda: lane(watch, "net")["running"], "it runs")
    wait_until(mark.exists, "the change is carried out")


def test_deadline(raw: RawSocket, watch: RawSocket) -> None:
    reply = raw.ask(raw.request("test.too_slow", {"seconds": 1}))
    assert reply["error"]["code"] == -32012
    assert reply["error"]["data"]["retryable"] is True
    assert raw.is_silent()
    raw.data("system.hello", {"deadline_s": 0.1})
    assert raw.outcome("test.sleep", {"seconds": 20}) == -32012
    wait_until(lambda: lane(watch, "db")["running"] == 0, "the workers are free")


def test_too_many_in_flight(running: Daemon) -> None:
    limit = running.hello()["limits"]["in_flight"]
    with running.connect() as raw:
        raw.send(*(raw.request("test.sleep", {"seconds": 20}, id=i) for i in range(limit + 1)))
        refused = raw.reply()
        assert (refused["id"], refused["error"]["code"]) == (limit, -32011)
        assert refused["error"]["data"]["retryable"] is True
        assert raw.is_silent()


def test_too_many_connections(running: Daemon) -> None:
    limit = running.hello()["limits"]["connections"]
    held: list[RawSocket] = []
    try:
        wait_until(lambda: running.call("system.status")["clients"] == 1, "no others are left")
        for _ in range(limit):
            held.append(running.connect())
            held[-1].data("system.ping")
        for talkative in (False, True):
            with running.connect() as late:
                if talkative:
                    late.send(late.request("system.ping", {}))
                refused = late.reply()
                assert (refused["id"], refused["error"]["code"]) == (None, -32011)
                assert refused["error"]["data"]["retryable"] is True
                assert late.line() == b""
        held.pop().close()
        wait_until(running.answers, "there is room again")
    finally:
        for connection in held:
            connection.close()


def test_out_of_descriptors(odd_daemon: Daemon) -> None:
    script = Path(odd_daemon.env["CRYSTALMATH_SERVER"])
    script.write_text(script.read_text("utf-8").replace("exec ", "ulimit -n 40; exec ", 1), "utf-8")
    odd_daemon.program = (str(script),)
    odd_daemon.start()
    pid = odd_daemon.pid()
    held = [odd_daemon.connect() for _ in range(60)]
    try:
        served = refused = 0
        for raw in held:
            with suppress(BrokenPipeError):  # refused and closed already; it can still be read
                raw.send(raw.request("system.ping", {}))
            reply = raw.reply()
            served += "result" in reply
            if "error" in reply:
                assert (reply["id"], reply["error"]["code"]) == (None, -32011)
                refused += 1
        assert served > 5
        assert refused > 5
        assert served + refused == 60
        before = cpu_seconds(pid)
        threading.Event().wait(0.5)
        assert cpu_seconds(pid) - before < 0.25  # no busy loop
    finally:
        for raw in held:
            raw.close()
    wait_until(odd_daemon.answers, "it recovers")
    assert odd_daemon.pid() == pid


def test_idle_daemon_is_idle(running: Daemon) -> None:
    pid = running.pid()
    before = cpu_seconds(pid)
    threading.Event().wait(2.0)
    assert (
        cpu_seconds(pid) - before <= 0.02
    )  # ten times the aim of 0.1 %, at the clock's resolution


def cpu_seconds(pid: int) -> float:
    """Processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_hundred_clients_that_retry(running: Daemon) -> None:
    failures: list[str] = []

    def work() -> None:
        deadline = time.monotonic() + 50  # the aim is 5 s
        while time.monotonic() < deadline:
            try:
                with running.connect() as raw:
                    raw.data("test.sleep", {"seconds": 0.01})
                    return
            except (AssertionError, RpcFailure, OSError) as error:
                if isinstance(error, RpcFailure) and error.code != -32011:
                    failures.append(repr(error))
                    return
                time.sleep(0.01)
        failures.append("not served")

    threads = [threading.Thread(target=work) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_worker_processes(running: Daemon, raw: RawSocket) -> None:
    text = "Cu\n1.0\n3.6 0 0\n0 3.6 0\n0 0 3.6\nCu\n1\nDirect\n0 0 0\n"
    kwargs = {"path": None, "text": text, "format": "poscar"}
    function = "crystalmath.structures.read:read_structure"
    structure = raw.data("test.work", {"function": function, "kwargs": kwargs})
    assert structure["symbols"] == ["Cu"]
    assert raw.outcome("test.work", {"function": "os:getpid"}) == -32603  # not on the list
    bad = {**kwargs, "text": "nonsense"}
    reply = raw.ask(raw.request("test.work", {"function": function, "kwargs": bad}))
    assert reply["error"]["code"] in {-32000, -32602}
    assert reply["error"]["data"]["hint"]
    assert running.answers()
