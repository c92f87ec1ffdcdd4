"""scancel and scontrol: cancelling, releasing, and the details of one job. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from crystalmath.runners.slurm.values import text_or_none
from crystalmath.services.ports_cluster import IDS_PER_CANCEL, CancelOutcome
from crystalmath.services.ports_shell import Ran

_KEY = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z0-9_/:.]{0,40})=")


@dataclass(frozen=True, slots=True)
class Detail:
    """``scontrol show job``.

    Attributes
    ----------
    jobs
        One mapping for each task or part; values that say "nothing" are None.
    known
        False when SLURM does not know the id (any more).
    """

    known: bool
    jobs: tuple[dict[str, str | None], ...] = ()
    trouble: str | None = None


def cancel_commands(ids: Sequence[str], cluster: str | None = None) -> list[str]:
    """Return the scancel calls for the given ids (also ``8100_3``, ``9000``)."""
    start = ["scancel", *(["-M", cluster] if cluster else []), "-v"]
    return [
        shlex.join([*start, *ids[at : at + IDS_PER_CANCEL]])
        for at in range(0, len(ids), IDS_PER_CANCEL)
    ]


def read_cancel(ran: Ran, ids: Sequence[str]) -> dict[str, CancelOutcome]:
    """Read what scancel said about each id; never raises."""
    text = ran.err_text() + ran.out_text()
    if ran.rc is None or not ran.complete or "Unable to contact" in text:
        return dict.fromkeys(ids, "not_done")
    found: dict[str, CancelOutcome] = {}
    for ident in ids:
        said = [line for line in text.splitlines() if re.search(rf"\b{re.escape(ident)}\b", line)]
        if any("already completing or completed" in line for line in said):
            found[ident] = "already_ending"
        elif any("timed out" in line.lower() for line in said):
            found[ident] = "not_done"
        else:
            found[ident] = "asked"
    return found


def detail_command(ident: str, cluster: str | None = None) -> str:
    """Return the question for one job."""
    start = ["scontrol", *(["-M", cluster] if cluster else [])]
    return shlex.join([*start, "-o", "show", "job", ident])


def release_command(ids: Sequence[str], cluster: str | None = None) -> str:
    """Return the command that releases held jobs."""
    return shlex.join(["scontrol", *(["-M", cluster] if cluster else []), "release", *ids])


def read_detail(ran: Ran) -> Detail:
    """Read the details, in one line (``-o``) or in many; never raises."""
    text = ran.out_text()
    said = ran.err_text() + text
    if "Invalid job id" in said:
        return Detail(known=False)
    if ran.rc != 0 or not ran.complete:
        first = next((line.strip() for line in said.splitlines() if line.strip()), None)
        return Detail(known=True, trouble=first or "scontrol gave no answer")
    blocks = re.split(r"(?:^|\n)(?=JobId=)", text)
    jobs = tuple(_fields(block) for block in blocks if block.lstrip().startswith("JobId="))
    return Detail(known=bool(jobs), jobs=jobs)


def _fields(block: str) -> dict[str, str | None]:
    """Split ``Key=value`` pairs; values may hold blanks and equals signs.

    A name or a comment may hold something that looks like a key: only the first of each key counts,
    but for those that can only follow it.
    """
    found: dict[str, str | None] = {}
    joined = " ".join(line.strip() for line in block.splitlines() if line.strip())
    marks = list(_KEY.finditer(joined))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        value = joined[mark.end() : following.start() if following else None].strip()
        key = mark[1]
        if value.startswith(key + "="):  # `StdIn=StdIn=/dev/null` of some versions
            value = value.removeprefix(key + "=")
        if key == value.rstrip("=") and following is not None and following[1] == key:
            continue
        if key not in found or found[key] is None:
            found[key] = text_or_none(value)
    return found
