"""Parameters of a template: what each may be, and whether a value is that. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from crystalmath.contract.jobs import StructureIn
from crystalmath.contract.refusals import faults
from crystalmath.errors import InvalidParams
from crystalmath.services.submission import check_source

TYPES: Final = ("string", "text", "int", "float", "bool", "choice", "structure", "file")
MAX_STRING: Final = 1000
MAX_TEXT: Final = 1024 * 1024
_NO_STRING: Final = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]")
_EXACT: Final = 2**53
"""Whole numbers beyond it change when JSON is read by others."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One place to fill in.

    Attributes
    ----------
    default
        None where there is none; then ``required`` says whether a value has to be given.
    minimum, maximum
        Of the value; of the length of a string or text.
    """

    name: str
    type: str
    help: str
    default: Any = None
    required: bool = True
    minimum: float | None = None
    maximum: float | None = None
    unit: str | None = None
    choices: tuple[str, ...] = ()

    def check(self, value: Any) -> Any:
        """Return the value as the template gets it.

        Raises
        ------
        InvalidParams
            Naming what it has to be; ``field`` is the name, with the member of a structure.
        """
        if value is None and not self.required and self.default is None:
            return None
        return _CHECKS[self.type](self, value)

    def refuse(self, sentence: str, hint: str | None = None) -> InvalidParams:
        """The complaint about a value."""
        return InvalidParams(f"{self.name}: {sentence}", hint=hint, field=self.name)

    def bounds(self, value: float) -> None:
        """Refuse a number beyond the bounds; raises ``InvalidParams``."""
        unit = f" {self.unit}" if self.unit else ""
        if self.minimum is not None and value < self.minimum:
            raise self.refuse(f"must be at least {self.minimum:g}{unit}")
        if self.maximum is not None and value > self.maximum:
            raise self.refuse(f"must be at most {self.maximum:g}{unit}")

    def schema(self) -> dict[str, Any]:
        """The JSON schema of a value."""
        found: dict[str, Any] = {"description": self.help, "x-type": self.type}
        if self.type == "structure":
            found |= {k: v for k, v in StructureIn.model_json_schema().items() if k != "title"}
            found["description"] = self.help
        else:
            found["type"] = _JSON_TYPES[self.type]
        low, high = _BOUNDS.get(self.type, (None, None))
        if low is not None and self.minimum is not None:
            found[low] = self.minimum
        if high is not None and (maximum := self._most()) is not None:
            found[high] = maximum
        if self.choices:
            found["enum"] = list(self.choices)
        if self.unit is not None:
            found["x-unit"] = self.unit
        if self.default is not None:
            found["default"] = self.default
        return found

    def _most(self) -> float | None:
        if self.maximum is not None:
            return self.maximum
        return {"string": MAX_STRING, "text": MAX_TEXT}.get(self.type)


def schema(parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """The JSON schema of all of them, in their order."""
    return {
        "type": "object",
        "properties": {name: one.schema() for name, one in parameters.items()},
        "required": [name for name, one in parameters.items() if one.required],
        "additionalProperties": False,
    }


def fill(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for each parameter; defaults count as given.

    Raises
    ------
    InvalidParams
        A name that is not known, a value that is missing or does not fit.
    """
    for name in given:
        if name not in parameters:
            raise InvalidParams(
                f"the template has no parameter {name}",
                hint=f"it has: {', '.join(parameters) or 'none'}",
                field=f"parameters.{name}",
            )
    found = {}
    for name, one in parameters.items():
        if name not in given and one.required:
            raise InvalidParams(f"{name}: is missing: {one.help}", field=f"parameters.{name}")
        try:
            found[name] = one.check(given.get(name, one.default))
        except InvalidParams as error:
            field = f"parameters.{error.field}"
            raise InvalidParams(error.message, hint=error.hint, field=field) from None
    return found


def _text(one: Parameter, value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise one.refuse("must be text")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise one.refuse("must be valid Unicode")
    if one.minimum is not None and len(value) < one.minimum:
        must = "must not be empty" if one.minimum == 1 else f"needs {one.minimum:g} characters"
        raise one.refuse(must)
    limit = most if one.maximum is None else int(one.maximum)
    if len(value) > limit:
        raise one.refuse(f"must have at most {limit} characters")
    return value


def _check_string(one: Parameter, value: Any) -> str:
    found = _text(one, value, MAX_STRING)
    if _NO_STRING.search(found):
        raise one.refuse("must be one line without control characters")
    return found


def _check_block(one: Parameter, value: Any) -> str:
    found = _text(one, value, MAX_TEXT).replace("\r\n", "\n").replace("\r", "\n")
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", found):
        raise one.refuse("must hold no control characters")
    return found


def _check_int(one: Parameter, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise one.refuse("must be a whole number")
    if abs(value) > _EXACT:
        raise one.refuse("must be a number of fewer digits")
    one.bounds(value)
    return value


def _check_float(one: Parameter, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise one.refuse("must be a number")
    if not math.isfinite(value):
        raise one.refuse("must be a finite number")
    one.bounds(value)
    return float(value)


def _check_bool(one: Parameter, value: Any) -> bool:
    if not isinstance(value, bool):
        raise one.refuse("must be true or false")
    return value


def _check_choice(one: Parameter, value: Any) -> str:
    if value not in one.choices or not isinstance(value, str):
        raise one.refuse(f"must be one of {', '.join(one.choices)}")
    return value


def _check_structure(one: Parameter, value: Any) -> dict[str, Any]:
    try:
        found = StructureIn.model_validate(value)
    except ValidationError as error:
        member, sentence = faults(error, value)[0]
        refused = one.refuse(sentence, hint="give it as {path}, {text, format}, {material}, {job}")
        refused.field = f"{one.name}.{member}" if member else one.name
        raise refused from None
    return found.model_dump(mode="json", exclude_none=True)


def _check_file(one: Parameter, value: Any) -> str:
    path = _text(one, value, 4096)
    if not path.startswith("/") or "\x00" in path or "\n" in path:
        raise one.refuse("must be an absolute path", hint="the daemon has no directory of yours")
    check_source(path, one.name)
    return path


_CHECKS: Final[Mapping[str, Callable[[Parameter, Any], Any]]] = {
    "string": _check_string,
    "text": _check_block,
    "int": _check_int,
    "float": _check_float,
    "bool": _check_bool,
    "choice": _check_choice,
    "structure": _check_structure,
    "file": _check_file,
}
_JSON_TYPES: Final[Mapping[str, str]] = {
    "string": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "choice": "string",
    "file": "string",
}
_BOUNDS: Final[Mapping[str, tuple[str, str]]] = {
    "string": ("minLength", "maxLength"),
    "text": ("minLength", "maxLength"),
    "int": ("minimum", "maximum"),
    "float": ("minimum", "maximum"),
}
