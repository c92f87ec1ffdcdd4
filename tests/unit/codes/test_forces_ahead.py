"""Engines are told to load when a job that needs them is launched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.forces import task as files
from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.codes.forces.ahead import EnginesAhead
from crystalmath.errors import Overloaded
from crystalmath.services.ports import JobRequest, Launch, Observation, StructureData
from crystalmath.services.ports_pool import Wanted
from support.forces import FakeProvider

CU = StructureData(None, (False, False, False), ("Cu",), ((0.0, 0.0, 0.0),), "Cu")


class Recorder:
    """A runner that only says what it was told."""

    name = "local"

    def __init__(self) -> None:
        self.launched: list[str] = []

    def launch(self, launch: Launch) -> None:
        self.launched.append(launch.key)

    def observe(self, directory: Path, key: str) -> Observation:
        return Observation("vanished")

    def cancel(self, directory: Path, key: str) -> None:
        self.launched.remove(key)


@pytest.fixture
def provider() -> FakeProvider:
    return FakeProvider()


def launch_of(provider: FakeProvider, engine: str, directory: Path) -> Launch:
    request = JobRequest(
        name="a job", task="single_point", engine=engine, model=None, structure=CU,
        inputs={}, files=(), context={},
    )  # fmt: skip
    prepared = ForcesAdapter(provider).prepare(request)
    assert prepared.files[0].content is not None
    (directory / files.INPUT).write_text(prepared.files[0].content)
    return Launch("key", 1, directory, prepared.argv, {})


def test_the_worker_that_the_program_will_ask_for(provider: FakeProvider, tmp_path: Path) -> None:
    wanted: list[Wanted] = []
    runner = Recorder()
    ahead = EnginesAhead(runner, provider, wanted.append)
    ahead.launch(launch_of(provider, "fake", tmp_path))
    assert [(one.environment.engine, one.device) for one in wanted] == [("fake", "cpu")]
    assert wanted[0].model == provider.resolve_model("fake", None)
    assert runner.launched == ["key"]
    assert ahead.observe(tmp_path, "key").phase == "vanished"
    ahead.cancel(tmp_path, "key")
    assert runner.launched == []


def test_an_engine_of_the_program_itself_is_not_announced(
    provider: FakeProvider, tmp_path: Path
) -> None:
    wanted: list[Wanted] = []
    EnginesAhead(Recorder(), provider, wanted.append).launch(launch_of(provider, "emt", tmp_path))
    assert wanted == []


@pytest.mark.parametrize("what", ["pool", "no input", "bad input"])
def test_the_program_is_launched_all_the_same(
    provider: FakeProvider, tmp_path: Path, what: str
) -> None:
    def expect(wanted: Wanted) -> Any:
        raise Overloaded("no room", hint="wait")

    launch = launch_of(provider, "fake", tmp_path)
    if what == "no input":
        (tmp_path / files.INPUT).unlink()
    if what == "bad input":
        (tmp_path / files.INPUT).write_text("{}")
    runner = Recorder()
    EnginesAhead(runner, provider, expect).launch(launch)
    assert runner.launched == ["key"]
