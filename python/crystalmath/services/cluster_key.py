"""The key by which a job is found on a cluster. Pure; used by services and runners."""

from __future__ import annotations


def job_key(uuid: str) -> str:
    """``cm-`` and 12 hexadecimal digits of the job's uuid."""
    return "cm-" + uuid.replace("-", "")[-12:]
