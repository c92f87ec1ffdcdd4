from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service_fakes import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Job services on a fresh database, with fake code and runner."""
    made = Bench(tmp_path)
    yield made
    made.close()
