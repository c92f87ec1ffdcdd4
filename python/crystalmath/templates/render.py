"""Filling in a template: the function that a worker process runs, once or more often.

When the template calls a maker whose result is not at hand, this stops and says what is needed.
Whoever called makes it and calls again: a template gives the same text every time, so that the
second run comes to the same place and goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from crystalmath.contract.jobs import RelativePath
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.templates.limits import SECONDS, OutOfTime, limited
from crystalmath.templates.parameters import Parameter, fill
from crystalmath.templates.problem import TemplateFault
from crystalmath.templates.sandbox import NAME, Refused, render_text
from crystalmath.templates.shelf import USER_ORIGIN, find, is_shipped, load
from crystalmath.templates.template import MAKERS, Piece, Template

_PATH: Final[TypeAdapter[str]] = TypeAdapter(RelativePath)


class _Needs(Exception):
    """The template asks for something that has to be made first."""

    def __init__(self, need: dict[str, Any]) -> None:
        super().__init__()
        self.need = need


def render_template(
    folder: str,
    id: str,  # noqa: A002 - the word of the contract
    parameters: Mapping[str, Any],
    made: Sequence[Mapping[str, Any]] = (),
    *,
    origin: str | None = None,
    examples: bool = True,
) -> dict[str, Any]:
    """Fill in a template.

    Parameters
    ----------
    folder
        The user's own templates.
    made
        What was made for it already: ``maker``, ``arguments``, ``value``.
    examples
        Take the example of the template where a structure is not given.

    Returns
    -------
    dict
        ``{"needs": {maker, arguments, parameters, line}}``, or ``files``, ``parameters``,
        ``warnings``, ``lint`` and ``template``.

    Raises
    ------
    NotFound
        There is no such template.
    InputRejected
        A parameter is at fault, or the template.
    """
    found = find(folder, id, origin)
    shadows = found.origin == USER_ORIGIN and is_shipped(id)
    template, sha256 = load(found, shadows=shadows)
    if not examples:
        _refuse_examples(template.front.parameters, parameters)
    values = fill(template.front.parameters, parameters)
    try:
        files = fill_in(template, values, made)
    except _Needs as asked:
        return {"needs": asked.need}
    except Refused as refused:
        raise InputRejected(str(refused), field="parameters") from None
    except TemplateFault as fault:
        raise fault.rejected("id") from None
    return {
        "files": files,
        "parameters": values,
        "warnings": _examples(template.front.parameters, parameters, values),
        "lint": template.front.lint,
        "template": {
            "id": id,
            "version": template.front.version,
            "code": template.front.code,
            "kind": template.front.kind,
            "origin": found.origin,
            "sha256": sha256,
        },
    }


def fill_in(
    template: Template, values: Mapping[str, Any], made: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Fill in every file of a template; raises ``TemplateFault`` or asks for what it needs."""
    known = {_key(one["maker"], one["arguments"]): one["value"] for one in made}
    try:
        with limited():
            return _files(template, values, known)
    except OutOfTime:
        raise TemplateFault(
            f"it was stopped after {SECONDS:g} s", hint="are there loops that do not end soon?"
        ) from None
    except MemoryError:
        raise TemplateFault("it needs too much memory", hint="write less") from None


def _files(
    template: Template, values: Mapping[str, Any], known: Mapping[str, Any]
) -> list[dict[str, str]]:
    files: list[dict[str, str]] = []
    for piece in template.pieces:
        makers = {
            name: _maker(name, first, known, values, piece.first_line)
            for name, first in MAKERS.items()
        }
        path = render_text(piece.name, values, piece.name_line, {}).strip()
        if not path:
            continue  # a file that is not wanted this time
        _check_path(path, [file["path"] for file in files], piece)
        content = render_text(piece.text, values, piece.first_line, makers)
        files.append({"path": path, "content": content})
    if not files:
        raise TemplateFault("it gives no file: every name in renders is empty")
    return files


def _check_path(path: str, taken: Sequence[str], piece: Piece) -> None:
    try:
        _PATH.validate_python(path)
    except ValidationError:
        raise Refused(f"a file cannot be called {path[:80]!r}") from None
    if not path.isprintable():
        raise Refused(f"a file cannot be called {path[:80]!r}")
    if path in taken:
        raise TemplateFault(f"two files are called {path[:80]!r}", line=piece.name_line)


def _maker(
    name: str,
    first: str,
    known: Mapping[str, Any],
    values: Mapping[str, Any],
    first_line: int,
) -> Callable[..., Any]:
    """The function that a template sees: it gives what was made, or stops the template."""

    def make(*positional: Any, **named: Any) -> Any:
        if len(positional) > 1 or (positional and first in named):
            raise TypeError(f"{name} takes {first}, and everything else by name")
        arguments = {first: positional[0], **named} if positional else dict(named)
        key = _key(name, arguments)
        if key in known:
            return known[key]
        raise _Needs(
            {
                "maker": name,
                "arguments": arguments,
                "parameters": list(values),
                "line": first_line + _caller_line() - 1,
            }
        )

    return make


def _caller_line() -> int:
    """The line of the template that is being filled in."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - there is no other way to ask where one is
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if frame.f_code.co_filename == NAME and template is not None:
            line: int = template.get_corresponding_lineno(frame.f_lineno)
            return line
        frame = frame.f_back
    return 1


def _key(maker: str, arguments: Mapping[str, Any]) -> str:
    try:
        return maker + json.dumps(arguments, sort_keys=True, allow_nan=False)
    except ValueError as error:
        raise TypeError(f"{maker} takes plain values: {error}") from None


def _examples(
    parameters: Mapping[str, Parameter], given: Mapping[str, Any], values: Mapping[str, Any]
) -> list[str]:
    """Say where a structure is only the template's example."""
    return [
        f"{name} was not given, so that the example of the template was taken"
        for name, one in parameters.items()
        if one.type == "structure" and name not in given and values[name] is not None
    ]


def _refuse_examples(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> None:
    for name, one in parameters.items():
        if one.type == "structure" and one.default is not None and name not in given:
            raise InvalidParams(f"{name}: is missing: {one.help}", field=f"parameters.{name}")


def defaults_fault(template: Template) -> str | None:
    """Why a template cannot be filled in with its defaults, as far as nothing has to be made.

    None where it can, and where a parameter has no default to be filled in with.
    """
    parameters = template.front.parameters
    if any(one.required for one in parameters.values()):
        return None
    try:
        fill_in(template, fill(parameters, {}), ())
    except _Needs:
        return None
    except Refused as refused:
        return str(refused)
    except TemplateFault as fault:
        return fault.message if fault.line is None else f"line {fault.line}: {fault.message}"
    return None
