"""Where templates are: those of the program and the user's own. Run by worker processes.

A file ``crystal/scf.j2`` below a folder is the template ``crystal/scf``. One of the user's own is
used in place of one of the program with the same name, also when it cannot be used: then that is
said, and the other one has to be asked for.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crystalmath.contract.templates import ID_PATTERN
from crystalmath.errors import InputRejected, NotFound
from crystalmath.templates.parameters import schema
from crystalmath.templates.problem import TemplateFault
from crystalmath.templates.source import MAX_BYTES
from crystalmath.templates.template import Template, parse_template

SHIPPED: Final = Path(__file__).parent / "shipped"
ENDING: Final = ".j2"
MAX_FILES: Final = 1000
_DEPTH: Final = 4
SHIPPED_ORIGIN: Final = "shipped"
USER_ORIGIN: Final = "user"


@dataclass(frozen=True, slots=True)
class Shelved:
    """A file that is a template, or was meant to be one."""

    id: str
    path: Path
    origin: str

    def text(self) -> str:
        """Its content.

        Raises
        ------
        TemplateFault
            It cannot be read, or is no text.
        """
        try:
            if not self.path.is_file():
                raise TemplateFault("it is no regular file")
            if self.path.stat().st_size > MAX_BYTES:
                raise TemplateFault("it is larger than 1 MiB")
            content = self.path.read_bytes()
        except OSError as error:
            raise TemplateFault(f"it cannot be read: {error.strerror}") from None
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise TemplateFault(
                "it is no UTF-8", line=line, hint="save it in that encoding"
            ) from None

    def load(self) -> Template:
        """Read it; raises ``TemplateFault``."""
        if not re.fullmatch(ID_PATTERN, self.id):
            raise TemplateFault(
                f"a template cannot be called {self.id!r}",
                hint="small letters, digits, - and _, in up to four folders",
            )
        return parse_template(self.text(), self.id)


def list_templates(folder: str, code: str | None = None) -> list[dict[str, Any]]:
    """List both folders.

    Returns
    -------
    list of dict
        The fields of ``contract.templates.TemplateRow``, by name; the user's own first.
    """
    own = list(_below(Path(folder), USER_ORIGIN))
    taken = {one.id for one in own}
    shipped = list(_below(SHIPPED, SHIPPED_ORIGIN))
    rows = [row_of(one, shadowed=False) for one in own]
    rows += [row_of(one, shadowed=one.id in taken) for one in shipped]
    wanted = [row for row in rows if code is None or row["problem"] or row["code"] == code]
    return sorted(wanted, key=lambda row: (row["id"], row["origin"] == SHIPPED_ORIGIN))


def get_template(folder: str, id: str, origin: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Return one with its text: the fields of ``contract.templates.TemplateSource``.

    Raises
    ------
    NotFound, InputRejected
    """
    found = find(folder, id, origin)
    try:
        text = found.text()
    except TemplateFault as fault:
        raise fault.rejected("id") from None
    shadowed = origin == SHIPPED_ORIGIN and _at(Path(folder), id, USER_ORIGIN) is not None
    return {"template": row_of(found, shadowed=shadowed), "text": text}


def find(folder: str, id: str, origin: str | None) -> Shelved:  # noqa: A002 - as the contract
    """Find a template by name.

    Raises
    ------
    NotFound
    """
    places = ((Path(folder), USER_ORIGIN), (SHIPPED, SHIPPED_ORIGIN))
    for place, of in places:
        if origin in (None, of) and (found := _at(place, id, of)) is not None:
            return found
    where = {None: "", USER_ORIGIN: " of yours", SHIPPED_ORIGIN: " of the program"}[origin]
    raise NotFound(
        f"there is no template {id}{where}", hint="`templates.list` has them all", field="id"
    )


def load(found: Shelved, *, shadows: bool) -> tuple[Template, str]:
    """Read a template that is to be filled in; return it with the sha256 of its file.

    Parameters
    ----------
    shadows
        The program has one of the same name, which can be asked for.

    Raises
    ------
    InputRejected
        It cannot be used; with its line.
    """
    try:
        text = found.text()
        return parse_template(text, found.id), hashlib.sha256(text.encode("utf-8")).hexdigest()
    except TemplateFault as fault:
        refused: InputRejected = fault.rejected("id")
        if shadows:
            own = "your own one is at fault; that of the program is there with `origin`: shipped"
            refused.hint = own if refused.hint is None else f"{refused.hint}; {own}"
        raise refused from None


def is_shipped(id: str) -> bool:  # noqa: A002 - as the contract
    """Whether the program has one of this name."""
    return _at(SHIPPED, id, SHIPPED_ORIGIN) is not None


def row_of(one: Shelved, *, shadowed: bool) -> dict[str, Any]:
    """The fields of ``contract.templates.TemplateRow``."""
    row: dict[str, Any] = {
        "id": one.id,
        "title": one.id,
        "origin": one.origin,
        "shadowed": shadowed,
        "problem": None,
    }
    try:
        front = one.load().front
    except TemplateFault as fault:
        return {**row, "problem": fault.document()}
    return {
        **row,
        "title": front.title,
        "code": front.code,
        "kind": front.kind,
        "version": front.version,
        "description": front.description,
        "tags": list(front.tags),
        "parameters": schema(front.parameters),
        "renders": list(front.renders),
        "lint": front.lint,
    }


def _at(place: Path, id: str, origin: str) -> Shelved | None:  # noqa: A002 - as the contract
    if not re.fullmatch(ID_PATTERN, id):
        return None
    path = place / f"{id}{ENDING}"
    return Shelved(id, path, origin) if os.path.lexists(path) else None


def _below(place: Path, origin: str) -> Iterator[Shelved]:
    """Every template below a folder; links to folders are not followed."""
    count = 0
    for here, folders, files in os.walk(place):
        folders.sort()
        depth = len(Path(here).relative_to(place).parts)
        if depth >= _DEPTH - 1:
            folders.clear()
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in sorted(files):
            if not name.endswith(ENDING) or name.startswith("."):
                continue
            count += 1
            if count > MAX_FILES:
                raise InputRejected(
                    f"there are more than {MAX_FILES} files in your folder of templates",
                    hint="take away those that are none",
                )
            path = Path(here) / name
            yield Shelved(path.relative_to(place).as_posix().removesuffix(ENDING), path, origin)
