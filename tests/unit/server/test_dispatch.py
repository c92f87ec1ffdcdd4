"""From a described method to its reply: validation, wrapping, and what each exception becomes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, field_validator

from crystalmath.contract.rpc import Call, Listing, Model, NoParams, Params, describe, rpc
from crystalmath.errors import (
    DatabaseError,
    InvalidParams,
    NotFound,
    Rejected,
    Unreachable,
)
from crystalmath.server.dispatch import bind
from support.wire import Wire


class Part(Params):
    number: int = Field(ge=1)
    words: list[str] = Field(default_factory=list)


class PathSource(Params):
    kind: Literal["path"]
    path: str


class TextSource(Params):
    kind: Literal["text"]
    text: str


class Submission(Params):
    name: str = Field(min_length=1, max_length=5)
    part: Part
    parts: list[Part] = Field(default_factory=list)
    by_name: dict[str, Part] = Field(default_factory=dict)
    source: Annotated[PathSource | TextSource, Field(discriminator="kind")] | None = None

    @field_validator("name")
    @classmethod
    def _no_slash(cls, value: str) -> str:
        if "/" in value:
            raise ValueError("must not hold a slash")
        return value


class Row(Model):
    id: int


class Meta(Model):
    total: int


class Service:
    @rpc(lane="inline")
    def submit(self, params: Submission) -> Row:
        """Take nested params."""
        return Row(id=params.part.number)

    @rpc(lane="inline")
    def models(self, params: NoParams) -> Listing[Row, Meta]:
        """List models."""
        return Listing([Row(id=1), Row(id=2)], Meta(total=2))

    @rpc(lane="inline")
    def rows(self, params: NoParams) -> Listing[Row, Meta]:
        """List plain rows."""
        return Listing([{"id": i} for i in range(1200)], Meta(total=1200))

    @rpc(lane="inline")
    def unchanged(self, params: NoParams) -> Listing[Row, Meta]:
        """List nothing new."""
        return Listing([], Meta(total=2), status="unchanged")

    @rpc(lane="inline", bare_result=True)
    def bare(self, params: NoParams) -> dict[str, int]:
        """Return an unwrapped result."""
        return {"x": 1}

    @rpc(lane="inline")
    def trace(self, params: NoParams, call: Call) -> str:
        """Take the call."""
        return call.trace_id

    @rpc(lane="inline")
    def fail(self, params: Part) -> Row:
        """Raise what is asked for."""
        cause = {
            1: NotFound("There is no job 99.", hint="List the jobs.", field="id"),
            2: DatabaseError("Broken."),
            3: Unreachable("No route."),
            4: Rejected("Refused."),
            5: InvalidParams("Not this one.", field="number"),
        }
        raise cause[params.number]


@pytest.fixture
def wire() -> Iterator[Wire]:
    table = describe({"a": Service}, {"a.later": "Use something else."})
    with Wire({}) as made:
        made.router.open({name: bind(method, Service()) for name, method in table.items()})
        yield made


def error(wire: Wire, method: str, params: Any) -> dict[str, Any]:
    reply = wire.ask({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert reply["id"] == 1
    found: dict[str, Any] = reply["error"]
    return found


def test_results(wire: Wire) -> None:
    assert wire.call("a.submit", {"name": "x", "part": {"number": 3}}) == {
        "status": "ok", "data": {"id": 3},
    }  # fmt: skip
    assert wire.call("a.models") == {
        "status": "ok", "data": [{"id": 1}, {"id": 2}], "meta": {"total": 2},
    }  # fmt: skip
    assert [r["id"] for r in wire.call("a.rows")["data"]] == list(range(1200))
    assert wire.call("a.unchanged") == {"status": "unchanged", "data": [], "meta": {"total": 2}}
    assert wire.call("a.bare") == {"x": 1}
    assert wire.data("a.trace").startswith("trace-1-")


@pytest.mark.parametrize(
    ("params", "fields"),
    [
        ({}, {"name", "part"}),
        ({"name": "", "part": {"number": 0}}, {"name", "part.number"}),
        ({"name": "toolong", "part": {}}, {"name", "part.number"}),
        ({"name": "a", "part": "{}"}, {"part"}),
        ({"name": "a", "part": {"number": 1, "words": [1, "x", None]}},
         {"part.words.0", "part.words.2"}),
        ({"name": "a", "part": {"number": 1}, "more": 1}, {"more"}),
        ({"name": "a", "part": {"number": 1, "more": 1}}, {"part.more"}),
        ({"name": "a", "part": {"number": 1}, "parts": [{"number": 1}, {}]}, {"parts.1.number"}),
        ({"name": "a", "part": {"number": 1}, "by_name": {"k": {}}}, {"by_name.k.number"}),
        ({"name": "a/b", "part": {"number": 1}}, {"name"}),
        ({"name": "a", "part": {"number": 1}, "source": {"kind": "path"}}, {"source.path"}),
        ({"name": "a", "part": {"number": 1}, "source": {"kind": "x"}}, {"source"}),
    ],
    ids=range(12),
)  # fmt: skip
def test_every_field_at_fault_is_named(wire: Wire, params: Any, fields: set[str]) -> None:
    found = error(wire, "a.submit", params)
    assert found["code"] == -32602
    assert {f["field"] for f in found["data"]["fields"]} == fields
    assert found["data"]["field"] in fields


def test_no_echo_and_no_library_in_errors(wire: Wire) -> None:
    planted = "planted-secret-value"
    params = {"name": planted, "part": {"number": planted, "words": planted}, "source": planted}
    found = json.dumps(error(wire, "a.submit", params))
    for word in (planted, "pydantic", "http", "Traceback", "errors.", "def ", "input_value"):
        assert word not in found


def test_long_errors_are_cut(wire: Wire) -> None:
    params = {"name": "a", "part": {"number": 1, "words": list(range(10_000))}}
    found = error(wire, "a.submit", params)
    assert len(found["data"]["fields"]) == 50


def test_array_params_are_refused(wire: Wire) -> None:
    assert error(wire, "a.submit", ["a"])["code"] == -32602
    assert error(wire, "a.later", [1])["code"] == -32602
    assert error(wire, "a.bare", [])["code"] == -32602


@pytest.mark.parametrize(
    ("number", "code", "kind", "retryable"),
    [
        (1, -32000, "not_found", False),
        (2, -32001, "database", False),
        (3, -32002, "unreachable", True),
        (4, -32003, "rejected", False),
        (5, -32602, "invalid_params", False),
    ],
)
def test_exceptions_of_the_tree(
    wire: Wire, number: int, code: int, kind: str, retryable: bool
) -> None:
    found = error(wire, "a.fail", {"number": number})
    assert (found["code"], found["data"]["kind"]) == (code, kind)
    assert found["data"]["retryable"] is retryable
    if number == 1:
        assert found["message"] == "There is no job 99."
        assert (found["data"]["hint"], found["data"]["field"]) == ("List the jobs.", "id")
    else:
        assert "trace_id" in found["data"]


def test_bug_in_a_handler_is_ours(wire: Wire) -> None:
    found = error(wire, "a.fail", {"number": 6})
    assert (found["code"], found["message"]) == (-32603, "Internal error")
    assert "KeyError" not in json.dumps(found)


def test_planned_method(wire: Wire) -> None:
    found = error(wire, "a.later", {"any": "thing"})
    assert (found["code"], found["data"]["kind"]) == (-32000, "not_implemented")
    assert found["data"]["hint"] == "Use something else."


@pytest.mark.parametrize("method", ["", "a", "a.", ".submit", "a.submit ", "A.submit", "a._submit",
                                    "a.__class__", "rpc.x", "__init__", "x" * 10_000, "a\nb"],
)  # fmt: skip
def test_unknown_methods(wire: Wire, method: str) -> None:
    found = error(wire, method, {})
    assert found["code"] == -32601
    assert len(json.dumps(found)) < 400  # the name is not echoed
