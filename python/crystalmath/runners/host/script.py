"""The script of a job on a host without a scheduler: it is its own supervisor. Pure."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crystalmath.errors import InvalidParams
from crystalmath.services.cluster_key import job_key
from crystalmath.services.ports_cluster import LAUNCHER_VARIABLE, ClusterRecord, Work

if TYPE_CHECKING:
    import jinja2

GRACE_S: Final = 10
WARN_LEAD_S: Final = 120.0
_FOR_SCHEDULERS: Final = (
    *("memory_per_cpu_mib", "partition", "account", "qos", "constraint"),
    *("gpus", "exclusive", "begin", "extra"),
)
_VARIABLE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$", re.ASCII)


def render_script(record: ClusterRecord, work: Work, directory: str) -> str:
    """Write the script.

    Raises
    ------
    InvalidParams
        Something was asked for that only a scheduler can give.
    """
    asked = work.resources
    for name in _FOR_SCHEDULERS:
        if asked.get(name):
            raise InvalidParams(
                f"`resources.{name}` is for schedulers, and {record.name} has none",
                field=f"resources.{name}",
                hint="leave it out",
            )
    if asked.get("nodes", 1) != 1:
        raise InvalidParams(f"{record.name} is one node", field="resources.nodes")
    walltime_s = asked.get("walltime_s")
    lead_s = 0.0 if walltime_s is None else min(WARN_LEAD_S, walltime_s / 4)
    environment = {"OMP_NUM_THREADS": str(asked.get("cpus_per_task", 1)), **work.env}
    words = _launch_words(record.launcher, int(asked.get("ntasks", 1)))
    if work.starts_processes:
        environment[LAUNCHER_VARIABLE], words = words, ""
    text: str = _template().render(
        key=job_key(work.uuid),
        title=re.sub(r"[^\x20-\x7e]+", "?", work.name),
        directory=shlex.quote(directory),
        environment=[
            (name, shlex.quote(value))
            for name, value in environment.items()
            if _VARIABLE.match(name)
        ],
        setup_commands=record.setup_commands,
        command=f"{words} {shlex.join(work.argv)}".lstrip(),
        warns_program=work.starts_processes,
        walltime_s=walltime_s,
        warn_after_s=f"{(walltime_s or 0.0) - lead_s:.1f}",
        rest_s=f"{lead_s:.1f}",
        grace_s=GRACE_S,
    )
    return text


def _launch_words(launcher: str, ntasks: int) -> str:
    """What starts several processes: mpirun where the record names srun; nothing for one."""
    if ntasks == 1:
        return ""
    if "{n}" in launcher:
        return launcher.replace("{n}", str(ntasks))
    return f"mpirun -n {ntasks}"


@cache
def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - a shell script; every value is quoted where it enters
    )
    return environment.get_template("job.sh.j2")
