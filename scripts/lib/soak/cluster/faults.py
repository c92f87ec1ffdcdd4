"""What is broken in a round, and whether that had an effect: one without is a problem of the run.

Each fault begins, holds for a while and is mended. At most one of each group acts at a time: the
way to the cluster, the daemon, SLURM.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from rig import processes
from rig.place import Place, RigError, wait_until
from rig.testbed import Testbed
from soak.cluster.desk import Desk
from soak.cluster.jobs import Ticket

Mend = Callable[[], None]
Fault = Callable[[], Mend]

SERVER_OF: Final = {"cluster": "direct", "jump": "through", "inner": "through"}
"""SSH server → the cluster whose jobs go through it."""
HAND_OVER_S: Final = 0.8
STAGED_S: Final = 20.0
RUNNING_S: Final = 90.0
TRIES: Final = 3


@dataclass(slots=True)
class Breaker:
    """Breaks things, and counts what had an effect."""

    testbed: Testbed
    desk: Desk
    place: Place
    rng: random.Random
    submit: Callable[[str, bool], Ticket]
    """Submits a job to a cluster; one that is to be requeued, or any other."""
    done: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    cut: Counter[str] = field(default_factory=Counter)
    """SSH server → how often its connections were cut while there were some."""
    waiting: set[str] = field(default_factory=set)
    """Ids of requeued jobs that wait for their nodes to be clean, which takes two minutes."""

    # --- the way to the cluster ---------------------------------------------------------------

    def kill(self, server: str) -> Mend:
        """End every connection of a server."""
        if self._with_sessions("kill", server):
            self.cut[server] += 1
        return _nothing

    def stall(self, server: str) -> Mend:
        """Freeze them, as a network that has gone."""
        self._with_sessions("stall", server)
        return partial(self._mend, "resume", server)

    def refuse(self, server: str) -> Mend:
        """Listen no more, and end what is open."""
        self.testbed.drop("refuse", server)
        self.done[f"{server} refuse"] += 1
        with suppress(RigError):  # there may be no connection left to end
            self.testbed.drop("kill", server)
        return partial(self._mend, "accept", server)

    def _with_sessions(self, action: str, server: str) -> bool:
        """Do it to the connections that are there; makes sure first that there are some."""
        for _ in range(TRIES):
            self.desk.look(SERVER_OF[server])
            with suppress(RigError):  # they have ended meanwhile
                if self.testbed.drop(action, server) > 0:
                    self.done[f"{server} {action}"] += 1
                    return True
        self.problems.append(f"{action} of {server} met no connection, {TRIES} times")
        return False

    def _mend(self, action: str, server: str) -> None:
        self.testbed.drop(action, server)

    # --- the daemon ---------------------------------------------------------------------------

    def kill_daemon(self) -> Mend:
        """Kill whatever daemon serves, with -9."""
        pid = self._kill()
        if processes.is_running(pid):
            self.problems.append(f"daemon {pid} lives on after kill -9")
        self.done["daemon killed"] += 1
        return self._serve

    def kill_at_hand_over(self) -> Mend:
        """The same while a job is being staged or handed over."""
        ticket = self.submit(self.rng.choice(list(SERVER_OF.values())), False)
        begun = time.monotonic()

        def staged() -> bool:
            row = self.desk.rows([ticket])[ticket.job_id or 0]
            return row["state"] != "CREATED" or time.monotonic() - begun > STAGED_S

        if self.rng.random() < 0.6:
            wait_until("a job that is staged", staged, 2 * STAGED_S)
        time.sleep(self.rng.uniform(0, HAND_OVER_S))
        self._kill()
        row = self.desk.rows([ticket])[ticket.job_id or 0]
        begun_to_send = row["state"] == "STAGED" and row["handed_over_at"] is not None
        where = "while handing over" if begun_to_send else f"with a job {row['state']}"
        self.done[f"daemon killed {where}"] += 1
        return self._serve

    def _kill(self) -> int:
        pid = self.desk.serve()
        self.place.kill(pid)
        self.desk.hang_up()
        return pid

    def _serve(self) -> None:
        self.desk.serve()

    # --- SLURM --------------------------------------------------------------------------------

    def stop(self, daemon: str) -> Mend:
        """Stop the controller or the accounting."""
        self.testbed.script("slurm-drop", "stop", daemon)
        self.done[f"slurm{daemon} stopped"] += 1

        def start() -> None:
            self.testbed.script("slurm-drop", "start", daemon)

        return start

    def requeue(self) -> Mend:
        """Have a running job put back into the queue."""
        ticket = self.submit(self.rng.choice(list(SERVER_OF.values())), True)
        deadline = time.monotonic() + RUNNING_S
        while time.monotonic() < deadline:
            mine = [line for line in self.testbed.queue() if ticket.token in line.name]
            running = [line for line in mine if line.state == "RUNNING"]
            if running and (self.desk.runs / ticket.token).exists():
                self._requeue(ticket, running[0].ident)
                return _nothing
            time.sleep(0.3)
        self.desk.counts["requeues given up: the job did not run in time"] += 1
        return _nothing

    def _requeue(self, ticket: Ticket, ident: str) -> None:
        before = self.testbed.restarts(ident)
        self.testbed.scontrol("requeue", ident)
        if self.testbed.restarts(ident) != before + 1:
            self.problems.append(f"requeue of job {ident} had no effect")
            return
        ticket.requeues += 1
        self.waiting.add(ident)
        self.done["requeued"] += 1

    def hurry(self) -> None:
        """Requeued jobs that wait for nothing but time may start: only those that do wait."""
        if not self.waiting:
            return
        queued = {line.ident: line for line in self.testbed.queue()}
        for ident in sorted(self.waiting):
            line = queued.get(ident)
            if line is None or (line.state == "RUNNING"):
                self.waiting.discard(ident)
            elif line.state == "PENDING" and line.reason == "BeginTime":
                with suppress(RigError):  # it has started by itself
                    self.testbed.scontrol("update", f"jobid={ident}", "starttime=now")

    # --- a round's choice ---------------------------------------------------------------------

    def draw(self) -> list[Fault]:
        """One to three faults for a round, at most one of each group."""
        rng, server = self.rng, self.rng.choice(list(SERVER_OF))
        way = rng.choice([self.kill, self.stall, self.refuse])
        slurm: list[Fault] = [partial(self.stop, "ctld"), partial(self.stop, "dbd"), self.requeue]
        groups: list[Fault] = [
            partial(way, server),
            rng.choice([self.kill_daemon, self.kill_at_hand_over]),
            rng.choice(slurm),
        ]
        chosen = rng.sample(groups, rng.choice([1, 2, 2, 3]))
        # A job has to run before it can be requeued: that comes before what would hold it up.
        return sorted(chosen, key=lambda fault: fault != self.requeue)


def _nothing() -> None:
    """It needs no mending."""
