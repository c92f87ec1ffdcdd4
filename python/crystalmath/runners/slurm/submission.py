"""Handing a job to SLURM exactly once: the remote step, and what its receipts say. Pure.

The step runs detached on the login node, so that it survives the loss of the connection and of the
daemon: claim the directory, run sbatch, and leave `.cm/sbatch.out`, `.cm/sbatch.err` and last, by
rename, `.cm/sbatch.rc`. Run again in the same directory it submits nothing: it answers with what is
there.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from crystalmath.services.cluster_key import job_key
from crystalmath.services.ports_cluster import Accepted, Outcome, Rejected, Unknown, Wait
from crystalmath.services.ports_shell import Ran

CLAIM: Final = ".cm/claim"
_KEY = re.compile(r"^cm-[0-9a-f]{12}")


def job_name(uuid: str, name: str) -> str:
    """Return the job's name in SLURM: the key to find it by, then its cleaned name, ASCII.

    sacct keeps no text outside ASCII, and comments are not stored by default.
    """
    clean = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._-")[:40]
    return f"{job_key(uuid)}.{clean}" if clean else job_key(uuid)


def key_of(name: str) -> str | None:
    """Return the key at the beginning of a job's name, or None for a job that is not ours."""
    match = _KEY.match(name)
    return None if match is None else match[0]


def submit_script(
    directory: str, name: str, script: str = "job.sh", cluster: str | None = None, claim: int = 1
) -> str:
    """Return the remote step.

    Parameters
    ----------
    directory
        Absolute path of the job's directory on the cluster.
    claim
        1, or the number of the second claim after the first has come to nothing.

    Notes
    -----
    Its output is ``receipt RC`` followed by what sbatch wrote, or ``claimed`` while the step that
    has the claim is still at work. None of the variables that the queries are asked with
    are set: sbatch exports its environment to the job.
    """
    words = ["sbatch", *(["-M", cluster] if cluster else []), "--parsable"]
    sbatch = shlex.join([*words, f"--job-name={name}", script])
    claimed = CLAIM if claim == 1 else f"{CLAIM}.{claim}"
    suffix = "" if claim == 1 else f".{claim}"
    rc, out, err = (f".cm/sbatch.{kind}{suffix}" for kind in ("rc", "out", "err"))
    inner = (
        f"echo $$ > {claimed}/pid; {sbatch} > {out} 2> {err}; "
        f'echo "$?" > {rc}.part; mv -f {rc}.part {rc}'
    )
    return f"""cd {shlex.quote(directory)} || exit 74
mkdir -p .cm || exit 74
if [ ! -e {rc} ] && mkdir {claimed} 2>/dev/null; then
  if command -v setsid >/dev/null 2>&1; then s=setsid; else s=; fi
  nohup $s /bin/sh -c {shlex.quote(inner)} </dev/null >/dev/null 2>&1 &
elif [ ! -e {rc} ] && [ ! -d {claimed} ]; then
  exit 74
fi
{_wait_for(rc, claimed, out, err)}"""


def receipt_script(directory: str, claim: int = 1) -> str:
    """Return a script that submits nothing: it answers with what the step has left."""
    claimed = CLAIM if claim == 1 else f"{CLAIM}.{claim}"
    suffix = "" if claim == 1 else f".{claim}"
    rc, out, err = (f".cm/sbatch.{kind}{suffix}" for kind in ("rc", "out", "err"))
    return f"""cd {shlex.quote(directory)} || exit 74
{_answer(rc, claimed, out, err)}"""


def _wait_for(rc: str, claimed: str, out: str, err: str) -> str:
    return f"""n=0
while [ ! -e {rc} ] && [ $n -lt 170 ]; do
  if [ $n -lt 20 ]; then sleep 0.1 2>/dev/null || sleep 1; else sleep 1; fi
  n=$((n + 1))
done
{_answer(rc, claimed, out, err)}"""


def _answer(rc: str, claimed: str, out: str, err: str) -> str:
    return f"""if [ -e {rc} ]; then
  echo "receipt $(cat {rc})"; cat {out}; cat {err} >&2
elif [ -d {claimed} ]; then
  p=$(cat {claimed}/pid 2>/dev/null)
  if [ -n "$p" ] && kill -0 "$p" 2>/dev/null; then echo "working $p"; else echo "claimed $p"; fi
else
  echo "unclaimed"
fi"""


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
    """Read the answer of :func:`submit_script` or :func:`receipt_script`; never raises."""
    if ran.rc is None or not ran.complete:
        return Unknown("the connection was lost before the answer")
    if ran.rc != 0:
        return Unknown(f"the submit step ended with {ran.rc}: {_last(ran.err_text())}")
    head, _, rest = ran.out_text().partition("\n")
    word, _, value = head.partition(" ")
    if word != "receipt":
        return Unknown(
            head[:100] or "the submit step said nothing",
            at_work=word == "working",
            claimed=word != "unclaimed",
        )
    code = int(value) if value.strip().isdigit() else None
    return read_sbatch(code, rest, ran.err_text())


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
