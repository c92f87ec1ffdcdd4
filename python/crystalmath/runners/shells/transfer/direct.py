"""Moving bytes on this machine: plain files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crystalmath.runners.shells.transfer.carriers import (
    CHUNK_BYTES,
    CarrierFailed,
    Fetching,
    LocalPart,
    Progress,
    Sending,
)


class Direct:
    """The file system of this machine."""

    def send(self, directory: str, sendings: Sequence[Sending], progress: Progress) -> None:
        """Append to files."""
        for sending in sendings:
            path = Path(directory) / sending.part
            try:
                with path.open("ab" if sending.offset else "wb") as file:
                    for chunk in sending.source.chunks(sending.offset):
                        file.write(chunk)
                        progress.moved(len(chunk))
                        progress.left()
            except OSError as err:
                raise CarrierFailed(err.strerror or str(err)) from err

    def fetch(self, fetchings: Sequence[Fetching], progress: Progress) -> None:
        """Append to other files."""
        for fetching in fetchings:
            part = LocalPart(fetching)
            try:
                self._fetch(fetching, part, progress)
            finally:
                part.close()

    def _fetch(self, fetching: Fetching, part: LocalPart, progress: Progress) -> None:
        left = fetching.count
        try:
            with Path(fetching.remote).open("rb") as file:
                file.seek(fetching.offset)
                while left > 0:
                    chunk = file.read(min(CHUNK_BYTES, left))
                    if not chunk:
                        raise CarrierFailed(f"{fetching.remote} is shorter than it was")
                    part.write(chunk)
                    left -= len(chunk)
                    progress.moved(len(chunk))
                    progress.left()
        except OSError as err:
            raise CarrierFailed(err.strerror or str(err)) from err
