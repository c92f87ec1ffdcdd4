"""Params and results of ``system.*``, ``rpc.discover`` and ``$/cancel``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from crystalmath.contract.rpc import Model, Params, Timestamp

PROTOCOL_MIN = 1
PROTOCOL_MAX = 1

ProtocolVersion = Annotated[int, Field(ge=0, le=10**6)]
ServerState = Literal["starting", "ready", "stopping"]


class ClientEnvironment(Params):
    """The few variables of the client's environment that may change between logins."""

    SSH_AUTH_SOCK: str | None = Field(
        default=None, max_length=4096, description="Socket of the client's ssh agent."
    )


class HelloParams(Params):
    client: str | None = Field(default=None, max_length=100, description="Name of the client.")
    version: str | None = Field(default=None, max_length=100, description="Version of the client.")
    protocol: tuple[ProtocolVersion, ProtocolVersion] | None = Field(
        default=None,
        strict=False,  # JSON has no tuples
        description="Lowest and highest protocol version.",
    )
    env: ClientEnvironment | None = Field(default=None, description="See ``ClientEnvironment``.")
    deadline_s: float | None = Field(
        default=None,
        gt=0,
        le=86400,
        description="Upper bound of the deadline of this connection's calls.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> HelloParams:
        if self.protocol is not None and self.protocol[0] > self.protocol[1]:
            raise ValueError("protocol: the lowest version is above the highest")
        return self


class Limits(Model):
    """What this daemon accepts; every number in force, not a default."""

    request_bytes: int = Field(description="Longest request line in bytes, without the newline.")
    response_bytes: int = Field(description="Longest response line in bytes.")
    nesting: int = Field(description="Deepest nesting of arrays and objects.")
    batch_items: int = Field(description="Most elements of a batch.")
    batch_response_bytes: int = Field(description="Most bytes of all replies to one batch.")
    connections: int = Field(description="Most connections at a time.")
    in_flight: int = Field(description="Most unanswered calls of one connection.")
    subscriptions: int = Field(description="Most subscriptions of one connection.")
    unfinished_line_s: float = Field(
        description="Seconds after which an unfinished line ends the connection."
    )
    unwritable_s: float = Field(
        description="Seconds after which a peer that does not read is dropped."
    )


class HelloResult(Model):
    server: str = Field(description="Name of the server program.")
    version: str = Field(description="Version of the server.")
    protocol: tuple[int, int] = Field(description="Lowest and highest protocol version it speaks.")
    protocol_used: int = Field(description="The version both sides use from now on.")
    schema_: str = Field(
        alias="schema",
        serialization_alias="schema",
        description="SHA-256 of the OpenRPC document; differs when the contract differs.",
    )
    pid: int = Field(description="Process id; for display only.")
    instance: str = Field(description="Unique id of this run of the daemon.")
    started_at: Timestamp = Field(description="When this run began.")
    data_dir: str = Field(description="Directory of the database and the jobs.")
    log_path: str = Field(description="The log file.")
    state: ServerState = Field(
        description="starting: only hello, ping and status are answered at once."
    )
    limits: Limits = Field(description="What this daemon accepts.")
    capabilities: list[str] = Field(description="Optional parts that are there.")


class PingResult(Model):
    pong: Literal[True] = Field(default=True, description="Always true.")
    time: Timestamp = Field(description="The daemon's clock.")


class LaneStatus(Model):
    name: str = Field(description="Name of the lane.")
    threads: int = Field(description="Worker threads.")
    queued: int = Field(description="Calls that wait.")
    running: int = Field(description="Calls that run.")


class InFlight(Model):
    method: str = Field(description="The method.")
    connection: int = Field(description="Number of the connection.")
    age_s: float = Field(description="Seconds since it came in.")


class MethodLatency(Model):
    method: str = Field(description="The method.")
    n: int = Field(description="Calls counted.")
    p50_ms: float = Field(description="Median time from receipt to reply.")
    p99_ms: float = Field(description="99th percentile.")


class StatusResult(Model):
    state: ServerState = Field(description="State of the daemon.")
    version: str = Field(description="Version of the server.")
    pid: int = Field(description="Process id; for display only.")
    instance: str = Field(description="Unique id of this run.")
    socket: str = Field(description="Path of the socket it is reached by.")
    data_dir: str = Field(description="Directory of the database and the jobs.")
    log_path: str = Field(description="The log file.")
    uptime_s: float = Field(description="Seconds since it started.")
    rss_mib: float = Field(description="Resident memory.")
    clients: int = Field(description="Open connections.")
    lanes: list[LaneStatus] = Field(description="One row per lane.")
    in_flight: list[InFlight] = Field(description="Calls that are not answered yet.")
    latencies: list[MethodLatency] = Field(description="Per method, of the last 1,000 calls.")
    jobs: dict[str, int] = Field(description="Number of jobs by state.")
    live_local_jobs: int = Field(description="Jobs that run on this machine now.")
    jobs_problem: str | None = Field(
        default=None, description="Why the jobs cannot be counted; their numbers then mean nothing."
    )
    waiting_for: list[str] = Field(description="What a drain would wait for.")
    log_problems: int = Field(description="Log lines that could not be written.")
    clusters: list[dict[str, Any]] = Field(
        default_factory=list, description="Health of the clusters."
    )
    engines: list[dict[str, Any]] = Field(default_factory=list, description="State of the engines.")


class ShutdownParams(Params):
    mode: Literal["drain", "now"] = Field(
        default="drain", description="drain: finish what is in flight; now: do not."
    )
    if_instance: str | None = Field(
        default=None, max_length=64, description="Stop only if this is the running instance."
    )


class ShutdownResult(Model):
    state: Literal["stopping"] = Field(default="stopping", description="Always ``stopping``.")
    remaining: int = Field(description="Calls still in flight.")


class CancelParams(Params):
    id: int | float | str = Field(description="Id of the call to cancel, on the same connection.")


class CancelResult(Model):
    outcome: Literal["cancelled", "finished", "unknown"] = Field(
        description="cancelled: it was in flight and was told to stop."
    )


class Problem(Model):
    what: str = Field(description="What is wrong.")
    hint: str = Field(description="What to do about it.")


class Check(Model):
    name: str = Field(description="What was looked at.")
    ok: bool = Field(description="Whether it is fine.")
    detail: str = Field(description="What was found.")
    hint: str | None = Field(default=None, description="What to do when it is not fine.")


class DoctorResult(Model):
    ok: bool = Field(description="Whether every check is fine.")
    checks: list[Check] = Field(description="The checks in the order they were made.")


class ConfigEntry(Model):
    key: str = Field(description="Dotted name of the setting.")
    value: Any = Field(description="The value in force.")
    origin: str = Field(description="default, config.toml, environment or flag.")


class ConfigResult(Model):
    path: str = Field(description="The configuration file that was looked for.")
    present: bool = Field(description="Whether it exists.")
    entries: list[ConfigEntry] = Field(description="Every setting of the daemon.")


class UsageRow(Model):
    what: str = Field(description="A job's name and id, or an environment.")
    path: str = Field(description="Directory.")
    bytes: int = Field(description="Bytes on disk.")


class UsageResult(Model):
    jobs_bytes: int = Field(description="All job directories together.")
    database_bytes: int = Field(description="The database with its journal.")
    free_bytes: int = Field(description="Free on the file system of the data directory.")
    largest: list[UsageRow] = Field(description="The largest job directories, at most 20.")
    core_hours: dict[str, float] = Field(
        description="Core-hours used, by cluster; ``local`` is this machine."
    )
