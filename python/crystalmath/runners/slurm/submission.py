"""Handing a job to SLURM: the command, and what it says. Pure.

How it happens exactly once is in ``runners.remote.claim``.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from crystalmath.runners.remote.claim import claim_script, read_answer
from crystalmath.services.ports_cluster import Accepted, Outcome, Rejected, Unknown, Wait
from crystalmath.services.ports_shell import Ran


def submit_script(
    directory: str, name: str, script: str = "job.sh", cluster: str | None = None, claim: int = 1
) -> str:
    """Return the remote step: see ``remote.claim``.

    None of the variables that the queries are asked with are set: sbatch exports its environment to
    the job.
    """
    words = ["sbatch", *(["-M", cluster] if cluster else []), "--parsable"]
    return claim_script(directory, shlex.join([*words, f"--job-name={name}", script]), claim)


_REFUSED: Final = (
    (r"invalid partition|invalid account|invalid qos|InvalidQOS|InvalidAccount", None),
    (
        r"node configuration is not available|Memory specification can not be satisfied",
        "ask for less memory, fewer cores or another partition",
    ),
    (
        (
            r"QOSMaxWall|PartitionTimeLimit|time limit (?:specified )?(?:is invalid|exceeds)|"
            r"MaxWallDurationPerJob"
        ),
        "the walltime asked for is more than the limit: ask for less, or another QOS or partition",
    ),
    (r"Unable to open file|does not look like a batch script", None),
    (r"Invalid --|unrecognized option|invalid option|invalid argument", None),
)
_LIMIT = re.compile(
    r"AssocMaxSubmitJobLimit|QOSMaxSubmitJob|AssocGrpSubmitJobs|QOSGrpSubmitJobs"
    r"|MaxSubmitJobs|Job violates accounting/QOS policy .*(?:submit|job count) limit"
    r"|submit limit",
    re.IGNORECASE,
)
_NO_CONTROLLER = re.compile(r"Unable to contact slurm controller", re.IGNORECASE)
_IN_DOUBT = re.compile(
    r"Socket timed out|Zero Bytes were transmitted|Unexpected message received"
    r"|Transport endpoint|Connection (?:reset|timed out)",
    re.IGNORECASE,
)
_PARSABLE = re.compile(r"^([0-9]{1,12})(?:;([A-Za-z0-9._-]{1,64}))?$", re.ASCII)
_SENTENCE = re.compile(
    r"Submitted batch job ([0-9]{1,12})(?: on cluster ([A-Za-z0-9._-]{1,64}))?", re.ASCII
)


def read_step(ran: Ran) -> Outcome:
    """Read the answer of :func:`submit_script` or of ``receipt_script``; never raises."""
    found = read_answer(ran)
    return found if isinstance(found, Unknown) else read_sbatch(*found)


def read_sbatch(rc: int | None, out: str, err: str) -> Outcome:
    """Read what sbatch printed; never raises.

    Parameters
    ----------
    rc
        Its exit code; None when it is not known.
    """
    if rc == 0:
        return _accepted(out, err)
    text = f"{err}\n{out}"
    said = _last(err) or _last(out)
    if _NO_CONTROLLER.search(text):
        return Wait(said or "the scheduler's controller does not answer", limit=False)
    if rc is None or _IN_DOUBT.search(text):
        return Unknown(said or "sbatch's end is not known")
    refused = [h for pattern, h in _REFUSED if re.search(pattern, text, re.IGNORECASE)]
    # A named reason first: the sentence about "accounting/QOS policy" lists every kind of limit.
    if not refused and _LIMIT.search(text):
        return Wait(said, limit=True)
    hint = refused[0] if refused else None
    return Rejected(_explanation(text) or f"sbatch ended with {rc}", hint)


def _accepted(out: str, err: str) -> Outcome:
    warnings = tuple(line.strip()[:300] for line in err.splitlines() if line.strip())
    lines = [line.strip() for line in out.splitlines() if line.strip()]
    for line in reversed(lines):
        match = _PARSABLE.match(line)
        if match is not None:
            return Accepted(int(match[1]), match[2], warnings)
    found = list(_SENTENCE.finditer(out))
    if found:
        return Accepted(int(found[-1][1]), found[-1][2], warnings)
    return Unknown("sbatch ended well, but gave no job id")


def _explanation(text: str) -> str:
    """All that sbatch said, without its prefixes."""
    lines = (re.sub(r"^sbatch: (?:error: )?", "", line.strip()) for line in text.splitlines())
    return "; ".join(dict.fromkeys(line for line in lines if line))[:500]


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"^sbatch: (?:error: )?", "", lines[-1])[:300] if lines else ""
