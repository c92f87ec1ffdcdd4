"""The work of the worker processes, done in this one."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import Any

from crystalmath.server.proc import FUNCTIONS


def run_here(function: str, arguments: Mapping[str, Any], deadline_s: float) -> Any:
    """Do what a worker process does: JSON in, JSON out, only what is allowed."""
    assert function in FUNCTIONS
    assert deadline_s > 0
    module, _, name = function.partition(":")
    found = getattr(importlib.import_module(module), name)
    return json.loads(json.dumps(found(**json.loads(json.dumps(arguments)))))
