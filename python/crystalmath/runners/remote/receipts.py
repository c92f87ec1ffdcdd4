"""What jobs leave in their directories: ``.cm/start.N.json`` and ``.cm/end.N.json``. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crystalmath.domain.evidence import Observation
from crystalmath.services.ports_cluster import Listed
from crystalmath.services.ports_shell import Ran

_LINE = re.compile(r"^(\S+) (\d{1,12})(?:_(\d{1,9}))? (start|end)\.(\d{1,6})\.json (\{.*\})$")


def receipts_script(directories: Mapping[str, str], tag: str) -> str:
    """Return a script that prints the receipts of many jobs, one a line.

    Parameters
    ----------
    directories
        Our number of the job, or ``JOB_TASK``, → where it works.
    """
    # The pattern makes the shell list the directory, which refreshes the cache of NFS.
    lines = [
        'r() { for f in "$2"/.cm/start.*.json "$2"/.cm/end.*.json; do [ -f "$f" ] || continue',
        f'  printf \'%s %s %s \' {tag} "$1" "${{f##*/}}"; tr -d \'\\n\' < "$f"; echo; done; }}',
        *(f"r {job} {shlex.quote(path)}" for job, path in directories.items()),
        "true",
    ]
    return "\n".join(lines)


def read_receipts(ran: Ran, tag: str, at: float) -> dict[int, list[Observation]]:
    """Read them: our job id → observations; a receipt that is no receipt is left out."""
    found: dict[int, list[Observation]] = {}
    for line in ran.out_text().splitlines():
        match = _LINE.match(line)
        if match is None or match[1] != tag:
            continue
        try:
            document = json.loads(match[6])
        except ValueError:
            continue
        seen = _observation(match[4], int(match[5]), document, at)
        if seen is not None:
            seen = replace(seen, task=None if match[3] is None else int(match[3]))
            found.setdefault(int(match[2]), []).append(seen)
    return found


def _observation(
    kind: str, attempt: int, document: dict[str, Any], at: float
) -> Observation | None:
    start, end = _number(document.get("t_start")), _number(document.get("t_end"))
    if kind == "start":
        return Observation(
            "start",
            at,
            "running",
            start_at=start,
            attempt=attempt,
            details={"host": str(document.get("host", ""))[:255]},
        )
    rc, signal = document.get("rc"), document.get("signal")
    if not (rc is None or isinstance(rc, int)) or not (signal is None or isinstance(signal, int)):
        return None
    return Observation(
        "end",
        at,
        "ended",
        start_at=start,
        end_at=end,
        rc=rc,
        signal=signal,
        attempt=attempt,
        warned=document.get("warned") is True,
        reason="walltime" if document.get("cause") == "walltime" else None,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def listing_script(directory: str, depth: int | None) -> str:
    """Return a script that lists the files of a job, separated by NUL."""
    limit = "" if depth is None else f"-maxdepth {depth} "
    return (
        f"cd {shlex.quote(directory)} 2>/dev/null || {{ echo gone; exit 0; }}\n"
        f"echo here; find . {limit}-type f ! -name '*.part' -printf '%s %T@ %P\\0'"
    )


def read_listing(ran: Ran) -> list[Listed] | None:
    """Read it; None when the directory is not there.

    Raises
    ------
    ValueError
        The answer cannot be understood.
    """
    head, _, rest = ran.out_text().partition("\n")
    if ran.rc is None or not ran.complete or head not in ("gone", "here"):
        raise ValueError("the list of files did not come to its end")
    if head == "gone":
        return None
    found = []
    for record in rest.split("\0"):
        size, _, more = record.partition(" ")
        modified, _, path = more.partition(" ")
        if path and size.isdigit():
            found.append(Listed(path, int(size), float(modified)))
    return found
