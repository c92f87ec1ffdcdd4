"""The OpenRPC document: valid, complete, stable, and told apart by its hash."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contract.openrpc_rules import problems
from contract.table import BUILT, ROOT, TABLE
from crystalmath import errors
from crystalmath.contract.openrpc import document, error_kinds, schema_sha256
from crystalmath.contract.rpc import Method

DOCUMENT = document(TABLE)
METHODS: dict[str, dict[str, Any]] = {method["name"]: method for method in DOCUMENT["methods"]}


def test_document_is_valid() -> None:
    assert problems(DOCUMENT) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("openrpc",), "9.9.9"),
        (("methods", 0, "params"), {}),
        (("methods", 0, "name"), 5),
        (("methods", 0, "unheard_of"), 1),
        (("methods", 0, "errors"), [{"$ref": "#/components/errors/nothing"}]),
        (("components", "schemas", "Job"), {"type": "nonsense"}),
    ],
)
def test_the_rules_find_what_is_wrong(path: tuple[Any, ...], value: object) -> None:
    broken = document({"jobs.get": TABLE["jobs.get"]})  # all of them would take seconds
    assert problems(broken) == []
    place: Any = broken
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert problems(broken)


def test_document_has_every_method_in_order() -> None:
    assert list(METHODS) == list(TABLE)
    assert list(METHODS) == sorted(METHODS)


def test_equal_tables_give_equal_text() -> None:
    backwards = dict(reversed(TABLE.items()))
    assert json.dumps(document(backwards)) == json.dumps(DOCUMENT)


def test_hash_changes_with_the_contract_alone() -> None:
    reordered = dict(reversed(DOCUMENT.items()))
    assert schema_sha256(reordered) == schema_sha256(DOCUMENT)
    assert schema_sha256(document({"$/cancel": TABLE["$/cancel"]})) != schema_sha256(DOCUMENT)


def test_document_is_plain_json() -> None:
    assert json.loads(json.dumps(DOCUMENT, allow_nan=False)) == DOCUMENT


def test_published_document_is_this_one() -> None:
    published = json.loads((ROOT / "docs/openrpc.json").read_text(encoding="utf-8"))
    assert published == DOCUMENT


@pytest.mark.parametrize("method", BUILT, ids=lambda method: method.name)
def test_entry_tells_what_the_method_declares(method: Method) -> None:
    entry = METHODS[method.name]
    assert entry["summary"].endswith(".")
    assert entry["paramStructure"] == "by-name"
    assert {p["name"] for p in entry["params"]} == set(method.params.model_fields)
    assert entry["x-lane"] == method.spec.lane
    assert entry["x-deadline-s"] == method.spec.deadline_s
    assert entry["x-read-only"] is method.spec.read_only
    assert entry["x-planned"] is False
    wrapped = "status" in entry["result"]["schema"].get("properties", {})
    assert wrapped is (method.name != "rpc.discover")


@pytest.mark.parametrize("method", BUILT, ids=lambda method: method.name)
def test_declared_errors_are_documented(method: Method) -> None:
    listed = {error["$ref"].rpartition("/")[2] for error in METHODS[method.name]["errors"]}
    assert listed == set(error_kinds(method))
    for branch in method.spec.errors:
        assert issubclass(branch, errors.CrystalMathError)
        described = DOCUMENT["components"]["errors"][branch.kind]
        assert described["code"] == branch.code
        assert described["data"]["retryable"] is branch.retryable


def test_a_branch_brings_its_twigs() -> None:
    spec = TABLE["jobs.get"].spec
    entry = Method("x.y", "", "", BUILT[0].params, None, type(spec)(errors=(errors.SshError,)))
    assert {"ssh", "unreachable", "host_key_changed"} <= set(error_kinds(entry))


def test_notifications_are_in_the_document_with_their_params() -> None:
    (sent,) = DOCUMENT["x-notifications"]
    assert sent["name"] == "events.notify"
    name = sent["params"]["$ref"].rpartition("/")[2]
    assert {"subscription", "seq", "events"} == set(
        DOCUMENT["components"]["schemas"][name]["properties"]
    )
    assert document({"$/cancel": TABLE["$/cancel"]})["x-notifications"] == []


def test_planned_methods_are_marked() -> None:
    for name, method in TABLE.items():
        assert METHODS[name]["x-planned"] is (method.planned is not None)
