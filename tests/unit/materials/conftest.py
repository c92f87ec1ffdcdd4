"""A bench for each test, and one server on loopback for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.material_bench import SearchBench
from support.optimade_server import OptimadeServer, optimade_server


@pytest.fixture(scope="session")
def database() -> Iterator[OptimadeServer]:
    with optimade_server() as server:
        yield server


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., SearchBench]]:
    made: list[SearchBench] = []

    def make(**settings: Any) -> SearchBench:
        root = tmp_path / str(len(made))
        root.mkdir()
        made.append(SearchBench(root, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()
