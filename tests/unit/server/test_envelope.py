"""The envelope, by the letter of JSON-RPC 2.0 and of our own rules: P1, P3 to P8, P17 to P19."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from crystalmath.contract.rpc import Spec
from support.wire import Wire


def subtract(_call: Any, /, *args: float, **params: float) -> float:
    first, second = args or (params["minuend"], params["subtrahend"])
    return first - second


def fail(_call: Any, /, *_args: Any, **_params: Any) -> None:
    raise RuntimeError("the text is a secret: /srv/secret")


def leave(_call: Any, /, *_args: Any, **_params: Any) -> None:
    raise SystemExit(3)


TABLE = {
    "subtract": subtract,
    "sum": lambda _call, /, *args: sum(args),
    "update": lambda _call, /, *_args: None,
    "notify_hello": lambda _call, /, *_args: None,
    "notify_sum": lambda _call, /, *_args: None,
    "get_data": lambda _call, /: ["hello", 5],
    "ping": lambda _call, /, **_params: "pong",
    "echo": lambda _call, /, **params: params,
    "fail": fail,
    "leave": leave,
}
TABLE_ON_A_LANE = {name: (handler, Spec(lane="db")) for name, handler in TABLE.items()}


@pytest.fixture(params=["inline", "lane"])
def wire(request: pytest.FixtureRequest) -> Iterator[Wire]:
    with Wire(TABLE if request.param == "inline" else TABLE_ON_A_LANE) as made:
        yield made


def shape(reply: Any) -> Any:
    """What the specification fixes of a reply: its messages are its examples."""
    if isinstance(reply, list):
        return [shape(r) for r in reply]
    if "error" in reply:
        assert set(reply) == {"jsonrpc", "id", "error"}
        error = reply["error"]
        assert {"kind", "hint", "retryable", "trace_id"} <= set(error["data"])
        reply = {**reply, "error": {"code": error["code"]}}
    assert reply.pop("jsonrpc") == "2.0"
    return reply


def ok(value: Any, reply_id: Any) -> dict[str, Any]:
    return {"result": value, "id": reply_id}


def bad(code: int, reply_id: Any = None) -> dict[str, Any]:
    return {"error": {"code": code}, "id": reply_id}


# the examples of https://www.jsonrpc.org/specification, section 7; None: no bytes
EXAMPLES: list[tuple[str, Any]] = [
    ('{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}', ok(19, 1)),
    ('{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}', ok(-19, 2)),
    (
        """{"jsonrpc": "2.0", "method": "subtract",
            "params": {"subtrahend": 23, "minuend": 42}, "id": 3}""",
        ok(19, 3),
    ),
    (
        """{"jsonrpc": "2.0", "method": "subtract",
            "params": {"minuend": 42, "subtrahend": 23}, "id": 4}""",
        ok(19, 4),
    ),
    ('{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}', None),
    ('{"jsonrpc": "2.0", "method": "foobar"}', None),
    ('{"jsonrpc": "2.0", "method": "foobar", "id": "1"}', bad(-32601, "1")),
    ('{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', bad(-32700)),
    ('{"jsonrpc": "2.0", "method": 1, "params": "bar"}', bad(-32600)),
    (
        """[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
            {"jsonrpc": "2.0", "method"]""",
        bad(-32700),
    ),
    ("[]", bad(-32600)),
    ("[1]", [bad(-32600)]),
    ("[1,2,3]", [bad(-32600)] * 3),
    (
        """[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
            {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
            {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
            {"foo": "boo"},
            {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
            {"jsonrpc": "2.0", "method": "get_data", "id": "9"}]""",
        [ok(7, "1"), ok(19, "2"), bad(-32600), bad(-32601, "5"), ok(["hello", 5], "9")],
    ),
    (
        """[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},
            {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]""",
        None,
    ),
]


@pytest.mark.parametrize(("sent", "expected"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_of_the_specification(wire: Wire, sent: str, expected: Any) -> None:
    wire.send(sent.replace("\n", " ").encode())  # one line, as our framing asks
    if expected is not None:
        assert shape(wire.reply()) == expected
    assert wire.ask({"jsonrpc": "2.0", "id": "end", "method": "ping"})["id"] == "end"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"jsonrpc": "2.0", "method": 1, "id": 7}, bad(-32600, 7)),
        ({"method": "ping", "id": 7}, bad(-32600, 7)),
        ({"jsonrpc": "1.0", "method": "ping", "id": 7}, bad(-32600, 7)),
        ({"jsonrpc": 2.0, "method": "ping", "id": "x"}, bad(-32600, "x")),
        ({"jsonrpc": "2.0", "id": 7}, bad(-32600, 7)),
        ({"jsonrpc": "2.0", "method": "ping", "id": []}, bad(-32600)),
        ({"jsonrpc": "2.0", "method": "ping", "id": {}}, bad(-32600)),
        ({"jsonrpc": "2.0", "method": "ping", "id": True}, bad(-32600)),
        ({}, bad(-32600)),
        (42, bad(-32600)),
        ("x", bad(-32600)),
        (True, bad(-32600)),
        (None, bad(-32600)),
    ],
    ids=repr,
)
def test_what_is_no_request(wire: Wire, sent: Any, expected: Any) -> None:
    assert shape(wire.ask(json.dumps(sent).encode())) == expected


@pytest.mark.parametrize(
    "sent",
    ["1.5", '""', "null", "0", "-1", "-1.0", "9007199254740992", "9223372036854775807",
     "18446744073709551615", "-9223372036854775808", '"\\u00fc\\ud83d\\ude00"', "1e3"],
)  # fmt: skip
def test_ids_come_back_equal(wire: Wire, sent: str) -> None:
    wire.send(b'{"jsonrpc":"2.0","method":"ping","id":%b}' % sent.encode())
    line = wire.line()
    reply = json.loads(line)
    wanted = json.loads(sent)
    assert reply["id"] == wanted
    assert type(reply["id"]) is type(wanted)
    if type(wanted) is int:
        assert b'"id":' + sent.encode() in line


@pytest.mark.parametrize("method", ["ping", "nope", "fail", "leave", "subtract"])
@pytest.mark.parametrize("params", [None, [1], 5])
def test_notifications_are_never_answered(wire: Wire, method: str, params: Any) -> None:
    message = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    wire.send(message)
    wire.send([message, message])
    assert wire.ask({"jsonrpc": "2.0", "id": "end", "method": "ping"})["id"] == "end"


@pytest.mark.parametrize("params", [5, "x", True, None, 1.5])
def test_params_of_the_wrong_kind(wire: Wire, params: Any) -> None:
    reply = wire.ask({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params})
    assert shape(reply) == bad(-32602, 1)
    assert reply["error"]["data"]["kind"] == "invalid_params"


def test_params_may_have_any_names(wire: Wire) -> None:
    params = {"self": 1, "call": 2, "args": 3, "context": 4, "": 5, "a b": 6, "method": 7}
    reply = wire.ask({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": params})
    assert reply["result"] == params


def test_further_members_are_ignored(wire: Wire) -> None:
    reply = wire.ask({"jsonrpc": "2.0", "id": 1, "method": "ping", "auth": "x", "y": [1]})
    assert reply["result"] == "pong"


@pytest.mark.parametrize("method", ["fail", "leave"])
def test_what_a_handler_raises_stays_inside(wire: Wire, method: str) -> None:
    for _ in range(10):  # the lane, or the reader, goes on
        reply = wire.ask({"jsonrpc": "2.0", "id": 1, "method": method})
        assert shape(reply) == bad(-32603, 1)
        assert "secret" not in json.dumps(reply)
        assert reply["error"]["data"]["trace_id"].startswith("trace-1-")


@pytest.mark.parametrize("raw", [b'{"a":', b"\xff", b"\xef\xbb\xbf{}", b"\x00", b'"\xed\xa0\x80"',
                                 b'["\\ud800"]', b"[" * 65, b"9" * 5000, b"NaN", b"1e999"],
)  # fmt: skip
def test_what_is_no_json(wire: Wire, raw: bytes) -> None:
    assert shape(wire.ask(raw)) == bad(-32700)
    assert wire.ask({"jsonrpc": "2.0", "id": 2, "method": "ping"})["result"] == "pong"


def test_duplicate_keys_last_wins(wire: Wire) -> None:
    reply = wire.ask(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"nope","method":"ping"}')
    assert reply == {"jsonrpc": "2.0", "id": 2, "result": "pong"}


def test_replies_of_a_batch_keep_their_order(wire: Wire) -> None:
    batch = [{"jsonrpc": "2.0", "id": i, "method": "ping"} for i in range(100)]
    assert [r["id"] for r in wire.ask(batch)] == list(range(100))


def test_a_batch_that_is_too_long(wire: Wire) -> None:
    batch = [{"jsonrpc": "2.0", "id": i, "method": "ping"} for i in range(101)]
    assert shape(wire.ask(batch)) == bad(-32600)


def test_one_id_twice_in_a_batch_on_a_lane() -> None:
    gate = threading.Event()

    def wait(_call: Any, /) -> str:
        gate.wait(20)
        return "waited"

    def let_through(_call: Any, /) -> None:
        gate.set()

    with Wire({"wait": (wait, Spec(lane="db")), "open": let_through}) as wire:
        batch = [(1, "wait"), (1, "open"), (2, "open")]
        replies = wire.ask([{"jsonrpc": "2.0", "id": i, "method": m} for i, m in batch])
        assert [shape(r) for r in replies] == [ok("waited", 1), bad(-32600), ok(None, 2)]
