"""``codes.*``: which codes are here and what each can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crystalmath.contract.codes import CodeInfo, CodesMeta
from crystalmath.contract.rpc import Listing, NoParams, rpc
from crystalmath.services.ports import CodeAdapter


class CodesService:
    """The code adapters that were handed in."""

    def __init__(self, codes: Mapping[str, CodeAdapter]) -> None:
        self._codes = codes

    @rpc(read_only=True)
    def list(self, params: NoParams) -> Listing[CodeInfo, CodesMeta]:
        """List the codes with their tasks, parameters and executables."""
        rows = []
        for name in sorted(self._codes):
            adapter = self._codes[name]
            facts = adapter.describe()
            rows.append(
                CodeInfo(
                    name=name,
                    title=adapter.title,
                    tasks=list(adapter.tasks),
                    engines=usable_engines(facts),
                    executable=facts.get("executable"),
                    usable=facts.get("problem") is None,
                    problem=facts.get("problem"),
                    parameters=facts["parameters"],
                )
            )
        return Listing(data=rows, meta=CodesMeta(total=len(rows)))


def usable_engines(facts: Mapping[str, Any]) -> list[str]:
    """Names of the engines that an adapter's description calls available."""
    return [engine["name"] for engine in facts.get("engines", ()) if engine["available"]]
