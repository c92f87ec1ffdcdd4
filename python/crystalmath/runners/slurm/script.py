"""The job script: from resources and a command line to a text that its owner can read. Pure."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crystalmath.domain.resources import check_begin
from crystalmath.domain.task_list import parse_array
from crystalmath.errors import InvalidParams
from crystalmath.services.cluster_key import job_key
from crystalmath.services.ports_cluster import LAUNCHER_VARIABLE, ClusterRecord
from crystalmath.services.ports_tasks import FOLDER

if TYPE_CHECKING:
    import jinja2

WARN_LEAD_S: Final = 120
_TEMPLATE: Final = "job.sh.j2"
_WORD = re.compile(r"^[\w.,&|+-]{1,200}$", re.ASCII)
_GPUS = re.compile(r"^(?:[A-Za-z0-9_.-]{1,40}:)?[1-9]\d{0,3}$", re.ASCII)
_WORDS: Final = (
    ("partition", "--partition=", _WORD),
    ("account", "--account=", _WORD),
    ("qos", "--qos=", _WORD),
    ("constraint", "--constraint=", _WORD),
    ("gpus", "--gres=gpu:", _GPUS),
)
_OURS: Final = (
    "--job-name", "--output", "--error", "--chdir", "--array", "--parsable", "--wrap",
    "--signal", "--requeue", "--no-requeue", "--open-mode",
)  # fmt: skip
"""Options that ``extra`` may not set: the tracking of the job rests on them."""
_ASKED: Final = (
    "nodes",
    "ntasks",
    "ntasks_per_node",
    "array",
    "cpus_per_task",
    "memory_mib",
    "memory_per_cpu_mib",
    "walltime_s",
    "partition",
    "account",
    "qos",
    "constraint",
    "gpus",
    "exclusive",
    "begin",
    "extra",
)
"""Fields of the resources that the scheduler is told."""
_VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Request:
    """What the script asks SLURM for.

    Attributes
    ----------
    memory_mib, memory_per_cpu_mib
        Per node, or per core; not both.
    gpus
        ``2`` or ``a100:2``, per node.
    extra
        Further options as ``--name=value``, one each.
    """

    nodes: int = 1
    ntasks: int = 1
    ntasks_per_node: int | None = None
    cpus_per_task: int = 1
    memory_mib: int | None = None
    memory_per_cpu_mib: int | None = None
    walltime_s: float | None = None
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    gpus: str | None = None
    array: str | None = None
    exclusive: bool = False
    begin: str | None = None
    after_ids: tuple[int, ...] = ()
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Work:
    """What the script runs.

    Attributes
    ----------
    argv
        The code's program, without the launcher.
    launcher
        ``srun``, ``mpirun``, or a text with ``{n}`` for the number of processes.
    setup_commands
        Lines before the program, as the cluster's record has them.
    stop_files
        Files that ask the program to end in order, with their text; written before the walltime.
    starts_processes
        The program starts its processes itself, by ``CRYSTALMATH_LAUNCHER``, and is warned.
    """

    uuid: str
    title: str
    directory: str
    argv: tuple[str, ...]
    launcher: str = "srun"
    env: Mapping[str, str] = field(default_factory=dict)
    setup_commands: tuple[str, ...] = ()
    stop_files: tuple[tuple[str, str], ...] = ()
    starts_processes: bool = False


def render_script(request: Request, work: Work) -> str:
    """Write the job script.

    Raises
    ------
    InvalidParams
        A value that may not stand in an option; the field is named.
    """
    environment = {"OMP_NUM_THREADS": str(request.cpus_per_task), **work.env}
    if work.starts_processes:
        environment[LAUNCHER_VARIABLE] = launch_words(work.launcher, request)
    text: str = _template().render(
        key=job_key(work.uuid),
        title=re.sub(r"[^\x20-\x7e]+", "?", work.title),
        directory=shlex.quote(work.directory),
        options=options(request, work.directory),
        array=request.array is not None,
        folder=FOLDER,
        stop_files=[(shlex.quote(name), shlex.quote(text)) for name, text in work.stop_files],
        environment=[
            (name, shlex.quote(value))
            for name, value in environment.items()
            if _VARIABLE.match(name)
        ],
        setup_commands=work.setup_commands,
        command=command_line(work, request),
        warns_program=work.starts_processes,
    )
    return text


def request_of(record: ClusterRecord | None, resources: Mapping[str, Any]) -> Request:
    """What resources ask for, with the defaults of a cluster beneath."""
    asked = {name: resources.get(name) for name in _ASKED}
    given = {name: value for name, value in asked.items() if value is not None}
    if record is not None:
        defaults = {"partition": record.queue_name, "account": record.account, "qos": record.qos}
        given = {name: value for name, value in defaults.items() if value is not None} | given
    given["extra"] = tuple(given.get("extra") or ())
    return Request(**given)


def options(request: Request, directory: str) -> list[str]:
    """Return the ``#SBATCH`` options, without the prefix."""
    own = "" if request.array is None else f"/{FOLDER}/%a"
    tracked = [f"--output={directory}{own}/scheduler.log", "--open-mode=append"]
    return [*tracked, *_warning(request), *plain_options(request)]


def plain_options(request: Request) -> list[str]:
    """Return what is asked for alone, for a script that nothing follows."""
    if request.memory_mib is not None and request.memory_per_cpu_mib is not None:
        raise InvalidParams(
            "give memory per node or per core, not both", field="resources.memory_per_cpu_mib"
        )
    found = [
        f"--nodes={request.nodes}",
        f"--ntasks={request.ntasks}",
        f"--cpus-per-task={request.cpus_per_task}",
    ]
    if request.ntasks_per_node is not None:
        found.append(f"--ntasks-per-node={request.ntasks_per_node}")
    found += _memory(request) + _time(request) + _checked_by(request)
    for name, option, pattern in _WORDS:
        value = getattr(request, name)
        if value is not None:
            found.append(option + _checked(value, pattern, name))
    if request.exclusive:
        found.append("--exclusive")
    if request.after_ids:
        found.append("--dependency=afterok:" + ":".join(map(str, request.after_ids)))
    return found + [_extra(line, i) for i, line in enumerate(request.extra)]


def _memory(request: Request) -> list[str]:
    found = []
    if request.memory_mib is not None:
        found.append(f"--mem={request.memory_mib}M")
    if request.memory_per_cpu_mib is not None:
        found.append(f"--mem-per-cpu={request.memory_per_cpu_mib}M")
    return found


def _time(request: Request) -> list[str]:
    if request.walltime_s is None:
        return []
    return [f"--time={render_walltime(request.walltime_s)}"]


def _warning(request: Request) -> list[str]:
    """The signal before the walltime, for the script that waits for it."""
    if request.walltime_s is None:
        return []
    lead_s = int(min(WARN_LEAD_S, request.walltime_s / 4))
    return [f"--signal=B:USR1@{lead_s}"] if lead_s >= 1 else []


def _checked_by(request: Request) -> list[str]:
    """Options whose text the contract's own rule checks: the same rule, since this is a shell's."""
    found = []
    rules = (("array", parse_array), ("begin", check_begin))
    for name, rule in rules:
        value = getattr(request, name)
        if value is None:
            continue
        try:
            rule(value)
        except ValueError as error:
            raise InvalidParams(str(error), field=f"resources.{name}") from error
        found.append(f"--{name}={value}")
    return found


def _checked(value: str, pattern: re.Pattern[str], name: str) -> str:
    if not pattern.match(value):
        raise InvalidParams(f"{value[:60]!r} is no {name} of SLURM", field=f"resources.{name}")
    return value


def _extra(line: str, index: int) -> str:
    field_name = f"resources.extra.{index}"
    if not line.startswith("--") or re.search(r"[\x00-\x1f\x7f]", line):
        raise InvalidParams("an extra option is one line that starts with --", field=field_name)
    name = re.split(r"[=\s]", line, maxsplit=1)[0]
    if any((ours.startswith(name) and len(name) > 2) or name.startswith(ours) for ours in _OURS):
        raise InvalidParams(
            f"{name} is set by CrystalMath, which follows the job by it", field=field_name
        )
    return line


def render_walltime(walltime_s: float) -> str:
    """``D-HH:MM:SS``, rounded up to a minute, which is what SLURM counts in."""
    minutes = max(1, math.ceil(walltime_s / 60))
    days, minutes = divmod(minutes, 24 * 60)
    return f"{days}-{minutes // 60:02d}:{minutes % 60:02d}:00"


def command_line(work: Work, request: Request) -> str:
    """The program as the shell is given it, under the launcher when there are several processes."""
    words = "" if work.starts_processes else launch_words(work.launcher, request)
    return f"{words} {shlex.join(work.argv)}".lstrip()


def launch_words(launcher: str, request: Request) -> str:
    """What stands before a program of several processes; nothing for one."""
    if request.ntasks == 1 and request.nodes == 1:
        return ""
    if launcher == "srun":
        # -n is repeated, since some sites set SLURM_NTASKS aside
        return f"srun --ntasks={request.ntasks} --cpus-per-task={request.cpus_per_task}"
    if launcher == "mpirun":
        return f"mpirun -n {request.ntasks}"
    return launcher.replace("{n}", str(request.ntasks))


@cache
def _template() -> jinja2.Template:
    import jinja2

    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(
        loader=loader,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - a shell script; every value is quoted where it enters
    )
    return environment.get_template(_TEMPLATE)
