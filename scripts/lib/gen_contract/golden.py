"""Golden vectors: per built method one minimal request, one full request and one response.

Notifications have one message each. Both languages decode and encode all of them again and must
arrive at the same JSON value. Called by ``cli``; read by ``tests/contract`` and ``tests/rust``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from crystalmath.contract.events import NOTIFICATIONS, Notification
from crystalmath.contract.rpc import Method
from gen_contract.examples import Examples


def render(method: Method) -> str:
    """The vector of ``method`` as the text of its file."""
    return json.dumps(vector(method), indent=2, ensure_ascii=False) + "\n"


def file_name(name: str) -> str:
    """``jobs.read_file`` → ``jobs.read_file.json``; ``$/cancel`` → ``cancel.json``."""
    return re.sub(r"[^a-z0-9_.]", "", name) + ".json"


def vector(method: Method) -> dict[str, Any]:
    """Requests and response of ``method`` as they stand on the wire."""
    return {
        "method": method.name,
        "requests": {
            "minimal": _request(method, 1, full=False),
            "full": _request(method, 2, full=True),
        },
        "response": {"jsonrpc": "2.0", "id": 2, "result": _result(method)},
    }


def _request(method: Method, number: int, *, full: bool) -> dict[str, Any]:
    params = Examples(full=full).model(method.params)
    return {"jsonrpc": "2.0", "id": number, "method": method.name, "params": params}


def _result(method: Method) -> Any:
    examples = Examples(full=True)
    if method.spec.bare_result:
        return _written(method.result, examples)
    if method.listing is None:
        return {"status": "ok", "data": _written(method.result, examples)}
    row, meta = method.listing
    rows = [_written(row, examples), _written(row, examples)]
    return {"status": "ok", "data": rows, "meta": _written(meta, examples)}


def _written(annotation: Any, examples: Examples) -> Any:
    """An example the way the daemon writes it, with every default filled in."""
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    value = adapter.validate_python(examples.value(annotation, "example"))
    return adapter.dump_python(value, mode="json", by_alias=True)


def files(table: Mapping[str, Method]) -> dict[str, str]:
    """File name → text, for every method that is built."""
    return {
        file_name(name): render(method) for name, method in table.items() if method.planned is None
    }


def notification_files() -> dict[str, str]:
    """File name → text, for every notification."""
    return {
        file_name(sent.name): json.dumps(_message(sent), indent=2, ensure_ascii=False) + "\n"
        for sent in NOTIFICATIONS
    }


def _message(sent: Notification) -> dict[str, Any]:
    params = _written(sent.params, Examples(full=True))
    return {"jsonrpc": "2.0", "method": sent.name, "params": params}
