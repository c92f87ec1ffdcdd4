"""sacct: what the accounting knows of given jobs, and its answer. Pure.

Asked only about jobs that squeue misses or that have ended. The rows of allocations decide; those
of steps give usage and warnings.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from crystalmath.runners.slurm.states import State, read_state
from crystalmath.runners.slurm.tasks import JobRef, parse_ref
from crystalmath.runners.slurm.values import (
    parse_count,
    parse_duration_s,
    parse_epoch_s,
    parse_exit,
    parse_size_kib,
    text_or_none,
)
from crystalmath.services.ports_cluster import IDS_PER_QUESTION
from crystalmath.services.ports_shell import Ran

SEPARATOR: Final = "\x1f"
_COLUMNS: Final = [
    "JobIDRaw",
    "JobID",
    "User",
    "State",
    "ExitCode",
    "Submit",
    "Start",
    "End",
    "ElapsedRaw",
    "Partition",
    "NodeList",
    "Reason",
    "WorkDir",
    "JobName",
]
_USAGE: Final = [
    "JobIDRaw",
    "JobID",
    "State",
    "ExitCode",
    "MaxRSS",
    "TotalCPU",
    "AveCPU",
    "NTasks",
    "AllocCPUS",
    "ReqMem",
    "ElapsedRaw",
]

_DISABLED = re.compile(r"accounting storage is disabled", re.IGNORECASE)
_TOO_WIDE = re.compile(r"too wide of a date range", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One allocation in the accounting; times in seconds since 1970."""

    ref: JobRef
    raw_id: int
    user: str
    state: State
    exit_code: int | None
    signal: int | None
    submit_at: float | None
    start_at: float | None
    end_at: float | None
    elapsed_s: float | None
    partition: str | None
    nodes: str | None
    reason: str | None
    workdir: str | None
    name: str


@dataclass(frozen=True, slots=True)
class History:
    """The accounting's answer.

    Attributes
    ----------
    available
        False: it could not be asked, so that it says nothing.
    disabled
        The cluster keeps no accounting; ask again in a day.
    too_wide
        The site allows a narrower window only.
    """

    available: bool
    rows: tuple[HistoryRow, ...] = ()
    rejects: tuple[str, ...] = ()
    disabled: bool = False
    too_wide: bool = False
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a job used, from the rows of its steps.

    Attributes
    ----------
    max_rss_kib
        The largest of any task of any step.
    cpu_s
        Of all steps together.
    elapsed_s
        Time that it had its cores.
    failed_steps
        Steps that did not end well, as ``12.1 FAILED 1:0``.
    """

    max_rss_kib: float | None
    cpu_s: float | None
    n_cpus: int | None
    elapsed_s: float | None = None
    failed_steps: tuple[str, ...] = ()


def history_commands(
    ids: Sequence[int], since: float | None, cluster: str | None = None
) -> list[str]:
    """Return the questions about the given jobs, at most 200 ids in each.

    Parameters
    ----------
    since
        Seconds since 1970; jobs that ended before are not looked for.
    """
    return [
        _sacct(ids[at : at + IDS_PER_QUESTION], _COLUMNS, since, cluster, allocations=True)
        for at in range(0, len(ids), IDS_PER_QUESTION)
    ]


def find_command(name: str, user: str, since: float, cluster: str | None = None) -> str:
    """Return the question for jobs by their name."""
    words = [*_start(cluster), "-X", "-D", "-u", user, f"--name={name}", "-S", _when(since)]
    return shlex.join([*words, f"--delimiter={SEPARATOR}", "-o", ",".join(_COLUMNS)])


def usage_command(ids: Sequence[int], since: float | None, cluster: str | None = None) -> str:
    """Return the question for the usage of jobs that have ended, steps included."""
    return _sacct(ids, _USAGE, since, cluster, allocations=False)


def _start(cluster: str | None) -> list[str]:
    return ["sacct", *(["-M", cluster] if cluster else []), "-n", "-P"]


def _when(since: float) -> str:
    # The shell's environment sets TZ=UTC, and -S is read in that zone.
    return datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _sacct(
    ids: Sequence[int],
    columns: Sequence[str],
    since: float | None,
    cluster: str | None,
    *,
    allocations: bool,
) -> str:
    words = _start(cluster)
    if allocations:
        words += ["-X", "-D"]
    words += [f"--delimiter={SEPARATOR}", "-j", ",".join(map(str, ids))]
    if since is not None:
        words += ["-S", _when(since)]
    return shlex.join([*words, "-o", ",".join(columns)])


def read_history(ran: Ran) -> History:
    """Read the answer; never raises."""
    out, err = ran.out_text(), ran.err_text()
    said = err if err.strip() else out
    if _DISABLED.search(out) or _DISABLED.search(err):
        return History(False, disabled=True, trouble="the cluster keeps no accounting")
    if _TOO_WIDE.search(said):
        return History(False, too_wide=True, trouble=_first_line(said))
    if ran.rc is None or not ran.complete:
        return History(False, trouble="the answer did not come to its end")
    if ran.rc != 0 or "Problem talking to the database" in err:
        return History(False, trouble=_first_line(said) or f"sacct ended with {ran.rc}")
    if out and not out.endswith("\n"):
        return History(False, trouble="the last row of the answer was cut")
    rows: list[HistoryRow] = []
    rejects: list[str] = []
    for record in _records(out, len(_COLUMNS)):
        row = _row(record)
        if row is None:
            rejects.append(SEPARATOR.join(record))
        elif row.ref.step is None:
            rows.append(row)
    return History(True, tuple(rows), tuple(rejects))


def read_usage(ran: Ran) -> dict[int, dict[int | None, Usage]] | None:
    """Read the usage of each job, task by task (None: it is no array); None: nobody can tell."""
    if ran.rc != 0 or not ran.complete or _DISABLED.search(ran.out_text() + ran.err_text()):
        return None
    found: dict[tuple[int, int | None], list[list[str]]] = {}
    for record in _records(ran.out_text(), len(_USAGE)):
        ref = parse_ref(record[1]) if len(record) == len(_USAGE) else None
        if ref is not None and ref.tasks is None:
            found.setdefault((ref.job, ref.task), []).append(record)
    by_job: dict[int, dict[int | None, Usage]] = {}
    for (job, task), records in found.items():
        by_job.setdefault(job, {})[task] = _sum(records)
    return by_job


def _sum(records: list[list[str]]) -> Usage:
    """Allocations count for time and cores, their steps for memory and for what went wrong."""
    rss = [size for r in records if (size := parse_size_kib(r[4])) is not None]
    whole = [r for r in records if "." not in r[1]]
    cpu = [time for r in whole if (time := parse_duration_s(r[5])) is not None]
    cpus = [n for r in whole if (n := parse_count(r[8])) is not None]
    elapsed = [float(r[10]) for r in whole if r[10].isascii() and r[10].isdigit()]
    failed = []
    for record in records:
        _, _, step = record[1].partition(".")
        state = read_state(record[2])
        if step and step not in ("batch", "extern") and state.name != "COMPLETED":
            failed.append(f"{record[1]} {state.raw} {record[3]}".strip())
    return Usage(
        max_rss_kib=max(rss, default=None),
        cpu_s=max(cpu, default=None),
        n_cpus=max(cpus, default=None),
        elapsed_s=max(elapsed, default=None),
        failed_steps=tuple(failed),
    )


def _records(out: str, n: int) -> list[list[str]]:
    """Split rows; a line with too few fields goes on with the name of the row before it."""
    records: list[list[str]] = []
    for line in out.removesuffix("\n").split("\n") if out else ():
        fields = line.split(SEPARATOR, n - 1)
        if len(fields) == n:
            records.append(fields)
        elif records:
            records[-1][-1] += "\n" + line
        else:
            records.append(fields)  # rejected by the reader of the row
    return records


def _row(fields: list[str]) -> HistoryRow | None:
    if len(fields) != len(_COLUMNS):
        return None
    raw_id, ident, user, state, exit_, submit, start, end, elapsed = fields[:9]
    partition, nodes, reason, workdir, name = fields[9:]
    ref, raw = parse_ref(ident), parse_ref(raw_id)
    if ref is None or raw is None:
        return None
    codes = parse_exit(exit_)
    elapsed_s = float(elapsed) if elapsed.isascii() and elapsed.isdigit() else None
    return HistoryRow(
        ref=ref,
        raw_id=raw.job,
        user=user,
        state=read_state(state),
        exit_code=None if codes is None else codes[0],
        signal=None if codes is None else codes[1],
        submit_at=parse_epoch_s(submit),
        start_at=parse_epoch_s(start),
        end_at=parse_epoch_s(end),
        elapsed_s=elapsed_s,
        partition=text_or_none(partition),
        nodes=None if nodes == "None assigned" else text_or_none(nodes),
        reason=text_or_none(reason),
        workdir=text_or_none(workdir),
        name=name,
    )


def _first_line(text: str) -> str | None:
    for line in text.splitlines():
        if line.strip():
            return line.strip()[:300]
    return None
