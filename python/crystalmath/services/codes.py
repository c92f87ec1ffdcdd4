"""``codes.*``: which codes are here, what each can do, and what an output says."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

from crystalmath.contract.codes import (
    CodeInfo,
    CodesMeta,
    LintFinding,
    LintMeta,
    LintParams,
    ReadOutputParams,
    ReadOutputResult,
)
from crystalmath.contract.rpc import Listing, NoParams, rpc
from crystalmath.errors import InputRejected, InvalidParams, OutputUnreadable
from crystalmath.services.job_import import check_readable, chosen
from crystalmath.services.ports import CodeAdapter, Reading, RunWorker

LINT_S: Final = 50.0
"""Seconds for one input, below the deadline of the method."""


@dataclass(frozen=True, slots=True)
class Linter:
    """What judges the inputs of a code.

    Attributes
    ----------
    endings
        Of the files that are its inputs.
    names
        Whole names of such files, for a code whose inputs have fixed names.
    function
        What a worker process runs, with ``path`` and ``text``; it returns findings.
    """

    endings: tuple[str, ...]
    function: str
    names: tuple[str, ...] = ()

    def takes(self, path: str) -> bool:
        """Whether a file is one of its inputs, by its name."""
        file = PurePath(path)
        return file.suffix.lower() in self.endings or file.name in self.names


class CodesService:
    """The code adapters that were handed in.

    Parameters
    ----------
    linters
        Code → what judges its inputs.
    run
        Runs a function in a worker process.
    """

    def __init__(
        self,
        codes: Mapping[str, CodeAdapter],
        linters: Mapping[str, Linter] | None = None,
        run: RunWorker | None = None,
    ) -> None:
        self._codes = codes
        self._linters = linters or {}
        self._run = run

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

    @rpc(errors=(InputRejected,), lane="proc", read_only=True, deadline_s=60.0)
    def lint(self, params: LintParams) -> Listing[LintFinding, LintMeta]:
        """Find what is wrong with an input of a code, line by line, without a job."""
        name = self._linter_of(params)
        run = self._run
        assert run is not None, "linters come with a way to run them"
        given = {"path": params.path, "text": params.text}
        rows = [
            LintFinding(**finding) for finding in run(self._linters[name].function, given, LINT_S)
        ]
        errors = sum(row.severity == "error" for row in rows)
        meta = LintMeta(code=name, errors=errors, warnings=len(rows) - errors)
        return Listing(data=rows, meta=meta)

    def _linter_of(self, params: LintParams) -> str:
        known = ", ".join(sorted(self._linters))
        if params.code is not None:
            if params.code not in self._linters:
                raise InvalidParams(
                    f"inputs of {params.code} are not linted",
                    hint=f"inputs of {known} are; a dry run of `jobs.submit` checks others",
                    field="code",
                )
            return params.code
        for name, linter in self._linters.items():
            if params.path is None or linter.takes(params.path):
                return name
        raise InvalidParams(
            f"the name {Path(params.path or '').name!r} does not say whose input it is",
            hint=f"give `code`: {known}",
            field="code",
        )

    @rpc(errors=(InputRejected, OutputUnreadable), lane="proc", read_only=True, deadline_s=120.0)
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
