"""What ``forces.*`` shows and what events of topic ``engines`` carry: engines, models, workers.

Values only. Used by ``contract.forces`` and ``contract.events``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from crystalmath.contract.rpc import Model, Timestamp

PropertyName = Literal[
    "energy",
    "free_energy",
    "forces",
    "stress",
    "energies",
    "stresses",
    "magmoms",
    "charges",
    "dipole",
    "committee_energy",
    "committee_forces",
]
InstallState = Literal["waiting", "running", "done", "failed", "cancelled"]
InstallPhase = Literal[
    "waiting", "resolving", "downloading", "installing", "checking", "models", "done"
]
WorkerState = Literal["starting", "idle", "busy", "draining", "crashed", "stopped"]


class EngineModel(Model):
    """One set of weights."""

    engine: str = Field(description="The engine it belongs to.")
    id: str = Field(description="Give it as `model`.")
    title: str | None = Field(default=None, description="For people.")
    default: bool = Field(description="Used when no model is named.")
    source: Literal["builtin", "package", "file", "download"] = Field(
        description="No weights, inside the package, a file of yours, or fetched by installing."
    )
    present: bool = Field(description="Whether its weights are here.")
    consent: Literal["not_needed", "given", "needed"] = Field(
        description="Whether its licence has to be accepted, and whether it was."
    )
    license: str | None = Field(default=None, description="Name of its licence.")
    license_text: str | None = Field(
        default=None, description="What has to be accepted, where something has."
    )
    dtype: str | None = Field(default=None, description="Its own precision: float32 or float64.")
    properties: list[PropertyName] = Field(description="What it gives.")
    elements: list[str] | None = Field(
        default=None, description="Symbols it describes; null where only loading tells."
    )
    toy_elements: list[str] = Field(
        default_factory=list, description="Accepted on request only: the numbers mean nothing."
    )
    info_keys: list[str] = Field(
        default_factory=list, description="Members of `info` that it understands."
    )
    sha256: str | None = Field(default=None, description="Of the file of the weights.")
    path: str | None = Field(default=None, description="The file of the weights.")
    size_bytes: int | None = Field(default=None, description="Size of what would be fetched.")


class InstallTask(Model):
    """An installation: waiting, running, or how it ended."""

    id: str = Field(description="Name of the task.")
    engine: str = Field(description="What is installed.")
    models: list[str] = Field(default_factory=list, description="Models that are fetched with it.")
    state: InstallState = Field(description="Where it stands.")
    phase: InstallPhase = Field(description="What it is busy with.")
    text: str = Field(description="One short line.")
    fraction: float | None = Field(
        default=None, ge=0, le=1, description="0–1 of the phase, where it is known."
    )
    done_bytes: int | None = Field(default=None, description="Fetched so far.")
    total_bytes: int | None = Field(default=None, description="To be fetched.")
    kind: str | None = Field(default=None, description="Kind of the error, when it failed.")
    message: str | None = Field(default=None, description="What went wrong.")
    hint: str | None = Field(default=None, description="What to do about it.")
    started_at: Timestamp = Field(description="When it was asked for.")
    finished_at: Timestamp | None = Field(default=None, description="When it ended.")


class EngineInfo(Model):
    """One engine: what it can do and whether it is here."""

    name: str = Field(description="Give it as `engine`.")
    title: str | None = Field(default=None, description="For people.")
    default: bool = Field(description="Used where no engine is named.")
    origin: Literal["shipped", "user"] = Field(description="Who declares it.")
    installed: bool = Field(description="Whether it can be used now.")
    problem: str | None = Field(default=None, description="Why not.")
    hint: str | None = Field(default=None, description="What to do about it.")
    built_in: bool = Field(description="Needs no installation.")
    external: bool = Field(description="Uses an interpreter of the site as it is.")
    additive: bool = Field(description="Is added to another engine: `mace+dftd3`.")
    environment: str | None = Field(default=None, description="Id of its environment.")
    python: str | None = Field(default=None, description="Version of Python in it.")
    versions: dict[str, str] = Field(
        default_factory=dict, description="Package → version, of what its declaration names."
    )
    download_bytes: int | None = Field(
        default=None, description="What installing would fetch; null where it is not known."
    )
    models: list[EngineModel] = Field(description="Its models, the default one first.")
    properties: list[PropertyName] = Field(description="What its default model gives.")
    devices: list[str] = Field(description="Where it can run here: cpu, cuda:0 …")
    workers: int = Field(description="Workers that have it loaded now.")
    install: InstallTask | None = Field(
        default=None, description="Its installation, while there is one or when it failed."
    )
    warnings: list[str] = Field(
        default_factory=list, description="What is odd about its declaration."
    )


class EnvironmentInfo(Model):
    """One environment on the disk."""

    id: str = Field(description="16 hexadecimal digits; names its directory.")
    engines: list[str] = Field(description="Engines that use it.")
    state: Literal["ready", "broken", "unused"] = Field(
        description="unused: no declaration asks for it."
    )
    problem: str | None = Field(default=None, description="What is broken.")
    size_bytes: int = Field(description="What removing it would free.")
    apparent_bytes: int = Field(description="The sum of its files; many may be shared.")
    python: str | None = Field(default=None, description="Version of Python in it.")
    external: bool = Field(description="An interpreter of the site.")
    built_at: Timestamp | None = Field(default=None, description="When it was made.")
    last_used_at: Timestamp | None = Field(default=None, description="When it was last used.")
    workers: int = Field(description="Workers that run in it now.")


class ForceIdentity(Model):
    """Where the numbers come from; part of every result."""

    engine: str = Field(description="The engine.")
    version: str = Field(description="Its package and version.")
    model: str = Field(description="Name of the model.")
    model_key: str = Field(description="Identity of its weights.")
    model_sha256: str | None = Field(default=None, description="Of the file of the weights.")
    dtype: str = Field(description="Precision it computes in.")
    device: str = Field(description="Where it ran.")
    environment: str = Field(description="Id of the environment.")
    options: dict[str, Any] = Field(
        default_factory=dict, description="Options of the engine that were given."
    )


class Capabilities(Model):
    """What a worker can do, as tried after loading and not as declared."""

    properties: list[PropertyName] = Field(description="What it gives.")
    elements: list[str] | None = Field(default=None, description="Symbols it describes.")
    toy_elements: list[str] = Field(
        default_factory=list, description="Symbols whose numbers mean nothing."
    )
    info_keys: list[str] = Field(default_factory=list, description="Members of `info` it reads.")
    members: int = Field(default=0, description="Of a committee; 0 when it is none.")
    withheld: dict[str, str] = Field(
        default_factory=dict,
        description="Property → why it is switched off; `partial_stress` is the stress of what is "
        "periodic in one or two directions only.",
    )
    notes: list[str] = Field(default_factory=list, description="What belongs to its numbers.")
    max_structures: int = Field(default=64, description="Structures of one request.")
    max_atoms: int = Field(default=20_000, description="Atoms of several in one request.")
    dtype: str = Field(description="Precision it computes in.")
    device: str = Field(description="Where it runs.")
    versions: dict[str, str] = Field(default_factory=dict, description="Package → version.")
    load_s: float = Field(description="Seconds that loading took.")


class WorkerCrash(Model):
    """How a worker ended, or why it did not start."""

    at: Timestamp = Field(description="When.")
    kind: str = Field(description="Kind of the error: worker_died, worker_timeout …")
    message: str = Field(description="One sentence.")
    phase: str = Field(description="What it was doing.")
    exit_code: int | None = Field(default=None, description="Its exit code.")
    signal: int | None = Field(default=None, description="Number of the signal that ended it.")
    oom_killed: bool | None = Field(
        default=None, description="The kernel ended it for memory; null where that cannot be read."
    )
    environment: str = Field(description="Id of the environment.")
    versions: dict[str, str] = Field(default_factory=dict, description="Package → version.")
    request: str | None = Field(
        default=None, description="What it was computing: structures, atoms, properties."
    )
    stderr_tail: str = Field(description="The end of what it printed, at most 8 kB.")


class WorkerInfo(Model):
    """One worker: a process that has one model loaded."""

    id: str = Field(description="Name of the worker.")
    engine: str = Field(description="The engine.")
    model: str = Field(description="Name of the model.")
    model_key: str = Field(description="Identity of its weights.")
    dtype: str | None = Field(default=None, description="Precision it computes in.")
    device: str = Field(description="Where it runs.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the engine.")
    environment: str = Field(description="Id of its environment.")
    state: WorkerState = Field(description="What it is doing.")
    phase: str = Field(description="What it is doing, in its own word.")
    pid: int | None = Field(default=None, description="Process id; for display only.")
    clients: int = Field(description="Data channels that are open.")
    waiting: int = Field(description="Requests that wait.")
    requests: int = Field(description="Requests answered.")
    structures: int = Field(description="Structures answered.")
    evaluations: int = Field(description="Structures that the model really computed.")
    rate_per_s: float = Field(description="Structures answered per second of computing.")
    rss_mib: float | None = Field(default=None, description="Resident memory.")
    threads: int = Field(description="Threads it may use.")
    load_s: float | None = Field(default=None, description="Seconds that loading took.")
    started_at: Timestamp = Field(description="When its process was started.")
    last_used_at: Timestamp | None = Field(default=None, description="When it last answered.")
    busy_s: float | None = Field(
        default=None, description="Seconds it has been computing the request in hand."
    )
    serves: str | None = Field(
        default=None, description="Address of the i-PI server that drives it."
    )
    capabilities: Capabilities | None = Field(default=None, description="What it can do.")
    last_error: WorkerCrash | None = Field(default=None, description="How it or its last one died.")


TaskId = Annotated[str, Field(max_length=64)]
WorkerId = Annotated[str, Field(max_length=64)]
