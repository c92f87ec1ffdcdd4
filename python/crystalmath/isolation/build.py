"""Building an environment: all of it or nothing, once, whoever asks.

A lock of the file system per id lets one process build while the others wait. It is built under a
hidden name and renamed when its check has passed, so whatever bears the final name is good; a kill
at any moment leaves rubbish under a hidden name, which the next build or the garbage collection
removes.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crystalmath.errors import Cancelled, EnvironmentBroken, EnvironmentUnbuildable
from crystalmath.isolation.check import judge
from crystalmath.isolation.interpreters import Interpreter, probe
from crystalmath.isolation.lock import Lock
from crystalmath.isolation.places import Places
from crystalmath.isolation.surroundings import make_directories, variables
from crystalmath.isolation.uv import Downloads, run_uv
from crystalmath.services.ports_forces import InstallStep

RECORD: Final = "env.json"
WORKER: Final = "worker"
_WAIT_S: Final = 0.2
_PROBED: Final = ("numpy",)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be built.

    Attributes
    ----------
    imports
        Modules that must be importable, in this order.
    """

    id: str
    engine: str
    lock: Lock
    interpreter: Interpreter
    worker: Path
    abi: int
    imports: tuple[str, ...] = ()


def path_of(places: Places, environment_id: str) -> Path:
    """Final directory of an environment."""
    return places.environments / environment_id


def load_record(directory: Path) -> dict[str, Any] | None:
    """Return ``env.json`` of an environment that looks whole, or None; a few file look-ups."""
    try:
        record: dict[str, Any] = json.loads((directory / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = (directory / "bin" / "python").exists() and (
        directory / WORKER / "__main__.py"
    ).is_file()
    return record if whole else None


def build(
    plan: Plan,
    places: Places,
    *,
    progress: Callable[[InstallStep], None],
    cancelled: Callable[[], bool],
) -> Path:
    """Build the environment, or wait for whoever builds it; return its directory.

    Raises
    ------
    EnvironmentUnbuildable, EnvironmentBroken, Cancelled
    """
    final = path_of(places, plan.id)
    try:
        places.environments.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _exclusive(places.environments / f".lock-{plan.id}", progress, cancelled):
            if load_record(final) is not None:
                return final
            return _build(plan, places, final, progress, cancelled)
    except OSError as error:
        raise _unbuildable(error, places) from error


def _unbuildable(error: OSError, places: Places) -> EnvironmentUnbuildable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EnvironmentUnbuildable(
            "the disk or the quota is full", hint=f"free some space in {places.data_dir}"
        )
    return EnvironmentUnbuildable(
        f"{error.filename or places.environments}: {error.strerror or error}",
        hint="check the permissions of the data directory",
    )


@contextmanager
def _exclusive(
    path: Path, progress: Callable[[InstallStep], None], cancelled: Callable[[], bool]
) -> Iterator[None]:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        told = False
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    progress(InstallStep("waiting", "another process builds it"))
                    told = True
                if cancelled():
                    raise Cancelled("the installation was stopped") from None
                time.sleep(_WAIT_S)
        yield
    finally:
        os.close(fd)


def _build(
    plan: Plan,
    places: Places,
    final: Path,
    progress: Callable[[InstallStep], None],
    cancelled: Callable[[], bool],
) -> Path:
    staged = places.environments / f".building-{plan.id}"
    shutil.rmtree(staged, ignore_errors=True)
    log = places.logs / f"build-{plan.id}.log"
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log.write_bytes(b"")
    try:
        _install(plan, places, staged, log, progress, cancelled)
        progress(InstallStep("checking", "looking whether anything leaks in"))
        facts = _checked(plan, places, staged)
        record = {
            "id": plan.id,
            "engine": plan.engine,
            "python_version": facts["python_version"],
            "platform": facts["platform"],
            "abi": plan.abi,
            "lock_sha256": plan.lock.sha256,
            "versions": {n: one["version"] for n, one in facts["distributions"].items()},
            "built_at": time.time(),
        }
        (staged / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
        (staged / "lock.txt").write_text(plan.lock.text, encoding="utf-8")
        if final.exists():  # it does not look whole: out of the way, for the garbage collection
            final.rename(places.environments / f".broken-{plan.id}-{time.time_ns()}")
        staged.rename(final)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    return final


def _install(
    plan: Plan,
    places: Places,
    staged: Path,
    log: Path,
    progress: Callable[[InstallStep], None],
    cancelled: Callable[[], bool],
) -> None:
    env = uv_variables(places)
    run_uv(
        ["venv", "--relocatable", "--no-project", "--python", plan.interpreter.path, str(staged)],
        log, env=env, cancelled=cancelled,
    )  # fmt: skip
    lock = staged / "lock.txt"
    lock.write_text(plan.lock.text, encoding="utf-8")
    arguments = [
        "pip", "sync", "--require-hashes", "--python", str(staged / "bin" / "python"), str(lock),
    ]  # fmt: skip

    def tell(downloads: Downloads) -> None:
        total, done = downloads.total_bytes, downloads.done_bytes
        missing = sorted(set(downloads.sizes) - downloads.done)
        text = f"downloading {', '.join(missing[:3])}" if missing else "unpacking and linking"
        progress(
            InstallStep(
                "downloading" if missing else "installing",
                text,
                done_bytes=done if total else None,
                total_bytes=total or None,
            )
        )

    progress(
        InstallStep("installing", f"{len(plan.lock.wanted(plan.interpreter.version))} packages")
    )
    try:
        # What is in the cache is installed without a look at the network.
        run_uv([*arguments, "--offline"], log, env=env, cancelled=cancelled)
    except EnvironmentUnbuildable:
        said = run_uv(arguments, log, env=env, progress=tell, cancelled=cancelled)
        if "Failed to hardlink" in said:
            progress(InstallStep("installing", "packages are copied: no hard links here"))
    shutil.copytree(
        plan.worker, staged / WORKER, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
    )


def _checked(plan: Plan, places: Places, staged: Path) -> dict[str, Any]:
    facts, problems = look(
        str(staged), plan.engine, plan.imports, places, plan.lock.wanted(plan.interpreter.version)
    )
    if problems:
        raise EnvironmentBroken(
            f"the environment of {plan.engine} failed its check: {'; '.join(problems[:5])}",
            hint=f"the log of the build is {places.logs / f'build-{plan.id}.log'}",
        )
    return facts


def look(
    prefix: str,
    engine: str,
    imports: tuple[str, ...],
    places: Places,
    wanted: dict[str, str] | None,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Probe an environment and judge it.

    Returns
    -------
    facts, problems
    """
    caches = places.caches(engine)
    make_directories(caches)
    modules = [*imports]
    if wanted is None or "numpy" in wanted:
        modules += [one for one in _PROBED if one not in modules]
    with tempfile.TemporaryDirectory(dir=caches) as empty:
        facts = probe(
            str(Path(prefix) / "bin" / "python"), tuple(modules), variables(caches), Path(empty)
        )
    return facts, judge(facts, prefix, wanted)


def uv_variables(places: Places) -> dict[str, str]:
    """Where uv keeps what it has downloaded, so that packages can be hard links."""
    if places.uv_cache is not None:
        return {"UV_CACHE_DIR": str(places.uv_cache)}
    own = os.environ.get("UV_CACHE_DIR")
    home = Path(own) if own else Path.home() / ".cache" / "uv"
    try:
        beside = home if home.exists() else home.parent if home.parent.exists() else Path.home()
        if beside.stat().st_dev == places.data_dir.stat().st_dev:
            return {"UV_CACHE_DIR": str(home)}
    except (OSError, RuntimeError):
        pass
    return {"UV_CACHE_DIR": str(places.data_dir / "caches" / "uv")}
