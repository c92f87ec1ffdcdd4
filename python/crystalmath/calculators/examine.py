"""The program of ``forces.doctor``: checks an engine over one data channel.

Reads what ``forces.attach`` gave as JSON from its standard input; writes the checks as JSON, and
the structure whose numbers are compared at each later start.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from crystalmath.errors import CrystalMathError, WorkerDied, WorkerTimeout
from crystalmath.forces.connection import Connection
from crystalmath.forces.doctor import examine, reference
from crystalmath.forces.lean import LeanCalculator
from crystalmath.forces.pool.knock import knock

_HANG_S = 900.0


class OneWay:
    """The one channel that the daemon has given."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        self._way = question["way"]
        self._identity = question["identity"]
        self.parameters: Mapping[str, Any] = {"engine": self._identity["engine"]}

    def connect(self) -> Sequence[Connection]:
        """Use it; it cannot be used twice."""
        engine = self._identity["engine"]
        sock = knock(self._way["path"], self._way["token"], engine=engine)
        return [Connection(sock, self._way["capabilities"], self._identity, _Watch(engine))]

    def again(self, _error: CrystalMathError) -> bool:
        """Never: what breaks the channel is a finding."""
        return False

    def close(self) -> None:
        """Nothing belongs to it."""


class _Watch:
    def __init__(self, engine: str) -> None:
        self._engine = engine

    def look(self, waited_s: float) -> None:
        if waited_s > _HANG_S:
            raise WorkerTimeout(f"the worker of {self._engine} gives no answer")

    def ended(self) -> CrystalMathError:
        return WorkerDied(
            f"the worker of {self._engine} died", hint="`crystalmath engines workers` says how"
        )


def findings(lean: LeanCalculator) -> dict[str, Any]:
    """Check the numbers of an engine, as far as its worker lives."""
    checks: list[Mapping[str, Any]] = []
    kept = None
    try:
        for check in examine(lean):
            checks.append(check)  # noqa: PERF402 - those before a failure are kept
        kept = reference(lean)
    except CrystalMathError as error:
        checks.append({"name": "worker", "verdict": "failed", "detail": error.message})
    return {"checks": checks, "reference": kept}


def main() -> int:
    """Examine what standard input names."""
    with LeanCalculator(OneWay(json.load(sys.stdin)), allow_toy_elements=True) as lean:
        json.dump(findings(lean), sys.stdout, allow_nan=False, default=float)
    return 0


if __name__ == "__main__":
    sys.exit(main())
