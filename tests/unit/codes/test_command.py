"""The code ``command``: what it accepts, what it runs, how it judges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from crystalmath.codes.command.adapter import CommandAdapter
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import CodeAdapter, EndReceipt, InputFile, JobRequest, StructureData

_ADAPTER: CodeAdapter = CommandAdapter()


def _request(inputs: dict[str, Any], *files: InputFile, **more: Any) -> JobRequest:
    request = JobRequest("test", None, None, None, None, inputs, files, {})
    return replace(request, **more)


def test_a_script_becomes_executable() -> None:
    script = InputFile("run.sh", content="#!/bin/sh\n")
    prepared = _ADAPTER.prepare(_request({"argv": ["./run.sh", "5"]}, script))
    assert prepared.argv == ("./run.sh", "5")
    assert prepared.files == (replace(script, executable=True),)
    assert prepared.task == "run"


def test_environment_and_output() -> None:
    inputs = {"argv": ["env"], "env": {"A": "1", "CRY_ARCH": "mine"}, "output": "./out/a.txt"}
    prepared = _ADAPTER.prepare(_request(inputs, context={"CRY_ARCH": "theirs", "B": "2"}))
    assert prepared.env == {"A": "1", "B": "2", "CRY_ARCH": "mine"}
    assert prepared.output == "out/a.txt"


_STRUCTURE = StructureData(None, (False, False, False), ("H",), ((0.0, 0.0, 0.0),), "H")


@pytest.mark.parametrize(
    ("inputs", "more", "field"),
    [
        ({}, {}, "inputs.argv"),
        ({"argv": []}, {}, "inputs.argv"),
        ({"argv": ["true"] * 1001}, {}, "inputs.argv"),
        ({"argv": "true"}, {}, "inputs.argv"),
        ({"argv": [""]}, {}, "inputs.argv.0"),
        ({"argv": ["true", "a\0b"]}, {}, "inputs.argv.1"),
        ({"argv": ["true", "\ud800"]}, {}, "inputs.argv.1"),
        ({"argv": ["true", "x" * 131_072]}, {}, "inputs.argv.1"),
        ({"argv": ["true", *["x" * 100_000] * 11]}, {}, "inputs.argv"),
        ({"argv": ["true", 1]}, {}, "inputs.argv.1"),
        ({"argv": ["./run.sh"]}, {}, "inputs.argv.0"),
        ({"argv": ["bin/../run.sh"]}, {}, "inputs.argv.0"),
        ({"argv": ["true"], "shell": True}, {}, "inputs.shell"),
        ({"argv": ["true"], "env": {"A=B": "1"}}, {}, "inputs.env.A=B"),
        ({"argv": ["true"], "env": {"A": "\0"}}, {}, "inputs.env.A"),
        (
            {"argv": ["true"], "env": {"CRYSTALMATH_JOB_KEY": "x"}},
            {},
            "inputs.env.CRYSTALMATH_JOB_KEY",
        ),
        ({"argv": ["true"], "output": "../x"}, {}, "inputs.output"),
        ({"argv": ["true"], "output": ".cm/end.json"}, {}, "inputs.output"),
        ({"argv": ["a.sh"]}, {"files": (InputFile("a.sh", content=""),)}, "inputs.argv.0"),
        ({"argv": ["true"]}, {"files": (InputFile("/a", content=""),)}, "files.0.path"),
        ({"argv": ["true"]}, {"task": "relax"}, "task"),
        ({"argv": ["true"]}, {"engine": "emt"}, "engine"),
        ({"argv": ["true"]}, {"model": "x"}, "model"),
        ({"argv": ["true"]}, {"structure": _STRUCTURE}, "structure"),
    ],
)
def test_refusals(inputs: dict[str, Any], more: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        _ADAPTER.prepare(_request(inputs, **more))
    assert caught.value.field == field


def test_description_holds_for_what_is_accepted() -> None:
    schema = _ADAPTER.describe()["parameters"]
    jsonschema.validate({"argv": ["true"], "env": {"A": "1"}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"argv": ["true"], "shell": True}, schema)


def test_verdicts(tmp_path: Path) -> None:
    good = EndReceipt(1, 0, None, "exit", None, 10.0, 12.5, max_rss_kib=2048, cpu_s=1.0)
    verdict = _ADAPTER.judge(tmp_path, good)
    assert verdict.completed
    assert verdict.reason is None
    assert verdict.results == {
        "exit_code": 0,
        "elapsed_s": 2.5,
        "cpu_s": 1.0,
        "max_rss_kib": 2048,
    }
    assert _ADAPTER.judge(tmp_path, replace(good, disk_full=True)).warnings
    bad = _ADAPTER.judge(tmp_path, replace(good, rc=1))
    assert (bad.completed, bad.reason) == (False, "crashed")
    assert _ADAPTER.judge(tmp_path, None).reason == "crashed"
    assert _ADAPTER.progress(tmp_path) is None
    assert _ADAPTER.series(tmp_path) == {}
