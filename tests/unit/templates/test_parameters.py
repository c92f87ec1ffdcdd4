"""What a parameter may be, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from crystalmath.errors import InvalidParams
from crystalmath.templates.parameters import Parameter, fill, schema


def make(type: str, **keys: Any) -> Parameter:  # noqa: A002 - the word of the front matter
    return Parameter(name="x", type=type, help="An x.", **keys)


@pytest.mark.parametrize(
    ("one", "given", "found"),
    [
        (make("string"), "a b", "a b"),
        (make("text"), "a\r\nb\tc", "a\nb\tc"),
        (make("int", minimum=-2), -2, -2),
        (make("float"), 3, 3.0),
        (make("bool"), False, False),
        (make("choice", choices=("a", "none")), "none", "none"),
        (make("structure"), {"material": "local:1"}, {"material": "local:1"}),
        (make("int", required=False), None, None),
    ],
)
def test_values_that_fit(one: Parameter, given: Any, found: Any) -> None:
    assert fill({"x": one}, {"x": given}) == {"x": found}
    jsonschema.validate({} if given is None else {"x": given}, schema({"x": one}))


@pytest.mark.parametrize(
    ("one", "given", "words"),
    [
        (make("string"), 3, "must be text"),
        (make("string"), "a\nb", "one line"),
        (make("string"), "a\x1b[0m", "control characters"),
        (make("string", minimum=1), "", "must not be empty"),
        (make("string", maximum=3), "abcd", "at most 3 characters"),
        (make("string"), "a" * 1001, "at most 1000 characters"),
        (make("string"), "\ud800", "valid Unicode"),
        (make("text"), "a\x00", "control characters"),
        (make("int"), 1.0, "whole number"),
        (make("int"), True, "whole number"),
        (make("int"), "1", "whole number"),
        (make("int"), 2**60, "fewer digits"),
        (make("int", maximum=4, unit="s"), 5, "must be at most 4 s"),
        (make("float", minimum=0.5), 0.4, "must be at least 0.5"),
        (make("float"), float("nan"), "finite"),
        (make("float"), True, "must be a number"),
        (make("float"), None, "must be a number"),
        (make("bool"), 1, "true or false"),
        (make("choice", choices=("a", "b")), "c", "must be one of a, b"),
        (make("structure"), "x.cif", "JSON object"),
        (make("structure"), {"path": "/a", "job": 1}, "exactly one of"),
        (make("file"), "data.txt", "absolute path"),
        (make("file"), "/nonexistent/data.txt", "No such file"),
    ],
)
def test_values_that_do_not_fit(one: Parameter, given: Any, words: str) -> None:
    with pytest.raises(InvalidParams, match=words) as caught:
        fill({"x": one}, {"x": given})
    assert caught.value.field is not None
    assert caught.value.field.startswith("parameters.x")


def test_the_member_of_a_structure_is_named() -> None:
    with pytest.raises(InvalidParams) as caught:
        fill({"x": make("structure")}, {"x": {"path": "x.cif"}})
    assert caught.value.field == "parameters.x.path"


def test_unknown_and_missing_names() -> None:
    with pytest.raises(InvalidParams, match="no parameter y") as caught:
        fill({"x": make("int", required=False)}, {"y": 1})
    assert (caught.value.field, caught.value.hint) == ("parameters.y", "it has: x")
    with pytest.raises(InvalidParams, match=r"is missing: An x\.") as caught:
        fill({"x": make("int")}, {})
    assert caught.value.field == "parameters.x"


def test_a_file_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    assert fill({"x": make("file")}, {"x": str(path)}) == {"x": str(path)}


def test_the_schema_says_what_is_checked() -> None:
    one = make("float", minimum=1, maximum=3, unit="Å", default=2.0, required=False)
    found = schema({"x": one})
    assert found["properties"]["x"] == {
        "type": "number",
        "description": "An x.",
        "minimum": 1,
        "maximum": 3,
        "default": 2.0,
        "x-type": "float",
        "x-unit": "Å",
    }
    assert found["required"] == []
    assert found["additionalProperties"] is False
    assert schema({"x": make("int")})["required"] == ["x"]
