# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.crystalmath]
# kind = "engine"
# host = true
# ///
"""The calculator that the benchmark's other rows serve, behind the generic ASE adapter."""

import sys
from typing import Any

MODELS = {
    "served": {
        "source": "builtin",
        "properties": ["energy", "free_energy", "forces", "stress"],
    },
}


def setup(_model: str, kind: str, folder: str) -> Any:
    """Make the calculator.

    Parameters
    ----------
    kind
        As the benchmark names it.
    folder
        Of the benchmark.
    """
    sys.path.insert(0, folder)
    from workers import make  # type: ignore[import-not-found]

    return make(kind)
