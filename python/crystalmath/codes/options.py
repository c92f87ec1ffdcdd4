"""From the ``inputs`` of a request to a code's own model. Shared by the adapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from crystalmath.contract.refusals import faults
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import JobRequest


class Options(BaseModel):
    """Parent of every model of ``inputs``: unknown members are refused, values are immutable.

    Attributes
    ----------
    FORMS
        Pattern of a member → what a text that does not fit it has to be.
    """

    FORMS: ClassVar[Mapping[str, str]] = {}
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", allow_inf_nan=False)


M = TypeVar("M", bound=BaseModel)


def refuse_engine(request: JobRequest, code: str) -> None:
    """Refuse an engine or a model for a code that has none, rather than ignore it.

    Raises
    ------
    InvalidParams
    """
    for field, value in (("engine", request.engine), ("model", request.model)):
        if value is not None:
            raise InvalidParams(
                f"the code {code} takes no {field}", hint="leave it out", field=field
            )


def describe_program(
    model: type[Options], tasks: Sequence[str], executable: str | None, missing: str
) -> dict[str, Any]:
    """Describe a code that runs a program of the machine, whose tasks share one model of inputs.

    Parameters
    ----------
    executable
        The program, None where it was not found.
    missing
        What is said then.
    """
    schema = model.model_json_schema()
    described: dict[str, Any] = {
        "parameters": schema,
        "parameters_by_task": dict.fromkeys(tasks, schema),
        "executable": executable,
        "engines": [],
    }
    if executable is None:
        described |= {"problem": missing, "absent": True}
    return described


def nearest(member: str, names: Sequence[str]) -> str:
    """Say which of the names may have been meant, and what lists all of them."""
    all_of_them = "`codes.list` says what the code takes"
    if "." in member:  # of a part, whose names these are not
        return all_of_them
    parts = [name for name in names if member.lower() in name.lower() and len(member) > 2]
    like = [*parts, *get_close_matches(member, names, n=3, cutoff=0.6)]
    meant = list(dict.fromkeys(like))[:3]
    if not meant:
        return all_of_them
    head = ", ".join(meant[:-1])
    return f"was {head + ' or ' if head else ''}{meant[-1]} meant? {all_of_them}"


def parse_options(model: type[M], inputs: Mapping[str, Any], at: str = "inputs") -> M:
    """Validate ``inputs``, or the member of them at the path ``at``.

    Raises
    ------
    InvalidParams
        Naming the first member at fault, e.g. ``inputs.argv.0``, and how many more there are.
    """
    try:
        return model.model_validate(dict(inputs))
    except ValidationError as error:
        found = faults(error, inputs, getattr(model, "FORMS", {}))
        member, sentence = found[0]
        path = f"{at}.{member}" if member else at
        more = len(found) - 1
        unknown = any(detail["type"] == "extra_forbidden" for detail in error.errors()[:1])
        hint = nearest(member, list(model.model_fields)) if unknown else None
        raise InvalidParams(
            f"{path}: {sentence}" + (f" (and {more} more)" if more else ""),
            hint=hint,
            field=path,
        ) from None
