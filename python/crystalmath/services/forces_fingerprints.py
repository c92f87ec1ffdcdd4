"""What examinations have found: kept on the disk for each worker's identity, used at each start.

A fingerprint belongs to environment, weights, precision, device and options. It names what the
engine must not give although it has it, and holds one structure with its numbers, which the worker
compares with its own while it loads. ``forces.doctor`` writes it; the pool, and workers of a
script's own, read it. A file that cannot be read is an error and not an engine without findings.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from crystalmath.errors import ConfigError
from crystalmath.services.ports_pool import Learnt, Wanted

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The findings of one examination.

    Attributes
    ----------
    at
        When, as ISO 8601.
    identity
        What was examined.
    withheld
        Property → why it is switched off.
    reference
        A structure with its numbers; None when no structure could be computed.
    checks
        All that was found.
    """

    at: str
    identity: Mapping[str, Any]
    withheld: Mapping[str, str] = field(default_factory=dict)
    reference: Mapping[str, Any] | None = None
    checks: Sequence[Mapping[str, Any]] = ()


class Fingerprints:
    """See the module docstring. Safe in threads and between processes.

    Parameters
    ----------
    folder
        Where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, wanted: Wanted) -> Fingerprint | None:
        """Return what is known; raises ``ConfigError`` for a file that cannot be read."""
        path = self._path(wanted)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document.pop("format") != FORMAT:
                return None  # of another version: the next examination replaces it
            return Fingerprint(**document)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            engine = wanted.environment.engine
            raise ConfigError(
                f"what was found about {engine} cannot be read: {type(error).__name__}",
                hint=f"crystalmath engines doctor {engine} --renew",
            ) from error

    def learnt(self, wanted: Wanted) -> Learnt:
        """Return what a worker is told; nothing for one that is to be examined afresh."""
        found = None if wanted.afresh else self.find(wanted)
        if found is None:
            return Learnt()
        if found.reference is None:
            return Learnt(dict(found.withheld))
        hint = f"crystalmath engines doctor {wanted.environment.engine} --renew"
        return Learnt(dict(found.withheld), {**found.reference, "at": found.at, "hint": hint})

    def keep(self, wanted: Wanted, found: Fingerprint) -> None:
        """Replace what is known, at once or not at all."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, **asdict(found)}, indent=1)
        fd, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path(wanted))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _path(self, wanted: Wanted) -> Path:
        key = json.dumps(
            [
                wanted.environment.id,
                wanted.environment.engine,
                wanted.model.key,
                wanted.dtype,
                wanted.device,
                dict(wanted.options),
            ],
            sort_keys=True,
        )
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
