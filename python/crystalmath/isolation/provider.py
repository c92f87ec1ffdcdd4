"""``EnvironmentProvider``: what the daemon and scripts ask for. Wires the modules of this room."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from platform import python_version
from typing import Any

from crystalmath.errors import (
    ConfigError,
    EnvironmentBroken,
    EnvironmentUnbuildable,
    InputRejected,
    NotFound,
)
from crystalmath.isolation import external, garbage
from crystalmath.isolation.build import WORKER, Plan, build, load_record, look, path_of
from crystalmath.isolation.declaration import Declared, load_declarations
from crystalmath.isolation.interpreters import find_interpreter
from crystalmath.isolation.lock import environment_id, load_lock, make_lock
from crystalmath.isolation.models import ModelStore
from crystalmath.isolation.places import Places
from crystalmath.isolation.sizes import sizes_of
from crystalmath.isolation.surroundings import make_directories, variables
from crystalmath.services.ports_forces import (
    EngineDeclaration,
    EnvironmentRow,
    InstallStep,
    ModelDeclaration,
    ModelState,
    ReadyEnvironment,
    Removal,
    ResolvedModel,
)

HOST = "host"
"""Id of the host's own interpreter."""


@dataclass(frozen=True, slots=True)
class WorkerKit:
    """What runs in every environment: a folder of files, and the number of its interface."""

    folder: Path
    abi: int


class Environments:
    """Implements ``ports_forces.EnvironmentProvider``."""

    def __init__(self, places: Places, worker: WorkerKit) -> None:
        self._places = places
        self._worker = worker
        self._models = ModelStore(places)

    # --- declarations ---------------------------------------------------------------------------

    def declarations(self) -> Sequence[EngineDeclaration]:
        """See ``EnvironmentProvider.declarations``."""
        return [one.engine for one in load_declarations(self._places.shipped, self._places.user)]

    def declaration(self, engine: str) -> EngineDeclaration:
        """See ``EnvironmentProvider.declaration``."""
        return self._declared(engine).engine

    def _declared(self, engine: str) -> Declared:
        every = load_declarations(self._places.shipped, self._places.user)
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
            return None if record is None else self._of_record(engine, record, None)
        environment = self._id_of(declared)
        if environment is None:
            return None
        directory = path_of(self._places, environment)
        built = load_record(directory)
        return None if built is None else self._of_record(engine, built, directory)

    def _id_of(self, declared: Declared) -> str | None:
        """Id that a declaration asks for, as far as that is known without resolving."""
        lock = load_lock(declared, self._places)
        if lock is None:
            return None
        try:
            interpreter = find_interpreter(declared.engine.requires_python)
        except EnvironmentUnbuildable:
            return None
        return environment_id(lock, interpreter.version, self._worker.abi)

    def _of_host(self, engine: EngineDeclaration) -> ReadyEnvironment:
        return ReadyEnvironment(
            id=HOST,
            engine=engine.name,
            python=sys.executable,
            worker=str(self._worker.folder / "__main__.py"),
            declaration=str(engine.path),
            versions=dict(_own_versions()),
            python_version=python_version(),
        )

    def _of_record(
        self, engine: EngineDeclaration, record: Mapping[str, Any], directory: Path | None
    ) -> ReadyEnvironment:
        if directory is None:
            python, folder = str(record["python"]), self._worker.folder
        else:
            python, folder = str(directory / "bin" / "python"), directory / WORKER
        return ReadyEnvironment(
            id=record["id"],
            engine=engine.name,
            python=python,
            worker=str(folder / "__main__.py"),
            declaration=str(engine.path),
            versions=record["versions"],
            python_version=record["python_version"],
            external=directory is None,
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
        wanted = [self._model(declared.engine, model) for model in models]
        for model in wanted:
            self._models.check_consent(engine, model)
        environment = self._installed(declared, progress, cancelled)
        for model in wanted:
            if model.source == "download":
                self._models.download(model, progress, cancelled)
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
            with self._quiet(engine.name) as (env, cwd):
                record = external.register(engine, self._places, env, cwd)
            return self._of_record(engine, record, None)
        lock = load_lock(declared, self._places)
        if lock is None:
            if engine.origin == "shipped":
                raise EnvironmentUnbuildable(
                    f"the lock of {engine.name} does not belong to its declaration",
                    hint="reinstall CrystalMath; in a checkout: scripts/lock-engines",
                )
            progress(InstallStep("resolving", "choosing versions"))
            lock = make_lock(declared, self._places, cancelled=cancelled)
        interpreter = find_interpreter(engine.requires_python)
        plan = Plan(
            id=environment_id(lock, interpreter.version, self._worker.abi),
            engine=engine.name,
            lock=lock,
            interpreter=interpreter,
            worker=self._worker.folder,
            abi=self._worker.abi,
            imports=engine.import_first,
        )
        directory = build(plan, self._places, progress=progress, cancelled=cancelled)
        built = load_record(directory)
        if built is None:
            raise EnvironmentBroken(f"the environment of {engine.name} vanished after its build")
        garbage.touch(directory)
        return self._of_record(engine, built, directory)

    def _quiet(self, engine: str) -> _Quiet:
        return _Quiet(self._places.caches(engine))

    def check(self, engine: str) -> Mapping[str, Any]:
        """See ``EnvironmentProvider.check``."""
        declared = self._declared(engine)
        one = declared.engine
        ready = self._ready(declared)
        if ready is None:
            return {"ok": False, "problems": ["it is not installed"], "facts": {}}
        if one.host_interpreter:
            return {"ok": True, "problems": [], "facts": {"python_version": ready.python_version}}
        with self._quiet(engine) as (env, cwd):
            if one.external_python is not None:
                try:
                    external.verify(ready, env, cwd)
                except EnvironmentBroken as error:
                    return {"ok": False, "problems": [error.message], "facts": {}}
                return {"ok": True, "problems": [], "facts": {"external": True}}
        lock = load_lock(declared, self._places)
        wanted = None if lock is None else lock.wanted(ready.python_version)
        try:
            facts, problems = look(
                str(path_of(self._places, ready.id)), engine, one.import_first, self._places, wanted
            )
        except EnvironmentBroken as error:
            return {"ok": False, "problems": [error.message], "facts": {}}
        return {
            "ok": not problems,
            "problems": list(problems),
            "facts": {
                "python_version": facts["python_version"],
                "prefix": facts["prefix"],
                "packages": len(facts["distributions"]),
                "shared_objects": len(facts["mapped"]),
            },
        }

    def environments(self) -> Sequence[EnvironmentRow]:
        """See ``EnvironmentProvider.environments``."""
        users: dict[str, list[str]] = {}
        externals: list[EnvironmentRow] = []
        for declared in load_declarations(self._places.shipped, self._places.user):
            engine = declared.engine
            if engine.problem is not None or engine.host_interpreter:
                continue
            if engine.external_python is not None:
                externals += self._external_row(engine)
            elif (environment := self._id_of(declared)) is not None:
                users.setdefault(environment, []).append(engine.name)
        rows = [
            self._row(directory, users.get(directory.name, []))
            for directory in sorted(self._places.environments.glob("*"))
            if directory.is_dir() and not directory.name.startswith(".")
        ]
        return [*rows, *externals]

    def _row(self, directory: Path, engines: list[str]) -> EnvironmentRow:
        record = load_record(directory)
        own, apparent = sizes_of(directory)
        return EnvironmentRow(
            id=directory.name,
            engines=tuple(engines),
            state="broken" if record is None else "ready" if engines else "unused",
            size_bytes=own,
            apparent_bytes=apparent,
            last_used_at=garbage.last_used(directory),
            built_at=None if record is None else record.get("built_at"),
            python_version=None if record is None else record.get("python_version"),
            problem="files are missing; install it again" if record is None else None,
        )

    def _external_row(self, engine: EngineDeclaration) -> list[EnvironmentRow]:
        record = external.load_record(engine, self._places)
        if record is None:
            return []
        return [
            EnvironmentRow(
                id=record["id"],
                engines=(engine.name,),
                state="ready",
                size_bytes=0,
                apparent_bytes=0,
                last_used_at=None,
                built_at=record.get("built_at"),
                python_version=record.get("python_version"),
                external=True,
            )
        ]

    def touch(self, environment_id: str) -> None:
        """See ``EnvironmentProvider.touch``."""
        if environment_id != HOST:
            garbage.touch(path_of(self._places, environment_id))

    # --- models ---------------------------------------------------------------------------------

    def models(self, engine: str) -> Sequence[ModelState]:
        """See ``EnvironmentProvider.models``."""
        declared = self._declared(engine)
        installed = self._ready(declared) is not None
        return [self._state(engine, model, installed) for model in declared.engine.models]

    def _state(self, engine: str, model: ModelDeclaration, installed: bool) -> ModelState:
        path: Path | None = None
        present = installed and model.source in ("builtin", "package")
        if model.source == "download" and model.sha256 is not None:
            path = self._models.path_of(model.sha256)
            present = path.is_file()
        return ModelState(
            engine=engine,
            declaration=model,
            present=present,
            consent=self._models.consent(model),  # type: ignore[arg-type]
            sha256=model.sha256,
            path=str(path) if path is not None and present else None,
        )

    def _model(self, engine: EngineDeclaration, model: str) -> ModelDeclaration:
        for one in engine.models:
            if one.id == model:
                return one
        names = ", ".join(one.id for one in engine.models) or "none by name"
        raise NotFound(
            f"the engine {engine.name} has no model {model[:200]!r}",
            hint=f"models: {names}; a file is given by its absolute path",
            field="model",
        )

    def resolve_model(self, engine: str, model: str | None) -> ResolvedModel:
        """See ``EnvironmentProvider.resolve_model``."""
        declared = self._declared(engine)
        one = declared.engine
        if model is not None and model.startswith("/"):
            return self._resolve_file(one, Path(model))
        chosen = self._default(one) if model is None else self._model(one, model)
        if chosen.source == "file":
            raise InputRejected(
                f"the engine {engine} needs a file with its weights",
                hint="give its absolute path as model",
                field="model",
            )
        self._models.check_consent(engine, chosen)
        if chosen.source == "download":
            return self._resolve_download(engine, chosen)
        ready = self._ready(declared)
        version = "" if ready is None else ready.id
        return ResolvedModel(chosen.id, chosen.id, f"{engine} {version}:{chosen.id}", None, chosen)

    def _default(self, engine: EngineDeclaration) -> ModelDeclaration:
        marked = [one for one in engine.models if one.default]
        if marked:
            return marked[0]
        if len(engine.models) == 1:
            return engine.models[0]
        names = ", ".join(one.id for one in engine.models)
        raise InputRejected(
            f"the engine {engine.name} has no default model",
            hint=f"one of {names}" if names else "give the absolute path of a file as model",
            field="model",
        )

    def _resolve_file(self, engine: EngineDeclaration, path: Path) -> ResolvedModel:
        declared = next((one for one in engine.models if one.source == "file"), None)
        if declared is None:
            raise InputRejected(
                f"the engine {engine.name} takes no model files",
                hint=f"models: {', '.join(one.id for one in engine.models)}",
                field="model",
            )
        digest = self._models.hash_file(path)
        return ResolvedModel(path.name, str(path), digest, digest, declared)

    def _resolve_download(self, engine: str, model: ModelDeclaration) -> ResolvedModel:
        assert model.sha256 is not None
        path = self._models.path_of(model.sha256)
        if not path.is_file():
            raise NotFound(
                f"the weights of {model.id} are not here",
                hint=f"crystalmath engines install {engine} --model {model.id}",
                field="model",
            )
        return ResolvedModel(model.id, str(path), model.sha256, model.sha256, model)

    def accept_licence(self, engine: str, model: str) -> None:
        """See ``EnvironmentProvider.accept_licence``."""
        self._models.accept(engine, self._model(self.declaration(engine), model))

    # --- garbage --------------------------------------------------------------------------------

    def collect_garbage(
        self, *, keep_days: float, apply: bool, in_use: Collection[str]
    ) -> Sequence[Removal]:
        """See ``EnvironmentProvider.collect_garbage``."""
        ids: set[str] = set()
        hashes: set[str] = set()
        for declared in load_declarations(self._places.shipped, self._places.user):
            hashes |= {m.sha256 for m in declared.engine.models if m.sha256 is not None}
            if declared.engine.dependencies and (found := self._id_of(declared)) is not None:
                ids.add(found)
        return list(
            garbage.collect(
                self._places,
                self._models,
                wanted_ids=ids,
                wanted_models=hashes,
                in_use=in_use,
                keep_days=keep_days,
                apply=apply,
            )
        )


class _Quiet:
    """Variables and an empty working directory for a short look at an interpreter."""

    def __init__(self, caches: Path) -> None:
        self._caches = caches
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> tuple[dict[str, str], Path]:
        make_directories(self._caches)
        self._folder = tempfile.TemporaryDirectory(dir=self._caches)
        return variables(self._caches), Path(self._folder.name)

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


@cache
def _own_versions() -> dict[str, str]:
    """What this very process runs with; read once, as it takes a tenth of a second."""
    return {one.metadata["Name"]: one.version for one in distributions() if one.metadata["Name"]}
