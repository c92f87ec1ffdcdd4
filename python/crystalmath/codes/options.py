"""From the ``inputs`` of a request to a code's own model. Shared by the adapters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from crystalmath.errors import InvalidParams
from crystalmath.services.ports import JobRequest

M = TypeVar("M", bound=BaseModel)


class Options(BaseModel):
    """Parent of every model of ``inputs``: unknown members are refused, values are immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


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


def parse_options(model: type[M], inputs: Mapping[str, Any]) -> M:
    """Validate ``inputs``.

    Raises
    ------
    InvalidParams
        Naming the first member at fault, e.g. ``inputs.argv.0``, and how many more there are.
    """
    try:
        return model.model_validate(dict(inputs))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        first, more = faults[0], len(faults) - 1
        path = ".".join(["inputs", *(str(part) for part in first["loc"])])
        known = ", ".join(model.model_fields)
        raise InvalidParams(
            f"{path}: {first['msg']}" + (f" (and {more} more)" if more else ""),
            hint=f"inputs are: {known}" if first["type"] == "extra_forbidden" else None,
            field=path,
        ) from None
