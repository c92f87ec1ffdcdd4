"""The key by which a job is found on a cluster. Pure; used by services and runners."""

from __future__ import annotations

import re

_KEY = re.compile(r"^cm-[0-9a-f]{12}")


def job_key(uuid: str) -> str:
    """``cm-`` and 12 hexadecimal digits of the job's uuid."""
    return "cm-" + uuid.replace("-", "")[-12:]


def job_name(uuid: str, name: str) -> str:
    """Return the job's name on the cluster: the key to find it by, then its cleaned name, ASCII.

    sacct keeps no text outside ASCII, and comments are not stored by default.
    """
    clean = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._-")[:40]
    return f"{job_key(uuid)}.{clean}" if clean else job_key(uuid)


def key_of(name: str) -> str | None:
    """Return the key at the beginning of a job's name, or None for a job that is not ours."""
    match = _KEY.match(name)
    return None if match is None else match[0]
