"""A host with job directories: bringing files, receipts, fetching, following logs.

The half of a ``ClusterRunner`` that knows no scheduler; ``runners.slurm`` and ``runners.host`` add
theirs.
"""

from __future__ import annotations

import secrets
import shlex
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from crystalmath.domain.evidence import Observation
from crystalmath.errors import TransferFailed, Unreachable
from crystalmath.runners.remote import receipts
from crystalmath.runners.remote.claim import receipt_script
from crystalmath.services.cluster_key import job_key
from crystalmath.services.ports_cluster import (
    ClusterRecord,
    Listed,
    Outcome,
    Staging,
    Watched,
    Work,
)
from crystalmath.services.ports_shell import Get, Got, Put, Ran, Shell, ShellFacts, TailFrom
from crystalmath.services.ports_tasks import task_folder

COMMAND_S: Final = 30.0
QUERY_S: Final = 60.0
TRANSFER_S: Final = 3600.0
_RECEIPTS_AT_ONCE: Final = 200


class RemoteHost(ABC):
    """One host.

    Parameters
    ----------
    open_shell
        Makes the connection; called on first use.
    """

    @abstractmethod
    def render(self, work: Work, directory: str) -> str:
        """See ``ClusterRunner.render``."""

    @abstractmethod
    def read_step(self, ran: Ran) -> Outcome:
        """What became of a hand-over, from the answer of its step."""

    def __init__(
        self, record: ClusterRecord, open_shell: Callable[[], Shell], clock: Callable[[], float]
    ) -> None:
        self._record = record
        self._open_shell = open_shell
        self._clock = clock
        self._opening = threading.Lock()
        self._shell: Shell | None = None
        self._facts: ShellFacts | None = None
        self._identities: dict[str, str | None] = {}

    def facts(self) -> ShellFacts:
        """See ``ClusterRunner.facts``."""
        if self._facts is None:
            self._facts = self.on().probe(deadline_s=COMMAND_S)
        return self._facts

    def stage(self, staging: Staging) -> str:
        """See ``ClusterRunner.stage``."""
        directory = self._make_directory(job_key(staging.work.uuid))
        text = self.render(staging.work, directory).encode()
        puts = [
            Put(
                PurePosixPath(file.path),
                source=staging.directory / file.path,
                mode=0o700 if file.executable else 0o600,
            )
            for file in staging.files
        ]
        puts.append(Put(PurePosixPath("job.sh"), content=text, mode=0o700))
        self.on().put(puts, PurePosixPath(directory), deadline_s=TRANSFER_S)
        return directory

    def receipt(self, directory: str, claim: int) -> Outcome:
        """See ``ClusterRunner.receipt``."""
        step = receipt_script(directory, claim)
        return self.read_step(self.on().run(step, deadline_s=COMMAND_S))

    def receipts(self, jobs: Sequence[Watched]) -> dict[int, list[Observation]]:
        """See ``ClusterRunner.receipts``."""
        found: dict[int, list[Observation]] = {}
        places = [place for job in jobs for place in _places(job)]
        for at in range(0, len(places), _RECEIPTS_AT_ONCE):
            tag = "cm" + secrets.token_hex(8)
            some = dict(places[at : at + _RECEIPTS_AT_ONCE])
            ran = self.on().run(receipts.receipts_script(some, tag), deadline_s=QUERY_S)
            for job_id, seen in receipts.read_receipts(ran, tag, self._clock()).items():
                found.setdefault(job_id, []).extend(seen)
        return found

    def listing(self, directory: str, depth: int | None = None) -> list[Listed] | None:
        """See ``ClusterRunner.listing``."""
        ran = self.on().run(receipts.listing_script(directory, depth), deadline_s=QUERY_S)
        try:
            return receipts.read_listing(ran)
        except ValueError as error:
            raise TransferFailed(str(error)) from error

    def fetch(
        self, directory: str, names: Sequence[str], into: Path, max_bytes: int
    ) -> Sequence[Got]:
        """See ``ClusterRunner.fetch``."""
        wanted = [Get(PurePosixPath(directory) / name, name, max_bytes) for name in names]
        return self.on().get(wanted, into, deadline_s=TRANSFER_S)

    def follow(self, wanted: Sequence[tuple[str, Path]], max_bytes: int) -> int:
        """See ``ClusterRunner.follow``."""
        wants = [
            TailFrom(
                PurePosixPath(remote),
                local.stat().st_size if local.exists() else 0,
                max_bytes,
                self._identities.get(remote),
            )
            for remote, local in wanted
        ]
        done = 0
        for want, (remote, local), tail in zip(
            wants, wanted, self.on().tail(wants, deadline_s=QUERY_S), strict=True
        ):
            if tail.size is None:
                continue
            self._identities[remote] = tail.identity
            if tail.data or tail.offset != want.offset or not local.exists():
                done += _append(local, tail.offset, tail.data)
        return done

    def close(self) -> None:
        """See ``ClusterRunner.close``."""
        with self._opening:
            if self._shell is not None:
                self._shell.close()
            self._shell = self._facts = None

    def on(self) -> Shell:
        """The connection; made on first use."""
        with self._opening:
            if self._shell is None:
                self._shell = self._open_shell()
            return self._shell

    def user(self) -> str:
        """The account that commands run as."""
        return self.facts().user

    def _make_directory(self, key: str) -> str:
        """Make the job's directory; the work directory's variables are expanded there."""
        making = (
            f"d={expandable(self._record.remote_workdir)}/{shlex.quote(key)}\n"
            'mkdir -p -m 700 "$d" && mkdir -p -m 700 "$d/.cm" && cd "$d" && pwd -P'
        )
        lines = self.run_there(making, "the job's directory").out_text().splitlines()
        if not lines or not lines[-1].startswith("/"):
            raise TransferFailed(f"the job's directory on {self._record.name} cannot be made")
        return lines[-1]

    def run_there(self, script: str, what: str) -> Ran:
        """Make something on the host.

        Raises
        ------
        Unreachable, TransferFailed
        """
        ran = self.on().run(script, deadline_s=COMMAND_S)
        if ran.rc is None or not ran.complete:
            raise Unreachable(f"the connection was lost while {what} was made")
        if ran.rc != 0:
            said = ran.err_text().strip().splitlines()
            raise TransferFailed(
                f"{what} on {self._record.name} cannot be made: "
                f"{said[-1] if said else 'no reason was given'}",
                hint="check `remote_workdir` of the cluster, and its free space and permissions",
            )
        return ran


def _places(job: Watched) -> list[tuple[str, str]]:
    """Where a job leaves its receipts: its directory, or the folders of its tasks."""
    if job.tasks is None:
        return [(str(job.job_id), job.directory)]
    return [(f"{job.job_id}_{n}", f"{job.directory}/{task_folder(n)}") for n in job.tasks]


def expandable(path: str) -> str:
    """Quote a path for the shell so that a leading ``~`` and ``$NAME`` are expanded, only."""
    if path.startswith("~"):
        return '"$HOME"' + _quoted(path[1:])
    return _quoted(path)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
    return '"' + escaped.replace("$(", "\\$(") + '"'


def _append(local: Path, offset: int, data: bytes) -> int:
    local.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with local.open("r+b" if local.exists() else "wb") as copy:
        copy.seek(offset)
        copy.write(data)
        copy.truncate()
    return len(data)
