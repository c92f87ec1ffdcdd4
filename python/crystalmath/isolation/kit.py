"""The worker's files, copied into each environment, and anew when CrystalMath is updated.

The number of the interface is part of an environment's id; the files may change without it (a
correction), so each state of them has a directory of its own, named by its hash. Processes that
run keep theirs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from crystalmath.errors import EnvironmentBroken

PREFIX: Final = "worker-"
ENTRY: Final = "__main__.py"


@dataclass(frozen=True)
class WorkerKit:
    """What runs in every environment: a folder of files, and the number of its interface."""

    folder: Path
    abi: int

    @property
    def entry(self) -> Path:
        """The file to be run, where it comes from."""
        return self.folder / ENTRY

    @cached_property
    def digest(self) -> str:
        """Hash of the files as they were when this process first looked."""
        return _digest(self.folder)

    def place_in(self, directory: Path) -> Path:
        """Return the entry file of the copy in an environment; made when it is not there.

        Raises
        ------
        EnvironmentBroken
            It cannot be copied, or the files have changed under this process.
        """
        final = directory / f"{PREFIX}{self.digest}"
        if not (final / ENTRY).is_file():
            try:
                self._copy(final)
            except OSError as error:
                raise EnvironmentBroken(
                    f"the worker's files cannot be copied into the environment: {error.strerror}",
                    hint="check the permissions and the space of the data directory",
                ) from None
        return final / ENTRY

    def _copy(self, final: Path) -> None:
        with tempfile.TemporaryDirectory(dir=final.parent, prefix=".worker-") as folder:
            part = Path(folder) / "copy"
            skipped = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(self.folder, part, ignore=skipped)
            if _digest(part) != self.digest:
                raise EnvironmentBroken(
                    "CrystalMath was updated while this process runs", hint="start it again"
                )
            if final.is_dir():  # it lost files
                final.rename(Path(folder) / "old")
            try:
                part.rename(final)
            except OSError:
                if not (final / ENTRY).is_file():  # else another process was as quick
                    raise


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            name = path.relative_to(folder).as_posix().encode()
            content = path.read_bytes()
            digest.update(b"%d %s %d\n" % (len(name), os.fsencode(name), len(content)))
            digest.update(content)
    return digest.hexdigest()[:12]
