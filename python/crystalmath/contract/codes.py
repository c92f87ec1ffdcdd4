"""Params and results of ``codes.*``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from crystalmath.contract.jobs import AbsolutePath, CodeName, check_text
from crystalmath.contract.rpc import Model, Params


class CodeInfo(Model):
    """What one code can do here."""

    name: str = Field(description="Give it as `code`.")
    title: str = Field(description="For people.")
    tasks: list[str] = Field(description="What it can do.")
    engines: list[str] = Field(default_factory=list, description="Force engines it can use.")
    executable: str | None = Field(default=None, description="Where its program was found.")
    usable: bool = Field(description="Whether a job can run now.")
    problem: str | None = Field(default=None, description="Why not.")
    parameters: dict[str, Any] = Field(
        description="JSON schema of `inputs`; of the task that takes most, where tasks differ."
    )
    parameters_by_task: dict[str, dict[str, Any]] = Field(
        description="JSON schema of `inputs` of each of the tasks."
    )


def _check_one(path: str | None, text: str | None) -> None:
    if (path is None) == (text is None):
        raise ValueError("give exactly one of path, text")


class CodesMeta(Model):
    total: int = Field(description="Number of codes.")


class LintParams(Params):
    """An input of a code: a path or a text."""

    path: AbsolutePath | None = Field(default=None, description="A file on this machine.")
    text: Annotated[str, AfterValidator(check_text)] | None = Field(
        default=None, description="The input itself, at most 8 MiB."
    )
    code: CodeName | None = Field(
        default=None, description="Whose input it is; told by the ending of the file, like `.d12`."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> LintParams:
        _check_one(self.path, self.text)
        return self


class LintFinding(Model):
    """Something to say about one line."""

    line: int = Field(description="Counted from 1.")
    column: int = Field(description="Counted from 1.")
    severity: Literal["error", "warning"] = Field(
        description="`error`: it cannot run, or would compute something else."
    )
    code: str = Field(description="Short name of the rule.")
    message: str = Field(description="What is wrong.")
    hint: str = Field(description="What to write instead; empty when there is no telling.")


class LintMeta(Model):
    code: str = Field(description="The code whose rules were used.")
    errors: int = Field(description="Number of errors.")
    warnings: int = Field(description="Number of warnings.")


class ReadOutputParams(Params):
    """An output: a path or a text."""

    path: AbsolutePath | None = Field(
        default=None, description="An output on this machine, or the directory that holds one."
    )
    text: Annotated[str, AfterValidator(check_text)] | None = Field(
        default=None, description="The output itself, at most 8 MiB."
    )
    code: CodeName | None = Field(
        default=None, description="Which code it is of; recognised when left out."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> ReadOutputParams:
        _check_one(self.path, self.text)
        return self


class ReadOutputResult(Model):
    """The verdict on one output, without a job and without an exit code."""

    code: str = Field(description="The code that it is of.")
    task: str = Field(description="What was calculated.")
    formula: str | None = Field(default=None, description="Reduced formula.")
    n_atoms: int | None = Field(default=None, description="Atoms in the cell.")
    completed: bool = Field(description="Whether a job with this output would be COMPLETED.")
    reason: str | None = Field(default=None, description="Why not, as for a failed job.")
    message: str | None = Field(default=None, description="One sentence about the end.")
    hint: str | None = Field(default=None, description="What to do next.")
    converged: bool | None = Field(default=None, description="Whether the calculation converged.")
    energy_ev: float | None = Field(default=None, description="Final total energy in eV.")
    results: dict[str, Any] = Field(default_factory=dict, description="The results document.")
    warnings: list[str] = Field(default_factory=list, description="What a referee would ask about.")
