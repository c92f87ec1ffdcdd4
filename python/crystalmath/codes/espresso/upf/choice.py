"""Which pseudopotential each element of a structure gets, with what its file and its table say.

Looked for among the files of the job, then in ``ESPRESSO_PSEUDO``, there first in the family that
was asked for. Nothing is chosen among several. Runs in worker processes, which read the files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from crystalmath.codes.espresso import pseudo
from crystalmath.codes.espresso.options import DeckOptions
from crystalmath.codes.espresso.upf.functionals import is_known
from crystalmath.codes.espresso.upf.header import HEAD_BYTES, Header, parse_header
from crystalmath.codes.espresso.upf.table import Row, load_table
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import InputFile

UPF: Final = (".upf",)
MAX_BYTES: Final = 64 * 1024**2
_FIELD: Final = "options.pseudos"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A pseudopotential for an element.

    Attributes
    ----------
    source
        Absolute path; None where it came as text.
    row
        What the table says, where one was used.
    """

    element: str
    name: str
    source: Path | None
    content: str | None
    header: Header
    sha256: str
    md5: str
    row: Row | None = None

    @property
    def file(self) -> InputFile:
        """The file for the job directory."""
        source = None if self.source is None else str(self.source)
        return InputFile(f"{pseudo.FOLDER}/{self.name}", content=self.content, source=source)


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where pseudopotentials are looked for.

    Attributes
    ----------
    given
        Files of the job, by name.
    folder
        ``ESPRESSO_PSEUDO``, or the family's sub-directory of it; None when there is none.
    table
        Element → row; empty when there is no table.
    ending
        What the names of a family end with, without the element; None when none was asked for.
    """

    given: Mapping[str, InputFile]
    folder: Path | None
    table: Mapping[str, Row] = field(default_factory=dict)
    ending: str | None = None

    def names(self) -> list[str]:
        """Of all files."""
        here: list[str] = []
        if self.folder is not None:
            try:
                here = sorted(path.name for path in self.folder.iterdir())
            except OSError as error:
                raise InputRejected(
                    f"ESPRESSO_PSEUDO {self.folder}: {error.strerror}",
                    hint="give the directory that holds the pseudopotentials",
                    field="context.ESPRESSO_PSEUDO",
                ) from error
        return [*self.given, *here]


def choose(
    elements: Sequence[str],
    options: DeckOptions,
    given: Sequence[InputFile],
    espresso_pseudo: str | None,
) -> list[Chosen]:
    """Choose one for each element.

    Parameters
    ----------
    elements
        Each once.
    given
        Files of the job.

    Raises
    ------
    InputRejected
        One is missing, or could be several, with the names that there are; is none in the format
        UPF; is another element's; or they are made for different functionals.
    """
    by_name = {file.path.rpartition("/")[2]: file for file in given}
    folder = None if espresso_pseudo is None else Path(espresso_pseudo)
    shelf = _shelf(by_name, folder, options.pseudo_family)
    found = [_chosen(element, options, shelf) for element in elements]
    _check_functionals(found)
    return found


def _shelf(given: Mapping[str, InputFile], folder: Path | None, family: str | None) -> Shelf:
    if folder is None:
        if family is not None:
            raise InputRejected(
                f"there is no directory to look for the family {family} in",
                hint="set ESPRESSO_PSEUDO to the directory that holds it",
                field="options.pseudo_family",
            )
        return Shelf(given, None)
    if family is None:
        return Shelf(given, folder, _only_table(folder))
    for path in (folder / family, folder / f"{family}.json"):
        if path.is_dir():
            return Shelf(given, path, _only_table(path))
        if path.is_file():
            table = load_table(path)
            if table is None:
                raise InputRejected(
                    f"{path.name} is no table of pseudopotentials",
                    hint="it is JSON: element, then filename, cutoff_wfc, cutoff_rho and md5",
                    field="options.pseudo_family",
                )
            beside = path.with_suffix("")
            return Shelf(given, beside if beside.is_dir() else folder, table)
    return Shelf(given, folder, {}, f".{family}".lower())


def _only_table(folder: Path) -> Mapping[str, Row]:
    """The table that lies among the files, where it is one alone."""
    try:
        tables = [load_table(path) for path in sorted(folder.glob("*.json"))]
    except OSError:
        return {}
    found = [table for table in tables if table is not None]
    return found[0] if len(found) == 1 else {}


def _chosen(element: str, options: DeckOptions, shelf: Shelf) -> Chosen:
    named = options.pseudos.get(element)
    if named is not None:
        return _load(element, named, shelf, shelf.table.get(element))
    row = shelf.table.get(element)
    if row is not None:
        return _load(element, row.file, shelf, row)
    names = pseudo.fitting_names(element, shelf.names(), UPF)
    if shelf.ending is not None:
        wanted = [
            name for name in names if Path(name).stem.lower() == element.lower() + shelf.ending
        ]
        if len(wanted) != 1:
            raise _missing(element, f"of the family {shelf.ending[1:]}", names, shelf)
        names = wanted
    if len(names) != 1:
        raise _missing(element, "", names, shelf)
    return _load(element, names[0], shelf, None)


def _missing(element: str, what: str, names: Sequence[str], shelf: Shelf) -> InputRejected:
    if names and not what:
        return InputRejected(
            f"which pseudopotential for {element}? There are: {pseudo.listed(names)}",
            hint=f"give `options.pseudos.{element}` or `options.pseudo_family`",
            field=f"{_FIELD}.{element}",
        )
    problem = f"no pseudopotential {what} for {element}".replace("  ", " ")
    if shelf.folder is None:
        hint = "set ESPRESSO_PSEUDO to the directory that holds it, or add the file to the job"
    elif names:
        hint = f"for {element} there are: {pseudo.listed(names)}"
    else:
        hint = f"there is none for {element} in {shelf.folder}: give another ESPRESSO_PSEUDO"
    return InputRejected(problem, hint=hint, field=f"{_FIELD}.{element}")


def _load(element: str, name: str, shelf: Shelf, row: Row | None) -> Chosen:
    field_name = f"{_FIELD}.{element}"
    short = name.rpartition("/")[2]
    given = shelf.given.get(short) if short == name else None
    if given is not None and given.content is not None:
        source, raw = None, given.content.encode()
    else:
        source = _path(element, name, given, shelf)
        raw = _bytes(source, field_name)
    header = parse_header(raw[:HEAD_BYTES].decode("utf-8", errors="replace"))
    if header is None:
        raise InputRejected(
            f"{short} is no pseudopotential in the format UPF, or its header is damaged",
            hint="give a UPF file; with other formats, write the deck yourself",
            field=field_name,
        )
    if header.element != element:
        raise InputRejected(
            f"{short} is a pseudopotential of {header.element}, not of {element}",
            field=field_name,
        )
    md5 = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    row = row if row is not None and row.file == short else None
    if row is not None and row.md5 is not None and row.md5 != md5:
        raise InputRejected(
            f"{short} is another file than the table means: its MD5 is {md5}, not {row.md5}",
            hint="get the file that belongs to the table",
            field=field_name,
        )
    content = None if source is not None or given is None else given.content
    return Chosen(
        element, short, source, content, header, hashlib.sha256(raw).hexdigest(), md5, row
    )


def _path(element: str, name: str, given: InputFile | None, shelf: Shelf) -> Path:
    if given is not None and given.source is not None:
        return Path(given.source)
    if name.startswith("/"):
        return Path(name)
    path = None if shelf.folder is None else shelf.folder / name
    if path is not None and path.is_file():
        return path
    names = pseudo.fitting_names(element, shelf.names(), UPF)
    where = "among the files" + ("" if shelf.folder is None else f" and in {shelf.folder}")
    hint = f"for {element} there are: {pseudo.listed(names)}" if names else None
    raise InputRejected(
        f"pseudopotential missing: {name} (for {element}); looked {where}",
        hint=hint or "add the file to the job, or set ESPRESSO_PSEUDO to the directory that has it",
        field=f"{_FIELD}.{element}",
    )


def _bytes(path: Path, field_name: str) -> bytes:
    try:
        if not path.is_file():
            raise InputRejected(f"{path} is no file", hint="check the path", field=field_name)
        if path.stat().st_size > MAX_BYTES:
            raise InputRejected(f"{path.name} is larger than 64 MiB", field=field_name)
        return path.read_bytes()
    except OSError as error:
        raise InputRejected(
            f"{path}: {error.strerror}", hint="check the path", field=field_name
        ) from error


def _check_functionals(found: Sequence[Chosen]) -> None:
    """Refuse a mixture: its energies mean nothing."""
    named = {one.header.functional: one for one in found if one.header.functional is not None}
    sure = [name for name in named if is_known(name)]
    if len(sure) > 1:
        said = ", ".join(f"{named[name].name} ({name})" for name in sure)
        raise InvalidParams(
            f"the pseudopotentials are made for different functionals: {said}",
            hint="choose all of one functional",
            field=_FIELD,
        )


def doubts(found: Sequence[Chosen]) -> list[str]:
    """What could not be compared."""
    names = dict.fromkeys(one.header.functional for one in found)
    if None not in names and (len(names) < 2 or all(is_known(name or "") for name in names)):
        return []
    said = ", ".join(f"{one.name} ({one.header.functional or 'not said'})" for one in found)
    return [f"whether the functionals of the pseudopotentials agree is not certain: {said}"]
