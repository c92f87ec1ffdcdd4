"""Jobs on a host without a scheduler, behind a shell.

Implements ``services.ports_cluster.ClusterRunner``. The number of a job is the pid of its script; a
pid alone proves nothing, so its start time and the boot stand beside it in the job's directory.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from crystalmath.domain.evidence import Observation, SeenPhase, said
from crystalmath.runners.host.script import render_script
from crystalmath.runners.remote.claim import claim_script, read_answer
from crystalmath.runners.remote.host import COMMAND_S, QUERY_S, RemoteHost, expandable
from crystalmath.services.cluster_key import key_of
from crystalmath.services.ports_cluster import (
    Accepted,
    CancelOutcome,
    Found,
    Outcome,
    QueuePoll,
    Unknown,
    Watched,
    Work,
)
from crystalmath.services.ports_shell import Ran
from crystalmath.services.ports_tasks import Used

START_S: Final = 180.0
_ROW = re.compile(r"^(\S+) (cm-[0-9a-f]{12}) (\d{1,10}) (alive|gone|rebooted)$")
_SAYS: Final[Mapping[str, tuple[SeenPhase, str, str | None]]] = {
    "alive": ("running", "running", None),
    "gone": ("ended", "no process and no receipt", "crashed"),
    "rebooted": ("ended", "the host was restarted", "node_failure"),
}
# Its number, when it was born, and in which boot: `$p $b $o` as the job's script has left them.
_LOOK: Final = """now=$(cat /proc/sys/kernel/random/boot_id)
look() {
  read -r p b o < "$1/.cm/pid" 2>/dev/null || return 0
  if [ "$o" != "$now" ]; then w=rebooted
  elif [ "$(sed 's/.*) //' "/proc/$p/stat" 2>/dev/null | cut -d' ' -f20)" = "$b" ]; then w=alive
  else w=gone; fi
}
"""


class HostRunner(RemoteHost):
    """One host."""

    name = "ssh"

    def render(self, work: Work, directory: str) -> str:
        """See ``ClusterRunner.render``."""
        return render_script(self._record, work, directory)

    def submit(self, directory: str, name: str, claim: int) -> Outcome:  # noqa: ARG002 - nobody is told the name
        """See ``ClusterRunner.submit``."""
        start = "{ setsid bash job.sh </dev/null >scheduler.log 2>&1 & echo $!; }"
        step = claim_script(directory, start, claim)
        return self.read_step(self.on().run(step, deadline_s=START_S))

    def read_step(self, ran: Ran) -> Outcome:
        """See ``RemoteHost.read_step``."""
        found = read_answer(ran)
        if isinstance(found, Unknown):
            return found
        _, out, err = found
        pid = out.strip()
        return Accepted(int(pid)) if pid.isdigit() else Unknown(err.strip() or "it gave no number")

    def find(self, name: str, since: float) -> Found:  # noqa: ARG002 - its directory is the truth
        """See ``ClusterRunner.find``."""
        key = key_of(name) or name
        place = f"{expandable(self._record.remote_workdir)}/{shlex.quote(key)}"
        ran = self.on().run(f"cat {place}/.cm/pid 2>/dev/null; echo asked", deadline_s=COMMAND_S)
        lines = ran.out_text().split()
        if ran.rc is None or not ran.complete or lines[-1:] != ["asked"]:
            return Found((), frozenset())
        ids = (int(lines[0]),) if len(lines) > 1 and lines[0].isdigit() else ()
        return Found(ids, frozenset({"squeue", "sacct"}))

    def queue(self, number: int, *, all_users: bool = False) -> QueuePoll:  # noqa: ARG002 - one's own
        """See ``ClusterRunner.queue``: jobs that have begun and left no receipt of their end."""
        tag = "cm" + secrets.token_hex(8)
        script = (
            f"{_LOOK}d={expandable(self._record.remote_workdir)}\n"
            'for j in "$d"/cm-*/; do j=${j%/}\n'
            '  [ -e "$j/.cm/pid" ] && [ ! -e "$j/.cm/end.1.json" ] || continue\n'
            '  look "$j"; [ -e "$j/.cm/end.1.json" ] && continue\n'
            f'  printf \'%s %s %s %s\\n\' {tag} "${{j##*/}}" "$p" "$w"\n'
            "done; true"
        )
        at = self._clock()
        ran = self.on().run(script, deadline_s=QUERY_S)
        if ran.rc != 0 or not ran.complete:
            return QueuePoll(False, at, number, trouble="the host's answer was cut")
        user = self.user()
        seen = {}
        for line in ran.out_text().splitlines():
            match = _ROW.match(line)
            if match is None or match[1] != tag:
                continue
            phase, raw, reason = _SAYS[match[4]]
            seen[int(match[3])] = Observation(
                "squeue", at, phase, raw, poll=number, reason=reason, owner=user, name=match[2]
            )
        words = {job: said(one) for job, one in seen.items()}
        return QueuePoll(complete=True, at=at, number=number, seen=seen, words=words)

    def history(self, jobs: Sequence[Watched]) -> tuple[dict[int, list[Observation]], str | None]:  # noqa: ARG002
        """See ``ClusterRunner.history``: nobody keeps one here."""
        return {}, None

    def usage(self, jobs: Sequence[Watched]) -> dict[int, dict[int | None, Used]] | None:
        """See ``ClusterRunner.usage``: nothing keeps accounts here."""
        return {job.job_id: {} for job in jobs}

    def survey(self) -> dict[str, str]:
        """See ``ClusterRunner.survey``: there is no scheduler."""
        return {}

    def details(self, job: Watched) -> list[Observation]:  # noqa: ARG002 - there is no controller
        """See ``ClusterRunner.details``."""
        return []

    def cancel(self, jobs: Sequence[Watched]) -> dict[int, CancelOutcome]:
        """See ``ClusterRunner.cancel``: TERM to the script, which ends its program's group."""
        lines = [
            f'j={shlex.quote(job.directory)}; w=; look "$j"; [ "$w" = alive ] && kill -TERM "$p"'
            for job in jobs
        ]
        ran = self.on().run("\n".join([_LOOK, *lines, "true"]), deadline_s=COMMAND_S)
        outcome: CancelOutcome = "asked" if ran.rc == 0 and ran.complete else "not_done"
        return {job.job_id: outcome for job in jobs}
