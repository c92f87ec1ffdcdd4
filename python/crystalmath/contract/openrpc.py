"""The method table as an OpenRPC 1.3 document, and the hash that names the contract.

Pure: it reads the table that :func:`crystalmath.contract.rpc.describe` makes and returns plain
values. It writes no file and sends nothing. Called by the server (``rpc.discover``) and by
``scripts/gen-contract``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from crystalmath import errors
from crystalmath.contract.event_names import SUBSCRIBE
from crystalmath.contract.events import NOTIFICATIONS, Notification
from crystalmath.contract.rpc import Method
from crystalmath.contract.system import PROTOCOL_MAX

OPENRPC_VERSION: Final = "1.3.2"

Mode = Literal["validation", "serialization"]

_REF = "#/components/schemas/{model}"

RESERVED: Final[dict[str, tuple[int, str]]] = {
    "parse_error": (errors.PARSE_ERROR, "The line is not JSON of the kind accepted here."),
    "invalid_request": (errors.INVALID_REQUEST, "The line is not a JSON-RPC 2.0 request."),
    "method_not_found": (errors.METHOD_NOT_FOUND, "There is no such method."),
    "internal_error": (
        errors.INTERNAL_ERROR,
        "Something unforeseen; the log has it under the trace id.",
    ),
}
"""Kind → code and message of the errors that no class of the exception tree stands for."""

_ANY_CALL: Final[tuple[type[errors.CrystalMathError], ...]] = (
    errors.InvalidParams,
    errors.ShuttingDown,
    errors.Overloaded,
    errors.DeadlinePassed,
    errors.TooLarge,
    errors.Cancelled,
)


def document(table: Mapping[str, Method]) -> dict[str, Any]:
    """Make the OpenRPC document of a method table.

    Parameters
    ----------
    table
        Wire name → method, as :func:`~crystalmath.contract.rpc.describe` returns it.

    Returns
    -------
    dict
        The document; equal tables give equal documents, in the same order.
    """
    schemas, definitions = _schemas(table)
    sent = _notifications(table)
    return {
        "openrpc": OPENRPC_VERSION,
        "info": {
            "title": "CrystalMath",
            "version": str(PROTOCOL_MAX),
            "description": (
                "The methods of the CrystalMath daemon: JSON-RPC 2.0, one message per line, over a "
                "Unix socket. The version is that of the protocol."
            ),
            "license": {"name": "MIT"},
        },
        "methods": [_method(table[name], schemas, definitions) for name in sorted(table)],
        "components": {
            "schemas": dict(sorted(definitions.items())),
            "errors": _error_components(table),
        },
        "x-notifications": [
            {
                "name": notification.name,
                "summary": markdown(notification.summary),
                "params": schemas[notification.name, "notification"],
            }
            for notification in sent
        ],
    }


def schema_sha256(document: Mapping[str, Any]) -> str:
    """Hash a document over its canonical JSON: sorted keys, no blanks, UTF-8.

    Returns
    -------
    str
        64 hexadecimal digits; what ``system.hello`` reports as ``schema``.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def error_kinds(method: Method) -> list[str]:
    """Every ``error.data.kind`` that a caller of ``method`` has to expect, sorted."""
    if method.planned is not None:
        return sorted({errors.NotImplementedYet.kind, errors.Overloaded.kind, "internal_error"})
    declared = {kind for branch in method.spec.errors for kind in _branch(branch)}
    return sorted(declared | {branch.kind for branch in _ANY_CALL} | {"internal_error"})


def markdown(docstring: str) -> str:
    """Turn the double backticks of docstrings into the single ones of Markdown."""
    return docstring.replace("``", "`")


class _Schemas(GenerateJsonSchema):
    """Pydantic's schemas without invented titles, and readable by draft-07 tools."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - fixed signature
        return False

    def tuple_schema(self, schema: core_schema.TupleSchema) -> JsonSchemaValue:
        """Write ``[int, int]`` as an array of one item type: OpenRPC 1.3 means draft-07."""
        written = super().tuple_schema(schema)
        items = written.get("prefixItems", [])
        if items and all(item == items[0] for item in items):
            written["items"] = written.pop("prefixItems")[0]
        return written


def _schemas(
    table: Mapping[str, Method],
) -> tuple[dict[tuple[str, str], dict[str, Any]], dict[str, Any]]:
    """Schemas by (method, part), and the definitions they refer to."""
    wanted: list[tuple[tuple[str, str], Mode, TypeAdapter[Any]]] = []
    for name, method in sorted(table.items()):
        if method.planned is not None:
            continue
        wanted.append(((name, "params"), "validation", TypeAdapter(method.params)))
        if method.listing is None:
            wanted.append(((name, "data"), "serialization", TypeAdapter(method.result)))
        else:
            row, meta = method.listing
            rows: TypeAdapter[Any] = TypeAdapter(list[row])  # type: ignore[valid-type] # known at run time
            wanted.append(((name, "data"), "serialization", rows))
            wanted.append(((name, "meta"), "serialization", TypeAdapter(meta)))
    for notification in _notifications(table):
        key = (notification.name, "notification")
        wanted.append((key, "serialization", TypeAdapter(notification.params)))
    by_key, shared = TypeAdapter.json_schemas(wanted, ref_template=_REF, schema_generator=_Schemas)
    return {key: schema for (key, _), schema in by_key.items()}, shared.get("$defs", {})


def _notifications(table: Mapping[str, Method]) -> tuple[Notification, ...]:
    """What the daemon sends by itself, where one can subscribe to it."""
    return NOTIFICATIONS if SUBSCRIBE in table else ()


def _method(
    method: Method,
    schemas: Mapping[tuple[str, str], dict[str, Any]],
    definitions: Mapping[str, dict[str, Any]],
) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": method.name, "summary": markdown(method.summary)}
    if method.description:
        entry["description"] = markdown(method.description)
    entry["paramStructure"] = "by-name"
    if method.planned is None:
        params = schemas[method.name, "params"]
        entry["params"] = _descriptors(_resolve(params, definitions))
        entry["result"] = _result(method, schemas)
        entry["x-params"] = params
    else:
        entry["params"] = []
    kinds = error_kinds(method)
    entry["errors"] = [{"$ref": f"#/components/errors/{kind}"} for kind in kinds]
    entry["x-lane"] = method.spec.lane
    entry["x-deadline-s"] = method.spec.deadline_s
    entry["x-read-only"] = method.spec.read_only
    entry["x-planned"] = method.planned is not None
    return entry


def _resolve(schema: dict[str, Any], definitions: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return schema if reference is None else definitions[reference.rpartition("/")[2]]


def _descriptors(params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One content descriptor per member of a params model, required ones first."""
    required = set(params.get("required", []))
    found = []
    for name, schema in params.get("properties", {}).items():
        rest = {key: value for key, value in schema.items() if key != "description"}
        descriptor = {"name": name, "required": name in required, "schema": rest}
        if "description" in schema:
            descriptor["description"] = schema["description"]
        found.append(descriptor)
    return sorted(found, key=lambda entry: not entry["required"])


def _result(method: Method, schemas: Mapping[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    data = schemas[method.name, "data"]
    if method.spec.bare_result:
        return {"name": "result", "description": "Not wrapped.", "schema": data}
    status: dict[str, Any] = {"const": "ok", "type": "string"}
    properties: dict[str, Any] = {"status": status, "data": data}
    if method.listing is not None:
        properties["status"] = {"enum": ["ok", "unchanged"], "type": "string"}
        properties["meta"] = schemas[method.name, "meta"]
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": "result", "schema": schema}


def _branch(root: type[errors.CrystalMathError]) -> dict[str, type[errors.CrystalMathError]]:
    """Kind → class of a branch of the exception tree, its root included."""
    found = {root.kind: root}
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            found |= _branch(child)
    return found


def _error_components(table: Mapping[str, Method]) -> dict[str, Any]:
    used = set(RESERVED) | {kind for method in table.values() for kind in error_kinds(method)}
    tree = _branch(errors.CrystalMathError)
    return {kind: _error(kind, tree.get(kind)) for kind in sorted(used)}


def _error(kind: str, branch: type[errors.CrystalMathError] | None) -> dict[str, Any]:
    if branch is None:
        code, message = RESERVED[kind]
        retryable = False
    else:
        code, retryable = branch.code, branch.retryable
        message = _first_sentence(branch.__doc__, kind)
    return {"code": code, "message": message, "data": {"kind": kind, "retryable": retryable}}


def _first_sentence(doc: str | None, kind: str) -> str:
    lines: Iterable[str] = (doc or "").strip().splitlines()
    return next(iter(lines), kind.replace("_", " ").capitalize() + ".")
