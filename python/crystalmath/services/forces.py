"""``forces.*``: engines, their environments and models, evaluation, and the workers behind them.

Thin: installing is in ``forces_install``, evaluating in ``forces_evaluate``, the workers are the
pool's and the environments the provider's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crystalmath.contract.force_rows import EngineInfo, EngineModel, EnvironmentInfo, WorkerInfo
from crystalmath.contract.forces import (
    MAX_JSON_ATOMS,
    MAX_STRUCTURES,
    AttachParams,
    AttachResult,
    BrokenEngine,
    CollectMeta,
    CollectParams,
    EngineDoctorParams,
    EngineDoctorResult,
    EnginesMeta,
    EnvironmentsMeta,
    EvaluateParams,
    EvaluateResult,
    ForcesLimits,
    ForcesStatusResult,
    Garbage,
    InstallParams,
    InstallResult,
    ModelsMeta,
    ModelsParams,
    RelaxParams,
    RelaxResult,
    ServeParams,
    ServeResult,
    StopWorkerParams,
    StopWorkerResult,
    WorkersMeta,
    WorkersParams,
)
from crystalmath.contract.jobs import StructureIn, SubmitParams, SubmitResult
from crystalmath.contract.rpc import Call, Listing, NoParams, rpc
from crystalmath.errors import (
    BadResult,
    Conflict,
    EnvironmentBroken,
    InputRejected,
    LicenceNotAccepted,
    NotFound,
    OutOfMemory,
    Overloaded,
    UnsupportedSpecies,
    WorkerDied,
    WorkerTimeout,
)
from crystalmath.services import forces_rows
from crystalmath.services.events import EventHub
from crystalmath.services.forces_doctor import Doctor
from crystalmath.services.forces_evaluate import Evaluator
from crystalmath.services.forces_events import ForceEvents
from crystalmath.services.forces_fingerprints import Fingerprints
from crystalmath.services.forces_install import Examine, Installer
from crystalmath.services.forces_resolve import DEFAULT_ENGINE, find_engine, find_wanted
from crystalmath.services.ports import StructureData
from crystalmath.services.ports_forces import EngineDeclaration, EnvironmentProvider
from crystalmath.services.ports_pool import ForcePool, Wanted, WorkerRow

START_ERRORS = (
    NotFound,
    InputRejected,
    EnvironmentBroken,
    LicenceNotAccepted,
    WorkerDied,
    WorkerTimeout,
    OutOfMemory,
    Overloaded,
)

_MIB: Final = 1024 * 1024
_RELAX_INPUTS: Final = {
    "cell": "cell",
    "fmax_ev_per_a": "fmax_ev_per_a",
    "smax_gpa": "smax_gpa",
    "max_steps": "max_steps",
    "optimizer": "optimizer",
    "keep_symmetry": "keep_symmetry",
    "dtype": "dtype",
    "device": "device",
    "options": "engine_options",
    "allow_toy_elements": "allow_toy_elements",
}
"""Parameter of ``forces.relax`` → input of the task ``relax``."""


@dataclass(frozen=True, slots=True)
class ForcesParts:
    """What the service is made of; put together by ``api``.

    Attributes
    ----------
    read
        Reads a structure as ``jobs.submit`` does.
    submit
        ``jobs.submit``.
    results
        Directory for the arrays of large calls.
    fingerprints
        What examinations have found.
    examine
        Examines what was installed; None: as ``forces.doctor`` does.
    """

    provider: EnvironmentProvider
    pool: ForcePool
    hub: EventHub
    read: Callable[[StructureIn], StructureData]
    submit: Callable[[SubmitParams, Call], SubmitResult]
    results: Path
    fingerprints: Fingerprints
    clock: Callable[[], float] = time.time
    examine: Examine | None = None


class ForcesService:
    """See the module docstring."""

    def __init__(self, parts: ForcesParts) -> None:
        self._provider = parts.provider
        self._pool = parts.pool
        self._submit = parts.submit
        self._doctor = Doctor(parts.provider, parts.pool, parts.fingerprints, parts.clock)
        self._results = parts.results
        self._clock = parts.clock
        self._events = ForceEvents(parts.hub)
        self._installer = Installer(
            parts.provider,
            self._events.install,
            self._tell_engine,
            parts.examine or self._doctor.examine_installed,
            parts.clock,
        )
        self._evaluator = Evaluator(parts.provider, parts.pool, parts.read, parts.results)
        parts.pool.listen(lambda row: self._events.worker(forces_rows.worker_info(row)))

    def is_busy(self) -> bool:
        """Whether an installation waits or runs."""
        return any(task.state in ("waiting", "running") for task in self._installer.tasks())

    def close(self) -> None:
        """Cancel installations."""
        self._installer.close()

    # --- engines, environments, models ------------------------------------------------------------

    @rpc(lane="forces", read_only=True)
    def engines(self, params: NoParams) -> Listing[EngineInfo, EnginesMeta]:
        """List the force engines: what each can do, and whether it is installed."""
        workers = _alive(self._pool.workers())
        rows = [
            self._engine(declaration, workers)
            for declaration in self._provider.declarations()
            if declaration.kind == "engine"
        ]
        rows.sort(key=lambda row: (not row.installed, row.name))
        return Listing(data=rows, meta=EnginesMeta(total=len(rows), default_engine=DEFAULT_ENGINE))

    @rpc(lane="forces", read_only=True, deadline_s=120.0)
    def environments(self, params: NoParams) -> Listing[EnvironmentInfo, EnvironmentsMeta]:
        """List the environments on the disk, with their size and last use."""
        workers = _alive(self._pool.workers())
        rows = [forces_rows.environment_info(row, workers) for row in self._provider.environments()]
        size = sum(row.size_bytes for row in rows)
        meta = EnvironmentsMeta(total=len(rows), size_bytes=size, installs=self._installer.tasks())
        return Listing(data=rows, meta=meta)

    @rpc(errors=(NotFound, LicenceNotAccepted, Conflict), lane="forces")
    def install(self, params: InstallParams) -> InstallResult:
        """Build the environment of an engine and fetch the named models, in the background.

        The reply comes at once; how it goes on is told by events of topic ``engines`` and shown by
        ``forces.environments``. May be repeated: what is there is kept, an installation that runs
        is joined. ``forces.stop`` with its task ends it.
        """
        find_engine(self._provider, params.engine)
        task = self._installer.request(
            params.engine, params.models, accept_license=params.accept_license
        )
        return InstallResult(task=task)

    @rpc(errors=(NotFound,), lane="forces", read_only=True)
    def models(self, params: ModelsParams) -> Listing[EngineModel, ModelsMeta]:
        """List the models of an engine, and which of them are here."""
        declaration = find_engine(self._provider, params.engine)
        rows = [forces_rows.model_info(state) for state in self._provider.models(declaration.name)]
        installed = self._provider.ready(declaration.name) is not None
        meta = ModelsMeta(total=len(rows), engine=declaration.name, installed=installed)
        return Listing(data=rows, meta=meta)

    @rpc(errors=START_ERRORS, lane="forces", read_only=True, deadline_s=3600.0)
    def doctor(self, params: EngineDoctorParams, call: Call) -> EngineDoctorResult:
        """Check an engine against itself: forces and stress by differences, symmetry, refusals.

        What is found is kept: a wrong stress is switched off, and later starts compare numbers.
        """
        return self._doctor.examine(params, call)

    @rpc(lane="forces", deadline_s=600.0)
    def gc(self, params: CollectParams) -> Listing[Garbage, CollectMeta]:
        """Name what nothing needs any more; remove it with ``apply``."""
        in_use = {row.wanted.environment.id for row in _alive(self._pool.workers())}
        removals = self._provider.collect_garbage(
            keep_days=params.keep_days, apply=params.apply, in_use=in_use
        )
        rows = [
            Garbage(kind=r.kind, name=r.name, size_bytes=r.size_bytes, reason=r.reason,
                    removed=r.removed)
            for r in removals
        ]  # fmt: skip
        rows += self._old_results(params.keep_days, apply=params.apply)
        size = sum(row.size_bytes for row in rows)
        meta = CollectMeta(total=len(rows), size_bytes=size, applied=params.apply)
        return Listing(data=rows, meta=meta)

    # --- numbers ----------------------------------------------------------------------------------

    @rpc(
        errors=(*START_ERRORS, UnsupportedSpecies, BadResult),
        lane="forces",
        read_only=True,
        deadline_s=3600.0,
    )
    def evaluate(self, params: EvaluateParams, call: Call) -> EvaluateResult:
        """Compute energies, forces and more of some structures.

        Arrays come as JSON for up to 256 atoms in all, else in a file; for more speed use
        ``forces.attach``. A structure that fails has its error in its row; the others have results.
        """
        return self._evaluator.evaluate(params, call)

    @rpc(errors=START_ERRORS, lane="forces", deadline_s=900.0)
    def attach(self, params: AttachParams, call: Call) -> AttachResult:
        """Give a data channel to a worker, which is started if need be; returns when it is ready.

        Connect to ``path`` and send ``token``; from then on the socket speaks with the worker.
        """
        wanted = self._wanted(params)
        found = self._pool.attach(wanted, call)
        declaration = self._provider.declaration(params.engine)
        return AttachResult(
            path=found.path,
            token=found.token,
            token_s=found.token_s,
            worker=found.worker,
            abi=found.abi,
            identity=forces_rows.identity(declaration, wanted, found.capabilities),
            capabilities=forces_rows.capabilities(found.capabilities),
        )

    @rpc(errors=(InputRejected, Conflict), lane="proc", deadline_s=60.0)
    def relax(self, params: RelaxParams, call: Call) -> RelaxResult:
        """Submit a relaxation: an ordinary job of code ``forces``, task ``relax``."""
        given = params.model_dump(include=set(_RELAX_INPUTS), exclude_none=True)
        inputs = {_RELAX_INPUTS[name]: value for name, value in given.items() if value != {}}
        result = self._submit(
            SubmitParams(
                name=params.name or f"relax with {params.engine or DEFAULT_ENGINE}",
                code="forces",
                task="relax",
                engine=params.engine,
                model=params.model,
                structure=params.structure,
                inputs=inputs,
                tags=params.tags,
                client_token=params.client_token,
            ),
            call,
        )
        if result.job is None:
            raise Conflict("the job was not stored", hint="submit it again")
        return RelaxResult(job=result.job, repeated=result.repeated)

    @rpc(errors=START_ERRORS, lane="forces", deadline_s=900.0)
    def serve(self, params: ServeParams, call: Call) -> ServeResult:
        """Let a foreign i-PI server drive a worker of ours; ``forces.stop`` ends it."""
        row = self._pool.serve(self._wanted(params), params.address, params.template, call)
        return ServeResult(worker=forces_rows.worker_info(row))

    # --- workers ----------------------------------------------------------------------------------

    @rpc(errors=(NotFound,), lane="forces", read_only=True)
    def workers(self, params: WorkersParams) -> Listing[WorkerInfo, WorkersMeta]:
        """List the workers, and the last that died of each kind."""
        found = self._pool.workers(params.worker)
        meta = WorkersMeta(total=len(found), alive=len(_alive(found)))
        return Listing(data=[forces_rows.worker_info(row) for row in found], meta=meta)

    @rpc(lane="forces", read_only=True)
    def status(self, params: NoParams) -> ForcesStatusResult:
        """Tell what the workers do together, and their limits."""
        workers, totals = _alive(self._pool.workers()), self._pool.totals()
        states: dict[str, int] = {}
        for row in workers:
            states[row.state] = states.get(row.state, 0) + 1
        return ForcesStatusResult(
            default_engine=DEFAULT_ENGINE,
            workers=states,
            clients=sum(row.clients for row in workers),
            rss_mib=sum(row.rss_bytes or 0 for row in workers) / _MIB,
            requests=totals.requests,
            structures=totals.structures,
            crashes=totals.crashes,
            broken=[
                BrokenEngine(
                    engine=one.wanted.environment.engine,
                    model=one.wanted.model.id,
                    device=one.wanted.device,
                    retry_in_s=one.retry_in_s,
                    last_error=one.last_error,
                )
                for one in totals.paused
            ],
            installs=[t for t in self._installer.tasks() if t.state in ("waiting", "running")],
            limits=self._limits(),
        )

    @rpc(errors=(NotFound,), lane="forces", deadline_s=60.0)
    def stop(self, params: StopWorkerParams) -> StopWorkerResult:
        """Stop a worker or an installation."""
        if params.task is not None:
            return StopWorkerResult(task=self._installer.cancel(params.task))
        row = self._pool.stop(params.worker or "", params.mode)
        return StopWorkerResult(worker=forces_rows.worker_info(row))

    # --- inside -----------------------------------------------------------------------------------

    def _wanted(self, params: AttachParams | ServeParams) -> Wanted:
        wanted = find_wanted(
            self._provider,
            params.engine,
            model=params.model,
            dtype=params.dtype,
            device=params.device,
            options=params.options,
        )
        self._provider.touch(wanted.environment.id)
        return wanted

    def _engine(self, declaration: EngineDeclaration, workers: Sequence[WorkerRow]) -> EngineInfo:
        info = forces_rows.engine_info(
            self._provider,
            declaration,
            workers=workers,
            install=self._installer.of_engine(declaration.name),
            devices=forces_rows.devices_here(),
        )
        found = self._doctor.withheld(declaration.name)
        return info.model_copy(update={"warnings": [*info.warnings, *found]})

    def _tell_engine(self, engine: str) -> None:
        workers = _alive(self._pool.workers())
        self._events.engine(self._engine(self._provider.declaration(engine), workers))

    def _limits(self) -> ForcesLimits:
        limits = self._pool.limits
        return ForcesLimits(
            memory_mib=limits.memory_mib,
            threads=limits.threads,
            idle_s=limits.idle_s,
            load_s=limits.load_s,
            call_s=limits.call_s,
            first_call_s=max(limits.first_call_s, limits.call_s * limits.first_call_factor),
            crashes=limits.crashes,
            crashes_within_s=limits.crashes_within_s,
            pause_s=limits.pause_s,
            call_structures=MAX_STRUCTURES,
            json_atoms=MAX_JSON_ATOMS,
        )

    def _old_results(self, keep_days: float, *, apply: bool) -> list[Garbage]:
        """Files of arrays that nobody has fetched for so long."""
        oldest = self._clock() - keep_days * 86_400
        rows = []
        for path in sorted(self._results.glob("*.npz")) if self._results.is_dir() else ():
            info = path.stat()
            if info.st_mtime < oldest:
                if apply:
                    path.unlink(missing_ok=True)
                rows.append(Garbage(kind="result", name=path.name, size_bytes=info.st_size,
                                    reason="arrays of an evaluation", removed=apply))  # fmt: skip
        return rows


def _alive(rows: Sequence[WorkerRow]) -> list[WorkerRow]:
    return [row for row in rows if row.state not in ("crashed", "stopped")]
