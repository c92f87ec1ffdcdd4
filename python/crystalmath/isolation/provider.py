"""``EnvironmentProvider``: what the daemon and scripts ask for. Wires the modules of this room."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path
from platform import python_version
from typing import Any, Final

from crystalmath.errors import ConfigError, EnvironmentBroken, EnvironmentUnbuildable, NotFound
from crystalmath.isolation import external
from crystalmath.isolation.build import Plan, build, look
from crystalmath.isolation.choice import ModelChoice
from crystalmath.isolation.declaration import Declared, load_declarations, package_name
from crystalmath.isolation.finding import Standing, every_environment, find_environment
from crystalmath.isolation.garbage import Collector, Wanted, last_used, touch
from crystalmath.isolation.interpreters import find_interpreter, probe
from crystalmath.isolation.inventory import damage
from crystalmath.isolation.kit import WorkerKit
from crystalmath.isolation.licences import Licences
from crystalmath.isolation.lock import environment_id, load_lock, make_lock, normalise
from crystalmath.isolation.models import ModelStore
from crystalmath.isolation.places import Places
from crystalmath.isolation.record import python_of, site_of
from crystalmath.isolation.sizes import sizes_of
from crystalmath.isolation.surroundings import empty_directory, library_path, variables
from crystalmath.services.ports_forces import (
    EngineDeclaration,
    EnvironmentRow,
    InstallStep,
    ModelState,
    ReadyEnvironment,
    Removal,
    ResolvedModel,
)

__all__ = ["HOST", "Environments", "WorkerKit"]

HOST: Final = "host"
"""Id of the host's own interpreter."""
_HOST_PACKAGE: Final = "ase"
_DAY_S: Final = 86400.0


class Environments:
    """Implements ``ports_forces.EnvironmentProvider``.

    Parameters
    ----------
    worker
        What is copied into each environment.
    clock
        Seconds since the epoch.
    """

    def __init__(
        self, places: Places, worker: WorkerKit, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._places = places
        self._kit = worker
        self._clock = clock
        self._store = ModelStore(places)
        self._licences = Licences(places)
        self._choice = ModelChoice(self._store, self._licences)

    # --- declarations ---------------------------------------------------------------------------

    def declarations(self) -> Sequence[EngineDeclaration]:
        """See ``EnvironmentProvider.declarations``."""
        return [one.engine for one in self._every_declared()]

    def declaration(self, engine: str) -> EngineDeclaration:
        """See ``EnvironmentProvider.declaration``."""
        return self._declared(engine).engine

    def _every_declared(self) -> list[Declared]:
        return load_declarations(self._places.shipped, self._places.user)

    def _declared(self, engine: str) -> Declared:
        every = self._every_declared()
        for one in every:
            if one.engine.name == engine:
                if one.engine.problem is not None:
                    raise ConfigError(one.engine.problem, hint="correct the declaration")
                return one
        names = ", ".join(one.engine.name for one in every if one.engine.problem is None)
        raise NotFound(
            f"there is no engine {engine[:60]!r}", hint=f"engines here: {names}", field="engine"
        )

    # --- environments ---------------------------------------------------------------------------

    def ready(self, engine: str) -> ReadyEnvironment | None:
        """See ``EnvironmentProvider.ready``."""
        return self._ready(self._declared(engine))

    def _ready(self, declared: Declared) -> ReadyEnvironment | None:
        engine = declared.engine
        if engine.host_interpreter:
            return self._of_host(engine)
        if engine.external_python is not None:
            record = external.load_record(engine, self._places)
            return None if record is None else self._of_external(engine, record)
        found = self._find(declared)
        if found is None or found.problem is not None or found.record is None:
            return None
        return self._of_built(engine, found.directory, found.record)

    def _find(self, declared: Declared) -> Standing | None:
        return find_environment(declared, self._places, self._kit)

    def _of_host(self, engine: EngineDeclaration) -> ReadyEnvironment:
        return ReadyEnvironment(
            id=HOST,
            engine=engine.name,
            python=sys.executable,
            worker=str(self._kit.entry),
            declaration=str(engine.path),
            versions=dict(_own_versions()),
            python_version=python_version(),
        )

    def _of_external(
        self, engine: EngineDeclaration, record: Mapping[str, Any]
    ) -> ReadyEnvironment:
        return ReadyEnvironment(
            id=record["id"],
            engine=engine.name,
            python=record["python"],
            worker=str(self._kit.entry),
            declaration=str(engine.path),
            versions=record["versions"],
            python_version=record["python_version"],
            external=True,
        )

    def _of_built(
        self, engine: EngineDeclaration, directory: Path, record: Mapping[str, Any]
    ) -> ReadyEnvironment:
        return ReadyEnvironment(
            id=record["id"],
            engine=engine.name,
            python=str(python_of(directory)),
            worker=str(self._kit.place_in(directory)),
            declaration=str(engine.path),
            versions=record["versions"],
            python_version=record["python_version"],
        )

    def expected_bytes(self, engine: str) -> int | None:
        """See ``EnvironmentProvider.expected_bytes``."""
        declared = self._declared(engine)
        return 0 if self._ready(declared) is not None else declared.install_bytes

    def install(
        self,
        engine: str,
        *,
        models: Sequence[str] = (),
        progress: Callable[[InstallStep], None] = lambda _step: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ReadyEnvironment:
        """See ``EnvironmentProvider.install``."""
        declared = self._declared(engine)
        wanted = [self._choice.named(declared.engine, model) for model in models]
        for model in wanted:
            self._licences.check(engine, model)
        environment = self._installed(declared, progress, cancelled)
        for model in wanted:
            if model.source == "download":
                self._store.download(model, progress, cancelled)
        progress(InstallStep("done", "ready", 1.0))
        return environment

    def _installed(
        self,
        declared: Declared,
        progress: Callable[[InstallStep], None],
        cancelled: Callable[[], bool],
    ) -> ReadyEnvironment:
        engine = declared.engine
        if engine.host_interpreter:
            return self._of_host(engine)
        if engine.external_python is not None:
            progress(InstallStep("checking", f"looking at {engine.external_python}"))
            try:
                return self._of_external(engine, external.register(engine, self._places))
            except OSError as error:
                raise EnvironmentUnbuildable(
                    f"{error.filename or self._places.data_dir}: {error.strerror}",
                    hint="check the permissions of the data directory",
                ) from None
        interpreter = find_interpreter(engine.requires_python, self._places)
        lock = load_lock(declared, self._places)
        if lock is None:
            if engine.origin == "shipped":
                raise EnvironmentUnbuildable(
                    f"the lock of {engine.name} does not belong to its declaration",
                    hint="reinstall CrystalMath; in a checkout: scripts/lock-engines",
                )
            progress(InstallStep("resolving", "choosing versions"))
            lock = make_lock(declared, self._places, cancelled=cancelled)
        identity = environment_id(lock, interpreter, self._kit.abi)
        plan = Plan(identity, declared, lock, interpreter, self._kit)
        record = build(plan, self._places, progress=progress, cancelled=cancelled)
        directory = self._places.environment(identity)
        touch(directory, self._clock())
        return self._of_built(engine, directory, record)

    def check(self, engine: str) -> Mapping[str, Any]:
        """See ``EnvironmentProvider.check``."""
        declared = self._declared(engine)
        one = declared.engine
        try:
            if one.host_interpreter:
                problems, facts = self._check_host(one)
            elif one.external_python is not None:
                problems, facts = self._check_external(declared)
            else:
                problems, facts = self._check_built(declared)
        except EnvironmentBroken as error:
            problems, facts = [error.message], {}
        return {"ok": not problems, "problems": problems, "facts": facts}

    def _check_host(self, engine: EngineDeclaration) -> tuple[list[str], dict[str, Any]]:
        caches = self._places.caches(engine.name)
        with empty_directory(caches) as cwd:
            env = variables(caches) | library_path(None, foreign=True)
            facts = probe(sys.executable, (*engine.import_first, "numpy", _HOST_PACKAGE), env, cwd)
        problems = [f"{name} cannot be imported" for name in facts["failures"]]
        return problems, _summary(facts)

    def _check_external(self, declared: Declared) -> tuple[list[str], dict[str, Any]]:
        ready = self._ready(declared)
        if ready is None:
            return ["it is not installed"], {}
        external.verify(ready, self._places)
        return [], {"external": True, "python_version": ready.python_version}

    def _check_built(self, declared: Declared) -> tuple[list[str], dict[str, Any]]:
        found, lock = self._find(declared), load_lock(declared, self._places)
        if found is None or lock is None:
            return ["it is not installed"], {}
        if found.record is None or found.problem is not None:
            return [found.problem or "its record is missing"], {}
        record = found.record
        gone = damage(site_of(found.directory, record))
        wanted = lock.wanted(record["python_version"])
        facts, problems = look(
            found.directory, declared, self._places, wanted, record["library_dir"]
        )
        if facts["python_version"] != record["python_version"]:
            gone.append(
                f"its Python is {facts['python_version']} now, it was built with "
                f"{record['python_version']}"
            )
        return [*gone, *problems], _summary(facts)

    def environments(self) -> Sequence[EnvironmentRow]:
        """See ``EnvironmentProvider.environments``."""
        users: dict[str, list[str]] = {}
        externals: list[EnvironmentRow] = []
        for declared in self._every_declared():
            engine = declared.engine
            if engine.problem is not None or engine.host_interpreter:
                continue
            if engine.external_python is not None:
                externals += self._external_row(engine)
            elif (found := self._find(declared)) is not None:
                users.setdefault(found.directory.name, []).append(engine.name)
        rows = [
            _row(one, users.get(one.directory.name, [])) for one in every_environment(self._places)
        ]
        return [*rows, *externals]

    def _external_row(self, engine: EngineDeclaration) -> list[EnvironmentRow]:
        record = external.load_record(engine, self._places)
        if record is None:
            return []
        here = Path(record["python"]).exists()
        return [
            EnvironmentRow(
                id=record["id"],
                engines=(engine.name,),
                state="ready" if here else "broken",
                size_bytes=0,
                apparent_bytes=0,
                last_used_at=None,
                built_at=record.get("built_at"),
                python_version=record.get("python_version"),
                external=True,
                problem=None if here else "its interpreter is not there any more",
            )
        ]

    def touch(self, environment_id: str) -> None:
        """See ``EnvironmentProvider.touch``."""
        directory = self._places.environment(environment_id)
        if environment_id != HOST and directory.is_dir():
            touch(directory, self._clock())

    # --- models ---------------------------------------------------------------------------------

    def models(self, engine: str) -> Sequence[ModelState]:
        """See ``EnvironmentProvider.models``."""
        declared = self._declared(engine)
        installed = self._ready(declared) is not None
        return [
            self._choice.state(engine, model, installed=installed)
            for model in declared.engine.models
        ]

    def resolve_model(self, engine: str, model: str | None) -> ResolvedModel:
        """See ``EnvironmentProvider.resolve_model``."""
        declared = self._declared(engine)
        return self._choice.resolve(declared.engine, model, self._package(declared))

    def _package(self, declared: Declared) -> str:
        """Version of what brings packaged weights along: the first package that is asked for."""
        name = package_name(declared.engine) or _HOST_PACKAGE
        lock = load_lock(declared, self._places) if declared.engine.dependencies else None
        if lock is not None:
            versions: Mapping[str, str] = lock.wanted(python_version())
        else:
            ready = self._ready(declared)
            versions = {} if ready is None else ready.versions
        by_name = {normalise(one): version for one, version in versions.items()}
        return by_name.get(normalise(name), "unknown")

    def accept_licence(self, engine: str, model: str) -> None:
        """See ``EnvironmentProvider.accept_licence``."""
        self._licences.accept(engine, self._choice.named(self.declaration(engine), model))

    # --- garbage --------------------------------------------------------------------------------

    def collect_garbage(
        self, *, keep_days: float, apply: bool, in_use: Collection[str]
    ) -> Sequence[Removal]:
        """See ``EnvironmentProvider.collect_garbage``; hashes of weights may be in use too."""
        every = self._every_declared()
        readable = [one for one in every if one.engine.problem is None]
        found = [self._find(one) for one in readable if one.engine.dependencies]
        wanted = Wanted(
            environments={one.directory.name for one in found if one is not None},
            models={m.sha256 for one in readable for m in one.engine.models if m.sha256},
            engines={one.engine.name for one in readable},
            unreadable={one.engine.path.stem for one in every} - {o.engine.name for o in readable},
            in_use=in_use,
        )
        return Collector(
            self._places,
            self._store,
            wanted,
            keep_s=keep_days * _DAY_S,
            now=self._clock(),
            apply=apply,
        ).collect()


def _row(one: Standing, engines: list[str]) -> EnvironmentRow:
    own, apparent = sizes_of(one.directory)
    record = one.record or {}
    return EnvironmentRow(
        id=one.directory.name,
        engines=tuple(engines),
        state="broken" if one.problem is not None else "ready" if engines else "unused",
        size_bytes=own,
        apparent_bytes=apparent,
        last_used_at=last_used(one.directory),
        built_at=record.get("built_at"),
        python_version=record.get("python_version"),
        problem=None if one.problem is None else f"{one.problem}; install it again",
    )


def _summary(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "python_version": facts["python_version"],
        "prefix": facts["prefix"],
        "packages": len(facts["distributions"]),
        "shared_objects": len(facts["mapped"]),
    }


@lru_cache(maxsize=1)
def _own_versions() -> Mapping[str, str]:
    return {one.metadata["Name"]: one.version for one in distributions() if one.metadata["Name"]}
