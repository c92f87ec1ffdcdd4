"""Filling in a template: a worker process does it, and comes back for what it cannot make itself.

A template may ask for a deck or for the head of a job script in the middle of its text. The worker
then answers what it needs; that is made here, and the worker begins again with it at hand. Used by
``services.templates``, and for submissions by ``services.template_inputs``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from crystalmath.contract.jobs import Context
from crystalmath.contract.templates import (
    Origin,
    RenderedFile,
    RenderedFinding,
    RenderResult,
    TemplateUsed,
)
from crystalmath.errors import InputRejected
from crystalmath.services.codes import LINT_S, Linter
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_templates import Asked, Maker

RENDER: Final = "crystalmath.templates.render:render_template"
RENDER_S: Final = 50.0
"""Seconds for one pass; the template itself is given less, and stops with a reason."""
MAX_MADE: Final = 16
"""How often one template may ask for something."""
_GROUPS: Final = ("options", "resources")
"""Under what a maker's arguments stand in its complaints."""
_OPTION: Final = re.compile(rf"`(?:{'|'.join(_GROUPS)})\.(\w+)(?=[`.:])")


@dataclass(frozen=True, slots=True)
class Rendering:
    """What is needed to fill in a template.

    Attributes
    ----------
    folder
        The user's own templates.
    makers
        Name in a template → what makes it.
    linters
        Name in the front matter → what checks the files.
    """

    run: RunWorker
    folder: str
    makers: Mapping[str, Maker]
    linters: Mapping[str, Linter]

    def render(
        self,
        template: str,
        parameters: Mapping[str, Any],
        origin: Origin | None = None,
        *,
        context: Context | None = None,
        examples: bool = True,
    ) -> RenderResult:
        """Fill in a template and lint what it gives.

        Parameters
        ----------
        context
            Variables of the environment of whoever asks, that codes read.
        examples
            Take the example of the template for a structure that is not given, with a warning;
            refuse otherwise.

        Raises
        ------
        NotFound
            There is no such template.
        InputRejected
            A parameter is at fault, or the template, then with its line.
        """
        warnings: list[str] = []
        made: list[dict[str, Any]] = []
        where = {str(name): value for name, value in (context or {}).items()}
        asked = {"folder": self.folder, "id": template, "origin": origin, "examples": examples}
        while True:
            given = {**asked, "parameters": dict(parameters), "made": made}
            found = self.run(RENDER, given, RENDER_S)
            need = found.get("needs")
            if need is None:
                break
            if len(made) >= MAX_MADE:
                raise InputRejected(
                    f"the template asks for more than {MAX_MADE} things to be made",
                    hint="ask for fewer, or split it",
                    field="id",
                )
            made.append(self._make(need, where, warnings))
        return self._result(found, warnings)

    def _make(
        self, need: Mapping[str, Any], context: Mapping[str, str], warnings: list[str]
    ) -> dict[str, Any]:
        try:
            thing = self.makers[need["maker"]](Asked(need["arguments"], context))
        except InputRejected as error:
            raise _at_parameter(error, need) from None
        warnings += [_of_template(said, need["parameters"]) for said in thing.warnings]
        return {
            "maker": need["maker"],
            "arguments": need["arguments"],
            "value": dict(thing.value),
        }

    def _result(self, found: Mapping[str, Any], made: list[str]) -> RenderResult:
        files = [RenderedFile(**file) for file in found["files"]]
        findings = self._lint(found["lint"], files)
        said = [f"{f.path} line {f.line}: {f.message}" for f in findings]
        return RenderResult(
            files=files,
            warnings=list(dict.fromkeys([*found["warnings"], *made, *said])),
            findings=findings,
            parameters=found["parameters"],
            template=TemplateUsed(**found["template"]),
        )

    def _lint(self, name: str | None, files: list[RenderedFile]) -> list[RenderedFinding]:
        if name is None:
            return []
        linter = self.linters[name]
        return [
            RenderedFinding(path=file.path, **finding)
            for file in files
            if len(files) == 1 or linter.takes(file.path)
            for finding in self.run(linter.function, {"text": file.content}, LINT_S)
        ]


def _at_parameter(error: InputRejected, need: Mapping[str, Any]) -> InputRejected:
    """The complaint of a maker, at the parameter of the same name, else at the template's line."""
    parts = (error.field or "").split(".")
    if parts[0] in _GROUPS:
        parts = parts[1:]
    message = _of_template(error.message, need["parameters"])
    hint = error.hint and _of_template(error.hint, need["parameters"])
    if parts[0] == "context":
        return type(error)(message, hint=hint, field=error.field)
    for i, part in enumerate(parts):
        if part in need["parameters"]:
            field = ".".join(["parameters", *parts[i:]])
            if message.startswith(f"{error.field}: "):
                message = field + message.removeprefix(str(error.field))
            return type(error)(message, hint=hint, field=field)
    return type(error)(f"line {need['line']} of the template: {message}", hint=hint, field="id")


def _of_template(text: str, parameters: Sequence[str]) -> str:
    """What a maker calls an option is a parameter, where the template has one of that name."""

    def named(match: re.Match[str]) -> str:
        return f"`parameters.{match[1]}" if match[1] in parameters else match[0]

    return _OPTION.sub(named, text)
