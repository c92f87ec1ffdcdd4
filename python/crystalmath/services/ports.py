"""The small interfaces through which the services reach the adapters.

The services own them; ``codes``, ``runners``, ``storage`` and ``server`` implement them and are
handed in by ``api``. Plain values only: nothing here imports a heavy library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from crystalmath.domain.moments import starting_moments

RunWorker = Callable[[str, Mapping[str, Any], float], Any]
"""Runs an allow-listed ``module:function`` in a warm worker process: name, arguments, seconds.

Returns its JSON value; raises what the function raises, or ``WorkerDied`` and ``DeadlinePassed``.
"""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to place in the job directory before the program starts.

    Attributes
    ----------
    path
        Relative POSIX path inside the job directory.
    content
        The text to write, or None when ``source`` is copied.
    source
        Absolute path of a file on this machine to copy.
    """

    path: str
    content: str | None = None
    source: str | None = None
    executable: bool = False


@dataclass(frozen=True, slots=True)
class StructureData:
    """A structure as the code adapters receive it: read, checked, in the order of the input.

    Attributes
    ----------
    lattice
        3×3 row vectors in Å, or None for a molecule.
    pbc
        Periodicity along the three axes.
    symbols
        Chemical symbols, one per atom.
    positions
        Cartesian coordinates in Å, shape (n_atoms, 3).
    formula
        Reduced formula in Hill order.
    source
        Where it came from, for provenance: reader, version, path or format, sha256 of the text.
    sites
        What else is known of the atoms: name of a field of ``structures.structure.SiteData`` →
        one value per atom.
    """

    lattice: tuple[tuple[float, float, float], ...] | None
    pbc: tuple[bool, bool, bool]
    symbols: tuple[str, ...]
    positions: tuple[tuple[float, float, float], ...]
    formula: str
    source: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    sites: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def is_crystal(self) -> bool:
        """Whether it repeats in three directions."""
        return self.lattice is not None and all(self.pbc)

    @property
    def moments(self) -> tuple[float, ...] | None:
        """Magnetic moments in μB to start from; None where there are none."""
        return starting_moments(self.sites.get("moments"))


class StructureReader(Protocol):
    """Reads structures in a worker process, so that no heavy library enters the daemon."""

    def read(
        self,
        *,
        path: str | None = None,
        text: str | None = None,
        format: str | None = None,  # noqa: A002 - the wire's word
    ) -> StructureData:
        """Read one structure; raises ``InputRejected`` with field and hint."""


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What a code adapter needs to know to prepare a job (already checked against the contract)."""

    name: str
    task: str | None
    engine: str | None
    model: str | None
    structure: StructureData | None
    inputs: Mapping[str, Any]
    files: tuple[InputFile, ...]
    context: Mapping[str, str]
    ntasks: int = 1
    cpus_per_task: int = 1
    walltime_s: float | None = None
    remote: bool = False
    """It runs on a cluster: nothing of this machine is looked up, and no launcher is added."""
    executable: str | None = None
    """The code's program there, as the cluster's record has it."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job ready to be staged: its files, its program and what is known of it beforehand.

    Attributes
    ----------
    argv
        Program and arguments, run in the job directory without a shell. Empty for a calculation
        that was taken in: it has ended already, and nothing is run.
    output
        Name of the program's main output file in the job directory, when it is not stdout.
    starts_processes
        The program starts the processes of a parallel job itself: on a cluster the job script adds
        no launcher but names it in ``CRYSTALMATH_LAUNCHER``, and passes its warning on.
    """

    task: str
    argv: tuple[str, ...]
    files: tuple[InputFile, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    engine: str | None = None
    model: str | None = None
    formula: str | None = None
    n_atoms: int | None = None
    output: str | None = None
    warnings: tuple[str, ...] = ()
    starts_processes: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running job is, as far as its files tell."""

    text: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The code adapter's judgement of an ended calculation.

    Attributes
    ----------
    reason
        None when completed, else one of ``domain.states.REASONS``.
    message
        One sentence for the user, e.g. the program's own error line.
    results
        The results document: JSON values, units in the names.
    """

    completed: bool
    reason: str | None = None
    message: str | None = None
    hint: str | None = None
    results: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    converged: bool | None = None
    energy_ev: float | None = None


@dataclass(frozen=True, slots=True)
class EndReceipt:
    """``.cm/end.json``: how the program ended, written by the supervisor.

    Attributes
    ----------
    rc
        Exit code of the program, or None when a signal ended it.
    signal
        Number of the signal that ended it, or None.
    failure
        Why the program could not be started (``errno`` text), or None.
    cause
        ``exit``, ``cancel`` (the supervisor was told to stop it), ``walltime`` or ``not_started``.
    disk_full
        Less than 1 MiB was free on the job directory's file system at the end.
    leftover
        Processes that the program left running when it ended by itself; they were ended then.
    unkillable
        Processes of the run that could not be ended.
    """

    attempt: int
    rc: int | None
    signal: int | None
    cause: Literal["exit", "cancel", "walltime", "not_started"]
    failure: str | None
    t_start: float
    t_end: float
    max_rss_kib: int | None = None
    cpu_s: float | None = None
    disk_full: bool = False
    leftover: int = 0
    unkillable: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """An output judged by itself, without a job."""

    verdict: Verdict
    task: str
    formula: str | None = None
    n_atoms: int | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """A calculation that somebody ran by hand, as it can be taken in.

    Attributes
    ----------
    output
        Path of the main output among ``files``.
    files
        What belongs to it, each with its ``source``; the main output first.
    input_files
        Paths among ``files`` that a rerun needs.
    inputs, engine, structure
        What a rerun would submit, as far as it is known.
    """

    task: str
    output: str
    files: tuple[InputFile, ...]
    input_files: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    engine: str | None = None
    structure: StructureData | None = None
    formula: str | None = None
    n_atoms: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Continuation:
    """What the job is made of that goes on where another stopped.

    Attributes
    ----------
    fix
        What is done differently, for the user.
    """

    fix: str
    inputs: Mapping[str, Any]
    files: tuple[InputFile, ...]
    structure: StructureData | None


class CodeAdapter(Protocol):
    """One calculation code. Stateless; called from several threads."""

    name: str
    title: str
    tasks: tuple[str, ...]

    def describe(self) -> Mapping[str, Any]:
        """Tell what it can do here.

        Returns
        -------
        dict
            ``parameters``: JSON schema of ``inputs``, of the task that takes most where tasks
            differ; ``parameters_by_task``: the schema of each of ``tasks``; ``executable``: path or
            None; ``engines``: each with its ``name`` and whether it is ``available``; ``problem``:
            why the code cannot be used, if so.
        """

    def prepare(self, request: JobRequest) -> Prepared:
        """Check the input and say what to run; no side effects.

        Raises
        ------
        InputRejected, InvalidParams
        """

    def progress(self, directory: Path) -> Progress | None:
        """Progress of a running job; cheap (a few kB read), never raises."""

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        """Judge an ended job from its files; ``end`` is None when the receipt is missing."""

    def series(self, directory: Path) -> Mapping[str, Any]:
        """Numbers for plots: name → ``x``, ``y``, ``x_label``, ``y_label``, ``unit``."""

    def recognise(self, path: Path) -> Finished | None:
        """Say what a finished calculation consists of; None when it is not one of this code.

        Parameters
        ----------
        path
            Its directory, or its main output.

        Raises
        ------
        InvalidParams
            It is of this code, but it is not clear which output is meant.
        """

    def read(self, path: Path) -> Reading | None:
        """Judge an output (or the one in a directory) by itself; None when it is another code's."""

    def proceed(self, directory: Path, request: JobRequest, reason: str | None) -> Continuation:
        """Say how a job that did not complete goes on; no side effects.

        Raises
        ------
        InputRejected
            There is nothing to go on from.
        """


@dataclass(frozen=True, slots=True)
class Launch:
    """One run of a program, as the pump hands it to a runner."""

    key: str
    attempt: int
    directory: Path
    argv: tuple[str, ...]
    env: Mapping[str, str]
    walltime_s: float | None = None
    stdout: str = "stdout.log"
    stderr: str = "stderr.log"


@dataclass(frozen=True, slots=True)
class Handle:
    """The supervisor of a local run: pid alone proves nothing, the three together do."""

    pid: int
    pid_start: int
    boot_id: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What a runner sees of one run.

    Attributes
    ----------
    phase
        ``unclaimed``: the directory knows of no supervisor, and no process carries the key.
        ``claimed``: a supervisor has taken it, the program has not started. ``running``.
        ``ended``: ``end`` is there. ``vanished``: claimed, no receipt, and no live process carries
        the key. ``other_boot``: claimed before the last reboot.
    """

    phase: Literal["unclaimed", "claimed", "running", "ended", "vanished", "other_boot"]
    handle: Handle | None = None
    t_start: float | None = None
    end: EndReceipt | None = None


class Runner(Protocol):
    """Runs programs. Every call may be repeated at any time, also after a crash of the daemon."""

    name: str

    def launch(self, launch: Launch) -> None:
        """Start the program once: a directory that is claimed already is left alone.

        Raises
        ------
        OSError
            Nothing was started; trying again is safe.
        """

    def observe(self, directory: Path, key: str) -> Observation:
        """Look at the run; no side effects."""

    def cancel(self, directory: Path, key: str) -> None:
        """Ask the run to end: TERM to its group, later KILL; returns at once.

        A launched run that no supervisor has claimed yet is claimed here, so that it never starts.
        """
