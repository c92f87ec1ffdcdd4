"""Read one structure: the function that a worker process of the ``proc`` lane runs.

Nothing here is idealised: atoms, their order and the cell are those of the file (a CIF's sites
expanded by its own operators). The daemon calls it through ``structures.reader``.
"""

from __future__ import annotations

import importlib
import warnings as python_warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crystalmath.errors import CrystalMathError, InputRejected
from crystalmath.structures.request import check_request
from crystalmath.structures.text import SourceText, from_file, from_text, of_large_file

if TYPE_CHECKING:
    from crystalmath.structures.structure import Structure

READERS: Final[dict[str, str]] = {}
"""Kind → ``module:function`` of a reader that belongs to another room, like that of the decks of a
code; it takes a ``SourceText``. The program of the worker processes enters them."""
_OWN: Final[Mapping[str, str]] = {
    "cif": "crystalmath.structures.formats.cif.reader:read_cif",
    "poscar": "crystalmath.structures.formats.poscar:read_poscar",
    "gui": "crystalmath.structures.formats.gui:read_gui",
}
"""The same of this room; they take the text and the name of the field."""


def read_structure(
    path: str | None = None,
    text: str | None = None,
    format: str | None = None,  # noqa: A002 - the word of the contract
) -> dict[str, Any]:
    """Read and check a structure, and return its JSON form: see :func:`read`."""
    return read(path, text, format).document()


def structure_of(given: Mapping[str, Any]) -> Structure:
    """Read the structure that a method was given.

    Parameters
    ----------
    given
        ``{path}``, ``{text, format}``, or ``{document}``: the JSON form of a structure that the
        daemon already has, such as a stored material or what a job ended with.

    Raises
    ------
    InputRejected
    """
    if "document" not in given:
        return read(given.get("path"), given.get("text"), given.get("format"))
    from crystalmath.structures.checks import check
    from crystalmath.structures.structure import of_document

    structure = of_document(given["document"])
    check(structure)
    return structure


def read(
    path: str | None = None,
    text: str | None = None,
    format: str | None = None,  # noqa: A002 - the word of the contract
) -> Structure:
    """Read and check a structure.

    Parameters
    ----------
    path
        Absolute path of a file, or
    text
        the content itself.
    format
        A key of ``structures.request.FORMATS``; needed for ``text``, else told by the file name.

    Returns
    -------
    Structure
        Its ``document()`` has the fields of ``services.ports.StructureData`` as JSON values.

    Raises
    ------
    InputRejected
        With ``field`` (``structure``, ``structure.path``, ``structure.text``) and mostly a hint.
    """
    kind = check_request(path, text, format)
    source = _source_text(kind, path, text)
    with python_warnings.catch_warnings(record=True) as caught:
        python_warnings.simplefilter("always")
        try:
            found = _read(kind, source, path)
            from crystalmath.structures.checks import check

            check(found)
        except CrystalMathError:
            raise
        except Exception as error:  # a parser's complaint is the user's, whatever its type
            cut_off = isinstance(error, IndexError | StopIteration | EOFError)
            reason = "it ends too early" if cut_off else str(error) or type(error).__name__
            raise InputRejected(
                f"the input cannot be read as {kind}: {reason}",
                hint="is that its format?",
                field=source.field,
            ) from error
    noticed = dict.fromkeys(f"{kind}: {item.message}" for item in caught)
    found.source = _source(found, source, kind, path)
    found.warnings = [*source.warnings, *found.warnings, *noticed]
    return found


def _source_text(kind: str, path: str | None, text: str | None) -> SourceText:
    if path is None:
        return from_text(text or "")
    return of_large_file(path) if kind == "xml" else from_file(path)


def _read(kind: str, source: SourceText, path: str | None) -> Structure:
    if kind in READERS:
        return _function(READERS[kind])(source)
    if kind == "xml":
        from crystalmath.structures.formats.xml.reader import read_xml, read_xml_text

        if path is None:
            return read_xml_text(source.text, source.field)
        return read_xml(Path(path), source.field)
    if kind in _OWN:
        return _function(_OWN[kind])(source.text, source.field)
    from crystalmath.structures.formats.ase_formats import read_with_ase

    return read_with_ase(source.text, kind, source.field)


def _function(name: str) -> Callable[..., Structure]:
    """The function of ``module:function``; its module is loaded when it is needed."""
    module, _, function = name.partition(":")
    found: Callable[..., Structure] = getattr(importlib.import_module(module), function)
    return found


def _source(found: Structure, source: SourceText, kind: str, path: str | None) -> dict[str, str]:
    origin = {"format": kind, "encoding": source.encoding, "sha256": source.sha256, **found.source}
    if not source.encoding:
        del origin["encoding"]
    if path is not None:
        origin["path"] = path
    return origin
