"""Building an environment: all of it or nothing, once, whoever asks.

A lock of the file system per id lets one process build while the others wait. It is built under a
hidden name and renamed when its check has passed, so whatever bears the final name is good; a kill
at any moment leaves rubbish under a hidden name, which the next build or the garbage collection
removes.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crystalmath.errors import EnvironmentBroken, EnvironmentUnbuildable
from crystalmath.isolation.check import judge
from crystalmath.isolation.declaration import Declared
from crystalmath.isolation.interpreters import Interpreter, probe
from crystalmath.isolation.inventory import landmarks
from crystalmath.isolation.kit import WorkerKit
from crystalmath.isolation.lock import Lock
from crystalmath.isolation.locks import build_lock, exclusive, if_free
from crystalmath.isolation.places import Places
from crystalmath.isolation.record import RECORD, load_record, python_of, thorough_problem
from crystalmath.isolation.surroundings import empty_directory, library_path, variables
from crystalmath.isolation.uv import Downloads, Uv
from crystalmath.isolation.uv_project import write_locations
from crystalmath.services.ports_forces import InstallStep

BUILDING: Final = ".building-"
REPLACED: Final = ".replaced-"
_PROBED: Final = "numpy"
_MOST_PROBLEMS: Final = 5

Progress = Callable[[InstallStep], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be built."""

    id: str
    declared: Declared
    lock: Lock
    interpreter: Interpreter
    kit: WorkerKit

    @property
    def engine(self) -> str:
        """Name of the engine that it is built for first."""
        return self.declared.engine.name


def build_log(places: Places, environment_id: str) -> Path:
    """Where all that uv said stands."""
    return places.logs / f"build-{environment_id}.log"


def build(
    plan: Plan, places: Places, *, progress: Progress, cancelled: Callable[[], bool]
) -> dict[str, Any]:
    """Build the environment, or wait for whoever builds it; return its record.

    Raises
    ------
    EnvironmentUnbuildable, EnvironmentBroken, Cancelled
    """
    final = places.environment(plan.id)
    waiting = _Waiting(build_log(places, plan.id), progress)
    try:
        places.environments.mkdir(mode=0o700, parents=True, exist_ok=True)
        with exclusive(build_lock(places, plan.id), waiting.tell, cancelled) as fd:
            record = load_record(final)
            if record is not None and thorough_problem(final, record) is None:
                return record
            remove_abandoned(places)
            return _Build(plan, places, fd, progress, cancelled).run()
    except OSError as error:
        raise _unbuildable(error, places) from error


def abandoned(places: Places) -> list[Path]:
    """Return what builds have left that were killed: nobody holds their lock."""
    found = []
    for path in sorted(places.environments.glob(f"{BUILDING}*")):
        with if_free(build_lock(places, path.name.removeprefix(BUILDING))) as free:
            if free:
                found.append(path)
    return found


def remove_abandoned(places: Places) -> None:
    """Remove them, each while its lock is held: another process may begin to build just now."""
    for path in abandoned(places):
        with if_free(build_lock(places, path.name.removeprefix(BUILDING))) as free:
            if free:
                shutil.rmtree(path, ignore_errors=True)


def _unbuildable(error: OSError, places: Places) -> EnvironmentUnbuildable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(places.data_dir).free
        return EnvironmentUnbuildable(
            f"the disk or the quota is full: {free / 1e6:.0f} MB are left in {places.data_dir}",
            hint="free some space and try again",
        )
    return EnvironmentUnbuildable(
        f"{error.filename or places.environments}: {error.strerror or error}",
        hint="check the permissions of the data directory",
    )


class _Waiting:
    """Tells how far the process is that builds."""

    def __init__(self, log: Path, progress: Progress) -> None:
        self._log = log
        self._progress = progress
        self._told: InstallStep | None = None

    def tell(self) -> None:
        """Tell it when it has changed."""
        downloads = Downloads()
        with contextlib.suppress(OSError):
            downloads.read(self._log.read_text(encoding="utf-8", errors="replace"))
        step = _step("waiting", f"another process builds it: {_doing(downloads)}", downloads)
        if step != self._told:
            self._progress(step)
            self._told = step


def _doing(downloads: Downloads) -> str:
    missing = downloads.missing
    return f"downloading {', '.join(missing[:3])}" if missing else "unpacking and linking"


def _step(phase: Any, text: str, downloads: Downloads) -> InstallStep:
    done, total = downloads.done_bytes, downloads.total_bytes
    if not total:
        return InstallStep(phase, text)
    return InstallStep(phase, text, done / total, done, total)


class _Build:
    """One build, under its lock."""

    def __init__(
        self,
        plan: Plan,
        places: Places,
        lock_fd: int,
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> None:
        self._plan = plan
        self._places = places
        self._uv = Uv(places, lock_fd)
        self._progress = progress
        self._cancelled = cancelled
        self._staged = places.environments / f"{BUILDING}{plan.id}"
        self._log = build_log(places, plan.id)

    def run(self) -> dict[str, Any]:
        """Build, check, rename."""
        shutil.rmtree(self._staged, ignore_errors=True)
        try:
            self._install()
            self._plan.kit.place_in(self._staged)
            self._progress(InstallStep("checking", "looking whether anything leaks in"))
            record = self._record(self._checked())
            (self._staged / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
            self._take_its_place()
        except BaseException:
            shutil.rmtree(self._staged, ignore_errors=True)
            raise
        return record

    def _take_its_place(self) -> None:
        final = self._places.environment(self._plan.id)
        old = self._places.environments / f"{REPLACED}{self._plan.id}-{time.time_ns()}"
        if final.exists():  # it is damaged, else this would not be built
            final.rename(old)
        self._staged.rename(final)
        shutil.rmtree(old, ignore_errors=True)

    def _install(self) -> None:
        plan, staged = self._plan, self._staged
        packages = len(plan.lock.wanted(plan.interpreter.version))
        self._progress(InstallStep("installing", f"{packages} packages"))
        with empty_directory(self._places.caches(plan.engine)) as folder:
            write_locations(plan.declared, folder)
            self._run_uv(
                folder, "venv", "--relocatable", "--no-project", "--no-config",
                "--python", plan.interpreter.path, str(staged), anew=True,
            )  # fmt: skip
            lock = staged / "lock.txt"
            lock.write_text(plan.lock.text, encoding="utf-8")
            arguments = (
                "pip", "sync", "--require-hashes", "--link-mode", "hardlink", "--project",
                str(folder), "--python", str(python_of(staged)), str(lock),
            )  # fmt: skip
            try:
                # What is in the cache is installed without a look at the network.
                self._run_uv(folder, *arguments, "--offline")
            except EnvironmentUnbuildable:
                said = self._run_uv(folder, *arguments)
                if "Failed to hardlink" in said:
                    text = "packages are copied: no hard links between the cache and the data here"
                    self._progress(InstallStep("installing", text))

    def _run_uv(self, folder: Path, *arguments: str, anew: bool = False) -> str:
        return self._uv.run(
            arguments, self._log, subject=f"{self._plan.engine} cannot be installed", cwd=folder,
            anew=anew, progress=self._tell, cancelled=self._cancelled,
        )  # fmt: skip

    def _tell(self, downloads: Downloads) -> None:
        phase = "downloading" if downloads.missing else "installing"
        self._progress(_step(phase, _doing(downloads), downloads))

    def _checked(self) -> dict[str, Any]:
        plan = self._plan
        wanted = plan.lock.wanted(plan.interpreter.version)
        facts, problems = look(
            self._staged, plan.declared, self._places, wanted, plan.interpreter.library_dir
        )
        if problems:
            raise EnvironmentBroken(
                f"the environment of {plan.engine} failed its check: "
                f"{'; '.join(problems[:_MOST_PROBLEMS])}",
                hint=f"the log of the build is {self._log}",
            )
        return facts

    def _record(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        plan = self._plan
        site = self._staged / facts["site"]
        return {
            "id": plan.id,
            "engine": plan.engine,
            "python_version": facts["python_version"],
            "platform": plan.interpreter.platform,
            "library_dir": plan.interpreter.library_dir,
            "abi": plan.kit.abi,
            "lock_sha256": plan.lock.sha256,
            "site": facts["site"],
            "landmarks": landmarks(site),
            "versions": {n: one["version"] for n, one in facts["distributions"].items()},
            "built_at": time.time(),
        }


def look(
    prefix: Path,
    declared: Declared,
    places: Places,
    wanted: Mapping[str, str],
    library_dir: str | None,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Probe an environment and judge it.

    Returns
    -------
    facts, problems
    """
    modules = list(declared.engine.import_first)
    if _PROBED in wanted and _PROBED not in modules:
        modules.append(_PROBED)
    caches = places.caches(declared.engine.name)
    env = variables(caches) | library_path(library_dir, foreign=False)
    with empty_directory(caches) as empty:
        facts = probe(str(python_of(prefix)), tuple(modules), env, empty)
    return facts, judge(facts, str(prefix), wanted)
