"""What a job asks of a machine: the `resources` of `jobs.submit`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from crystalmath.contract.rpc import Params
from crystalmath.domain.resources import check_begin, parse_memory_mib, parse_walltime_s
from crystalmath.domain.task_list import parse_array


def _check_scheduler_word(value: str) -> str:
    """Refuse what could not stand in an option of a scheduler."""
    if not re.fullmatch(r"[A-Za-z0-9_.,&|+-]+", value):
        raise ValueError("letters, digits and _ . , & | + - are what schedulers take here")
    return value


def _check_gpus(value: str) -> str:
    if not re.fullmatch(r"(?:[A-Za-z0-9_.-]{1,40}:)?[1-9][0-9]{0,3}", value):
        raise ValueError("a number of GPUs per node is needed, like 2 or a100:2")
    return value


def _check_array(value: str) -> str:
    parse_array(value)
    return value


def _check_extra(value: str) -> str:
    if not value.startswith("--") or re.search(r"[\x00-\x1f\x7f]", value):
        raise ValueError("one option of sbatch is needed that starts with --")
    return value


Walltime = Annotated[float, Field(gt=0, le=10**8), BeforeValidator(parse_walltime_s)]
SchedulerWord = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200),
    AfterValidator(_check_scheduler_word),
]
Gpus = Annotated[
    str,
    StringConstraints(min_length=1, max_length=50),
    AfterValidator(_check_gpus),
    Field(examples=["a100:2"]),
]
Begin = Annotated[
    str,
    StringConstraints(min_length=1, max_length=40),
    AfterValidator(check_begin),
    Field(examples=["now+1hour"]),
]
Tasks = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2000),
    AfterValidator(_check_array),
    Field(examples=["1-20%4"]),
]
ExtraOption = Annotated[
    str,
    StringConstraints(min_length=3, max_length=500),
    AfterValidator(_check_extra),
    Field(examples=["--reservation=school"]),
]
Memory = Annotated[int, Field(ge=1, le=10**9), BeforeValidator(parse_memory_mib)]


class Resources(Params):
    """What the job needs of the machine."""

    nodes: int = Field(default=1, ge=1, le=100000, description="Nodes.")
    ntasks: int = Field(default=1, ge=1, le=10**6, description="Processes (MPI ranks).")
    cpus_per_task: int = Field(default=1, ge=1, le=4096, description="Threads per process.")
    memory_mib: Memory | None = Field(
        default=None, description="Memory per node in MiB; `4G` is accepted."
    )
    walltime_s: Walltime | None = Field(
        default=None,
        description="Time limit in seconds; the scheduler's forms `30:00`, `1-12` are accepted.",
    )
    memory_per_cpu_mib: Memory | None = Field(
        default=None, description="Memory per core in MiB, instead of `memory_mib`; for schedulers."
    )
    partition: SchedulerWord | None = Field(
        default=None, description="Partition; the cluster's `queue_name` if absent."
    )
    account: SchedulerWord | None = Field(
        default=None, description="Account; the cluster's if absent."
    )
    qos: SchedulerWord | None = Field(default=None, description="QOS; the cluster's if absent.")
    constraint: SchedulerWord | None = Field(
        default=None, description="Features that the nodes must have."
    )
    gpus: Gpus | None = Field(default=None, description="GPUs per node: `2` or `a100:2`.")
    ntasks_per_node: int | None = Field(
        default=None,
        ge=1,
        le=10**6,
        description="Most processes on each node; without `ntasks` there are so many on each.",
    )
    array: Tasks | None = Field(
        default=None,
        description="Tasks of a job array: `1-20`, `1-20%4` (four at once), `0-20:5`, `1,3,7`; "
        "each runs in a folder of its own and finds its number in `SLURM_ARRAY_TASK_ID`.",
    )
    exclusive: bool = Field(default=False, description="Whole nodes.")
    begin: Begin | None = Field(
        default=None, description="Not before this time, as sbatch takes it: `now+1hour`."
    )
    extra: list[ExtraOption] = Field(
        default_factory=list,
        max_length=50,
        description="Further options of sbatch, each one line that starts with `--`.",
    )

    @model_validator(mode="after")
    def _one_memory(self) -> Resources:
        if self.memory_mib is not None and self.memory_per_cpu_mib is not None:
            raise ValueError("give memory_mib or memory_per_cpu_mib, not both")
        return self

    @model_validator(mode="before")
    @classmethod
    def _count_processes(cls, given: Any) -> Any:
        """Without `ntasks` every node has its full number of processes."""
        if not isinstance(given, dict) or "ntasks" in given:
            return given
        each, nodes = given.get("ntasks_per_node"), given.get("nodes", 1)
        counts = all(type(n) is int and 1 <= n <= 10**6 for n in (each, nodes))
        return {**given, "ntasks": each * nodes} if counts else given

    @model_validator(mode="after")
    def _fit_on_nodes(self) -> Resources:
        room = None if self.ntasks_per_node is None else self.nodes * self.ntasks_per_node
        if room is not None and self.ntasks > room:
            nodes = "1 node takes" if self.nodes == 1 else f"{self.nodes} nodes take"
            raise ValueError(
                f"{self.ntasks} processes do not fit: {nodes} {room} with "
                f"ntasks_per_node {self.ntasks_per_node}"
            )
        return self
