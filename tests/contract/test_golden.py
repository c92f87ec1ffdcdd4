"""Every golden vector, decoded and encoded again by the contract, is the same JSON value.

``tests/rust/golden.rs`` does the same with the client's types.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from contract.table import BUILT, FIXTURES, vector
from crystalmath.contract.events import NOTIFICATIONS, Notification
from crystalmath.contract.rpc import Method
from gen_contract.golden import file_name

every_method = pytest.mark.parametrize("method", BUILT, ids=lambda method: method.name)


def again(annotation: Any, value: Any) -> Any:
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    return adapter.dump_python(adapter.validate_python(value), mode="json", by_alias=True)


@every_method
@pytest.mark.parametrize("form", ["minimal", "full"])
def test_request(method: Method, form: str) -> None:
    request = vector(method.name)["requests"][form]
    params = method.params.model_validate(request["params"])
    written = params.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert written == request["params"]
    assert request["method"] == method.name
    assert request["jsonrpc"] == "2.0"


@every_method
def test_result(method: Method) -> None:
    result = vector(method.name)["response"]["result"]
    if method.spec.bare_result:
        assert again(method.result, result) == result
        return
    assert result["status"] == "ok"
    if method.listing is None:
        assert set(result) == {"status", "data"}
        assert again(method.result, result["data"]) == result["data"]
        return
    row, meta = method.listing
    assert set(result) == {"status", "data", "meta"}
    assert [again(row, value) for value in result["data"]] == result["data"]
    assert again(meta, result["meta"]) == result["meta"]


@pytest.mark.parametrize("sent", NOTIFICATIONS, ids=lambda sent: sent.name)
def test_notification(sent: Notification) -> None:
    path = FIXTURES / "notifications" / file_name(sent.name)
    message = json.loads(path.read_text(encoding="utf-8"))
    assert set(message) == {"jsonrpc", "method", "params"}
    assert message["method"] == sent.name
    assert again(sent.params, message["params"]) == message["params"]


def test_no_vector_is_left_over() -> None:
    present = {path.name for path in (FIXTURES / "golden").iterdir()}
    assert present == {file_name(method.name) for method in BUILT}
