"""The interfaces through which force engines, environments and processes meet.

``isolation`` implements :class:`EnvironmentProvider` and :class:`ProcessHost`; ``forces`` and the
services use them; ``api`` (the daemon) and ``calculators`` (a script of its own) hand them over.
Plain values only: the daemon loads neither numpy nor ase.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ModelDeclaration:
    """One set of weights, as the declaration of its engine names it.

    Attributes
    ----------
    source
        ``builtin`` (no weights), ``package`` (inside the wheel), ``file`` (the user gives a path)
        or ``download`` (``url``, ``sha256``, ``size_bytes``).
    license_id
        SPDX identifier or a name; ``license_text`` is what must be consented to, or None.
    properties
        What it is declared to give: ``energy``, ``free_energy``, ``forces``, ``stress``,
        ``energies``, ``stresses``, ``magmoms``, ``charges``, ``dipole``.
    elements
        Symbols, or None when the declaration gives none; ``toy_elements`` are accepted only on
        request.
    info_keys
        Keys of a structure's ``info`` that it understands: ``charge``, ``spin``, ``modal`` …
    warm
        A structure to evaluate once after loading, as ``{symbols, positions, cell, pbc}``, or None.
    """

    id: str
    source: Literal["builtin", "package", "file", "download"]
    properties: tuple[str, ...]
    default: bool = False
    title: str | None = None
    dtype: str | None = None
    license_id: str | None = None
    license_text: str | None = None
    elements: tuple[str, ...] | None = None
    toy_elements: tuple[str, ...] = ()
    info_keys: tuple[str, ...] = ()
    url: str | None = None
    sha256: str | None = None
    size_bytes: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    warm: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class EngineDeclaration:
    """What one declaration file says; the file itself is never executed by the host.

    Attributes
    ----------
    kind
        ``engine`` (gives forces) or ``extension``.
    origin
        ``shipped`` or ``user``.
    external_python
        Interpreter that is used as it is, instead of ``dependencies``.
    host_interpreter
        Runs with the host's own packages, in a process of its own (``emt``, ``lj``).
    import_first
        Imported in the worker before anything else.
    additive
        May be added to another engine with ``+``, as ``dftd3`` is.
    problem
        Why the file cannot be used; then the rest is what could be read.
    """

    name: str
    path: Path
    kind: Literal["engine", "extension"]
    origin: Literal["shipped", "user"]
    title: str | None = None
    requires_python: str | None = None
    dependencies: tuple[str, ...] = ()
    external_python: str | None = None
    host_interpreter: bool = False
    import_first: tuple[str, ...] = ()
    additive: bool = False
    models: tuple[ModelDeclaration, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ReadyEnvironment:
    """An environment that passed its checks and can be started.

    Attributes
    ----------
    id
        First 16 hex digits of the hash of lock, Python, platform and worker ABI; ``host`` for the
        host's own interpreter.
    python
        Absolute path of its interpreter; links in it must not be resolved.
    worker
        Absolute path of the worker's entry file: run as ``python -I worker …``.
    declaration
        Absolute path of the declaration, whose ``setup`` the worker calls.
    versions
        Installed distribution → version.
    """

    id: str
    engine: str
    python: str
    worker: str
    declaration: str
    versions: Mapping[str, str]
    python_version: str
    external: bool = False


@dataclass(frozen=True, slots=True)
class InstallStep:
    """How far an installation is; ``fraction`` is None where it is not known."""

    phase: Literal[
        "waiting", "resolving", "downloading", "installing", "checking", "models", "done"
    ]
    text: str
    fraction: float | None = None
    done_bytes: int | None = None
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    """One environment on the disk.

    Attributes
    ----------
    state
        ``ready``, ``broken`` (its check failed; ``problem`` says how) or ``unused`` (no declaration
        asks for it).
    size_bytes, apparent_bytes
        What it takes by itself (files that it does not share by hard links), and the sum of its
        files.
    """

    id: str
    engines: tuple[str, ...]
    state: Literal["ready", "broken", "unused"]
    size_bytes: int
    apparent_bytes: int
    last_used_at: float | None
    built_at: float | None
    python_version: str | None
    external: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ModelState:
    """A model as it stands here.

    Attributes
    ----------
    present
        Its weights are here (or come with the package of an installed environment).
    consent
        ``not_needed``, ``given`` or ``needed``.
    path
        File of the weights, where there is one.
    """

    engine: str
    declaration: ModelDeclaration
    present: bool
    consent: Literal["not_needed", "given", "needed"]
    sha256: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """What a worker loads.

    Attributes
    ----------
    id
        Name for people: the declared id, or the file's name.
    argument
        What ``setup`` is called with: the id, or the absolute path of the file.
    key
        Identity of the weights: sha256 of the file, or ``ENGINE VERSION:ID`` for packaged ones.
    """

    id: str
    argument: str
    key: str
    sha256: str | None
    declaration: ModelDeclaration | None


@dataclass(frozen=True, slots=True)
class Removal:
    """Something that garbage collection would remove, or has removed."""

    kind: Literal["environment", "model", "rubbish"]
    name: str
    size_bytes: int
    reason: str
    removed: bool


class EnvironmentProvider(Protocol):
    """Declarations, environments and model files. Safe in threads and between processes."""

    def declarations(self) -> Sequence[EngineDeclaration]:
        """Every declaration, shipped and the user's, those with a ``problem`` included."""

    def declaration(self, engine: str) -> EngineDeclaration:
        """One usable declaration; raises ``NotFound`` listing what exists, or ``ConfigError``."""

    def ready(self, engine: str) -> ReadyEnvironment | None:
        """Return the environment if it is built; cheap, no network, starts nothing."""

    def expected_bytes(self, engine: str) -> int | None:
        """Bytes that :meth:`install` would fetch, as far as it is known; 0 when built."""

    def install(
        self,
        engine: str,
        *,
        models: Sequence[str] = (),
        progress: Callable[[InstallStep], None] = lambda _step: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ReadyEnvironment:
        """Build what is missing, download the named models; blocks; may be repeated.

        Raises
        ------
        EnvironmentUnbuildable, EnvironmentBroken, LicenceNotAccepted, NotFound, Cancelled
        """

    def check(self, engine: str) -> Mapping[str, Any]:
        """Run the leak and version check; ``{ok, problems: […], facts: {…}}``."""

    def environments(self) -> Sequence[EnvironmentRow]:
        """Every environment on the disk."""

    def models(self, engine: str) -> Sequence[ModelState]:
        """Every declared model of an engine."""

    def resolve_model(self, engine: str, model: str | None) -> ResolvedModel:
        """Find the default model, a declared one, or hash the file at an absolute path.

        Raises
        ------
        NotFound, LicenceNotAccepted, InputRejected
        """

    def accept_licence(self, engine: str, model: str) -> None:
        """Record the consent to a licence text, once for each text."""

    def touch(self, environment_id: str) -> None:
        """Note that an environment was used now."""

    def collect_garbage(
        self, *, keep_days: float, apply: bool, in_use: Collection[str]
    ) -> Sequence[Removal]:
        """Name what is not needed; remove it only with ``apply``."""


@dataclass(frozen=True, slots=True)
class CrashReport:
    """How a worker ended.

    Attributes
    ----------
    signal
        Number of the signal that ended it, or None.
    oom_killed
        The kernel's out-of-memory killer acted, as far as that can be read here.
    stderr_tail
        Its last 8 kB.
    """

    phase: str
    exit_code: int | None
    signal: int | None
    oom_killed: bool | None
    stderr_tail: str


class HostedProcess(Protocol):
    """A process that was started in an environment."""

    pid: int

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end; None when it still runs then."""

    def terminate(self) -> None:
        """TERM to its group; returns at once."""

    def stop(self, grace_s: float) -> None:
        """TERM to its group, after ``grace_s`` KILL; returns when it is gone or given up."""

    def kill(self) -> None:
        """KILL its group now; returns at once."""

    def stderr_tail(self) -> str:
        """Last 8 kB of what it wrote, also after its end."""

    def report(self, phase: str) -> CrashReport:
        """Describe its end."""


class ProcessHost(Protocol):
    """Starts processes in environments so that nothing of the host leaks in."""

    def start(
        self,
        environment: ReadyEnvironment,
        arguments: Sequence[str],
        *,
        pass_fds: Sequence[int] = (),
        env: Mapping[str, str] | None = None,
        threads: int = 1,
        name: str = "worker",
    ) -> HostedProcess:
        """Run ``python -I worker arguments…``; nothing of the host leaks in.

        No variables but a white list, caches of its own, an empty working directory, a process
        group of its own, and only the descriptors of ``pass_fds``.


        Must be called from a thread that lives as long as the process shall: the child dies with
        the thread that made it.

        Raises
        ------
        EnvironmentBroken
            The interpreter cannot be started.
        """
