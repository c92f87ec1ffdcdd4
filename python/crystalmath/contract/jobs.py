"""Params and results of ``jobs.*``."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from crystalmath.contract.job_tasks import TaskView, UsageView
from crystalmath.contract.resources import Resources
from crystalmath.contract.rpc import Model, Params, Timestamp
from crystalmath.domain.states import JobState

MAX_TEXT_BYTES = 8 * 1024 * 1024


def _check_name(value: str) -> str:
    if re.search(r"[/\\\x00-\x1f\x7f]", value):
        raise ValueError("a name may hold neither slashes nor control characters")
    if not value.strip(". "):
        raise ValueError("a name needs at least one character beside dots and blanks")
    return value


def _check_relative(value: str) -> str:
    parts = value.split("/")
    if value.startswith("/") or "\x00" in value or any(p in ("", ".", "..") for p in parts):
        raise ValueError(
            "a relative path inside the job directory is needed, like `run.sh` or `data/in.txt`"
        )
    if parts[0] == ".cm":
        raise ValueError("`.cm` is reserved")
    if any(len(p.encode()) > 255 for p in parts):
        raise ValueError("a file name is longer than 255 bytes")
    return value


def _check_absolute(value: str) -> str:
    if not value.startswith("/") or "\x00" in value:
        raise ValueError("an absolute path is needed: the daemon has no current directory of yours")
    return value


def check_text(value: str) -> str:
    """Refuse a text that is larger than 8 MiB."""
    if len(value.encode("utf-8")) > MAX_TEXT_BYTES:
        raise ValueError("text is limited to 8 MiB; give a path instead")
    return value


JobName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    AfterValidator(_check_name),
]
RelativePath = Annotated[
    str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_check_relative)
]
AbsolutePath = Annotated[
    str, StringConstraints(min_length=1, max_length=4096), AfterValidator(_check_absolute)
]
JobId = Annotated[int, Field(ge=1, lt=2**63)]
CodeName = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9_]*$")
]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
ContextName = Literal[
    "CRY23_ROOT",
    "CRY_ARCH",
    "CRY_VERSION",
    "CRY_SCRATCH_BASE",
    "VASP_PP_PATH",
    "PMG_VASP_PSP_DIR",
    "ESPRESSO_PSEUDO",
]
Context = dict[ContextName, Annotated[str, StringConstraints(max_length=4096)]]
ClientToken = Annotated[str, StringConstraints(min_length=8, max_length=100)]


class StructureIn(Params):
    """A structure: exactly one of a path, a text, a search hit or another job."""

    path: AbsolutePath | None = Field(default=None, description="A structure file on this machine.")
    text: Annotated[str, AfterValidator(check_text)] | None = Field(
        default=None, description="The content of a structure file, at most 8 MiB."
    )
    format: str | None = Field(
        default=None, max_length=32, description="cif, poscar, xyz …; needed with `text`."
    )
    material: str | None = Field(
        default=None, max_length=200, description="`provider:id` of a search hit."
    )
    job: JobId | None = Field(default=None, description="The final structure of this job.")

    @model_validator(mode="after")
    def _exactly_one(self) -> StructureIn:
        given = [n for n in ("path", "text", "material", "job") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of path, text, material, job")
        if self.text is not None and self.format is None:
            raise ValueError("text needs its format")
        return self


class FileIn(Params):
    """A file for the job directory, with its content or copied from a source on this machine."""

    path: RelativePath = Field(description="Where it goes, relative to the job directory.")
    content: Annotated[str, AfterValidator(check_text)] | None = Field(
        default=None, description="Its text."
    )
    source: AbsolutePath | None = Field(default=None, description="The file to copy.")
    executable: bool = Field(default=False, description="Set the executable bit.")

    @model_validator(mode="after")
    def _exactly_one(self) -> FileIn:
        if (self.content is None) == (self.source is None):
            raise ValueError("give exactly one of content, source")
        return self


class SubmitParams(Params):
    name: JobName = Field(
        description="1–100 characters; for people. Directories derive from the id."
    )
    code: CodeName = Field(description="Which code runs it: see `codes.list`.")
    task: str | None = Field(default=None, max_length=64, description="What the code should do.")
    engine: str | None = Field(
        default=None, max_length=64, description="Force engine, for code `forces`."
    )
    model: str | None = Field(default=None, max_length=4096, description="The engine's model.")
    structure: StructureIn | None = Field(default=None, description="The structure to work on.")
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="Parameters of the code: see `codes.list`."
    )
    files: list[FileIn] = Field(
        default_factory=list, max_length=10000, description="Files the job needs."
    )
    template: str | None = Field(
        default=None,
        max_length=200,
        description="A template, whose files are added to `files`: see `templates.list`.",
    )
    template_parameters: dict[str, Any] = Field(
        default_factory=dict, description="What it is filled in with."
    )
    runner: Literal["local", "ssh", "slurm", "aiida"] | None = Field(
        default=None,
        description="How it is run; if absent the cluster's kind, and `local` without a cluster.",
    )
    cluster: str | None = Field(
        default=None,
        min_length=1,
        max_length=50,
        description="Name or number of the cluster it runs on; this machine if absent.",
    )
    resources: Resources = Field(default_factory=Resources, description="Processes, threads, time.")
    after: list[JobId] = Field(
        default_factory=list, max_length=1000, description="Start when these COMPLETED."
    )
    context: Context = Field(
        default_factory=dict, description="Variables of the client's environment that codes read."
    )
    client_token: ClientToken | None = Field(
        default=None, description="The same token returns the same job; makes a resend safe."
    )
    tags: list[Tag] = Field(default_factory=list, max_length=50, description="Free labels.")
    dry_run: bool = Field(
        default=False, description="Return the files and the program; store nothing."
    )


class SchedulerAxis(Model):
    """The scheduler's own words, beside our state."""

    id: str | None = Field(
        default=None, description="The scheduler's job id; the supervisor's pid on this machine."
    )
    state: str | None = Field(default=None, description="The scheduler's word.")
    reason: str | None = Field(default=None, description="The scheduler's reason.")


class ScienceAxis(Model):
    """The calculation's own result, beside the state."""

    status: Literal["unknown", "converged", "not_converged", "failed"] = Field(
        default="unknown", description="What the code adapter judged."
    )
    energy_ev: float | None = Field(default=None, description="Final total energy in eV.")
    energy_per_atom_ev: float | None = Field(default=None, description="The same per atom in eV.")
    converged: bool | None = Field(default=None, description="Whether the calculation converged.")


class ProgressView(Model):
    fraction: float | None = Field(default=None, ge=0, le=1, description="0–1 where it is known.")
    text: str = Field(description="One short line.")


class JobSummary(Model):
    """One row of the job list."""

    id: int = Field(description="Number of the job.")
    uuid: str = Field(description="Unique id, 32 hexadecimal digits; names the job's directory.")
    name: str = Field(description="The user's name for it.")
    code: str = Field(description="Which code runs it.")
    task: str | None = Field(default=None, description="What the code does.")
    state: JobState = Field(description="See `docs/job-states.md`.")
    reason: str | None = Field(default=None, description="Why it FAILED.")
    scheduler: SchedulerAxis | None = Field(default=None, description="The scheduler's own words.")
    science: ScienceAxis = Field(description="The calculation's own result.")
    formula: str | None = Field(default=None, description="Reduced formula.")
    n_atoms: int | None = Field(default=None, description="Atoms in the cell.")
    runner: str = Field(description="local, ssh, slurm or aiida.")
    cluster: str | None = Field(default=None, description="Name of the cluster.")
    workflow: int | None = Field(default=None, description="The workflow that it is a step of.")
    progress: ProgressView = Field(description="How far it is.")
    attention: str | None = Field(default=None, description="Something a person should look at.")
    created_at: Timestamp = Field(description="When it was accepted.")
    started_at: Timestamp | None = Field(default=None, description="When the program started.")
    finished_at: Timestamp | None = Field(default=None, description="When the program ended.")
    elapsed_s: float | None = Field(default=None, description="Seconds the program has run.")
    walltime_s: float | None = Field(default=None, description="Its time limit in seconds.")
    tags: list[str] = Field(default_factory=list, description="Free labels.")
    rev: int = Field(description="Revision at which this row last changed.")


class JobEvent(Model):
    """One transition, or one thing that happened to the job."""

    seq: int = Field(description="Number of the event, rising.")
    at: Timestamp = Field(description="When it was recorded.")
    from_state: JobState | None = Field(default=None, description="State before.")
    to_state: JobState | None = Field(
        default=None, description="State after; equal when it only tells something."
    )
    why: str = Field(description="One sentence.")
    evidence: dict[str, Any] = Field(default_factory=dict, description="What it rests on.")


class FileEntry(Model):
    path: str = Field(description="Relative to the job directory.")
    size: int = Field(description="Bytes.")
    modified_at: Timestamp = Field(description="Last change.")
    kind: Literal["input", "output", "log", "internal"] = Field(
        description="What it is to the job."
    )


class StartingMoments(Model):
    """Magnetic moments that a structure started with, atom by atom."""

    symbols: list[str] = Field(description="Element of each atom.")
    moments_mub: list[float] = Field(description="Moment of each atom, in μB.")


class Provenance(Model):
    """Where the numbers come from."""

    code: str = Field(description="The code adapter.")
    program: dict[str, Any] = Field(
        default_factory=dict, description="Program, version and engine as reported."
    )
    input_hashes: dict[str, str] = Field(
        default_factory=dict, description="Path → SHA-256 of every input file."
    )
    structure: dict[str, str] = Field(
        default_factory=dict, description="Where the structure came from."
    )
    moments: StartingMoments | None = Field(
        default=None, description="Magnetic moments of the structure; left out where it has none."
    )
    environment: dict[str, str] = Field(
        default_factory=dict, description="Host, Python, versions, context variables."
    )
    argv: list[str] = Field(default_factory=list, description="The program as it was started.")
    imported: dict[str, Any] | None = Field(
        default=None,
        description="For an imported calculation: where it lay, when it ended, and which large "
        "files stayed there.",
    )


class Job(JobSummary):
    """Everything about one job."""

    inputs: dict[str, Any] = Field(
        default_factory=dict, description="The submission as it was accepted."
    )
    resources: Resources = Field(description="What it asked for.")
    results: dict[str, Any] = Field(default_factory=dict, description="The results document.")
    message: str | None = Field(default=None, description="One sentence about the end.")
    hint: str | None = Field(default=None, description="What to do next.")
    warnings: list[str] = Field(default_factory=list, description="What a referee would ask about.")
    events: list[JobEvent] = Field(default_factory=list, description="Its history, oldest first.")
    files: list[FileEntry] = Field(default_factory=list, description="Its directory.")
    directory: str = Field(description="Its directory on this machine.")
    directory_gone: bool = Field(
        default=False,
        description="The directory was there and is not any more: deleted or moved by hand.",
    )
    provenance: Provenance = Field(description="Where the numbers come from.")
    after: list[int] = Field(default_factory=list, description="Jobs it waits or waited for.")
    rerun_of: int | None = Field(default=None, description="The job it repeats or continues.")
    attempt: int = Field(default=1, description="Runs so far.")
    tasks: list[TaskView] = Field(
        default_factory=list, description="Tasks of a job array, by number; empty for other jobs."
    )
    usage: UsageView | None = Field(
        default=None, description="What it used of the machine; null until that is known."
    )
    plumbing: dict[str, Any] = Field(
        default_factory=dict, description="Attempts, last error and next try of the transport."
    )


class DryRunFile(Model):
    path: str = Field(description="Where it would go.")
    content: str | None = Field(default=None, description="Its text, for generated files.")
    source: str | None = Field(default=None, description="What would be copied.")
    executable: bool = Field(default=False, description="Whether it would be executable.")


class DryRun(Model):
    files: list[DryRunFile] = Field(description="What would be written.")
    argv: list[str] = Field(description="What would be started, in the job directory.")
    env: dict[str, str] = Field(
        default_factory=dict, description="What would be added to the environment."
    )
    script: str | None = Field(default=None, description="The job script, for schedulers.")
    task: str = Field(description="The task.")
    formula: str | None = Field(default=None, description="Reduced formula.")
    n_atoms: int | None = Field(default=None, description="Atoms in the cell.")
    warnings: list[str] = Field(default_factory=list, description="What to look at first.")


class SubmitResult(Model):
    job: JobSummary | None = Field(default=None, description="The job; null for a dry run.")
    dry_run: DryRun | None = Field(default=None, description="What a dry run found.")
    repeated: bool = Field(
        default=False, description="The token was known: this is the job of the first call."
    )


SortKey = Literal[
    "-id",
    "id",
    "name",
    "-name",
    "state",
    "-state",
    "created_at",
    "-created_at",
    "finished_at",
    "-finished_at",
]


class ListParams(Params):
    state: Annotated[list[JobState], Field(max_length=100)] | JobState | None = Field(
        default=None, description="Only these states."
    )
    code: str | None = Field(default=None, max_length=64, description="Only this code.")
    cluster: str | None = Field(default=None, max_length=50, description="Only this cluster.")
    workflow: JobId | None = Field(default=None, description="Only this workflow.")
    search: str | None = Field(
        default=None, max_length=200, description="Text in name, formula or tags."
    )
    sort: SortKey = Field(default="-id", description="Order; `-` is descending.")
    limit: int = Field(default=200, ge=1, le=1000, description="Rows of a page.")
    after: str | None = Field(
        default=None, max_length=500, description="`meta.next` of the page before."
    )
    if_rev: int | None = Field(
        default=None, ge=0, lt=2**63, description="`meta.rev` of the last answer."
    )


class ListMeta(Model):
    rev: int = Field(description="Revision of the whole table.")
    total: int | None = Field(default=None, description="Rows that match, over all pages.")
    next: str | None = Field(
        default=None, description="Give it as `after` for the next page; null at the end."
    )


class JobIdParams(Params):
    id: JobId = Field(description="Number of the job.")


class CancelJobsParams(Params):
    id: JobId | None = Field(default=None, description="One job.")
    ids: list[JobId] | None = Field(
        default=None, min_length=1, max_length=10000, description="Several jobs."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> CancelJobsParams:
        if (self.id is None) == (self.ids is None):
            raise ValueError("give exactly one of id, ids")
        return self


class JobOutcome(Model):
    id: int = Field(description="Number of the job.")
    ok: bool = Field(description="Whether it was done.")
    state: JobState | None = Field(default=None, description="Its state now.")
    kind: str | None = Field(default=None, description="Kind of the error, when not ok.")
    message: str | None = Field(default=None, description="What happened.")


class OutcomesMeta(Model):
    total: int = Field(description="Number of outcomes.")


class LogParams(Params):
    id: JobId = Field(description="Number of the job.")
    stream: Literal["output", "stdout", "stderr", "scheduler"] = Field(
        default="output", description="output: the program's main output file."
    )
    task: int | None = Field(
        default=None, ge=0, lt=2**31, description="Which task, for a job array."
    )
    offset: int | None = Field(default=None, ge=0, lt=2**63, description="First byte.")
    limit: int = Field(default=65536, ge=1, le=1048576, description="Most bytes.")
    tail: int | None = Field(
        default=None, ge=0, le=100000, description="The last so many lines instead."
    )

    @model_validator(mode="after")
    def _one_way(self) -> LogParams:
        if self.offset is not None and self.tail is not None:
            raise ValueError("give offset or tail, not both")
        return self


class LogResult(Model):
    text: str = Field(description="The text; bytes that are not UTF-8 are replaced.")
    offset: int = Field(description="Byte after the last one returned: the next `offset`.")
    start: int = Field(description="Byte of the first one returned.")
    size: int = Field(description="Bytes of the file now; 0 when it is not there yet.")
    eof: bool = Field(description="The end of the file is reached and the job has ended.")
    path: str = Field(description="The file, relative to the job directory.")


class ReadFileParams(Params):
    id: JobId = Field(description="Number of the job.")
    path: RelativePath = Field(description="Relative to the job directory.")
    offset: int = Field(default=0, ge=0, lt=2**63, description="First byte.")
    limit: int = Field(default=65536, ge=1, le=1048576, description="Most bytes.")


class RerunChanges(Params):
    """What differs from the first submission; what is left out stays."""

    name: JobName | None = Field(default=None, description="New name.")
    task: str | None = Field(default=None, max_length=64, description="New task.")
    engine: str | None = Field(default=None, max_length=64, description="New engine.")
    inputs: dict[str, Any] | None = Field(
        default=None, description="Parameters that change; null removes one."
    )
    resources: Resources | None = Field(
        default=None, description="Resources that change; null takes a limit away."
    )
    tags: list[Tag] | None = Field(default=None, max_length=50, description="New labels.")


class RerunParams(Params):
    id: JobId = Field(description="The job to repeat.")
    changes: RerunChanges = Field(default_factory=RerunChanges, description="What differs.")
    failed_tasks: bool = Field(
        default=False,
        description="Of a job array only the tasks that did not complete; `changes.resources.array`"
        " names tasks of its own choice instead.",
    )
    context: Context | None = Field(
        default=None, description="As in `jobs.submit`; the first submission's when left out."
    )
    client_token: ClientToken | None = Field(default=None, description="As in `jobs.submit`.")


class ContinueParams(Params):
    id: JobId = Field(description="The job that did not complete.")
    changes: RerunChanges = Field(
        default_factory=RerunChanges, description="What differs beside the proposed fix."
    )
    context: Context | None = Field(
        default=None, description="As in `jobs.submit`; the first submission's when left out."
    )
    client_token: ClientToken | None = Field(default=None, description="As in `jobs.submit`.")
    dry_run: bool = Field(
        default=False, description="Return the fix and the changes; store nothing."
    )


class FileChange(Model):
    """Some lines of an input file that differ."""

    file: str = Field(description="The file, relative to the job directory.")
    before: str = Field(description="The lines as they were; empty where lines were added.")
    after: str = Field(description="The lines as they are now; empty where lines were removed.")


class ContinueResult(Model):
    job: JobSummary | None = Field(default=None, description="The new job; null for a dry run.")
    fix: str = Field(description="What it does differently, in words.")
    changes: list[FileChange] = Field(
        description="What differs from the input of the job that did not complete."
    )
    dry_run: DryRun | None = Field(default=None, description="What a dry run found.")
    repeated: bool = Field(
        default=False, description="The token was known: this is the job of the first call."
    )


class ImportParams(Params):
    path: AbsolutePath = Field(
        description="Directory of a finished calculation, or its main output."
    )
    code: CodeName | None = Field(
        default=None, description="Which code it is of; recognised when left out."
    )
    name: JobName | None = Field(
        default=None, description="Name of the job; that of the directory when left out."
    )
    client_token: ClientToken | None = Field(default=None, description="As in `jobs.submit`.")


class ImportResult(Model):
    job: JobSummary = Field(description="The job; it is judged at once, and never started.")
    repeated: bool = Field(
        default=False, description="The token was known: this is the job of the first call."
    )


class DeleteParams(Params):
    ids: list[JobId] = Field(min_length=1, max_length=10000, description="Jobs that have ended.")
    files: bool = Field(default=False, description="Remove their directories as well.")


class TagParams(Params):
    ids: list[JobId] = Field(min_length=1, max_length=10000, description="The jobs.")
    add: list[Tag] = Field(default_factory=list, max_length=50, description="Labels to add.")
    remove: list[Tag] = Field(default_factory=list, max_length=50, description="Labels to remove.")


class SeriesParams(Params):
    id: JobId = Field(description="Number of the job.")
    name: str | None = Field(
        default=None, max_length=64, description="One series; all when left out."
    )


class Series(Model):
    x: list[float | None] = Field(description="Abscissa.")
    y: list[float | None] = Field(description="Ordinate; null where there is no value.")
    x_label: str = Field(description="What x is.")
    y_label: str = Field(description="What y is.")
    unit: str = Field(description="Unit of y; empty when it has none.")


class SeriesResult(Model):
    series: dict[str, Series] = Field(description="Name → series.")


class FilesMeta(Model):
    directory: str = Field(description="The job directory.")
    total: int = Field(description="Rows given, at most 10,000.")
    truncated: bool = Field(default=False, description="There are more.")
