"""The protocol over the real socket of a real daemon: P3 to P20."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from typing import Any

import pytest

from support.daemon import Daemon, RawSocket, descriptors, resident_kib, wait_until

PING = b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":{}}\n'


def code(reply: Any) -> int | None:
    return reply["error"]["code"] if "error" in reply else None


def outcome(reply: Any) -> tuple[int | None, Any]:
    return code(reply), reply["id"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"jsonrpc":"2.0","method":1,"id":7}', (-32600, 7)),
        (b'{"method":"system.ping","id":7}', (-32600, 7)),
        (b'{"jsonrpc":"1.0","method":"system.ping","id":7}', (-32600, 7)),
        (b'{"jsonrpc":"2.0","method":"system.ping","id":[]}', (-32600, None)),
        (b'{"jsonrpc":"2.0","method":"system.ping","id":{}}', (-32600, None)),
        (b'{"jsonrpc":"2.0","method":"system.ping","id":true}', (-32600, None)),
        (b"42", (-32600, None)),
        (b'"x"', (-32600, None)),
        (b"true", (-32600, None)),
        (b"null", (-32600, None)),
        (b"[]", (-32600, None)),
        (b'{"jsonrpc":"2.0","id":1', (-32700, None)),
        (b"\xff\xfe", (-32700, None)),
        (b"\xef\xbb\xbf" + PING.strip(), (-32700, None)),
        (PING.strip()[:-1] + b"\x00}", (-32700, None)),
        (b'{"jsonrpc":"2.0","id":"\xed\xa0\x80","method":"system.ping"}', (-32700, None)),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"system.ping"}', (-32700, None)),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"system.ping"}', (-32700, None)),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"system.ping"}', (-32700, None)),
        (b'{"jsonrpc":"2.0","id":' + b"7" * 5000 + b',"method":"system.ping"}', (-32700, None)),
        (b"[" * 100_000, (-32700, None)),
        (b"[" * 65 + b"]" * 65, (-32700, None)),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"system.ping"}', (None, 2)),
        (b'{"jsonrpc":"2.0","id":1,"method":"rpc.x"}', (-32601, 1)),
        (b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":[1]}', (-32602, 1)),
        (b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":[]}', (-32602, 1)),
        (b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":5}', (-32602, 1)),
        (b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":null}', (-32602, 1)),
        (b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":{"x":1}}', (-32602, 1)),
    ],
    ids=lambda v: repr(v)[:50],
)
def test_lines(raw: RawSocket, line: bytes, expected: tuple[int | None, Any]) -> None:
    assert outcome(raw.ask(line)) == expected
    assert outcome(raw.ask(PING)) == (None, 1)


@pytest.mark.parametrize(
    "text", ["1.5", '""', "null", "0", "-1", "9007199254740992", "9223372036854775807",
             '"\\u00e9\\ud83d\\ude00"'],
)  # fmt: skip
def test_ids(raw: RawSocket, text: str) -> None:
    reply = raw.ask(b'{"jsonrpc":"2.0","method":"system.ping","id":%b}' % text.encode())
    assert reply["id"] == json.loads(text)
    assert type(reply["id"]) is type(json.loads(text))
    assert reply["result"]["data"]["pong"] is True


@pytest.mark.parametrize(
    "message",
    [
        {"method": "system.ping"},
        {"method": "no.such"},
        {"method": "system.ping", "params": {"x": 1}},
        {"method": "system.ping", "params": 5},
        {"method": "test.type_error"},
        {"method": "test.system_exit"},
        {"method": "test.inline_exit"},
        {"method": "test.value", "params": {"what": "cycle"}},
    ],
    ids=repr,
)
def test_notifications(raw: RawSocket, message: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", **message}
    raw.send(message, [message, message])
    assert raw.is_silent()


def test_unknown_cancel_as_a_notification(raw: RawSocket) -> None:
    raw.send({"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": 5}})
    assert raw.is_silent()


def test_length_of_a_line(running: Daemon) -> None:
    limit = running.hello()["limits"]["request_bytes"]
    pid = running.pid()
    before = resident_kib(pid)
    with running.connect() as raw:
        for length, expected in (
            (limit - 1, (None, 1)), (limit, (None, 1)), (limit + 1, (-32013, None)),
        ):  # fmt: skip
            assert outcome(raw.ask(PING.strip() + b" " * (length - len(PING) + 1))) == expected
        assert outcome(raw.ask(PING)) == (None, 1)
        assert resident_kib(pid) - before <= 2 * limit / 1024


def test_bytes_come_as_they_like(raw: RawSocket) -> None:
    for byte in PING:
        raw.sock.sendall(bytes([byte]))
        time.sleep(0.001)  # what is tested: one byte at a time
    assert outcome(raw.reply()) == (None, 1)
    raw.sock.sendall(b"".join(PING.replace(b":1,", b":%d," % i) for i in range(1000)))
    assert [raw.reply()["id"] for _ in range(1000)] == list(range(1000))
    data = b"\r\n \n" + PING.replace(b"\n", b"\r\n") * 20
    rng = random.Random(7)
    while data:
        size = rng.randint(1, 90)
        raw.sock.sendall(data[:size])
        data = data[size:]
    assert [outcome(raw.reply()) for _ in range(20)] == [(None, 1)] * 20


def test_endless_line(running: Daemon) -> None:
    pid = running.pid()
    limits = running.hello()["limits"]
    before = resident_kib(pid)
    chunk = b"x" * (1 << 20)
    with running.connect() as flood, running.connect() as other:

        def send_for_ever() -> None:
            while True:
                flood.sock.sendall(chunk)
                assert outcome(other.ask(PING)) == (None, 1)

        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever()
        assert resident_kib(pid) - before <= 2 * limits["request_bytes"] / 1024
        assert flood.is_closed()


def test_clients_that_come_and_go(running: Daemon) -> None:
    pid = running.pid()
    wait_until(lambda: running.call("system.status")["clients"] == 1, "only this client")
    before = len(descriptors(pid))
    for i in range(1000):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(running.socket))
            if i % 2:
                client.sendall(PING)
    wait_until(lambda: len(descriptors(pid)) <= before, "the descriptors are closed")
    wait_until(running.answers, "it answers")  # a thousand closed connections may be in its way


def test_half_close(running: Daemon) -> None:
    for message in (
        PING,
        b'{"jsonrpc":"2.0","id":1,"method":"test.sleep","params":{"seconds":0.05}}\n',
    ):
        with running.connect() as raw:
            raw.sock.sendall(message)
            raw.sock.shutdown(socket.SHUT_WR)
            assert outcome(raw.reply()) == (None, 1)
            assert raw.line() == b""


def test_batches(raw: RawSocket) -> None:
    def batch(size: int) -> list[dict[str, Any]]:
        return [{"jsonrpc": "2.0", "id": i, "method": "system.ping"} for i in range(size)]

    assert [r["id"] for r in raw.ask(batch(100))] == list(range(100))
    assert outcome(raw.ask(batch(101))) == (-32600, None)
    mixed = [
        {"jsonrpc": "2.0", "id": 1, "method": "test.sleep", "params": {"seconds": 0.02}},
        7,
        {"jsonrpc": "2.0", "method": "system.ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "no.such"},
        {"jsonrpc": "2.0", "id": 3, "method": "system.ping"},
    ]
    assert [outcome(r) for r in raw.ask(mixed)] == [
        (None, 1), (-32600, None), (-32601, 2), (None, 3),
    ]  # fmt: skip
    raw.send([{"jsonrpc": "2.0", "method": "system.ping"}] * 5)
    assert raw.is_silent()


def test_replies_of_a_batch_beyond_the_cap(running: Daemon) -> None:
    cap = running.hello()["limits"]["batch_response_bytes"]
    size = cap // 2 - 10_000
    big = {"jsonrpc": "2.0", "method": "test.value", "params": {"what": "text", "size": size}}
    with running.connect() as raw:
        raw.send([{**big, "id": 1}, {**big, "id": 2}, {**big, "id": 3}, {**PING_OBJECT, "id": 4}])
        line = raw.line()
    assert len(line) <= cap
    assert [outcome(r) for r in json.loads(line)] == [(None, 1), (None, 2), (-32013, 3), (None, 4)]


PING_OBJECT = json.loads(PING)


def test_response_beyond_the_cap(running: Daemon) -> None:
    cap = running.hello()["limits"]["response_bytes"]
    with running.connect() as raw:
        params = {"what": "text", "size": cap}
        reply = raw.ask(raw.request("test.value", params, id=5))
        assert outcome(reply) == (-32013, 5)
        params["size"] = cap - 1000
        assert len(raw.data("test.value", params)) == cap - 1000


class TestBadParams:
    """Every method of ``rpc.discover`` with what does not fit it."""

    FORBIDDEN = ("Traceback", "pydantic", "http", "site-packages", "def ", "lambda", "0x", "(self")

    def check(self, raw: RawSocket, method: str, params: Any, codes: set[int]) -> dict[str, Any]:
        reply = raw.ask(raw.request(method, params))
        assert code(reply) in codes, (method, params, reply)
        text = json.dumps(reply)
        for word in (*self.FORBIDDEN, "planted-value"):
            assert word not in text, (method, params, text)
        error: dict[str, Any] = reply["error"]
        return error

    def test_every_method(self, daemon: Daemon) -> None:
        daemon.start()
        with daemon.connect() as raw:
            document = raw.call("rpc.discover")
            assert raw.ask(raw.request("no.such", {}))["error"]["code"] == -32601
            for method in document["methods"]:
                name = method["name"]
                if method["x-planned"]:
                    error = self.check(raw, name, {"any": "planted-value"}, {-32000})
                    assert error["data"]["kind"] == "not_implemented"
                    continue
                error = self.check(raw, name, {"no_such_field": "planted-value"}, {-32602})
                assert "no_such_field" in {f["field"] for f in error["data"]["fields"]}
                for param in method["params"]:
                    self.one_param(raw, method, param)
                if any(p["required"] for p in method["params"]):
                    error = self.check(raw, name, {}, {-32602})
                    required = {p["name"] for p in method["params"] if p["required"]}
                    assert required <= {f["field"] for f in error["data"]["fields"]}
                for params in ([1], 5, "x", True):
                    self.check(raw, name, params, {-32602})

    def one_param(self, raw: RawSocket, method: dict[str, Any], param: dict[str, Any]) -> None:
        """Give one param a value that no schema of ours allows: an array of arrays."""
        name = param["name"]
        wrong: Any = [["planted-value"]]
        error = self.check(raw, method["name"], {name: wrong}, {-32602})
        named = {f["field"].partition(".")[0] for f in error["data"]["fields"]}
        assert name in named, (method["name"], name, error)
        if param["schema"].get("type") == "object" or "$ref" in param["schema"]:
            error = self.check(raw, method["name"], {name: '{"a": 1}'}, {-32602})
            named = {f["field"].partition(".")[0] for f in error["data"]["fields"]}
            assert name in named

    def test_nested(self, raw: RawSocket) -> None:
        params = {"name": "", "inner": {"number": 0, "words": [1], "more": 2}}
        error = self.check(raw, "test.nested", params, {-32602})
        assert {f["field"] for f in error["data"]["fields"]} == {
            "name", "inner.number", "inner.words.0", "inner.more",
        }  # fmt: skip


@pytest.mark.parametrize("method", ["type_error", "system_exit", "os_error", "inline_exit"])
def test_raising_handlers(running: Daemon, method: str) -> None:
    with running.connect() as raw:
        for _ in range(8):  # more than the lane has workers
            reply = raw.ask(raw.request(f"test.{method}", {}))
            assert code(reply) == -32603
        text = json.dumps(reply)
        assert "planted" not in text
        assert "argument" not in text
        trace_id = reply["error"]["data"]["trace_id"]
        wait_until(
            lambda: any(
                line.get("trace_id") == trace_id and "traceback" in line
                for line in running.log_lines()
            ),
            "the traceback is in the log under the trace id",
        )
        assert raw.data("test.sleep", {"seconds": 0}) == {"done": True}


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("nan", {"a": None, "b": [None, 1.5]}),
        ("datetime", "2026-01-02T03:04:05Z"),
        ("path", "/a/b"),
        ("surrogate", "?"),
        ("numpy", {"f": 1.5, "i": 7, "nan": None}),
        ("bytes", -32603),
        ("cycle", -32603),
        ("set", -32603),
        ("naive", -32603),
    ],
)
def test_returned_values(raw: RawSocket, what: str, expected: Any) -> None:
    reply = raw.ask(raw.request("test.value", {"what": what}, id=f"id of {what}"))
    assert reply["id"] == f"id of {what}"
    if isinstance(expected, int):
        assert code(reply) == expected
    else:
        assert reply["result"] == {"status": "ok", "data": expected}


def test_returned_model_with_nan(raw: RawSocket) -> None:
    assert raw.data("test.nan_model") == {"value": None}


def test_many_rows(raw: RawSocket) -> None:
    assert raw.data("test.value", {"what": "rows", "size": 20_000})[-1] == {"i": 19_999}


def test_id_in_flight(running: Daemon) -> None:
    with running.connect() as raw, running.connect() as other:
        raw.send(
            raw.request("test.sleep", {"seconds": 0.3}, id=5),
            raw.request("system.ping", {}, id=5),
        )
        assert outcome(raw.reply()) == (-32600, None)
        assert other.ask(other.request("system.ping", {}, id=5))["result"]["data"]["pong"]
        answer = raw.reply()
        assert answer["id"] == 5
        assert answer["result"]["data"] == {"done": True}
        assert outcome(raw.ask(raw.request("system.ping", {}, id=5))) == (None, 5)


def test_equal_ids_on_many_connections(running: Daemon) -> None:
    failures: list[str] = []

    def talk(number: int) -> None:
        with running.connect() as raw:
            for i in range(50):
                params = {"what": "text", "size": number * 10}
                reply = raw.ask(raw.request("test.value", params, id=i))
                if reply["id"] != i or len(reply["result"]["data"]) != number * 10:
                    failures.append(f"{number} {i} {str(reply)[:100]}")

    threads = [threading.Thread(target=talk, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def mutated(rng: random.Random) -> bytes:
    """Make one line that was a request once."""
    seeds: list[Any] = [
        {"jsonrpc": "2.0", "id": 1, "method": "system.ping", "params": {}},
        {"jsonrpc": "2.0", "id": "x", "method": "system.hello", "params": {"protocol": [1, 1]}},
        {"jsonrpc": "2.0", "id": 2.5, "method": "test.nested", "params": {"name": "a", "inner": 1}},
        {"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": 1}},
        [{"jsonrpc": "2.0", "id": None, "method": "test.value", "params": {"what": "nan"}}, 1],
    ]
    line = bytearray(json.dumps(rng.choice(seeds)).encode())
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(line) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            line[at:at] = bytes([rng.randrange(256)])
        elif kind == 1:
            del line[at : at + rng.randint(1, 5)]
        elif kind == 2:
            line[at:at] = line[rng.randrange(len(line) + 1) :]
        elif kind == 3:
            line[at:at] = rng.choice([b"1e999", b"NaN", b"[" * 70, b"\\ud800", b"\0", b"9" * 25])
        else:
            line[at : at + 1] = rng.choice([b'"', b"{", b"}", b"[", b"]", b",", b":", b"null"])
        line = line or bytearray(b" ")
    return bytes(line).replace(b"\n", b" ")


def test_mutated_lines(running: Daemon) -> None:
    """A seeded sample of the fuzz lines of the soak run: nothing kills it or makes it mute."""
    rng = random.Random(23)
    pid = running.pid()
    for _ in range(60):
        with running.connect() as raw:
            lines = [mutated(rng) for _ in range(25)]
            raw.send(*lines)
            raw.send({"jsonrpc": "2.0", "id": "the end", "method": "system.ping"})
            while True:
                reply = raw.reply()  # each must be strict JSON
                if isinstance(reply, dict) and reply.get("id") == "the end":
                    break
            raw.sock.shutdown(socket.SHUT_WR)
            while raw.line():
                continue
    assert running.pid() == pid
