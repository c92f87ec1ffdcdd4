"""The hash of what a step computes from, and which documents are read for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from crystalmath.services.ports_workflows import Use
from crystalmath.services.workflows.inputs import MissingPart, arguments_of, input_hash


class _Counting:
    """A store that notes what is read of it."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def artefact(self, key: str) -> str:
        self.read.append(key)
        return '{"levels":[1.0,2.0],"other":3.0}'


def _step(name: str, output: str | None, **uses: Use) -> Any:
    return SimpleNamespace(
        name=name, output_hash=output, uses=uses, kind="computation", action={"given": {}}
    )


def test_a_whole_document_is_not_read_for_its_hash() -> None:
    store: Any = _Counting()
    steps = [_step("bands", "a1"), _step("report", None, computed=Use(step="bands"))]
    found = input_hash(steps[1], steps, store, "1")
    assert store.read == []
    assert arguments_of(steps[1].uses, steps, store)["computed"]["other"] == 3.0
    other = [_step("bands", "b2"), steps[1]]
    assert input_hash(steps[1], other, store, "1") != found
    assert input_hash(steps[1], steps, store, "2") != found


def test_a_part_has_the_hash_of_its_content() -> None:
    store: Any = _Counting()
    report = _step("report", None, levels=Use(step="bands", path=("levels",)))
    found = {input_hash(report, [_step("bands", key), report], store, "1") for key in ("a1", "b2")}
    assert len(found) == 1
    assert store.read == ["a1", "b2"]
    absent = _step("report", None, levels=Use(step="bands", path=("nothing",)))
    with pytest.raises(MissingPart, match="without giving nothing"):
        input_hash(absent, [_step("bands", "a1")], store, "1")
