"""squeue: one question for all jobs of a user, and its answer. Pure.

Every row begins with a tag that is new in each poll, so that a line without it is known to belong
to the job name before it; the name comes last, since it may hold anything. Between the fields
stands the byte 0x1f, which no field but the name can hold.
"""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, NamedTuple

from crystalmath.runners.slurm.states import State, is_mangled, read_state
from crystalmath.runners.slurm.tasks import JobRef, parse_ref
from crystalmath.runners.slurm.values import (
    parse_count,
    parse_duration_s,
    parse_epoch_s,
    text_or_none,
)
from crystalmath.services.ports_shell import Ran

SEPARATOR: Final = "\x1f"
_FIELDS: Final = "i T r N u V S M l D C P a q Z j"
"""squeue(1): id, state, reason, nodes, user, submit time, start time, time used, limit, nodes,
CPUs, partition, account, QOS, work directory, name. `%r`, not `%R`: that mixes in the node list."""
_N_FIELDS: Final = len(_FIELDS.split())

_WORD = re.compile(r"^[A-Z][A-Z0-9_]{1,31}(?:\+[A-Z0-9_+]{0,64})?$", re.ASCII)
"""What may be a state, known or not."""
# Thousands of rows say the same words.
_REPEATED: Final = 1024
_state = functools.lru_cache(_REPEATED)(read_state)
_text = functools.lru_cache(_REPEATED)(text_or_none)
_duration_s = functools.lru_cache(_REPEATED)(parse_duration_s)
_count = functools.lru_cache(_REPEATED)(parse_count)
_UNREACHABLE = re.compile(
    r"Unable to contact slurm|Socket timed out|Connection refused|Zero Bytes were transmitted"
    r"|connect failure|Communication connection failure|No cluster .* known by database",
    re.IGNORECASE,
)


class QueueRow(NamedTuple):
    """One row of squeue; a tuple, because thousands are made at a time.

    Attributes
    ----------
    submit_at, start_at
        Seconds since 1970; ``start_at`` of a waiting job is an estimate.
    limit_s
        None when there is none.
    """

    ref: JobRef
    id_text: str
    state: State
    reason: str | None
    nodes: str | None
    user: str
    submit_at: float | None
    start_at: float | None
    used_s: float | None
    limit_s: float | None
    n_nodes: int | None
    n_cpus: int | None
    partition: str | None
    account: str | None
    qos: str | None
    workdir: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Poll:
    """One answer of the scheduler to one question.

    Attributes
    ----------
    complete
        Every job of the user that the scheduler knows is in ``rows`` or ``rejects``: what is in
        neither is absent.
    rejects
        Rows that could not be understood; their jobs are not absent.
    trouble
        Why the answer says nothing, for people.
    """

    complete: bool
    rows: tuple[QueueRow, ...] = ()
    rejects: tuple[str, ...] = ()
    trouble: str | None = None

    def rejected_ids(self) -> frozenset[int]:
        """Numbers at the beginning of rejected rows, as far as they can be read."""
        found = set()
        for reject in self.rejects:
            match = re.match(r"\D{0,2}(\d{1,12})", reject, re.ASCII)
            if match:
                found.add(int(match[1]))
        return frozenset(found)


def queue_command(user: str | None, tag: str, cluster: str | None = None) -> str:
    """Return the question: one squeue for all jobs of one user, ended ones within MinJobAge too.

    Parameters
    ----------
    user
        None asks for the jobs of all users.
    tag
        Random letters and digits, new in each poll.
    cluster
        Value for ``-M``.
    """
    form = SEPARATOR.join([tag, *(f"%{letter}" for letter in _FIELDS.split())])
    words = ["squeue", "-h", "-t", "all", "-o", form]
    if user is not None:
        words[4:4] = ["-u", user]
    if cluster is not None:
        words[1:1] = ["-M", cluster]
    return shlex.join(words)


def read_queue(ran: Ran, tag: str) -> Poll:
    """Read the answer; never raises.

    An answer that failed, was cut or holds noise instead of rows changes nothing: ``complete`` is
    False then.
    """
    out, err = ran.out_text(), ran.err_text()
    if ran.rc is None or not ran.complete:
        return Poll(
            complete=False, trouble=_first_line(err) or "the answer did not come to its end"
        )
    if ran.rc != 0:
        return Poll(complete=False, trouble=_first_line(err) or f"squeue ended with {ran.rc}")
    trouble = _UNREACHABLE.search(err)
    if trouble is not None:
        return Poll(complete=False, trouble=_first_line(err))
    if out and not out.endswith("\n"):
        return Poll(complete=False, trouble="the last row of the answer was cut")
    rows: list[QueueRow] = []
    rejects: list[str] = []
    for record in _records(out, tag):
        row = _row(record)
        if row is None:
            rejects.append(record)
        else:
            rows.append(row)
    return Poll(complete=True, rows=tuple(rows), rejects=tuple(rejects))


def _records(out: str, tag: str) -> list[str]:
    """Split at the tag; what comes before the first is noise of the cluster."""
    mark = tag + SEPARATOR
    found: list[str] = []
    for line in out.removesuffix("\n").split("\n"):
        if line.startswith(mark):
            found.append(line[len(mark) :])
        elif found:
            found[-1] += "\n" + line
    return found


def _row(record: str) -> QueueRow | None:
    fields = record.split(SEPARATOR, _N_FIELDS - 1)
    if len(fields) != _N_FIELDS:
        return None
    (ident, state, reason, nodes, user, submit, start, used, limit, n_nodes, n_cpus) = fields[:11]
    partition, account, qos, workdir, name = fields[11:]
    ref = parse_ref(ident)
    if ref is None or not user:
        return None
    meaning = _state(state)
    if meaning.name is None and (not _WORD.match(state) or is_mangled(state)):
        return None
    return QueueRow(  # by position: thousands are made at a time
        ref,
        ident,
        meaning,
        _text(reason),
        _text(nodes),
        user,
        parse_epoch_s(submit),
        parse_epoch_s(start),
        _duration_s(used),
        _duration_s(limit),
        _count(n_nodes),
        _count(n_cpus),
        _text(partition),
        _text(account),
        _text(qos),
        text_or_none(workdir),
        name,
    )


def missing(poll: Poll, wanted: Collection[int]) -> frozenset[int]:
    """Which of the wanted jobs are absent from a complete poll; none from an incomplete one."""
    if not poll.complete:
        return frozenset()
    seen = {row.ref.job for row in poll.rows} | poll.rejected_ids()
    return frozenset(wanted) - seen


def _first_line(text: str) -> str | None:
    for line in text.splitlines():
        if line.strip():
            return line.strip()[:300]
    return None
