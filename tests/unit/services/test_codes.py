"""What the adapters say of themselves fits the contract."""

from __future__ import annotations

import jsonschema
import pytest

from crystalmath.codes.command.adapter import CommandAdapter
from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.contract.rpc import NoParams
from crystalmath.services.codes import CodesService
from crystalmath.services.ports import CodeAdapter


def test_list_has_every_code_with_the_engines_that_can_be_used() -> None:
    adapters: tuple[CodeAdapter, ...] = (ForcesAdapter(), CommandAdapter())
    listing = CodesService({a.name: a for a in adapters}).list(NoParams())
    assert [row.name for row in listing.data] == ["command", "forces"]
    assert [row.engines for row in listing.data] == [[], ["emt", "lj"]]
    assert listing.meta.total == 2


@pytest.mark.parametrize("adapter", [CommandAdapter(), EspressoAdapter(), ForcesAdapter()])
def test_every_task_has_its_parameters(adapter: CodeAdapter) -> None:
    (row,) = CodesService({adapter.name: adapter}).list(NoParams()).data
    assert list(row.parameters_by_task) == row.tasks
    for schema in row.parameters_by_task.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_a_code_with_a_problem_is_not_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = CommandAdapter()
    facts = {"parameters": {}, "parameters_by_task": {}, "problem": "it is gone"}
    monkeypatch.setattr(adapter, "describe", lambda: facts)
    (row,) = CodesService({"command": adapter}).list(NoParams()).data
    assert (row.usable, row.problem) == (False, "it is gone")
