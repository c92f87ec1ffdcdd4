"""``clusters.test``: tries a cluster part by part; one part's failure leaves the others.

One script asks everything in one round trip; what it prints is read here. It changes nothing but
for a file that it writes, reads and removes.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crystalmath.contract.clusters import (
    ClusterReport,
    FoundCode,
    PartitionView,
    Problem,
    ScratchView,
)
from crystalmath.errors import SetupFailed, SshError
from crystalmath.runners.remote.host import expandable
from crystalmath.runners.slurm.survey import parts_of, scheduler_of, survey_script
from crystalmath.runners.slurm.values import parse_count, parse_duration_s
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.services.ports_shell import Ran, Shell, ShellFacts

_SEP: Final = "\x1f"
_PROGRAMS: Final[Mapping[str, str]] = {"espresso": "pw.x"}
_CLOCK_S: Final = 60.0
_LEAST_FREE_BYTES: Final = 1024**3


@dataclass(frozen=True, slots=True)
class Examination:
    """Implements ``services.clusters.Examiner``.

    Attributes
    ----------
    connection
        Tries the way to the host: its part of the report, and whether commands can be run.
    open_shell
        The shell of a record.
    """

    connection: Callable[..., tuple[ClusterReport, bool]]
    open_shell: Callable[..., Shell]

    def __call__(self, record: ClusterRecord, *, deadline_s: float) -> ClusterReport:
        """Try everything; what is wrong stands in the report."""
        until = time.monotonic() + deadline_s
        found, usable = self.connection(record, deadline_s=deadline_s * 0.6)
        if not usable:
            return found
        try:
            shell = self.open_shell(record, by_user=True)
            facts = shell.probe(deadline_s=_left_s(until))
            left_s = _left_s(until)
            ran, wrong = _look(shell, record, left_s)
        except SshError as error:
            problem = Problem(what=error.message, hint=error.hint)
            return found.model_copy(update={"problems": [*found.problems, problem]})
        parts = parts_of(ran.out_text())
        problems = [] if ran.complete and ran.rc is not None else [_cut(left_s)]
        if wrong is None:
            problems += _noticed(record, facts, parts)
        else:
            problems += [Problem(what=wrong.message, hint=wrong.hint), *_of_scratch(record, parts)]
        is_asked = wrong is None and record.kind == "slurm"
        return found.model_copy(
            update={
                "shell": facts.shell,
                "user": facts.user,
                "noise": list(dict.fromkeys([*found.noise, *facts.noise])),
                "scheduler": scheduler_of(parts) if is_asked else None,
                "partitions": _partitions(parts.get("partitions", [])),
                "scratch": _scratch(parts),
                "codes": _codes(record, parts) if wrong is None else [],
                "clock_offset_s": round(facts.clock_offset_s, 3),
                "latency_ms": round(facts.latency_ms, 3),
                "problems": [*found.problems, *problems],
            }
        )


def _look(shell: Shell, record: ClusterRecord, deadline_s: float) -> tuple[Ran, SetupFailed | None]:
    """Ask everything; where a setup line ends the shell, what can be seen without those lines."""
    until = time.monotonic() + deadline_s
    try:
        return shell.run(_script(record), deadline_s=deadline_s), None
    except SetupFailed as error:
        return shell.run(_scratch_script(record), deadline_s=_left_s(until), setup=False), error


def _left_s(until: float) -> float:
    return max(1.0, until - time.monotonic())


def _script(record: ClusterRecord) -> str:
    cluster = "" if record.slurm_cluster is None else f"-M {shlex.quote(record.slurm_cluster)} "
    form = _SEP.join(["%P", "%a", "%l", "%D", "%c", "%m"])
    programs = "\n".join(
        f"printf '%s{_SEP}%s\\n' {shlex.quote(code)} \"$(command -v {shlex.quote(path)})\""
        for code, path in {**_PROGRAMS, **record.codes}.items()
    )
    return f"""export LC_ALL=C.UTF-8
{survey_script(record.slurm_cluster)}echo '==partitions'; sinfo {cluster}-h -o '{form}' 2>/dev/null
{_scratch_script(record)}
echo '==codes'
{programs}
true"""


def _scratch_script(record: ClusterRecord) -> str:
    return f"""echo '==scratch'
d={expandable(record.remote_workdir)}
printf '%s\\n' "$d"
e=$d; while [ ! -d "$e" ] && [ "$e" != / ]; do e=$(dirname "$e"); done
f="$e/.cm-test.$$"
if (echo x > "$f") 2>/dev/null && [ "$(cat "$f")" = x ] && rm -f "$f"; then w=yes; else w=no; fi
echo $w
df -Pk "$e" 2>/dev/null | awk 'NR==2 {{print $4}}'"""


def _partitions(lines: Sequence[str]) -> list[PartitionView]:
    """One row for each partition; sinfo has one for each kind of node in it."""
    found: dict[str, PartitionView] = {}
    for line in lines:
        fields = line.split(_SEP)
        if len(fields) != 6:
            continue
        name, available, limit, nodes, cpus, memory = fields
        before = found.get(name.rstrip("*"))
        n = (parse_count(nodes) or 0) + (before.nodes if before else 0)
        memory_mib = re.match(r"\d+", memory)
        found[name.rstrip("*")] = PartitionView(
            name=name.rstrip("*"),
            default=name.endswith("*"),
            available=available == "up",
            max_walltime_s=parse_duration_s(limit),
            nodes=n,
            cpus_per_node=_larger(
                parse_count(cpus.rstrip("+")), before.cpus_per_node if before else None
            ),
            memory_mib_per_node=_larger(
                None if memory_mib is None else int(memory_mib[0]),
                before.memory_mib_per_node if before else None,
            ),
        )
    return list(found.values())


def _larger(one: int | None, other: int | None) -> int | None:
    """Of the kinds of nodes in a partition the larger one counts."""
    return max((n for n in (one, other) if n is not None), default=None)


def _scratch(parts: Mapping[str, Sequence[str]]) -> ScratchView:
    lines = [*parts.get("scratch", ()), "", "", ""]
    free = int(lines[2]) * 1024 if lines[2].isdigit() else None
    return ScratchView(path=lines[0] or None, writable=lines[1] == "yes", free_bytes=free)


def _codes(record: ClusterRecord, parts: Mapping[str, Sequence[str]]) -> list[FoundCode]:
    found = []
    for line in parts.get("codes", ()):
        name, _, path = line.partition(_SEP)
        if path or name in record.codes:
            found.append(FoundCode(name=name, path=path or None))
    return found


def _noticed(
    record: ClusterRecord, facts: ShellFacts, parts: Mapping[str, Sequence[str]]
) -> list[Problem]:
    problems = []
    scheduler = scheduler_of(parts)
    is_slurm = record.kind == "slurm"
    if is_slurm and scheduler.name is None:
        hint = "is it the login node? does `setup_commands` need a `module load slurm`?"
        problems.append(Problem(what="SLURM's commands are not there", hint=hint))
    elif is_slurm and not scheduler.accounting:
        hint = "ends are then known from squeue and from what jobs leave; nothing is lost"
        problems.append(Problem(what="the accounting (sacct) does not answer", hint=hint))
    problems += _of_scratch(record, parts)
    names = {one.name for one in _partitions(parts.get("partitions", []))}
    if record.queue_name and names and record.queue_name not in names:
        hint = f"there are: {', '.join(sorted(names))}"
        problems.append(Problem(what=f"there is no partition {record.queue_name}", hint=hint))
    for code in _codes(record, parts):
        if code.path is None:
            what = f"the program of {code.name} is not there: {record.codes[code.name]}"
            problems.append(Problem(what=what, hint="correct `codes` of the cluster"))
    if abs(facts.clock_offset_s) > _CLOCK_S:
        what = f"its clock differs from this machine's by {facts.clock_offset_s:.0f} s"
        problems.append(Problem(what=what, hint="times are converted; still, tell the site"))
    return problems


def _of_scratch(record: ClusterRecord, parts: Mapping[str, Sequence[str]]) -> list[Problem]:
    scratch = _scratch(parts)
    if not scratch.writable:
        what = f"nothing can be written in {scratch.path or record.remote_workdir}"
        return [Problem(what=what, hint="give another `remote_workdir`")]
    if scratch.free_bytes is not None and scratch.free_bytes < _LEAST_FREE_BYTES:
        return [Problem(what=f"less than 1 GiB is free in {scratch.path}")]
    return []


def _cut(left_s: float) -> Problem:
    return Problem(what=f"its commands did not end within {left_s:.0f} s", hint="try again")
