"""The plain words for everything that a model may refuse."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import Field, StringConstraints, ValidationError, model_validator

from crystalmath.codes.command.adapter import CommandOptions
from crystalmath.codes.espresso.options import EspressoOptions
from crystalmath.codes.forces.options import RelaxOptions
from crystalmath.codes.options import Options, parse_options
from crystalmath.contract.jobs import ListParams, SubmitParams
from crystalmath.contract.refusals import SENTENCES, faults
from crystalmath.contract.rpc import Params
from crystalmath.errors import InvalidParams


class _Inner(Params):
    size: int = Field(ge=1)


class _Form(Params):
    flag: bool = False
    text: Annotated[str, StringConstraints(min_length=2, max_length=3)] = "ab"
    number: float = Field(default=1.0, gt=0, lt=5, allow_inf_nan=False)
    whole: int = Field(default=1, ge=1, le=9)
    words: list[str] = Field(default_factory=list, min_length=1, max_length=2)
    one: Literal["only"] = "only"
    inner: _Inner | None = None
    names: dict[Literal["a", "b"], int] = Field(default_factory=dict)
    either: bool | int | list[int] = False

    @model_validator(mode="after")
    def _together(self) -> _Form:
        if self.flag and self.whole == 2:
            raise ValueError("give a flag or a 2, not both")
        return self


def refused(model: type[Any], given: object) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(given)
    return faults(caught.value, given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"flag": 1}, [("flag", "must be true or false")]),
        ({"text": "a"}, [("text", "must have at least 2 characters")]),
        ({"text": "abcd"}, [("text", "must have at most 3 characters")]),
        ({"text": 5}, [("text", "must be text")]),
        ({"number": 0}, [("number", "must be greater than 0")]),
        ({"number": 5.5}, [("number", "must be less than 5")]),
        ({"number": float("nan")}, [("number", "must be a finite number")]),
        ({"number": "1"}, [("number", "must be a number")]),
        ({"whole": 0}, [("whole", "must be at least 1")]),
        ({"whole": 10}, [("whole", "must be at most 9")]),
        ({"whole": 1.5}, [("whole", "must be a whole number")]),
        ({"words": []}, [("words", "must not be empty")]),
        ({"words": ["a"] * 3}, [("words", "must have at most 2 entries")]),
        ({"words": ["a", 1]}, [("words.1", "must be text")]),
        ({"words": "a"}, [("words", "must be a list")]),
        ({"one": "other"}, [("one", "must be only")]),
        ({"inner": {}}, [("inner.size", "is missing")]),
        ({"inner": "x"}, [("inner", "must be a JSON object")]),
        ({"inner": {"size": 1, "more": 2}}, [("inner.more", "is not known here")]),
        ({"names": {"c": 1}}, [("names.c", "the name must be one of a, b")]),
        ({"names": {"a": "x"}}, [("names.a", "must be a whole number")]),
        ({"names": []}, [("names", "must be a JSON object")]),
        ({"either": "x"}, [("either", "must be true or false or a whole number or a list")]),
        ({"either": [1, "x"]}, [("either.1", "must be a whole number")]),
        ({"flag": True, "whole": 2}, [("", "give a flag or a 2, not both")]),
        ([], [("", "must be a JSON object")]),
        (
            {"flag": 1, "text": ""},
            [("flag", "must be true or false"), ("text", "must have at least 2 characters")],
        ),
    ],
)
def test_each_complaint_has_its_sentence(given: object, expected: list[tuple[str, str]]) -> None:
    assert refused(_Form, given) == expected


def test_the_words_of_the_contract() -> None:
    job = {"name": "n", "code": "forces"}
    limits = {"resources": {"walltime_s": "0", "memory_mib": "much", "ntasks": 0}}
    assert refused(SubmitParams, {**job, **limits}) == [
        ("resources.ntasks", "must be at least 1"),
        ("resources.memory_mib", "memory is a number of MiB, or text like 4G, 4000M"),
        ("resources.walltime_s", "must be greater than 0"),
    ]
    long = {"name": "n" * 101, "code": "No"}
    assert refused(SubmitParams, long) == [
        ("name", "must have at most 100 characters"),
        ("code", "must be a name like forces: lower-case letters, digits and _"),
    ]
    (state,) = refused(ListParams, {"state": ["RUNNING", "RUNING"]})
    assert state[0] == "state.1"
    assert state[1].startswith("must be one of CREATED, STAGED")
    huge = {**job, "inputs": {"secret": 1}, "tags": ["\ud800"]}
    assert refused(SubmitParams, huge) == [("tags.0", "must be valid Unicode")]


class _Foreign(Options):
    FORMS: ClassVar = {"^x$": "must be an x"}
    known: Annotated[str, StringConstraints(pattern="^x$")] = "x"
    other: Annotated[str, StringConstraints(pattern="^y$")] = "y"


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (RelaxOptions, {"max_steps": "many"}, "inputs.max_steps: must be a whole number"),
        (RelaxOptions, {"fmax_ev_per_a": 11}, "inputs.fmax_ev_per_a: must be at most 10"),
        (
            RelaxOptions,
            {"cell": "no"},
            "inputs.cell: must be one of full, isotropic, constant_volume, fixed",
        ),
        (CommandOptions, {}, "inputs.argv: is missing"),
        (CommandOptions, {"argv": ["a", "\0"]}, "inputs.argv.1: holds a NUL character"),
        (
            CommandOptions,
            {"argv": ["a"], "env": {"1": "x"}},
            "inputs.env.1: the name must be that of a variable: letters, digits and _",
        ),
        (
            EspressoOptions,
            {"values": {"mixing_beta": 1}},
            "inputs.values.mixing_beta: the name must be namelist.variable in lower case, like",
        ),
        (EspressoOptions, {"save_from": "out"}, "inputs.save_from: must be an absolute path"),
        (
            EspressoOptions,
            {"values": {"control.title": []}},
            "inputs.values.control.title: must be true or false or a whole number or a number",
        ),
        (_Foreign, {"known": "y"}, "inputs.known: must be an x"),
        (_Foreign, {"other": "x"}, "inputs.other: does not fit the pattern ^y$"),
        (RelaxOptions, {"cell": 1, "max_steps": 0}, "inputs.cell: must be one of full, isotropic"),
    ],
)
def test_inputs_of_codes_use_the_same_words(
    model: type[Options], inputs: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidParams, match=f"^{re.escape(message)}") as caught:
        parse_options(model, inputs)
    assert caught.value.field is not None
    assert message.startswith(f"{caught.value.field}: ")


def test_no_sentence_speaks_of_the_library() -> None:
    context = {
        "gt": 1, "ge": 1, "lt": 1, "le": 1, "min_length": 2, "max_length": 2,
        "expected": "'a' or 'b'", "error": ValueError("own words"),
    }  # fmt: skip
    for make in SENTENCES.values():
        sentence = make(context)
        assert sentence == sentence.strip()
        assert not re.search("[Ii]nput|validation|should|dict|instance", sentence)
