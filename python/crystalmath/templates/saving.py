"""Saving a template in the user's own folder: the function that a worker process runs.

What is saved was read first, so that nothing lies there that cannot be read again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace as replace_in
from pathlib import Path
from typing import Any

from crystalmath.errors import Conflict, InputRejected, InvalidParams
from crystalmath.templates.parameters import Parameter, fill
from crystalmath.templates.problem import TemplateFault
from crystalmath.templates.render import defaults_fault
from crystalmath.templates.shelf import ENDING, USER_ORIGIN, Shelved, find, is_shipped, row_of
from crystalmath.templates.source import parse_source, plain, render_source
from crystalmath.templates.template import parse_template


def save_template(
    folder: str,
    id: str,  # noqa: A002 - the word of the contract
    *,
    text: str | None = None,
    source: str | None = None,
    origin: str | None = None,
    title: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    replace: bool = False,
) -> dict[str, Any]:
    """Save a text, or another template with other defaults.

    Returns
    -------
    dict
        The fields of ``contract.templates.SaveTemplateResult``.

    Raises
    ------
    NotFound
        There is no template ``source``.
    Conflict
        There is one of that name, and it was not to be replaced.
    InputRejected
        The text is no template, a default does not fit, or the folder cannot be written.
    """
    if text is not None:
        made, field = plain(text), "text"
    else:
        made = _with_defaults(find(folder, source or "", origin), id, title, parameters or {})
        field = "source"
    try:
        template = parse_template(made, id)
    except TemplateFault as fault:
        raise fault.rejected(field) from None
    place = Path(folder)
    path = place / f"{id}{ENDING}"
    replaced = _write(place, path, made, replace=replace)
    warnings = []
    if (said := defaults_fault(template)) is not None:
        warnings.append(f"its defaults cannot be filled in: {said}")
    if is_shipped(id):
        warnings.append(f"{id} is a template of the program too; yours is used from now on")
    row = row_of(Shelved(id, path, USER_ORIGIN), shadowed=False)
    return {"template": row, "path": str(path), "replaced": replaced, "warnings": warnings}


def _with_defaults(base: Shelved, new_id: str, title: str | None, given: Mapping[str, Any]) -> str:
    """The text of a template under another name and with other defaults."""
    try:
        text = base.text()
        template = parse_template(text, base.id)
    except TemplateFault as fault:
        raise fault.rejected("source") from None
    known = template.front.parameters
    values = fill(_optional(known), given)
    parts = parse_source(text)
    front = parts.front
    front["id"] = new_id
    front["version"] = 1
    if title is not None:
        front["title"] = title
    for name in given:
        if known[name].type == "file":
            raise InvalidParams(
                f"{name} cannot have a default: a file is on one machine only",
                field=f"parameters.{name}",
            )
        keys = front["parameters"][name]
        keys.pop("required", None)
        keys["default"] = values[name]
    return render_source(front, parts.body)


def _optional(known: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """The parameters with nothing that has to be given."""
    return {name: replace_in(one, required=False) for name, one in known.items()}


def _write(place: Path, path: Path, text: str, *, replace: bool) -> bool:
    """Write the file whole or not at all; return whether another one was there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(place.resolve()):
            raise InputRejected("that folder leads out of your folder of templates", field="id")
        there = os.path.lexists(path)
        if there:
            _check_replaceable(path, replace=replace)
        else:
            _reserve(path)
        try:
            _put(path, text)
        except OSError:
            if not there:
                with suppress(OSError):
                    path.unlink()
            raise
    except OSError as error:
        raise InputRejected(
            f"your folder of templates cannot be written: {error.strerror}",
            hint="`templates.list` says where it is",
            field="id",
        ) from None
    return there


def _check_replaceable(path: Path, *, replace: bool) -> None:
    if path.is_symlink() or not path.is_file():
        raise Conflict(
            "what is there under that name is no plain file, and is left alone",
            hint="take another name",
            field="id",
        )
    if not replace:
        raise Conflict(
            "there is a template of that name in your folder",
            hint="take another name, or say `replace`",
            field="id",
        )


def _reserve(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    except FileExistsError:  # somebody was faster
        raise Conflict("there is a template of that name in your folder", field="id") from None


def _put(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise
