"""Every method × {what must be accepted, an unknown member, a missing one, wrong types}."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError

from contract.table import BUILT, vector
from crystalmath.contract.refusals import faults
from crystalmath.contract.rpc import Method

every_method = pytest.mark.parametrize("method", BUILT, ids=lambda method: method.name)

WRONG = ({"wrong": [True]}, [["wrong"]], [{"wrong": 1}], True, "wrong", -1, 1.5, {}, None)
"""For any type at least one of these is wrong; most are."""


def full(method: Method) -> dict[str, Any]:
    params: dict[str, Any] = vector(method.name)["requests"]["full"]["params"]
    return params


def blamed(method: Method, params: dict[str, Any]) -> set[str]:
    """The members that the refusal names; empty when the params are accepted."""
    try:
        method.params.model_validate(params)
    except ValidationError as error:
        told = faults(error, params)
        assert not any(re.search("[Ii]nput should|should be", words) for _, words in told), told
        return {path.partition(".")[0] for path, _ in told if path}
    return set()


@every_method
@pytest.mark.parametrize("form", ["minimal", "full"])
def test_the_vector_is_accepted(method: Method, form: str) -> None:
    params = vector(method.name)["requests"][form]["params"]
    assert method.params.model_validate(params)


@every_method
def test_an_unknown_member_is_refused_by_name(method: Method) -> None:
    assert blamed(method, {**full(method), "no_such_member": 1}) == {"no_such_member"}


@every_method
def test_a_missing_member_is_refused_by_name(method: Method) -> None:
    for name, info in method.params.model_fields.items():
        if info.is_required():
            rest = {key: value for key, value in full(method).items() if key != name}
            assert blamed(method, rest) == {name}


@every_method
def test_wrong_types_are_refused_by_name(method: Method) -> None:
    for name in full(method):
        refused = [value for value in WRONG if blamed(method, {**full(method), name: value})]
        assert len(refused) >= 3, name
        for value in refused:
            assert blamed(method, {**full(method), name: value}) == {name}, (name, value)


@every_method
def test_nothing_is_converted(method: Method) -> None:
    """JSON text where an object belongs, text where a number belongs, a bool for a number."""
    for name, value in full(method).items():
        if isinstance(value, dict | list | bool):
            assert blamed(method, {**full(method), name: json.dumps(value)}) == {name}
        elif isinstance(value, int) and method.name != "$/cancel":  # an id may be text
            assert blamed(method, {**full(method), name: str(value)}) == {name}
            assert blamed(method, {**full(method), name: True}) == {name}


@every_method
def test_positional_params_are_refused(method: Method) -> None:
    with pytest.raises(ValidationError):
        method.params.model_validate([])
