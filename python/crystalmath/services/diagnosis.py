"""``system.doctor`` and ``system.usage``: one diagnosis, and where the disk space went."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from crystalmath.contract.clusters import THIS_MACHINE
from crystalmath.contract.rpc import Call, NoParams, rpc
from crystalmath.contract.system import Check, DoctorResult, UsageResult, UsageRow
from crystalmath.errors import CrystalMathError, DatabaseError
from crystalmath.services.codes import usable_engines
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.ports import CodeAdapter
from crystalmath.services.ports_server import ServerPort
from crystalmath.services.ports_store import Store

LOW_SPACE_BYTES = 1024**3
_LARGEST = 20


@dataclass(frozen=True, slots=True)
class DiagnosisService:
    """Looks and reports; changes nothing."""

    server: ServerPort
    store: Store
    codes: Mapping[str, CodeAdapter]
    directories: JobDirectories
    database: Path
    cores: int
    clusters: Callable[[], list[Check]] = list

    @rpc(lane="db", read_only=True, deadline_s=60.0, wire_name="system.doctor")
    def doctor(self, params: NoParams) -> DoctorResult:
        """Check daemon, database, disk, codes and clusters, each on its own.

        No cluster is asked: what is said of it is what was last seen.
        """
        checks = [self._daemon(), self._database(), self._disk(), *self._codes()]
        checks += self._clusters()
        return DoctorResult(ok=all(check.ok for check in checks), checks=checks)

    @rpc(
        errors=(DatabaseError,),
        lane="db",
        read_only=True,
        deadline_s=120.0,
        wire_name="system.usage",
    )
    def usage(self, params: NoParams, call: Call) -> UsageResult:
        """Add up the disk space of the jobs, and their core-hours by cluster.

        Core-hours are those that a scheduler has accounted, or that the job's own receipt tells;
        where neither is known the time from start to end counts, with the cores asked for.
        """
        rows: list[UsageRow] = []
        for entry in os.scandir(self.directories.root):
            call.check()
            if entry.is_dir(follow_symlinks=False):
                size = _tree_bytes(Path(entry.path))
                rows.append(UsageRow(what=entry.name, path=entry.path, bytes=size))
        rows.sort(key=lambda row: (-row.bytes, row.what))
        database = sum(
            path.stat().st_size for path in self.database.parent.glob(f"{self.database.name}*")
        )
        return UsageResult(
            jobs_bytes=sum(row.bytes for row in rows),
            database_bytes=database,
            free_bytes=shutil.disk_usage(self.directories.root).free,
            largest=rows[:_LARGEST],
            core_hours={
                cluster or THIS_MACHINE: round(seconds / 3600, 6)
                for cluster, seconds in ({None: 0.0} | self.store.core_seconds()).items()
            },
        )

    def _daemon(self) -> Check:
        status = self.server.status()
        detail = f"version {status.version}, up {status.uptime_s:.0f} s, {status.rss_mib:.0f} MiB"
        troubled = status.log_problems > 0
        return Check(
            name="daemon",
            ok=not troubled,
            detail=detail,
            hint=f"{status.log_problems} log lines could not be written" if troubled else None,
        )

    def _database(self) -> Check:
        try:
            problem = self.store.check()
        except CrystalMathError as error:
            return Check(name="database", ok=False, detail=error.message, hint=error.hint)
        if problem is not None:
            hint = "stop the daemon and put back one of the backups beside the database"
            return Check(name="database", ok=False, detail=problem, hint=hint)
        total = sum(self.store.counts().values())
        return Check(name="database", ok=True, detail=f"{total} jobs, integrity good")

    def _disk(self) -> Check:
        free = shutil.disk_usage(self.directories.root).free
        low = free < LOW_SPACE_BYTES
        return Check(
            name="disk",
            ok=not low,
            detail=f"{free / 1024**3:.1f} GiB free for jobs",
            hint="delete jobs with their files, or give another data directory" if low else None,
        )

    def _clusters(self) -> list[Check]:
        try:
            return self.clusters()
        except DatabaseError as error:
            return [Check(name="clusters", ok=False, detail=error.message, hint=error.hint)]

    def _codes(self) -> list[Check]:
        found = []
        for name in sorted(self.codes):
            facts = self.codes[name].describe()
            problem = facts.get("problem")
            # A program that is not installed is not wanted here; that is no fault.
            absent = bool(facts.get("absent"))
            detail = (
                problem or facts.get("executable") or ", ".join(usable_engines(facts)) or "ready"
            )
            found.append(
                Check(
                    name=f"code {name}",
                    ok=problem is None or absent,
                    detail=str(detail),
                    hint=facts.get("hint"),
                )
            )
        return found


def _tree_bytes(directory: Path) -> int:
    total = 0
    for root, _, files in os.walk(directory, onerror=None):
        for name in files:
            try:
                total += (Path(root) / name).lstat().st_blocks * 512
            except OSError:
                continue
    return total
