"""The template of a submission: it becomes files, as if the user had written them.

Handed to ``services.submission`` by ``api``. What was filled in stays with the job, so that a rerun
has the same files even when the template has changed since.
"""

from __future__ import annotations

from dataclasses import dataclass

from crystalmath.contract.jobs import FileIn, SubmitParams
from crystalmath.errors import InputRejected, InvalidParams, NotFound
from crystalmath.services.template_rendering import Rendering


@dataclass(frozen=True, slots=True)
class SubmittedTemplates:
    """Implements ``TemplateFiller``."""

    rendering: Rendering

    def __call__(self, params: SubmitParams) -> tuple[SubmitParams, tuple[str, ...]]:
        """See ``TemplateFiller``."""
        name = params.template
        if name is None:
            if params.template_parameters:
                raise InvalidParams(
                    "there are parameters of a template and no template",
                    hint="name it: `template`",
                    field="template_parameters",
                )
            return params, ()
        try:
            made = self.rendering.render(
                name, params.template_parameters, context=params.context, examples=False
            )
        except NotFound as error:
            raise InvalidParams(error.message, hint=error.hint, field="template") from error
        except InputRejected as error:
            message, field = error.message, _here(error.field)
            if message.startswith(f"{error.field}: "):
                message = field + message.removeprefix(str(error.field))
            hint = error.hint and _of_submission(error.hint)
            raise type(error)(_of_submission(message), hint=hint, field=field) from error
        code = made.template.code
        if code is not None and code != params.code:
            raise InvalidParams(
                f"the template {name} is for the code {code}, not for {params.code}",
                hint=f"submit it with `code: {code}`",
                field="template",
            )
        files = [FileIn(path=file.path, content=file.content) for file in made.files]
        return params.model_copy(update={"files": [*params.files, *files]}), tuple(
            _of_submission(warning) for warning in made.warnings
        )


def _of_submission(text: str) -> str:
    """What a rendering calls its parameters is a member of a submission."""
    return text.replace("`parameters.", "`template_parameters.")


def _here(field: str | None) -> str:
    """Where the fields of a rendering stand in a submission."""
    first, dot, rest = (field or "id").partition(".")
    if first == "context":
        return f"{first}{dot}{rest}"
    return "template" if first == "id" else f"template_{first}{dot}{rest}"
