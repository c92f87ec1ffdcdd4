"""Structure files in folders that the user has named in the settings."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from crystalmath.domain.material_query import Query, query_of
from crystalmath.errors import CrystalMathError, MaterialsError, NotFound
from crystalmath.materials.entries import Raw, entry_of, fitting
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import Answer, Asked, Entry

NAME: Final = "files"
FIND: Final = "crystalmath.materials.files:find"
READ: Final = "crystalmath.materials.files:read"
_WORK_S: Final = 40.0
LOOK_S: Final = 25.0
"""Seconds for reading files that were not read before; what was read is remembered."""
MOST_FILES: Final = 5_000
MOST_BYTES: Final = 4 * 1024 * 1024
"""Larger files are left out: they are not structures to start from."""
_OTHER_THINGS: Final = ("json",)
"""Endings of structures that are mostly something else."""


class FilesProvider:
    """Implements ``services.ports_materials.Provider``.

    Parameters
    ----------
    folders
        Absolute paths.
    """

    name = NAME
    kind = "files"
    network = False
    address = ""

    def __init__(self, run: RunWorker, folders: Sequence[str]) -> None:
        self._run = run
        self._folders = tuple(folders)
        self.title = "structure files in " + ", ".join(self._folders)

    def problem(self) -> MaterialsError | None:
        """Whether a folder is there."""
        if any(Path(folder).is_dir() for folder in self._folders):
            return None
        return MaterialsError(
            f"there is no folder {self._folders[0]}",
            hint="correct `materials.folders` in config.toml",
            provider=NAME,
            status="failed",
        )

    def search(self, asked: Asked) -> Answer:
        """See ``Provider.search``."""
        if asked.query.prototype is not None:
            return Answer((), notices=("files have no structure types",))
        found = self._run(
            FIND,
            {
                "folders": self._folders,
                "query": asked.query.document(),
                "limit": asked.limit,
            },
            _WORK_S,
        )
        return Answer(tuple(found["entries"]), more=found["more"], notices=tuple(found["notices"]))

    def get(self, key: str, asked: Asked) -> Entry:  # noqa: ARG002 - of the interface
        """See ``Provider.get``."""
        path = Path(os.path.normpath(key))
        if not any(path.is_relative_to(folder) for folder in self._folders):
            raise NotFound(f"{key} is in no folder of `materials.folders`")
        if not path.is_file():
            raise NotFound(f"there is no file {key}")
        found: Entry = self._run(READ, {"path": str(path)}, _WORK_S)
        return found


# -- in a worker process ---------------------------------------------------------------------------

_known: dict[tuple[str, int, int], dict[str, Any] | None] = {}
"""Path, time of change and size → what was read; None for what is no structure."""


def find(folders: Sequence[str], query: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Find what fits: see ``entries.fitting``, and ``notices`` on what was not looked at."""
    wanted = query_of(dict(query))
    state = _Looking(time.monotonic() + LOOK_S)
    found = fitting(state.entries(folders, wanted), wanted, limit)
    return {**found, "notices": state.notices()}


def read(path: str) -> dict[str, Any]:
    """Describe one file; raises ``InputRejected``."""
    from crystalmath.structures.read import read as read_structure

    structure = read_structure(path)
    structure.source["material"] = f"{NAME}:{path}"
    return entry_of(Raw(path, structure, name=Path(path).name, check=False))


class _Looking:
    """One walk through the folders."""

    def __init__(self, until: float) -> None:
        self._until = until
        self._unreadable = 0
        self._late = 0
        self._too_many = False

    def entries(self, folders: Sequence[str], query: Query) -> Iterator[dict[str, Any]]:
        name = (query.text or "").casefold()
        for number, path in enumerate(_files(folders)):
            if number == MOST_FILES:
                self._too_many = True
                return
            if name in path.name.casefold() and (found := self._entry(path)) is not None:
                yield found

    def notices(self) -> list[str]:
        said = []
        if self._unreadable:
            said.append(f"{self._unreadable} files could not be read as structures")
        if self._late:
            said.append(f"{self._late} files were not read yet; ask again for them")
        if self._too_many:
            said.append(f"only the first {MOST_FILES} files of the folders were looked at")
        return said

    def _entry(self, path: Path) -> dict[str, Any] | None:
        try:
            facts = path.stat()
        except OSError:
            return None
        key = (str(path), facts.st_mtime_ns, facts.st_size)
        if key not in _known:
            if time.monotonic() > self._until:
                self._late += 1
                return None
            _known[key] = _read_or_none(path) if facts.st_size <= MOST_BYTES else None
        self._unreadable += _known[key] is None
        return _known[key]


def _read_or_none(path: Path) -> dict[str, Any] | None:
    try:
        return read(str(path))
    except CrystalMathError:
        return None


def _files(folders: Sequence[str]) -> Iterator[Path]:
    from crystalmath.structures.request import FORMATS

    endings = {f".{ending}" for ending in FORMATS if ending not in _OTHER_THINGS}
    for folder in folders:
        for here, inside, names in os.walk(folder):
            inside[:] = sorted(name for name in inside if not name.startswith("."))
            for name in sorted(names):
                path = Path(here) / name
                stem = name.upper().startswith(("POSCAR", "CONTCAR"))
                if (path.suffix.lower() in endings or stem) and not name.startswith("."):
                    yield path
