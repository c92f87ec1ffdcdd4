"""Params and results of ``clusters.*``."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from crystalmath.contract.jobs import CodeName
from crystalmath.contract.resources import SchedulerWord
from crystalmath.contract.rpc import Model, Params, Timestamp

_HOST = re.compile(r"^[^\s\x00-\x1f\x7f@/-][^\s\x00-\x1f\x7f@/]*$")
_HOP = re.compile(
    r"^(?:[^\s\x00-\x1f\x7f@/-][^\s\x00-\x1f\x7f@/]*@)?[^\s\x00-\x1f\x7f@/-][^\s\x00-\x1f\x7f@/]*$"
)
_USER = re.compile(r"^[^\s\x00-\x1f\x7f@/:-][^\s\x00-\x1f\x7f@/:]*$")


def _host(value: str) -> str:
    if not _HOST.match(value):
        raise ValueError(
            "a host name, an address or a name of ssh's configuration is needed: no leading -, "
            "no blanks, no @, no /"
        )
    return value


def _user(value: str) -> str:
    if not _USER.match(value):
        raise ValueError("a user name has no leading -, no blanks, no @, no / and no colon")
    return value


def _hops(value: str) -> str:
    if not all(_HOP.match(hop) for hop in value.split(",")):
        raise ValueError("hosts separated by commas are needed, each as host, user@host or host:22")
    return value


def _workdir(value: str) -> str:
    if re.search(r"[\x00-\x1f\x7f]", value) or not re.match(r"^(/|~/|~$|\$[A-Za-z_{])", value):
        raise ValueError("a path on the cluster is needed that begins with /, ~/ or $NAME")
    if "$(" in value or "`" in value:
        raise ValueError("commands in a path are not run; variables like $SCRATCH are")
    return value


def _path(value: str) -> str:
    if "\x00" in value or not value.startswith(("/", "~/")):
        raise ValueError("a path is needed that begins with / or ~/")
    return value


def _line(value: str) -> str:
    if re.search(r"[\x00-\x1f\x7f]", value):
        raise ValueError("one line without control characters is needed")
    return value


def _launcher(value: str) -> str:
    if value not in ("srun", "mpirun") and "{n}" not in value:
        raise ValueError("srun, mpirun, or a text with {n} for the number of processes is needed")
    return _line(value)


def _fingerprint(value: str) -> str:
    if not re.fullmatch(r"SHA256:[A-Za-z0-9+/]{43}=?", value):
        raise ValueError("a fingerprint is needed as ssh-keygen -l prints it: SHA256:…")
    return value


def _name(value: str) -> str:
    if value.isdigit():
        raise ValueError("a name needs something beside digits: a number is an id")
    if re.search(r"[/\\\x00-\x1f\x7f]", value):
        raise ValueError("a name may hold neither slashes nor control characters")
    return value


ClusterName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=50),
    AfterValidator(_name),
    Field(examples=["maple"]),
]


def _not_this_machine(value: str) -> str:
    if value.lower() == THIS_MACHINE:
        raise ValueError(f"{THIS_MACHINE} is what jobs of this machine are counted under")
    return value


THIS_MACHINE = "local"
"""What `system.usage` and clients call this machine, where no cluster is named."""
_NewName = Annotated[ClusterName, AfterValidator(_not_this_machine)]
ClusterRef = (
    Annotated[str, StringConstraints(min_length=1, max_length=50)]
    | Annotated[int, Field(ge=1, lt=2**63)]
)
_Host = Annotated[
    str,
    StringConstraints(min_length=1, max_length=255),
    AfterValidator(_host),
    Field(examples=["login.example.org"]),
]
_User = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64),
    AfterValidator(_user),
    Field(examples=["ada"]),
]
_Hops = Annotated[
    str,
    StringConstraints(min_length=1, max_length=1024),
    AfterValidator(_hops),
    Field(examples=["jump.example.org"]),
]
_Path = Annotated[
    str,
    StringConstraints(min_length=1, max_length=4096),
    AfterValidator(_path),
    Field(examples=["~/.ssh/id_ed25519"]),
]
_Workdir = Annotated[
    str,
    StringConstraints(min_length=1, max_length=4096),
    AfterValidator(_workdir),
    Field(examples=["~/crystalmath"]),
]
_Line = Annotated[str, StringConstraints(max_length=4096), AfterValidator(_line)]
_Launcher = Annotated[
    str,
    StringConstraints(min_length=1, max_length=1024),
    AfterValidator(_launcher),
    Field(examples=["srun"]),
]
_Fingerprint = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100),
    AfterValidator(_fingerprint),
    Field(examples=["SHA256:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ"]),
]
_Port = Annotated[int, Field(ge=1, le=65535)]


class Budget(Params):
    """How often something may be done: so much at once, so much back each minute."""

    size: int = Field(ge=1, le=10**6, description="At once.")
    refill_per_min: int = Field(ge=1, le=10**6, description="Back each minute.")


# Made without their model, which is built when it is first used.
_QUERIES = Budget.model_construct(size=30, refill_per_min=10)
_SUBMISSIONS = Budget.model_construct(size=100, refill_per_min=30)


class ClusterFields(Params):
    """A cluster as its owner describes it. There is no password field."""

    name: ClusterName = Field(description="1–50 characters, unique.")
    kind: Literal["slurm", "ssh"] = Field(
        default="slurm", description="`slurm`, or `ssh`: a host without a scheduler."
    )
    hostname: _Host = Field(
        description="Host name, address, or a name of ssh's configuration; `localhost` without "
        "port, user and key is this machine itself."
    )
    port: _Port | None = Field(default=None, description="Null: from ssh's configuration.")
    username: _User | None = Field(default=None, description="Null: from ssh's configuration.")
    key_file: _Path | None = Field(default=None, description="A private key on this machine.")
    proxy_jump: _Hops | None = Field(
        default=None, description="Hosts to go through, separated by commas."
    )
    shell: Literal["auto", "paramiko", "openssh"] = Field(
        default="auto", description="How the connection is made."
    )
    remote_workdir: _Workdir = Field(
        description="Where job directories are made: absolute, `~/…`, or with `$VAR`, which is "
        "expanded there."
    )
    queue_name: SchedulerWord | None = Field(
        default=None, description="Partition of jobs that name none."
    )
    account: SchedulerWord | None = Field(
        default=None, description="Account of jobs that name none."
    )
    qos: SchedulerWord | None = Field(default=None, description="QOS of jobs that name none.")
    slurm_cluster: SchedulerWord | None = Field(
        default=None, description="For `-M`, where a site has several clusters."
    )
    max_concurrent: int | None = Field(
        default=None, ge=1, le=10**6, description="Jobs handed over at a time; null: no limit."
    )
    min_poll_s: float = Field(
        default=10.0, ge=5, le=3600, description="The scheduler is never asked more often."
    )
    max_retrieve_mib: int = Field(
        default=1024, ge=1, le=10**7, description="Larger files stay on the cluster."
    )
    query_budget: Budget | None = Field(
        default=_QUERIES, description="Questions to the scheduler; null: unlimited."
    )
    submit_budget: Budget | None = Field(
        default=_SUBMISSIONS, description="Submissions; null: unlimited."
    )
    setup_commands: list[_Line] = Field(
        default_factory=list, max_length=100, description="Lines before every job: `module load …`."
    )
    launcher: _Launcher = Field(
        default="srun",
        description="Starts several processes: `srun`, `mpirun`, or a text with `{n}`.",
    )
    codes: dict[CodeName, _Path] = Field(
        default_factory=dict, max_length=50, description="Code → its program on the cluster."
    )


class CreateClusterParams(ClusterFields):
    name: _NewName = Field(description="1–50 characters, unique; not `local`.")


class UpdateClusterParams(Params):
    """The fields to change; a field that is left out is kept, null clears."""

    id: ClusterRef = Field(description="Name or number of the cluster.")
    name: _NewName | None = Field(default=None, description="Another name; not `local`.")
    kind: Literal["slurm", "ssh"] | None = Field(default=None, description="See `clusters.create`.")
    hostname: _Host | None = Field(default=None, description="See `clusters.create`.")
    port: _Port | None = Field(default=None, description="Null: from ssh's configuration.")
    username: _User | None = Field(default=None, description="Null: from ssh's configuration.")
    key_file: _Path | None = Field(default=None, description="A private key on this machine.")
    proxy_jump: _Hops | None = Field(default=None, description="Hosts to go through.")
    shell: Literal["auto", "paramiko", "openssh"] | None = Field(
        default=None, description="How the connection is made."
    )
    remote_workdir: _Workdir | None = Field(default=None, description="See `clusters.create`.")
    queue_name: SchedulerWord | None = Field(default=None, description="Partition of jobs.")
    account: SchedulerWord | None = Field(default=None, description="Account of jobs.")
    qos: SchedulerWord | None = Field(default=None, description="QOS of jobs.")
    slurm_cluster: SchedulerWord | None = Field(default=None, description="For `-M`.")
    max_concurrent: int | None = Field(
        default=None, ge=1, le=10**6, description="Jobs handed over at a time."
    )
    min_poll_s: float | None = Field(default=None, ge=5, le=3600, description="Between polls.")
    max_retrieve_mib: int | None = Field(
        default=None, ge=1, le=10**7, description="Larger files stay on the cluster."
    )
    query_budget: Budget | None = Field(default=None, description="Null: unlimited.")
    submit_budget: Budget | None = Field(default=None, description="Null: unlimited.")
    setup_commands: list[_Line] | None = Field(
        default=None, max_length=100, description="Lines before every job."
    )
    launcher: _Launcher | None = Field(default=None, description="Starts several processes.")
    codes: dict[CodeName, _Path] | None = Field(
        default=None, max_length=50, description="Code → its program on the cluster."
    )


class ClusterIdParams(Params):
    id: ClusterRef = Field(description="Name or number of the cluster.")


class AcceptHostKeyParams(Params):
    id: ClusterRef = Field(description="Name or number of the cluster.")
    fingerprint: _Fingerprint = Field(
        description="SHA256 of the key, as `clusters.test` shows it: `SHA256:…`."
    )


class ConnectionView(Model):
    """How the connection to a cluster's host does."""

    state: Literal["ok", "backing_off", "open", "needs_user"] = Field(
        description="`backing_off`: tried again at `next_try_at`; `open`: the same after many "
        "failures; `needs_user`: refused, and nothing is tried again without a user."
    )
    failures: int = Field(description="Failures in a row.")
    next_try_at: Timestamp | None = Field(default=None, description="When it is tried again.")


class ClusterView(Model):
    """A cluster, with what the daemon has learned of it."""

    id: int = Field(description="Number of the cluster.")
    name: str = Field(description="Its name.")
    kind: Literal["slurm", "ssh"] = Field(description="`slurm` or `ssh`.")
    hostname: str = Field(description="Its host.")
    port: int | None = Field(default=None, description="Port; null: from ssh's configuration.")
    username: str | None = Field(default=None, description="User; null: from ssh.")
    key_file: str | None = Field(default=None, description="Private key.")
    proxy_jump: str | None = Field(default=None, description="Hosts in between.")
    shell: str = Field(description="How the connection is made.")
    remote_workdir: str = Field(description="Where job directories are made.")
    queue_name: str | None = Field(default=None, description="Partition of jobs that name none.")
    account: str | None = Field(default=None, description="Account of jobs that name none.")
    qos: str | None = Field(default=None, description="QOS of jobs that name none.")
    slurm_cluster: str | None = Field(default=None, description="For `-M`.")
    max_concurrent: int | None = Field(default=None, description="Jobs handed over at a time.")
    min_poll_s: float = Field(description="Least seconds between polls.")
    max_retrieve_mib: int = Field(description="Larger files stay on the cluster.")
    query_budget: dict[str, int] | None = Field(default=None, description="Questions.")
    submit_budget: dict[str, int] | None = Field(default=None, description="Submissions.")
    setup_commands: list[str] = Field(description="Lines before every job.")
    launcher: str = Field(description="Starts several processes.")
    codes: dict[str, str] = Field(description="Code → its program on the cluster.")
    status: Literal["active", "inactive", "error"] = Field(
        description="`inactive`: never asked yet; `error`: the last try failed."
    )
    last_error: str | None = Field(default=None, description="What the last try said.")
    unreachable_since: Timestamp | None = Field(default=None, description="Since when it fails.")
    polled_at: Timestamp | None = Field(default=None, description="Last complete answer.")
    probe: dict[str, Any] = Field(default_factory=dict, description="What `clusters.test` found.")
    connection: ConnectionView | None = Field(
        default=None, description="Null on this machine, and before the first connection."
    )
    warnings: list[str] = Field(
        default_factory=list,
        description="What looks wrong in the description; said when it is made or changed.",
    )


class ClustersMeta(Model):
    total: int = Field(description="Number of clusters.")


class Removed(Model):
    id: int = Field(description="Number it had.")
    name: str = Field(description="Name it had.")


class HostKeyView(Model):
    type: str | None = Field(default=None, description="Kind of key.")
    fingerprint: str | None = Field(default=None, description="SHA256 of the key.")
    known: bool = Field(description="Whether it is the one that is known.")


class Problem(Model):
    what: str = Field(description="What is wrong.")
    hint: str | None = Field(default=None, description="What to do.")


class SchedulerView(Model):
    name: str | None = Field(default=None, description="`slurm`, or null.")
    version: str | None = Field(default=None, description="As it says itself.")
    accounting: bool = Field(description="Whether sacct answers.")
    cluster: str | None = Field(default=None, description="The cluster's own name in SLURM.")
    max_array_size: int | None = Field(
        default=None, description="MaxArraySize: tasks of an array have lower numbers."
    )
    min_job_age_s: int | None = Field(
        default=None, description="MinJobAge: so long an ended job stays in the queue."
    )


class PartitionView(Model):
    name: str = Field(description="Its name.")
    default: bool = Field(description="Whether jobs go there that name none.")
    available: bool = Field(description="Whether it takes jobs.")
    max_walltime_s: float | None = Field(default=None, description="Null: no limit.")
    nodes: int = Field(description="Nodes of the partition.")
    cpus_per_node: int | None = Field(default=None, description="Processors of a node.")
    memory_mib_per_node: int | None = Field(default=None, description="Memory of a node.")


class ScratchView(Model):
    path: str | None = Field(default=None, description="`remote_workdir`, expanded.")
    writable: bool = Field(description="Whether a file could be written, read and removed.")
    free_bytes: int | None = Field(default=None, description="Free space.")


class FoundCode(Model):
    name: str = Field(description="Code.")
    path: str | None = Field(default=None, description="Its program; null: not found.")
    version: str | None = Field(default=None, description="As far as it is known.")


class ClusterReport(Model):
    """What `clusters.test` found, each part by itself; nothing was changed."""

    reachable: bool = Field(description="Whether a command could be run.")
    host_key: HostKeyView | None = Field(default=None, description="Null on this machine.")
    auth: dict[str, Any] = Field(default_factory=dict, description="How one logs in.")
    shell: str | None = Field(default=None, description="Login shell of the account.")
    user: str | None = Field(default=None, description="Account that commands run as.")
    noise: list[str] = Field(default_factory=list, description="What start-up files print.")
    scheduler: SchedulerView | None = Field(default=None, description="The scheduler.")
    partitions: list[PartitionView] = Field(default_factory=list, description="Its partitions.")
    scratch: ScratchView | None = Field(default=None, description="The work directory.")
    codes: list[FoundCode] = Field(default_factory=list, description="Programs found.")
    clock_offset_s: float | None = Field(default=None, description="Its clock minus ours.")
    latency_ms: float | None = Field(default=None, description="One round trip.")
    problems: list[Problem] = Field(default_factory=list, description="What to look at.")
