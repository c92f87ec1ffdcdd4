"""What a site's SLURM is like: version, limits, accounting. Pure.

Asked by ``clusters.test`` with everything else, and once a day by the cluster's lane.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from crystalmath.contract.clusters import SchedulerView

_SETTING = re.compile(r"^(\w+)\s*=\s*(.*?)\s*$", re.ASCII)


def survey_script(slurm_cluster: str | None) -> str:
    """Return the questions; each answer stands below a line ``==NAME``."""
    option = "" if slurm_cluster is None else f"-M {shlex.quote(slurm_cluster)} "
    return f"""echo '==version'; sinfo --version 2>&1
echo '==config'; scontrol {option}show config 2>/dev/null | grep -E \
  '^(MaxArraySize|MinJobAge|ClusterName) '
echo '==accounting'; sacct {option}-n -X -S now -o JobID 2>&1 >/dev/null; echo "rc $?"
"""


def parts_of(out: str) -> dict[str, list[str]]:
    """The lines below each name."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in out.splitlines():
        if line.startswith("=="):
            name = line[2:]
            found[name] = []
        elif name:
            found[name].append(line)
    return found


def scheduler_of(parts: Mapping[str, Sequence[str]]) -> SchedulerView:
    """Understand the answers; what is not told is null."""
    said = " ".join(parts.get("version", ()))
    match = re.search(r"slurm\S*\s+(\d+\.\d+\S*)", said)
    if match is None:
        return SchedulerView(accounting=False)
    settings = {m[1]: m[2] for line in parts.get("config", ()) if (m := _SETTING.match(line))}
    return SchedulerView(
        name="slurm",
        version=match[1],
        accounting=bool(parts.get("accounting")) and parts["accounting"][-1] == "rc 0",
        cluster=settings.get("ClusterName") or None,
        max_array_size=_number(settings.get("MaxArraySize")),
        min_job_age_s=_number(settings.get("MinJobAge")),
    )


def _number(text: str | None) -> int | None:
    match = re.match(r"\d{1,9}", text or "")
    return None if match is None else int(match[0])
