"""The files of an earlier run that a new one starts from: charge density and restart data.

pw.x keeps them in ``outdir`` under names that begin with ``prefix``. They are copied into the new
job directory, never used in place: two runs in one ``outdir`` would destroy each other's. Reads
directory listings only; used by ``prepare`` and ``proceed``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from crystalmath.codes.espresso.deck import Deck
from crystalmath.codes.espresso.options import NEEDS_DENSITY
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile

FOLDER: Final = "out"
"""``outdir`` in the job directory."""
MAX_BYTES: Final = 4 * 1024**3
"""What is copied at most; wave functions of large systems are larger."""
MAX_FILES: Final = 5000


def needs(deck: Deck) -> str | None:
    """What a deck needs of an earlier run: ``density``, ``everything`` or nothing."""
    if deck.word("control", "restart_mode", "from_scratch").lower() == "restart":
        return "everything"
    if deck.calculation in NEEDS_DENSITY:
        return "density"
    if deck.word("electrons", "startingpot", "").lower() == "file":
        return "density"
    return None


def collect(
    deck: Deck, given: Sequence[InputFile], save_from: str | None, beside: Path | None, field: str
) -> tuple[InputFile, ...]:
    """Find the files of the earlier run that the deck needs; none when it needs none.

    Raises
    ------
    InvalidParams
        They are needed and not there, or too large.
    """
    wanted = needs(deck)
    if wanted is None or any(
        file.path.startswith(f"{FOLDER}/{deck.prefix}.save/") for file in given
    ):
        return ()
    looked_in = _folders(deck, save_from, beside)
    for folder in looked_in:
        if (folder / f"{deck.prefix}.save").is_dir():
            return files_of(folder, deck.prefix, everything=wanted == "everything")
    what = (
        f"calculation = {deck.calculation!r} starts from the charge density of an scf run"
        if wanted == "density"
        else "restart_mode = 'restart' goes on from an earlier run"
    )
    names = ", ".join(str(folder) for folder in looked_in) or "nowhere: no directory is given"
    raise InvalidParams(
        f"{what}, and there is no {deck.prefix}.save; looked in: {names}",
        hint="give `inputs.save_from`: the directory of the job that made it; same prefix",
        field="inputs.save_from" if save_from else field,
    )


def _folders(deck: Deck, save_from: str | None, beside: Path | None) -> list[Path]:
    if save_from is not None:
        return [Path(save_from), Path(save_from) / FOLDER]
    named = Path(deck.word("control", "outdir", "."))
    if named.is_absolute():
        return [named]
    return [] if beside is None else [beside / named]


def files_of(folder: Path, prefix: str, *, everything: bool) -> tuple[InputFile, ...]:
    """List what is copied of an ``outdir``.

    Parameters
    ----------
    everything
        Also wave functions and restart data, not only the charge density.

    Raises
    ------
    InvalidParams
        It is more than can be copied.
    """
    files: list[InputFile] = []
    total = 0
    for path in _walk(folder, prefix, everything=everything):
        total += path.stat().st_size
        relative = path.relative_to(folder).as_posix()
        files.append(InputFile(f"{FOLDER}/{relative}", source=str(path.absolute())))
        if total > MAX_BYTES or len(files) > MAX_FILES:
            raise InvalidParams(
                f"{prefix}.save and what belongs to it are more than {MAX_BYTES / 1024**3:g} GiB "
                f"or {MAX_FILES} files",
                hint="start from scratch, or set disk_io = 'low' in the run that is started from",
                field="inputs.save_from",
            )
    return tuple(files)


def _walk(folder: Path, prefix: str, *, everything: bool) -> Iterator[Path]:
    save = folder / f"{prefix}.save"
    if save.is_dir():
        for path in sorted(save.iterdir()):
            is_wave_function = path.name.startswith("wfc")
            if path.is_file() and (everything or not is_wave_function):
                yield path
    if everything:
        for path in sorted(folder.glob(f"{prefix}.*")):
            if path.is_file():
                yield path
