"""Params and results of ``forces.*``; the rows they share with events are in ``force_rows``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from crystalmath.contract.force_rows import (
    Capabilities,
    ForceIdentity,
    InstallTask,
    PropertyName,
    TaskId,
    WorkerId,
    WorkerInfo,
)
from crystalmath.contract.jobs import (
    AbsolutePath,
    ClientToken,
    JobId,
    JobName,
    JobSummary,
    StructureIn,
    Tag,
    check_text,
)
from crystalmath.contract.rpc import Model, Params, Timestamp

MAX_JSON_ATOMS = 256
"""Arrays of more atoms in one call do not come as JSON."""

MAX_ATOMS = 1_000_000
MAX_STRUCTURES = 10_000
"""Structures of one call."""

EngineName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$"),
    Field(examples=["emt"]),
]
EngineSum = Annotated[
    str,
    StringConstraints(
        min_length=1,
        max_length=128,
        pattern=r"^[A-Za-z][A-Za-z0-9_.-]*(\+[A-Za-z][A-Za-z0-9_.-]*){0,3}$",
    ),
    Field(examples=["mace+dftd3"]),
]
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Dtype = Literal["float32", "float64"]
Device = Annotated[
    str,
    StringConstraints(max_length=16, pattern=r"^(cpu|cuda(:[0-9]{1,2})?)$"),
    Field(examples=["cuda:0"]),
]
Options = dict[Annotated[str, StringConstraints(max_length=64)], Any]
Coordinate = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Vector = Annotated[list[Coordinate], Field(min_length=3, max_length=3)]
Symbol = Annotated[
    str, StringConstraints(max_length=3, pattern=r"^[A-Z][a-z]{0,2}$"), Field(examples=["Cu"])
]

_ENGINE = "Name of the engine; see `forces.engines`."
_MODEL = "Name of the model, or the absolute path of a file of weights; the engine's default."
_DTYPE = "Precision; that of the model when left out."
_DEVICE = "cpu, cuda or cuda:N."
_OPTIONS = "Options of the engine, as its `setup` takes them; they make a worker of its own."


class EnginesMeta(Model):
    total: int = Field(description="Number of engines.")
    default_engine: str = Field(description="Used where no engine is named.")


class EnvironmentsMeta(Model):
    total: int = Field(description="Number of environments.")
    size_bytes: int = Field(description="What they take together.")
    installs: list[InstallTask] = Field(
        description="Installations that wait or run, and how the last of each engine ended."
    )


class InstallParams(Params):
    engine: EngineName = Field(description=_ENGINE)
    models: list[ModelName] = Field(
        default_factory=list, max_length=64, description="Models to fetch with it."
    )
    accept_license: bool = Field(
        default=False,
        description="Accept the licences of these models, or of the default model.",
    )


class InstallResult(Model):
    task: InstallTask = Field(description="What goes on; events of topic `engines` tell the rest.")


class ModelsParams(Params):
    engine: EngineName = Field(description=_ENGINE)


class ModelsMeta(Model):
    total: int = Field(description="Number of models.")
    engine: str = Field(description="The engine.")
    installed: bool = Field(description="Whether the engine can be used now.")


class ForceStructure(Params):
    """A structure: symbols with positions, or what `jobs.submit` takes."""

    symbols: list[Symbol] | None = Field(
        default=None, min_length=1, max_length=MAX_ATOMS, description="Of each atom."
    )
    positions_angstrom: list[Vector] | None = Field(
        default=None, min_length=1, max_length=MAX_ATOMS, description="Cartesian, of each atom."
    )
    cell_angstrom: Annotated[list[Vector], Field(min_length=3, max_length=3)] | None = Field(
        default=None, description="Lattice vectors as rows; none for a molecule."
    )
    pbc: Annotated[list[bool], Field(min_length=3, max_length=3)] | None = Field(
        default=None, description="Periodic along each vector; true where a cell is given."
    )
    path: AbsolutePath | None = Field(default=None, description="A structure file on this machine.")
    text: Annotated[str, AfterValidator(check_text)] | None = Field(
        default=None, description="The content of a structure file, at most 8 MiB."
    )
    format: str | None = Field(
        default=None, max_length=32, description="cif, poscar, xyz …; needed with `text`."
    )
    job: JobId | None = Field(default=None, description="The final structure of this job.")
    info: Options | None = Field(
        default=None, description="What the model reads beside: charge, spin, modal …"
    )

    @model_validator(mode="after")
    def _one_way(self) -> ForceStructure:
        given = [n for n in ("symbols", "path", "text", "job") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of symbols, path, text, job")
        inline = (self.positions_angstrom, self.cell_angstrom, self.pbc)
        if self.symbols is None and any(part is not None for part in inline):
            raise ValueError("positions, cell and pbc go with symbols")
        if self.symbols is not None and len(self.symbols) != len(self.positions_angstrom or ()):
            raise ValueError("every symbol needs a position, and every position a symbol")
        if self.text is not None and self.format is None:
            raise ValueError("text needs its format")
        return self


class EvaluateParams(Params):
    engine: EngineSum = Field(description="Name of the engine, or a sum like `mace+dftd3`.")
    model: ModelName | None = Field(default=None, description=_MODEL)
    structures: list[ForceStructure] = Field(
        min_length=1, max_length=MAX_STRUCTURES, description="What to compute."
    )
    properties: list[PropertyName] = Field(
        default_factory=lambda: ["energy", "forces"],  # type: ignore[arg-type]
        min_length=1,
        max_length=16,
        description="What to give; one that the engine cannot give is an error.",
    )
    dtype: Dtype | None = Field(default=None, description=_DTYPE)
    device: Device = Field(default="cpu", description=_DEVICE)
    options: Options = Field(
        default_factory=dict,
        description="Options of the engine, as its `setup` takes them; for a sum, those of each "
        "engine under its name.",
    )
    allow_toy_elements: bool = Field(
        default=False, description="Accept elements with toy parameters."
    )
    deadline_s: float | None = Field(
        default=None, gt=0, le=86_400, description="Give up, and stop computing, after so long."
    )
    file: AbsolutePath | None = Field(
        default=None,
        description="Write the arrays to this file, .npz or .extxyz; without it they come as JSON "
        "for up to 256 atoms in all, and as .npz among the daemon's results for more.",
    )


class StructureForces(Model):
    """What was computed for one structure, or why not."""

    index: int = Field(description="Its place in the request, from 0.")
    n_atoms: int = Field(description="Its atoms.")
    formula: str = Field(description="Its formula.")
    kind: str | None = Field(default=None, description="Kind of the error, when it failed.")
    message: str | None = Field(default=None, description="What went wrong.")
    energy_ev: float | None = Field(default=None, description="Energy.")
    free_energy_ev: float | None = Field(
        default=None, description="The energy that the forces are the gradient of."
    )
    fmax_ev_per_a: float | None = Field(default=None, description="Largest force on an atom.")
    pressure_gpa: float | None = Field(default=None, description="−⅓ of the trace of the stress.")
    stress_ev_per_a3: list[list[float]] | None = Field(
        default=None, description="3×3, positive where the crystal is pulled."
    )
    dipole_e_a: list[float] | None = Field(default=None, description="In e·Å.")
    forces_ev_per_a: list[list[float]] | None = Field(default=None, description="Of each atom.")
    energies_ev: list[float] | None = Field(default=None, description="Of each atom.")
    stresses_ev_per_a3: list[list[list[float]]] | None = Field(
        default=None, description="Of each atom, 3×3."
    )
    magmoms_mub: list[float] | None = Field(default=None, description="Of each atom, in μB.")
    charges_e: list[float] | None = Field(default=None, description="Of each atom, in e.")
    committee_energy_ev: list[float] | None = Field(default=None, description="Of each member.")
    committee_forces_ev_per_a: list[list[list[float]]] | None = Field(
        default=None, description="Of each member, of each atom."
    )
    energy_spread_ev: float | None = Field(
        default=None, description="Root mean square of what the members deviate from their mean."
    )
    force_spread_ev_per_a: list[float] | None = Field(
        default=None, description="The same of the force on each atom."
    )


class EvaluateResult(Model):
    identity: list[ForceIdentity] = Field(
        description="Where the numbers come from; several for a sum."
    )
    structures: list[StructureForces] = Field(description="In the order of the request.")
    failed: int = Field(description="Structures that could not be computed.")
    file: str | None = Field(
        default=None, description="Where the arrays of each atom are, when they are not here."
    )
    evaluation_s: float = Field(description="Seconds of computing.")
    elapsed_s: float = Field(description="Seconds in all, loading included.")
    warnings: list[str] = Field(
        default_factory=list, description="What is to be known of the structures that were read."
    )


class AttachParams(Params):
    engine: EngineName = Field(description=_ENGINE)
    model: ModelName | None = Field(default=None, description=_MODEL)
    dtype: Dtype | None = Field(default=None, description=_DTYPE)
    device: Device = Field(default="cpu", description=_DEVICE)
    options: Options = Field(default_factory=dict, description=_OPTIONS)


class AttachResult(Model):
    path: str = Field(description="Private socket: connect, send the token, then talk.")
    token: str = Field(description="Send it as the first thing; it is good once.")
    token_s: float = Field(description="Seconds that the token is good for.")
    worker: str = Field(description="Name of the worker; ask `forces.workers` how it died.")
    abi: int = Field(description="Version of what is spoken on the socket.")
    identity: ForceIdentity = Field(description="Where the numbers come from.")
    capabilities: Capabilities = Field(description="What the worker can do.")


class RelaxParams(Params):
    engine: EngineName | None = Field(default=None, description=_ENGINE)
    model: ModelName | None = Field(default=None, description=_MODEL)
    structure: StructureIn = Field(description="The structure to relax.")
    name: JobName | None = Field(default=None, description="Name of the job.")
    cell: Literal["full", "isotropic", "fixed"] | None = Field(
        default=None, description="What the cell may do; free for a crystal."
    )
    fmax_ev_per_a: float | None = Field(
        default=None, gt=0, le=10, description="Largest force left on an atom."
    )
    smax_gpa: float | None = Field(
        default=None, gt=0, le=100, description="Largest stress left, where the cell may change."
    )
    max_steps: int | None = Field(
        default=None, ge=1, le=100_000, description="Steps before it gives up."
    )
    optimizer: Literal["LBFGS", "BFGS", "FIRE"] | None = Field(
        default=None, description="How steps are chosen."
    )
    keep_symmetry: bool | None = Field(default=None, description="Keep the space group.")
    dtype: Dtype | None = Field(default=None, description=_DTYPE)
    device: Device | None = Field(default=None, description=_DEVICE)
    options: Options = Field(default_factory=dict, description=_OPTIONS)
    allow_toy_elements: bool = Field(
        default=False, description="Accept elements with toy parameters."
    )
    tags: list[Tag] = Field(default_factory=list, max_length=50, description="Free labels.")
    client_token: ClientToken | None = Field(default=None, description="As in `jobs.submit`.")


class RelaxResult(Model):
    job: JobSummary = Field(description="An ordinary job of code `forces`.")
    repeated: bool = Field(
        default=False, description="The token was known: this is the job of the first call."
    )


class WorkersParams(Params):
    worker: WorkerId | None = Field(default=None, description="Only this one, alive or dead.")


class WorkersMeta(Model):
    total: int = Field(description="Rows given.")
    alive: int = Field(description="Workers that run.")


class ForcesLimits(Model):
    memory_mib: int = Field(description="Memory that all workers may use together.")
    threads: int = Field(description="Cores that are shared among them.")
    idle_s: float = Field(description="Seconds after which an idle worker is stopped.")
    load_s: float = Field(description="Seconds that loading may take.")
    call_s: float = Field(description="Seconds that a request may take by default.")
    first_call_s: float = Field(description="The same for the first of its shape, at least.")
    crashes: int = Field(description="Crashes until it is not started again for a while.")
    crashes_within_s: float = Field(description="Seconds within which they must fall.")
    pause_s: float = Field(description="Seconds that it is not started again.")
    call_structures: int = Field(description="Structures of one call.")
    json_atoms: int = Field(description="Atoms in all whose arrays come as JSON.")


class BrokenEngine(Model):
    """Something that is not started again for a while, as it has crashed too often."""

    engine: str = Field(description="The engine.")
    model: str = Field(description="Name of the model.")
    device: str = Field(description="Where it was to run.")
    retry_in_s: float = Field(description="Seconds until it may be tried again.")
    last_error: str = Field(description="How it died.")


class ForcesStatusResult(Model):
    default_engine: str = Field(description="Used where no engine is named.")
    workers: dict[str, int] = Field(description="Number of workers by state.")
    clients: int = Field(description="Data channels that are open.")
    rss_mib: float = Field(description="Memory that the workers use together.")
    requests: int = Field(description="Requests answered since the daemon started.")
    structures: int = Field(description="Structures answered since then.")
    crashes: int = Field(description="Workers that died since then.")
    broken: list[BrokenEngine] = Field(description="What is not started again for a while.")
    installs: list[InstallTask] = Field(description="Installations that wait or run.")
    limits: ForcesLimits = Field(description="What is allowed.")


class StopWorkerParams(Params):
    worker: WorkerId | None = Field(default=None, description="Name of a worker.")
    task: TaskId | None = Field(default=None, description="Or of an installation.")
    mode: Literal["drain", "now"] = Field(
        default="drain", description="drain: finish what it has been asked for; now: do not."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> StopWorkerParams:
        if (self.worker is None) == (self.task is None):
            raise ValueError("give exactly one of worker, task")
        return self


class StopWorkerResult(Model):
    worker: WorkerInfo | None = Field(default=None, description="The worker as it is now.")
    task: InstallTask | None = Field(default=None, description="The installation as it is now.")


class EngineDoctorParams(Params):
    engine: EngineName = Field(description=_ENGINE)
    model: ModelName | None = Field(default=None, description=_MODEL)
    dtype: Dtype | None = Field(default=None, description=_DTYPE)
    device: Device = Field(default="cpu", description=_DEVICE)
    options: Options = Field(default_factory=dict, description=_OPTIONS)
    renew: bool = Field(
        default=False,
        description="Forget what was found before, and keep what is found now.",
    )


class EngineCheck(Model):
    """One check of an engine."""

    name: str = Field(description="What was looked at.")
    structure: str | None = Field(default=None, description="On what.")
    verdict: Literal["passed", "failed", "skipped"] = Field(description="How it went.")
    value: float | None = Field(default=None, description="What was found.")
    tolerance: float | None = Field(default=None, description="What is allowed.")
    unit: str = Field(default="", description="Unit of both; empty where there is none.")
    detail: str = Field(description="One sentence.")


class EngineDoctorResult(Model):
    ok: bool = Field(description="Whether no check failed.")
    identity: ForceIdentity | None = Field(
        default=None, description="What was looked at; null when it could not be loaded."
    )
    usable: list[PropertyName] = Field(
        default_factory=list, description="Properties that passed their checks."
    )
    withheld: dict[str, str] = Field(
        default_factory=dict,
        description="Property → why it is switched off from now on; `partial_stress` is the stress "
        "of what is periodic in one or two directions only.",
    )
    checks: list[EngineCheck] = Field(description="In the order they were made.")
    elapsed_s: float = Field(description="Seconds it took.")
    at: Timestamp = Field(description="When.")


class CollectParams(Params):
    keep_days: float = Field(
        default=30, ge=0, le=36_500, description="Keep what was used within so many days."
    )
    apply: bool = Field(default=False, description="Remove it; else only name it.")


class Garbage(Model):
    """Something that nothing needs."""

    kind: Literal["environment", "model", "rubbish", "result"] = Field(description="What it is.")
    name: str = Field(description="Its name.")
    size_bytes: int = Field(description="What removing it frees.")
    reason: str = Field(description="Why nothing needs it.")
    removed: bool = Field(description="Whether it was removed.")


class CollectMeta(Model):
    total: int = Field(description="Rows given.")
    size_bytes: int = Field(description="What removing all of it frees.")
    applied: bool = Field(description="Whether it was removed.")


class ServeParams(Params):
    engine: EngineName = Field(description=_ENGINE)
    model: ModelName | None = Field(default=None, description=_MODEL)
    address: str = Field(
        min_length=1,
        max_length=255,
        description="Of the i-PI server: `unix:NAME`, `unix:/PATH` or `HOST:PORT`.",
        examples=["unix:water"],
    )
    template: AbsolutePath | None = Field(
        default=None, description="A structure file: the server sends no species."
    )
    dtype: Dtype | None = Field(default=None, description=_DTYPE)
    device: Device = Field(default="cpu", description=_DEVICE)
    options: Options = Field(default_factory=dict, description=_OPTIONS)


class ServeResult(Model):
    worker: WorkerInfo = Field(description="The worker that is driven.")
