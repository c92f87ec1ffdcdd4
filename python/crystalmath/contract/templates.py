"""Params and results of ``templates.*``."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from crystalmath.contract.codes import LintFinding
from crystalmath.contract.jobs import CodeName, Context
from crystalmath.contract.rpc import Model, Params

ID_PATTERN: Final = r"^[a-z0-9][a-z0-9_-]{0,63}(/[a-z0-9][a-z0-9_-]{0,63}){0,3}$"

TemplateId = Annotated[str, StringConstraints(max_length=200, pattern=ID_PATTERN)]
"""Words of small letters, digits, ``_`` and ``-``, parted by slashes: never a path elsewhere."""
TemplateKind = Literal["input", "job_script"]
Origin = Literal["shipped", "user"]
ParameterName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Parameters = dict[ParameterName, Any]


class TemplateProblem(Model):
    """Why a template cannot be used."""

    message: str = Field(description="What is wrong.")
    hint: str | None = Field(default=None, description="What to write instead.")
    line: int | None = Field(default=None, description="Of the template, from 1.")


class TemplateRow(Model):
    """A template, or a file that was meant to be one."""

    id: str = Field(description="Its name: the place of its file below the folder of templates.")
    title: str = Field(description="For people; the id where the template cannot be read.")
    code: str | None = Field(
        default=None, description="Whose input it writes; null for job scripts."
    )
    kind: TemplateKind | None = Field(
        default=None, description="What it writes; null where the template cannot be read."
    )
    version: int | None = Field(default=None, description="Rises with every change of it.")
    description: str = Field(default="", description="What it is for.")
    tags: list[str] = Field(default_factory=list, description="Words to find it by.")
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description="JSON schema of `parameters`, in the order of the template. Beside the words "
        "of JSON schema a parameter has `x-type` (string, text, int, float, bool, choice, "
        "structure or file) and may have `x-unit`.",
    )
    renders: list[str] = Field(
        default_factory=list, description="Names of the files that it writes, as it has them."
    )
    lint: str | None = Field(default=None, description="What checks the files that it writes.")
    origin: Origin = Field(description="Of the program, or of your own folder.")
    shadowed: bool = Field(
        default=False,
        description="One of your own has the same id and is used; this one with `origin` only.",
    )
    problem: TemplateProblem | None = Field(
        default=None, description="Why it cannot be used; null where it can."
    )


class ListTemplatesParams(Params):
    """Which templates."""

    code: CodeName | None = Field(default=None, description="Only those of this code.")


class TemplatesMeta(Model):
    total: int = Field(description="Number of rows.")
    folder: str = Field(description="Your own folder of templates; it need not exist.")


class GetTemplateParams(Params):
    """One template."""

    id: TemplateId = Field(description="See `templates.list`.")
    origin: Origin | None = Field(
        default=None, description="Your own one, if there is one, else that of the program."
    )


class TemplateSource(Model):
    """A template with its text."""

    template: TemplateRow = Field(description="What it is.")
    text: str = Field(description="The file: front matter and body.")


class RenderParams(Params):
    """A template and what it is filled in with."""

    id: TemplateId = Field(description="See `templates.list`.")
    parameters: Parameters = Field(
        default_factory=dict, description="By name; the rest has the defaults of the template."
    )
    origin: Origin | None = Field(
        default=None, description="Your own one, if there is one, else that of the program."
    )
    context: Context = Field(
        default_factory=dict,
        description="Variables of the client's environment that codes read, like ESPRESSO_PSEUDO.",
    )


class RenderedFile(Model):
    path: str = Field(description="Its name, relative to the job directory.")
    content: str = Field(description="Its text.")


class RenderedFinding(LintFinding):
    """Something to say about one line of a rendered file."""

    path: str = Field(description="Which of the files.")


class TemplateUsed(Model):
    """Which template it was."""

    id: str = Field(description="Its name.")
    version: int = Field(description="Its version.")
    code: str | None = Field(
        default=None, description="Whose input it writes; null for job scripts."
    )
    kind: TemplateKind = Field(description="What it writes.")
    origin: Origin = Field(description="Of the program, or of your own folder.")
    sha256: str = Field(description="Of its file.")


class RenderResult(Model):
    """The files that a template gives."""

    files: list[RenderedFile] = Field(description="In the order of the template.")
    warnings: list[str] = Field(
        default_factory=list,
        description="What to look at first; also what the linter says, with file and line.",
    )
    findings: list[RenderedFinding] = Field(
        default_factory=list, description="What the linter says, for marks in the text."
    )
    parameters: dict[str, Any] = Field(
        description="What it was filled in with, defaults among them."
    )
    template: TemplateUsed = Field(description="Which template it was.")


class SaveTemplateParams(Params):
    """A template for your own folder: a text, or another template with other defaults."""

    id: TemplateId = Field(description="Its name; `folder/name` makes the folder.")
    text: str | None = Field(
        default=None,
        max_length=1024 * 1024,
        description="The file: front matter and body. Its `id` must be this one.",
    )
    source: TemplateId | None = Field(
        default=None, description="The template to take over, with `parameters` as defaults."
    )
    origin: Origin | None = Field(default=None, description="Which one, where `source` is two.")
    title: str | None = Field(
        default=None, min_length=1, max_length=100, description="Of the new one, with `source`."
    )
    parameters: Parameters = Field(
        default_factory=dict, description="The new defaults by name, with `source`."
    )
    replace: bool = Field(default=False, description="Replace a template that is there.")

    @model_validator(mode="after")
    def _exactly_one(self) -> SaveTemplateParams:
        if (self.text is None) == (self.source is None):
            raise ValueError("give exactly one of text, source")
        if self.source is None and (self.parameters or self.title or self.origin):
            raise ValueError("title, parameters and origin go with source")
        return self


class SaveTemplateResult(Model):
    """What was saved."""

    template: TemplateRow = Field(description="What it is now.")
    path: str = Field(description="Its file.")
    replaced: bool = Field(description="Whether it took the place of another.")
    warnings: list[str] = Field(
        default_factory=list, description="What does not work yet, like defaults that do not fit."
    )
