"""Files to a host: parts first, resumed where an earlier try left them, renamed when verified."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from crystalmath.errors import CrystalMathError, DiskFull, InputRejected, TransferFailed
from crystalmath.runners.shells.transfer.carriers import (
    CarrierFailed,
    CarrierLost,
    Progress,
    Sending,
    Source,
    disk_full,
)
from crystalmath.runners.shells.transfer.scripts import (
    PART,
    Prepared,
    finish_script,
    full_script,
    prepare_script,
    read_finished,
    read_prepared,
    remove_script,
)
from crystalmath.runners.shells.transfer.ways import Ways
from crystalmath.services.ports_shell import Put, Ran

Run = Callable[[str], Ran]
"""Runs a command within what is left of the deadline."""

_FULL: Final = ("no space left", "quota exceeded", "disk quota")


class Upload:
    """One call of ``put``.

    Parameters
    ----------
    label
        How messages call the host.
    """

    def __init__(
        self,
        label: str,
        run: Run,
        ways: Callable[[Sequence[int]], Ways],
        progress: Progress,
    ) -> None:
        self._label = label
        self._run = run
        self._ways = ways
        self._progress = progress

    def bring(self, files: Sequence[Put], into: PurePosixPath) -> None:
        """Bring every file, or raise.

        Raises
        ------
        InputRejected
            A file here cannot be read, or a name leads out of the directory.
        DiskFull, TransferFailed
        """
        sources = [Source.of(put) for put in files]
        _check_names(sources)
        prepared = self._prepare(sources, into)
        todo = [(n, source) for n, source in enumerate(sources) if n not in prepared.done]
        for number in prepared.done:
            self._progress.moved(sources[number].size)
        if not todo:
            return
        self._check_room(prepared, todo)
        parts: Mapping[int, int] = prepared.parts
        for last in (False, True):
            self._move(prepared.directory, todo, parts)
            todo = self._finish(prepared.directory, todo, last=last)
            if not todo:
                return
            parts = {}  # what was resumed did not fit: from the start, once

    def _prepare(self, sources: Sequence[Source], into: PurePosixPath) -> Prepared:
        ran = self._run(prepare_script(sources, into))
        prepared = read_prepared(ran.out_text()) if ran.complete and ran.rc == 0 else None
        if prepared is None:
            self._explain(ran.rc, ran.err_text(), str(into))
            raise self._failed(f"the directory {into} cannot be prepared", ran.err_text())
        return prepared

    def _check_room(self, prepared: Prepared, todo: Sequence[tuple[int, Source]]) -> None:
        needed = sum(s.size - min(s.size, prepared.parts.get(n, 0)) for n, s in todo)
        if prepared.free_bytes is not None and needed > prepared.free_bytes:
            raise DiskFull(
                f"quota or disk full at {prepared.directory} on {self._label}: "
                f"{needed} bytes are needed, {prepared.free_bytes} are free",
                hint="Make room there, then try again.",
                host=self._label,
                stage="transfer",
            )

    def _move(
        self, directory: str, todo: Sequence[tuple[int, Source]], parts: Mapping[int, int]
    ) -> None:
        sendings = []
        for number, source in todo:
            have = parts.get(number, 0)
            offset = have if have <= source.size else 0
            self._progress.moved(offset)
            if offset < source.size or offset == 0:
                sendings.append(Sending(f"{source.put.path}{PART}", offset, source))
        ways = self._ways([sending.source.size - sending.offset for sending in sendings])
        try:
            ways.send(directory, sendings, self._progress)
        except CarrierLost as err:
            raise self._failed("the transfer was cut; what arrived is kept", str(err)) from err
        except CarrierFailed as err:
            self._after_failure(directory, todo, str(err))
            raise self._failed("the host refused what was sent", str(err)) from err

    def _after_failure(self, directory: str, todo: Sequence[tuple[int, Source]], said: str) -> None:
        """Say so if the disk is full, and leave no parts behind then."""
        room = self._run(full_script(directory))
        full = any(word in f"{said} {room.out_text()}".lower() for word in _FULL)
        if full or room.rc == 1:
            self._run(remove_script(directory, [source.put.path for _, source in todo]))
            raise self._named(disk_full(directory, self._label))

    def _finish(
        self, directory: str, todo: Sequence[tuple[int, Source]], *, last: bool
    ) -> list[tuple[int, Source]]:
        """Verify and rename; returns the files that are to be sent again."""
        changed = [str(s.put.source) for _, s in todo if not s.unchanged()]
        if changed:
            self._run(remove_script(directory, [source.put.path for _, source in todo]))
            raise self._failed(f"{changed[0]} was changed while it was sent", "")
        ran = self._run(finish_script(directory, todo))
        found = read_finished(ran.out_text())
        if ran.rc is None or not ran.complete:
            raise self._failed("the connection was lost before the files were verified", "")
        for number, source in todo:
            if found.get(number) in {"taken", "stuck", None}:
                self._explain(ran.rc, ran.err_text(), directory)
                raise self._failed(f"{source.put.path} cannot be given its name", ran.err_text())
        bad = [(number, source) for number, source in todo if found[number] == "bad"]
        if bad and last:
            self._run(remove_script(directory, [source.put.path for _, source in bad]))
            raise self._failed(
                f"{bad[0][1].put.path} did not arrive as it was sent", "its checksum differs"
            )
        return bad

    def _explain(self, rc: int | None, said: str, place: str) -> None:
        if rc is not None and any(word in said.lower() for word in _FULL):
            raise self._named(disk_full(place, self._label))

    def _failed(self, message: str, detail: str) -> TransferFailed:
        detail = detail.strip().split("\n")[-1]
        return TransferFailed(
            f"{self._label}: {message}" + (f" ({detail})" if detail else ""),
            host=self._label,
            stage="transfer",
        )

    def _named(self, error: TransferFailed) -> CrystalMathError:
        error.host = self._label
        return error


def _check_names(sources: Sequence[Source]) -> None:
    for source in sources:
        path = source.put.path
        if path.is_absolute() or ".." in path.parts or not path.name or "\0" in str(path):
            raise InputRejected(f"the file name {str(path)!r} leads out of the job's directory")
