"""``codes.*``: which codes are here, what each can do, and what an output says."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crystalmath.contract.codes import CodeInfo, CodesMeta, ReadOutputParams, ReadOutputResult
from crystalmath.contract.rpc import Listing, NoParams, rpc
from crystalmath.errors import InputRejected, OutputUnreadable
from crystalmath.services.job_import import check_readable, chosen
from crystalmath.services.ports import CodeAdapter, Reading


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
                    parameters_by_task=facts["parameters_by_task"],
                )
            )
        return Listing(data=rows, meta=CodesMeta(total=len(rows)))

    @rpc(errors=(InputRejected, OutputUnreadable), read_only=True, deadline_s=120.0)
    def read_output(self, params: ReadOutputParams) -> ReadOutputResult:
        """Read an output and judge it, without a job.

        The code is recognised from the text. No exit code is known, so only an output that is
        complete in itself is judged completed.
        """
        if params.path is not None:
            path = Path(params.path)
            check_readable(path)
            return self._read(path, params.code, str(path))
        with tempfile.TemporaryDirectory(prefix="crystalmath-read-") as folder:
            path = Path(folder) / "output"
            path.write_text(params.text or "", encoding="utf-8", newline="")
            return self._read(path, params.code, "the text")

    def _read(self, path: Path, code: str | None, name: str) -> ReadOutputResult:
        for adapter in chosen(self._codes, code):
            reading = adapter.read(path)
            if reading is not None:
                return _result(adapter.name, reading)
        raise OutputUnreadable(
            f"{name} is no output of {code or 'a code that is known here'}",
            hint=f"codes here: {', '.join(sorted(self._codes))}",
            field="path" if name != "the text" else "text",
        )


def usable_engines(facts: Mapping[str, Any]) -> list[str]:
    """Names of the engines that an adapter's description calls available."""
    return [engine["name"] for engine in facts.get("engines", ()) if engine["available"]]


def _result(code: str, reading: Reading) -> ReadOutputResult:
    verdict = reading.verdict
    return ReadOutputResult(
        code=code,
        task=reading.task,
        formula=reading.formula,
        n_atoms=reading.n_atoms,
        completed=verdict.completed,
        reason=verdict.reason,
        message=verdict.message,
        hint=verdict.hint,
        converged=verdict.converged,
        energy_ev=verdict.energy_ev,
        results=dict(verdict.results),
        warnings=list(verdict.warnings),
    )
