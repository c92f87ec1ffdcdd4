"""POTCAR: which potentials a job needs, where they are, and in which order they belong.

Potentials are licensed. This module reads the heads of the files that the user has, and hashes
them; their text goes into no document, no database and no answer. POTCAR itself is put together by
the script of the job, in the job directory, and POTCAR.spec says of what. Used by ``prepare``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crystalmath.errors import ConfigError, InputRejected

SPEC: Final = "POTCAR.spec"
RECORD: Final = "potcar.json"
"""Titles and hashes of what was found, in the job directory."""
FOLDER: Final = "potcar"
"""Where single potentials go in the directory of a job on a cluster."""
VARIABLES: Final = ("PMG_VASP_PSP_DIR", "VASP_PP_PATH")
DEFAULT_FUNCTIONAL: Final = "PBE"
FOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "PBE": ("POT_GGA_PAW_PBE", "potpaw_PBE", "POT_PAW_PBE"),
    "PBE_52": ("POT_GGA_PAW_PBE_52", "potpaw_PBE.52", "POT_PAW_PBE_52"),
    "PBE_54": ("POT_GGA_PAW_PBE_54", "potpaw_PBE.54", "POT_PAW_PBE_54"),
    "PBE_64": ("POT_PAW_PBE_64", "potpaw_PBE.64", "POT_GGA_PAW_PBE_64"),
    "LDA": ("POT_LDA_PAW", "potpaw", "potpaw_LDA"),
    "LDA_52": ("POT_LDA_PAW_52", "potpaw_LDA.52"),
    "LDA_54": ("POT_LDA_PAW_54", "potpaw_LDA.54"),
    "LDA_64": ("POT_LDA_PAW_64", "potpaw_LDA.64"),
    "PW91": ("POT_GGA_PAW_PW91", "potpaw_GGA"),
}
"""Set of potentials → folders that hold it: pymatgen's first, then those of VASP's archives."""
_FILES: Final = ("{label}/POTCAR", "{label}/POTCAR.gz", "POTCAR.{label}", "POTCAR.{label}.gz")
_HEAD_BYTES: Final = 64 * 1024
MOST_BYTES: Final = 64 * 1024**2
_TITEL: Final = re.compile(rb"^\s*TITEL\s*=\s*(\S.*?)\s*$", re.MULTILINE)
_ENMAX: Final = re.compile(rb"ENMAX\s*=\s*([0-9.]+)")
_SPEC_LINE: Final = re.compile(r"^\s*([A-Za-z][A-Za-z0-9._]*)\s*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A potential that was found.

    Attributes
    ----------
    path
        On this machine.
    sha256
        Of its text, unpacked.
    enmax_ev
        The cutoff that it was made for; None where it says nothing.
    """

    label: str
    title: str
    path: str
    sha256: str
    enmax_ev: float | None

    @property
    def is_packed(self) -> bool:
        """Whether the file is compressed."""
        return self.path.endswith(".gz")


def element_of(label: str) -> str:
    """The element of a label such as ``Mg_pv`` or ``H1.25``."""
    match = re.match(r"[A-Z][a-z]?", label)
    return match[0] if match else ""


def render_spec(functional: str, labels: Sequence[str]) -> str:
    """POTCAR.spec: the set of potentials, then a label for each block of POSCAR."""
    return "\n".join([f"# {functional}", *labels]) + "\n"


def parse_spec(text: str, field: str) -> tuple[str | None, list[str]]:
    """The set and the labels of a POTCAR.spec; the plain lists that pymatgen writes count, too.

    Raises
    ------
    InputRejected
        A line is no label.
    """
    functional, labels = None, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if not words:
            continue
        if words.startswith("#"):
            functional = words.lstrip("# ").split(" ")[0] or functional
        elif _SPEC_LINE.match(words) and element_of(words):
            labels.append(words)
        else:
            raise InputRejected(
                f"line {number} of {SPEC} is no label of a potential: {words[:60]!r}",
                hint="one label a line, like Mg_pv",
                field=field,
            )
    return functional, labels


def check_order(labels: Sequence[str], elements: Sequence[str], field: str) -> None:
    """Refuse potentials that do not stand in the order of POSCAR.

    Raises
    ------
    InputRejected
    """
    found = [element_of(label) for label in labels]
    if found != list(elements):
        raise InputRejected(
            f"the potentials are for {' '.join(found) or 'nothing'}, POSCAR has "
            f"{' '.join(elements)}: VASP would take them for each other",
            hint="give one potential for each block of POSCAR, in its order",
            field=field,
        )


def folders_of(functional: str, field: str) -> tuple[str, ...]:
    """The names of the folder of a set of potentials.

    Raises
    ------
    InputRejected
        The set is not known.
    """
    if functional not in FOLDERS:
        raise InputRejected(
            f"no set of potentials is called {functional!r}",
            hint=f"there are: {', '.join(FOLDERS)}",
            field=field,
        )
    return FOLDERS[functional]


def root_of(context: Mapping[str, str]) -> tuple[str, Path] | None:
    """The variable that names the directory of the potentials, and the directory.

    Raises
    ------
    InputRejected
        It is relative.
    """
    for name in VARIABLES:
        value = context.get(name)
        if value and not value.startswith("/"):
            raise InputRejected(
                f"{name} is relative", hint="give the absolute path", field=f"context.{name}"
            )
        if value:
            return name, Path(value)
    return None


def find_pieces(labels: Sequence[str], functional: str, name: str, root: Path) -> tuple[Piece, ...]:
    """Find the potentials below a directory.

    Parameters
    ----------
    name
        The variable that names the directory.

    Raises
    ------
    ConfigError
        Naming the label that is missing and where it was looked for.
    """
    folders = folders_of(functional, "inputs.potcar_functional")
    try:
        return _found(labels, functional, folders, (name, root))
    except OSError as error:
        raise ConfigError(
            f"the potentials of {functional} cannot be looked for: {error.filename or root}: "
            f"{error.strerror or type(error).__name__}",
            hint=f"check the permissions of the directory that {name} names, {root}",
            field=f"context.{name}",
        ) from error


def _found(
    labels: Sequence[str], functional: str, folders: Sequence[str], named: tuple[str, Path]
) -> tuple[Piece, ...]:
    """The potentials, by the variable and the directory that it names; raises ``OSError``, too."""
    name, root = named
    places = [root / folder for folder in folders if (root / folder).is_dir()]
    if not places and any((root / label).is_dir() for label in labels):
        places = [root]  # the directory of one set itself
    if not places:
        raise ConfigError(
            f"no potentials of {functional}: {name} {root} has no folder {' or '.join(folders)}",
            hint=f"set {name} to the directory that holds it",
            field=f"context.{name}",
        )
    return tuple(_find(label, functional, name, places) for label in labels)


def _find(label: str, functional: str, name: str, places: Sequence[Path]) -> Piece:
    for place in places:
        for pattern in _FILES:
            path = place / pattern.format(label=label)
            if path.is_file():
                return _read(label, path, name)
    near = sorted(
        {
            entry.name.removeprefix("POTCAR.").removesuffix(".gz")
            for place in places
            for entry in place.iterdir()
        }
    )
    fitting = [one for one in near if element_of(one) == element_of(label)][:20]
    raise ConfigError(
        f"there is no potential {label} of {functional}; looked in "
        f"{', '.join(str(place) for place in places)} ({name})",
        hint=f"for {element_of(label)} there are: {', '.join(fitting)}; name one: `potcars`"
        if fitting
        else f"for {element_of(label)} there is none",
        field=f"context.{name}",
    )


def _read(label: str, path: Path, name: str) -> Piece:
    """Title and hash of a file; its text is dropped."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            text = stream.read(MOST_BYTES)
    except (OSError, EOFError) as error:
        raise ConfigError(
            f"the potential {label} cannot be read: {path}: {type(error).__name__}",
            hint="check the file and its permissions",
            field=f"context.{name}",
        ) from error
    titles = titles_in(text)
    if labels_of_titles(titles) != [label]:
        said = f"says {titles[0]!r}" if len(titles) == 1 else f"holds {len(titles)} potentials"
        raise ConfigError(
            f"{path} should be the potential {label}, and {said}",
            hint="check the directory of the potentials",
            field=f"context.{name}",
        )
    enmax = _ENMAX.search(text[:_HEAD_BYTES])
    return Piece(
        label,
        titles[0],
        str(path),
        hashlib.sha256(text).hexdigest(),
        None if enmax is None else float(enmax[1]),
    )


def titles_in(text: bytes) -> list[str]:
    """The titles of the potentials of a POTCAR."""
    return [match.decode("utf-8", "replace")[:80] for match in _TITEL.findall(text)]


def labels_of_titles(titles: Sequence[str]) -> list[str]:
    """The labels in titles like ``PAW_PBE Mg_pv 13Apr2007``."""
    return [words[1] if len(words := title.split()) > 1 else "" for title in titles]


def render_record(functional: str, pieces: Sequence[Piece]) -> str:
    """What is kept of the potentials: label, title and hash."""
    rows = [
        {
            "element": element_of(piece.label),
            "label": piece.label,
            "title": piece.title,
            "sha256": piece.sha256,
        }
        for piece in pieces
    ]
    return json.dumps({"functional": functional, "potentials": rows}, indent=1) + "\n"


def parse_record(text: str) -> list[dict[str, Any]]:
    """The rows of a record; none where it cannot be read."""
    try:
        rows = json.loads(text)["potentials"]
        return [dict(row) for row in rows]
    except (ValueError, KeyError, TypeError):
        return []
