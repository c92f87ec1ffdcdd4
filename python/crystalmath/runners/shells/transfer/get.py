"""Files from a host: looked for, fetched into parts, resumed, verified, renamed last."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.errors import InputRejected, TransferFailed
from crystalmath.runners.shells.transfer.carriers import (
    CarrierFailed,
    CarrierLost,
    Fetching,
    Progress,
    disk_full,
)
from crystalmath.runners.shells.transfer.put import Run
from crystalmath.runners.shells.transfer.scripts import (
    CHECKSUM_UP_TO_BYTES,
    PART,
    Seen,
    confirm_script,
    look_script,
    read_checksums,
    read_seen,
)
from crystalmath.runners.shells.transfer.ways import Ways
from crystalmath.services.ports_shell import Get, Got, Ran

APPEAR_S: Final = 60.0
_KEEP_FREE_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A file that is to be fetched."""

    number: int
    get: Get
    seen: Seen
    final: Path
    part: Path
    note: Path
    offset: int

    @property
    def needs_checksum(self) -> bool:
        """Resumed files always; large ones are not read twice on a login node for it."""
        return self.offset > 0 or self.seen.size <= CHECKSUM_UP_TO_BYTES


class Download:
    """One call of ``get``.

    Parameters
    ----------
    appear_s
        How long a required file is looked for.
    """

    def __init__(
        self,
        label: str,
        run: Run,
        ways: Callable[[Sequence[int]], Ways],
        progress: Progress,
        appear_s: float = APPEAR_S,
    ) -> None:
        self._label = label
        self._run = run
        self._ways = ways
        self._progress = progress
        self._appear_s = appear_s

    def fetch(self, gets: Sequence[Get], into: Path) -> list[Got]:
        """Fetch what is there; one answer for each.

        Raises
        ------
        InputRejected
            A name leads out of the directory.
        DiskFull, TransferFailed
            What was fetched whole is kept, and so are parts.
        """
        for get in gets:
            if Path(get.name).is_absolute() or ".." in Path(get.name).parts or not get.name:
                raise InputRejected(f"the file name {get.name!r} leads out of the directory")
        seen = self._look(gets)
        answers: dict[int, Got] = {}
        wanted: list[_Wanted] = []
        for number, get in enumerate(gets):
            found = seen.get(number)
            if found is None:
                answers[number] = Got(get, "missing")
            elif get.max_bytes is not None and found.size > get.max_bytes:
                answers[number] = Got(get, "too_large", found.size)
            else:
                wanted.append(_want(number, get, found, into))
        if wanted:
            self._check_room(wanted, into)
            self._move(wanted)
            answers |= self._confirm(wanted)
        return [answers[number] for number in range(len(gets))]

    def _look(self, gets: Sequence[Get]) -> dict[int, Seen]:
        # Less than what is left, so that the answer still comes.
        appear_s = min(self._appear_s, max(0.0, self._progress.left() - 5.0))
        return read_seen(self._answer(look_script(gets, appear_s)).out_text())

    def _answer(self, script: str) -> Ran:
        ran = self._run(script)
        if ran.rc != 0 or not ran.complete:
            raise self._failed("the files could not be looked at", ran.err_text())
        return ran

    def _check_room(self, wanted: Sequence[_Wanted], into: Path) -> None:
        needed = sum(one.seen.size - one.offset for one in wanted)
        place = next(p for p in (into, *into.parents) if p.exists())
        if needed > shutil.disk_usage(place).free - _KEEP_FREE_BYTES:
            raise disk_full(str(into), "this machine")

    def _move(self, wanted: Sequence[_Wanted]) -> None:
        fetchings = []
        for one in wanted:
            one.final.parent.mkdir(parents=True, exist_ok=True)
            one.note.write_text(one.seen.identity, encoding="utf-8")
            self._progress.moved(one.offset)
            count = one.seen.size - one.offset
            fetchings.append(Fetching(str(one.get.remote), one.offset, count, one.part))
        ways = self._ways([fetching.count for fetching in fetchings])
        try:
            ways.fetcher.fetch(fetchings, self._progress)
        except CarrierLost as err:
            raise self._failed("the transfer was cut; what arrived is kept", str(err)) from err
        except CarrierFailed as err:
            raise self._failed("a file cannot be read", str(err)) from err

    def _confirm(self, wanted: Sequence[_Wanted]) -> dict[int, Got]:
        """Name only what is what the host has, and had when the transfer began."""
        asked = [(one.number, one.get, one.needs_checksum) for one in wanted]
        text = self._answer(confirm_script(asked)).out_text()
        now, checksums = read_seen(text), read_checksums(text)
        answers: dict[int, Got] = {}
        trouble: list[str] = []
        for one in wanted:
            with one.part.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            wrong = self._wrong(one, now.get(one.number), sha256, checksums.get(one.number))
            if wrong:
                one.part.unlink()
                one.note.unlink(missing_ok=True)
                trouble.append(f"{one.get.remote} {wrong}")
                continue
            one.part.replace(one.final)
            one.note.unlink(missing_ok=True)
            answers[one.number] = Got(one.get, "fetched", one.seen.size, sha256)
        if trouble:
            raise self._failed(trouble[0], "")
        return answers

    def _wrong(
        self, one: _Wanted, now: Seen | None, sha256: str, expected: str | None
    ) -> str | None:
        if now != one.seen:
            return "was changed while it was fetched"
        if one.part.stat().st_size != one.seen.size:
            return "did not arrive whole"
        if expected is not None and expected != sha256:
            return "did not arrive as it is there: its checksum differs"
        return None

    def _failed(self, message: str, detail: str) -> TransferFailed:
        detail = detail.strip().split("\n")[-1]
        return TransferFailed(
            f"{self._label}: {message}" + (f" ({detail})" if detail else ""),
            host=self._label,
            stage="transfer",
        )


def _want(number: int, get: Get, seen: Seen, into: Path) -> _Wanted:
    final = into / get.name
    part = final.with_name(final.name + PART)
    note = final.with_name(final.name + PART + ".of")
    offset = 0
    try:
        if note.read_text(encoding="utf-8") == seen.identity:
            offset = min(part.stat().st_size, seen.size)
    except OSError:
        pass  # nothing to resume
    return _Wanted(number, get, seen, final, part, note, offset)
