"""The jobs of the run: what each does, how it counts its own runs, and how it must end."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Kind = Literal["quick", "slow", "failing", "cancelled", "requeued"]
EXIT: Final = 3
CANCELLED_S: Final = 600.0
REQUEUED_S: Final = 25.0
"""A job that is to be requeued runs so long the first time; the next time it ends at once."""
WEIGHTS: Final[dict[Kind, int]] = {"quick": 5, "slow": 2, "failing": 2, "cancelled": 2}


@dataclass(slots=True)
class Ticket:
    """One submission and what became of it.

    Attributes
    ----------
    requeues
        How often the controller was told, with effect, to start it again.
    lines
        What its runs have written, once it was judged.
    """

    token: str
    kind: Kind
    cluster: str
    seconds: float
    job_id: int | None = None
    requeues: int = 0
    cancel_asked: bool = False
    lines: list[str] | None = None


def draw(rng: random.Random, number: int, cluster: str, kind: Kind | None = None) -> Ticket:
    """Make up a job."""
    drawn = kind or rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    seconds = {
        "quick": rng.uniform(0, 0.5),
        "failing": rng.uniform(0, 0.5),
        "slow": rng.uniform(2, 8),
        "cancelled": CANCELLED_S,
        "requeued": REQUEUED_S,
    }[drawn]
    return Ticket(f"t{number:05d}-{drawn}", drawn, cluster, seconds)


def script(ticket: Ticket, runs: Path) -> str:
    """What the job runs: a line for each run, written before anything else."""
    rest = f"sleep {ticket.seconds:.2f}"
    if ticket.kind == "requeued":
        rest = f'[ "${{SLURM_RESTART_COUNT:-0}}" -gt 0 ] || {rest}'
    return (
        f'echo "$SLURM_JOB_ID ${{SLURM_RESTART_COUNT:-0}}" >> {runs / ticket.token}; '
        f"echo {ticket.token}; {rest}; exit {EXIT if ticket.kind == 'failing' else 0}"
    )


def params(ticket: Ticket, runs: Path) -> dict[str, object]:
    """The submission; its token makes it safe to send again."""
    return {
        "name": ticket.token,
        "code": "command",
        "cluster": ticket.cluster,
        "inputs": {"argv": ["/bin/sh", "-c", script(ticket, runs)]},
        "resources": {"walltime_s": 1200},
        "client_token": ticket.token,
    }
