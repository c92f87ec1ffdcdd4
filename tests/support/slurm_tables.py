"""Rows of real tables that SLURM's commands print, asked for again in the form that we ask for.

The captures show many formats; only ours is read by the product. What stands in a capture's columns
is written in our columns, and what a capture does not have is left as SLURM would leave it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from crystalmath.domain.evidence import Observation
from crystalmath.runners.slurm import history, observe, queue
from crystalmath.services.ports_shell import Ran
from support.slurm_cases import Capture

TAG = "Rcase"
Row = Mapping[str, str]

_SQUEUE = {
    "%i": "JOBID", "%T": "STATE", "%t": "ST", "%r": "REASON", "%R": "NODELIST(REASON)",
    "%N": "NODELIST", "%B": "EXEC_HOST", "%u": "USER", "%V": "SUBMIT_TIME", "%S": "START_TIME",
    "%M": "TIME", "%l": "TIME_LIMIT", "%D": "NODES", "%C": "CPUS", "%P": "PARTITION", "%Z":
    "WORK_DIR", "%j": "NAME", "%A": "BASE", "%k": "COMMENT",
}  # fmt: skip


def rows(capture: Capture) -> list[Row]:
    """The rows of a capture, by the names of their columns in capitals."""
    text = capture.ran.out.decode()
    words = shlex.split(capture.command.removeprefix("$ ").partition(" |")[0])
    lines = [line for line in text.splitlines() if line and not line.startswith("---")]
    if "=" in words[0]:
        words = words[1:]
    form = next((words[i + 1] for i, word in enumerate(words[:-1]) if word == "-o"), "")
    separator = _separator(words, form)
    quiet = {"-h", "-n", "--noheader"} & set(words)
    if quiet:
        names = _names(words[0], form)
    else:
        lines = [line for line in lines if not re.match(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) ", line)]
        names = _split(lines.pop(0), separator)
    return [
        dict(zip(map(str.upper, names), _split(line, separator), strict=False)) for line in lines
    ]


def _separator(words: Sequence[str], form: str) -> str | None:
    if words[0] == "squeue":
        found = re.search(r"%\w([^%\w]+)%", form)
        return found[1] if found else None
    return "|" if "-P" in words else None


def _names(program: str, form: str) -> list[str]:
    if program == "squeue":
        return [_SQUEUE[mark] for mark in re.findall(r"%\w", form)]
    return form.split(",")


def _split(line: str, separator: str | None) -> list[str]:
    return line.split(separator) if separator else line.split()


def accounted(capture: Capture) -> dict[int, list[Observation]]:
    """What the accounting said of each job in a capture, as the reducer is told."""
    lines = []
    for row in rows(capture):
        ident = row["JOBID"]
        raw = row.get("JOBIDRAW", re.sub(r"[_+](\[.*?\]|\d+)", "", ident))
        lines.append(
            history.SEPARATOR.join(
                [
                    *(raw, ident, row.get("USER", "cmtest"), row["STATE"]),
                    *(row.get("EXITCODE") or "0:0", _epoch(row.get("SUBMIT", "Unknown"))),
                    *(_epoch(row.get("START", "Unknown")), _epoch(row.get("END", "Unknown"))),
                    *("1", row.get("PARTITION", ""), row.get("NODELIST", "")),
                    *(row.get("REASON", ""), row.get("WORKDIR", ""), row.get("JOBNAME", "")),
                ]
            )
            + "\n"
        )
    past = history.read_history(Ran(capture.ran.rc, "".join(lines).encode(), capture.ran.err))
    assert past.available, past.trouble
    assert not past.rejects
    by_job: dict[int, list[history.HistoryRow]] = {}
    for row_ in past.rows:
        by_job.setdefault(row_.ref.job, []).append(row_)
    return {job: observe.of_history(found, 0.0) for job, found in by_job.items()}


def queued(capture: Capture) -> queue.Poll:
    """A capture of squeue as an answer to our question."""
    lines = []
    for row in rows(capture):
        where = row.get("NODELIST(REASON)", "")
        reason = row.get("REASON") or (where.strip("()") if where.startswith("(") else "None")
        lines.append(
            queue.SEPARATOR.join(
                [
                    *(TAG, row["JOBID"], row.get("STATE") or row["ST"], reason),
                    *("" if where.startswith("(") else where, row.get("USER", "cmtest")),
                    *(_epoch(row.get("SUBMIT_TIME", "N/A")), _epoch(row.get("START_TIME", "N/A"))),
                    *(row.get("TIME", "0:00"), row.get("TIME_LIMIT", "1:00")),
                    *(row.get("NODES", "1"), row.get("CPUS", "1"), row.get("PARTITION", "main")),
                    *("test", "normal", row.get("WORK_DIR", "/home/cmtest"), row.get("NAME", "x")),
                ]
            )
            + "\n"
        )
    return queue.read_queue(Ran(capture.ran.rc, "".join(lines).encode(), capture.ran.err), TAG)


def _epoch(text: str) -> str:
    try:
        return str(int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()))
    except ValueError:
        return text
