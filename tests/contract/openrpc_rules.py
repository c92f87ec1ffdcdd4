"""What is wrong with an OpenRPC document: the meta-schema's rules and those of JSON Schema.

For any document, whether built here or answered by a running daemon to ``rpc.discover``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

META_SCHEMA: Final = Path(__file__).resolve().parents[1] / "fixtures/openrpc/meta-schema.json"

# The meta-schema refers to one of JSON Schema that lives elsewhere and restates draft 07.
_ELSEWHERE: Final = {
    "allOf": [{"$ref": "http://json-schema.org/draft-07/schema#"}],
    "definitions": {"JSONSchemaObject": {"properties": {"$ref": {"type": "string"}}}},
}


def problems(document: dict[str, Any]) -> list[str]:
    """Everything that breaks a rule; empty when the document is valid."""
    return [
        *_against_meta_schema(document),
        *_bad_schemas(document),
        *_dangling(document, document),
        *_twice(document),
    ]


def _against_meta_schema(document: dict[str, Any]) -> Iterator[str]:
    elsewhere = Resource(contents=_ELSEWHERE, specification=DRAFT7)
    draft7 = Resource(contents=Draft7Validator.META_SCHEMA, specification=DRAFT7)
    registry: Registry[Any] = Registry().with_resources(
        [
            ("https://meta.json-schema.tools", elsewhere),
            ("https://meta.json-schema.tools/", elsewhere),
            ("http://json-schema.org/draft-07/schema", draft7),
        ]
    )
    meta_schema = json.loads(META_SCHEMA.read_text(encoding="utf-8"))
    for error in Draft7Validator(meta_schema, registry=registry).iter_errors(document):
        yield f"{error.json_path}: {error.message[:300]}"


def _bad_schemas(document: dict[str, Any]) -> Iterator[str]:
    for place, schema in _schemas(document):
        for draft in (Draft7Validator, Draft202012Validator):
            try:
                draft.check_schema(schema)
            except SchemaError as error:
                yield f"{place}: {error.message}"


def _schemas(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from document["components"]["schemas"].items()
    for method in document["methods"]:
        for descriptor in [*method["params"], *([method["result"]] if "result" in method else [])]:
            yield f"{method['name']} {descriptor['name']}", descriptor["schema"]


def _dangling(document: dict[str, Any], part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for item in part:
            yield from _dangling(document, item)
    elif isinstance(part, dict):
        reference = part.get("$ref")
        if isinstance(reference, str) and not _leads_somewhere(document, reference):
            yield f"{reference} leads nowhere"
        for item in part.values():
            yield from _dangling(document, item)


def _leads_somewhere(document: dict[str, Any], reference: str) -> bool:
    place: Any = document
    for step in reference.removeprefix("#/").split("/"):
        if step not in place:
            return False
        place = place[step]
    return True


def _twice(document: dict[str, Any]) -> Iterator[str]:
    names = [method["name"] for method in document["methods"]]
    yield from (
        f"{name} is there twice" for name in sorted({n for n in names if names.count(n) > 1})
    )
