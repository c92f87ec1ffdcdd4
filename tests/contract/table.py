"""The method table and the vectors, as the tests of this folder read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from crystalmath.api import method_table
from gen_contract.golden import file_name

ROOT: Final = Path(__file__).resolve().parents[2]
FIXTURES: Final = ROOT / "tests" / "fixtures"

TABLE: Final = method_table()
BUILT: Final = [method for method in TABLE.values() if method.planned is None]


def vector(name: str) -> dict[str, Any]:
    """The golden vector of a method, as it lies in the repository."""
    path = FIXTURES / "golden" / file_name(name)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
