"""``forces.*``: engines, their environments and models, evaluation, and the workers behind them."""

from __future__ import annotations

from typing import NoReturn

from crystalmath.contract.force_rows import EngineInfo, EngineModel, EnvironmentInfo, WorkerInfo
from crystalmath.contract.forces import (
    AttachParams,
    AttachResult,
    CollectMeta,
    CollectParams,
    EngineDoctorParams,
    EngineDoctorResult,
    EnginesMeta,
    EnvironmentsMeta,
    EvaluateParams,
    EvaluateResult,
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
from crystalmath.contract.rpc import Call, Listing, NoParams, rpc
from crystalmath.errors import (
    BadResult,
    Conflict,
    EnvironmentBroken,
    InputRejected,
    LicenceNotAccepted,
    NotFound,
    NotImplementedYet,
    OutOfMemory,
    Overloaded,
    UnsupportedSpecies,
    WorkerDied,
    WorkerTimeout,
)

_START = (NotFound, InputRejected, EnvironmentBroken, LicenceNotAccepted, WorkerDied, WorkerTimeout,
          OutOfMemory, Overloaded, Conflict)  # fmt: skip


class ForcesService:
    """See the module docstring."""

    @rpc(lane="forces", read_only=True)
    def engines(self, params: NoParams) -> Listing[EngineInfo, EnginesMeta]:
        """List the force engines: what each can do, and whether it is installed."""
        _later()

    @rpc(lane="forces", read_only=True, deadline_s=120.0)
    def environments(self, params: NoParams) -> Listing[EnvironmentInfo, EnvironmentsMeta]:
        """List the environments on the disk, with their size and last use."""
        _later()

    @rpc(errors=(NotFound, LicenceNotAccepted, Conflict), lane="forces")
    def install(self, params: InstallParams) -> InstallResult:
        """Build the environment of an engine and fetch the named models, in the background.

        The reply comes at once; how it goes on is told by events of topic ``engines`` and shown by
        ``forces.environments``. May be repeated: what is there is kept, an installation that runs
        is joined. ``forces.stop`` with its task ends it.
        """
        _later()

    @rpc(errors=(NotFound,), lane="forces", read_only=True)
    def models(self, params: ModelsParams) -> Listing[EngineModel, ModelsMeta]:
        """List the models of an engine, and which of them are here."""
        _later()

    @rpc(errors=(*_START, UnsupportedSpecies, BadResult), lane="forces", read_only=True,
         deadline_s=3600.0)  # fmt: skip
    def evaluate(self, params: EvaluateParams, call: Call) -> EvaluateResult:
        """Compute energies, forces and more of some structures.

        Arrays come as JSON for up to 256 atoms in all, else in a file; for more speed use
        ``forces.attach``. A structure that fails has its error in its row; the others have results.
        """
        _later()

    @rpc(errors=_START, lane="forces", deadline_s=900.0)
    def attach(self, params: AttachParams, call: Call) -> AttachResult:
        """Give a data channel to a worker, which is started if need be; returns when it is ready.

        Connect to ``path`` and send ``token``; from then on the socket speaks with the worker.
        """
        _later()

    @rpc(errors=(InputRejected, Conflict), lane="forces")
    def relax(self, params: RelaxParams) -> RelaxResult:
        """Submit a relaxation: an ordinary job of code ``forces``, task ``relax``."""
        _later()

    @rpc(errors=(NotFound,), lane="forces", read_only=True)
    def workers(self, params: WorkersParams) -> Listing[WorkerInfo, WorkersMeta]:
        """List the workers, with how the last of each kind died."""
        _later()

    @rpc(lane="forces", read_only=True)
    def status(self, params: NoParams) -> ForcesStatusResult:
        """Tell what the workers do together, and their limits."""
        _later()

    @rpc(errors=(NotFound,), lane="forces", deadline_s=60.0)
    def stop(self, params: StopWorkerParams) -> StopWorkerResult:
        """Stop a worker or an installation."""
        _later()

    @rpc(errors=_START, lane="forces", read_only=True, deadline_s=3600.0)
    def doctor(self, params: EngineDoctorParams, call: Call) -> EngineDoctorResult:
        """Check an engine against itself: forces and stress by differences, symmetry, refusals."""
        _later()

    @rpc(lane="forces", deadline_s=600.0)
    def gc(self, params: CollectParams) -> Listing[Garbage, CollectMeta]:
        """Name what nothing needs any more; remove it with ``apply``."""
        _later()

    @rpc(errors=_START, lane="forces", deadline_s=900.0)
    def serve(self, params: ServeParams, call: Call) -> ServeResult:
        """Let a foreign i-PI server drive a worker of ours; ``forces.stop`` ends it."""
        _later()


def _later() -> NoReturn:
    raise NotImplementedYet(
        "this part of the force engines is not built yet",
        hint="code `forces` with engine `emt` works now: submit a job",
    )
