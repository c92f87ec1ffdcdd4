"""From the values of the ports to the rows of the contract: engines, models, workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from crystalmath.contract.force_rows import (
    Capabilities,
    EngineInfo,
    EngineModel,
    EnvironmentInfo,
    ForceIdentity,
    InstallTask,
    WorkerCrash,
    WorkerInfo,
)
from crystalmath.services.forces_resolve import (
    DEFAULT_ENGINE,
    default_model,
    package_version,
    packages,
    readable_bytes,
)
from crystalmath.services.ports_forces import (
    EngineDeclaration,
    EnvironmentProvider,
    EnvironmentRow,
    ModelState,
    ReadyEnvironment,
)
from crystalmath.services.ports_pool import Crash, Wanted, WorkerRow

_MIB: Final = 1024 * 1024


def engine_info(
    provider: EnvironmentProvider,
    declaration: EngineDeclaration,
    *,
    workers: Sequence[WorkerRow],
    install: InstallTask | None,
    devices: Sequence[str],
) -> EngineInfo:
    """The row of one engine."""
    usable = declaration.problem is None
    environment = provider.ready(declaration.name) if usable else None
    size = provider.expected_bytes(declaration.name) if usable and environment is None else 0
    states = provider.models(declaration.name) if usable else ()
    models = sorted(map(model_info, states), key=lambda model: not model.default)
    problem, hint = declaration.problem, "correct its declaration" if not usable else None
    if usable and environment is None:
        about = f" (about {readable_bytes(size)} to fetch)" if size else ""
        problem, hint = "not installed", f"crystalmath engines install {declaration.name}{about}"
    default = default_model(declaration)
    return EngineInfo(
        name=declaration.name,
        title=declaration.title,
        default=declaration.name == DEFAULT_ENGINE,
        origin=declaration.origin,
        installed=environment is not None,
        problem=problem,
        hint=hint,
        built_in=declaration.host_interpreter,
        external=declaration.external_python is not None,
        additive=declaration.additive,
        environment=None if environment is None else environment.id,
        python=None if environment is None else environment.python_version,
        versions=_versions(declaration, environment),
        download_bytes=size,
        models=models,
        properties=list(default.properties) if default is not None else [],
        devices=list(devices),
        workers=sum(row.wanted.environment.engine == declaration.name for row in workers),
        install=install,
        warnings=list(declaration.warnings),
    )


def model_info(state: ModelState) -> EngineModel:
    """The row of one model."""
    model = state.declaration
    return EngineModel(
        engine=state.engine,
        id=model.id,
        title=model.title,
        default=model.default,
        source=model.source,
        present=state.present,
        consent=state.consent,
        license=model.license_id,
        license_text=model.license_text,
        dtype=model.dtype,
        properties=list(model.properties),
        elements=None if model.elements is None else list(model.elements),
        toy_elements=list(model.toy_elements),
        info_keys=list(model.info_keys),
        sha256=state.sha256 or model.sha256,
        path=state.path,
        size_bytes=model.size_bytes,
    )


def environment_info(row: EnvironmentRow, workers: Sequence[WorkerRow]) -> EnvironmentInfo:
    """The row of one environment."""
    return EnvironmentInfo(
        id=row.id,
        engines=list(row.engines),
        state=row.state,
        problem=row.problem,
        size_bytes=row.size_bytes,
        apparent_bytes=row.apparent_bytes,
        python=row.python_version,
        external=row.external,
        built_at=moment(row.built_at),
        last_used_at=moment(row.last_used_at),
        workers=sum(worker.wanted.environment.id == row.id for worker in workers),
    )


def worker_info(row: WorkerRow) -> WorkerInfo:
    """The row of one worker."""
    wanted = row.wanted
    return WorkerInfo(
        id=row.id,
        engine=wanted.environment.engine,
        model=wanted.model.id,
        model_key=wanted.model.key,
        dtype=(row.capabilities or {}).get("dtype") or wanted.dtype,
        device=wanted.device,
        options=dict(wanted.options),
        environment=wanted.environment.id,
        state=row.state,
        phase=row.phase,
        pid=row.pid,
        clients=row.clients,
        waiting=row.waiting,
        requests=row.requests,
        structures=row.structures,
        evaluations=row.evaluations,
        rate_per_s=row.structures / row.computing_s if row.computing_s > 0 else 0.0,
        rss_mib=None if row.rss_bytes is None else row.rss_bytes / _MIB,
        threads=row.threads,
        load_s=row.load_s,
        started_at=moment(row.started_at) or datetime.now(UTC),
        last_used_at=moment(row.last_used_at),
        busy_s=row.busy_s,
        serves=row.serves,
        capabilities=None if row.capabilities is None else capabilities(row.capabilities),
        last_error=None if row.crash is None else crash_info(row.crash, wanted),
    )


def crash_info(crash: Crash, wanted: Wanted) -> WorkerCrash:
    """How a worker ended."""
    named = {name.lower() for name in (wanted.environment.engine, "torch", "numpy", "ase")}
    return WorkerCrash(
        at=moment(crash.at) or datetime.now(UTC),
        kind=crash.kind,
        message=crash.message,
        phase=crash.phase,
        exit_code=crash.exit_code,
        signal=crash.signal,
        oom_killed=crash.oom_killed,
        environment=wanted.environment.id,
        versions={k: v for k, v in wanted.environment.versions.items() if k.lower() in named},
        request=crash.request,
        stderr_tail=crash.stderr_tail,
    )


def capabilities(document: Mapping[str, Any]) -> Capabilities:
    """What a worker told when it had loaded."""
    return Capabilities(
        properties=list(document.get("properties", ())),
        elements=document.get("elements"),
        toy_elements=list(document.get("toy_elements", ())),
        info_keys=list(document.get("info_keys", ())),
        members=int(document.get("members") or 0),
        withheld=dict(document.get("withheld") or {}),
        notes=list(document.get("notes", ())),
        max_structures=int(document.get("max_structures") or 64),
        max_atoms=int(document.get("max_atoms") or 20_000),
        dtype=str(document.get("dtype", "float64")),
        device=str(document.get("device", "cpu")),
        versions=dict(document.get("versions", {})),
        load_s=float(document.get("load_s", 0.0)),
    )


def identity(
    declaration: EngineDeclaration, wanted: Wanted, document: Mapping[str, Any]
) -> ForceIdentity:
    """Where the numbers of a worker come from."""
    return ForceIdentity(
        engine=declaration.name,
        version=str(document.get("package") or "")
        or package_version(declaration, wanted.environment.versions),
        model=wanted.model.id,
        model_key=wanted.model.key,
        model_sha256=wanted.model.sha256,
        dtype=str(document.get("dtype") or wanted.dtype or "float64"),
        device=str(document.get("device") or wanted.device),
        environment=wanted.environment.id,
        options=dict(wanted.options),
    )


def devices_here(looked_at: Callable[[], Sequence[str]] | None = None) -> list[str]:
    """Where engines can run on this machine, as far as the device files tell."""
    if looked_at is not None:
        return ["cpu", *looked_at()]
    cards = sorted(
        int(path.name.removeprefix("nvidia"))
        for path in Path("/dev").glob("nvidia[0-9]*")
        if path.name.removeprefix("nvidia").isdigit()
    )
    return ["cpu", *(f"cuda:{index}" for index in range(len(cards)))]


def moment(seconds: float | None) -> datetime | None:
    """Seconds since the epoch as a moment."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _versions(
    declaration: EngineDeclaration, environment: ReadyEnvironment | None
) -> dict[str, str]:
    if environment is None:
        return {}
    return {
        name: environment.versions[name]
        for name in packages(declaration)
        if name in environment.versions
    }
