"""Handing a job over exactly once: the remote step, and what its receipts say. Pure.

The step runs detached on the host, so that it survives the loss of the connection and of the
daemon: claim the directory, run the command that hands the job over, and leave `.cm/sbatch.out`,
`.cm/sbatch.err` and last, by rename, `.cm/sbatch.rc`. Run again in the same directory it hands
nothing over: it answers with what is there.
"""

from __future__ import annotations

import shlex
from typing import Final

from crystalmath.services.ports_cluster import Unknown
from crystalmath.services.ports_shell import Ran

CLAIM: Final = ".cm/claim"


def claim_script(directory: str, command: str, claim: int = 1) -> str:
    """Return the remote step.

    Parameters
    ----------
    directory
        Absolute path of the job's directory on the cluster.
    command
        Hands the job over, and prints its number.
    claim
        1, or the number of the second claim after the first has come to nothing.

    Notes
    -----
    Its output is ``receipt RC`` followed by what the command wrote, ``working`` or ``claimed``
    where the step has left no receipt yet, or ``unclaimed``.
    """
    claimed = CLAIM if claim == 1 else f"{CLAIM}.{claim}"
    suffix = "" if claim == 1 else f".{claim}"
    rc, out, err = (f".cm/sbatch.{kind}{suffix}" for kind in ("rc", "out", "err"))
    inner = (
        f"echo $$ > {claimed}/pid; {command} > {out} 2> {err}; "
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


def read_answer(ran: Ran) -> Unknown | tuple[int | None, str, str]:
    """Read the answer: exit code and streams of the command, or why nobody knows; never raises."""
    if ran.rc is None or not ran.complete:
        return Unknown("the connection was lost before the answer")
    if ran.rc != 0:
        lines = [line.strip() for line in ran.err_text().splitlines() if line.strip()]
        said = lines[-1][:300] if lines else ""
        return Unknown(f"the submit step ended with {ran.rc}: {said}")
    head, _, rest = ran.out_text().partition("\n")
    word, _, value = head.partition(" ")
    if word != "receipt":
        said = head[:100] or "the submit step said nothing"
        return Unknown(said, at_work=word == "working", claimed=word != "unclaimed")
    code = int(value) if value.strip().isdigit() else None
    return code, rest, ran.err_text()
