"""The load of the kill run: clients that submit, cancel and list, and never give a job up.

Every submission has a token and a program that adds one line to a file of its own. A client whose
call was cut off asks again with the same token, as long as it takes, so that in the end each
submission is an accepted job. Whoever finds no daemon starts it.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig.place import Place
from rig.wire import RpcError, Wire

CALL_S = 20.0
MOST_UNFINISHED = 25
LONGEST_JOB_S = 0.4


@dataclass(slots=True)
class Ticket:
    """One submission and what became of it."""

    token: str
    seconds: float
    job_id: int | None = None
    cancel_asked: bool = False


class Client:
    """One client; its calls depend on its seed and on the answers.

    Parameters
    ----------
    runs
        Directory of the files that the programs write to.
    starting
        Held while the daemon is started, so that the clients of this process do it once.
    """

    def __init__(
        self, place: Place, name: str, rng: random.Random, runs: Path, starting: threading.Lock
    ) -> None:
        self._place = place
        self._name = name
        self._rng = rng
        self._runs = runs
        self._starting = starting
        self._wire: Wire | None = None
        self._unfinished = 0
        self.tickets: list[Ticket] = []
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []

    def run(self, stop: threading.Event) -> None:
        """Call until told to stop."""
        while not stop.is_set():
            self.turn()
        self.hang_up()

    def turn(self) -> None:
        """Do one thing; a cut connection is noted and made good in a later turn."""
        try:
            self._act()
        except RpcError as error:
            self.counts["refused, retryable"] += 1
            if not error.retryable:
                self.problems.append(f"{self._name}: {error} {error.data}")
        except TimeoutError:
            self.problems.append(f"{self._name}: no answer within {CALL_S:g} s")
            self.hang_up()
        except (FileNotFoundError, ConnectionRefusedError):
            self._start_daemon()
        except OSError:
            self.counts["cut off"] += 1
            self.hang_up()

    def open_tickets(self) -> list[Ticket]:
        """Submissions whose answer has not come."""
        return [ticket for ticket in self.tickets if ticket.job_id is None]

    def submit_again(self, ticket: Ticket) -> None:
        """Send a submission, anew or again; its token makes that safe."""
        file = self._runs / ticket.token
        script = f'echo "$CRYSTALMATH_JOB_ATTEMPT" >> {file}; sleep {ticket.seconds:.3f}'
        params = {
            "name": ticket.token,
            "code": "command",
            "inputs": {"argv": ["/bin/sh", "-c", script]},
            "client_token": ticket.token,
        }
        ticket.job_id = int(self._call("jobs.submit", params)["data"]["job"]["id"])
        self.counts["submitted"] += 1

    def hang_up(self) -> None:
        """Close the connection; the next call opens one."""
        if self._wire is not None:
            self._wire.sock.close()
            self._wire = None

    # --- inside -----------------------------------------------------------------------------------

    def _act(self) -> None:
        for ticket in self.open_tickets():
            self.submit_again(ticket)
        choice = self._rng.random()
        if choice < 0.5 and self._unfinished < MOST_UNFINISHED:
            number = len(self.tickets)
            ticket = Ticket(f"{self._name}-{number:06d}", self._rng.uniform(0, LONGEST_JOB_S))
            self.tickets.append(ticket)
            self.submit_again(ticket)
        elif choice < 0.55 and self.tickets:
            self._cancel(self._rng.choice(self.tickets[-10:]))
        elif choice < 0.7 and self.tickets:
            self._call("jobs.get", {"id": self._rng.choice(self.tickets).job_id})
        else:
            states = ["CREATED", "STAGED", "SUBMITTED", "RUNNING", "FINISHED", "CANCELLING"]
            page = self._call("jobs.list", {"state": states, "limit": 20})
            self._unfinished = int(page["meta"]["total"])

    def _cancel(self, ticket: Ticket) -> None:
        ticket.cancel_asked = True
        try:
            self._call("jobs.cancel", {"id": ticket.job_id})
            self.counts["cancelled"] += 1
        except RpcError as error:
            if error.data.get("kind") != "illegal_transition":  # it had ended by itself
                raise

    def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self._wire is None:
            self._wire = Wire(self._place.socket, CALL_S)
        result = self._wire.call(method, params)
        self.counts["answered"] += 1
        return result

    def _start_daemon(self) -> None:
        """Start the daemon; that may fail, since it is killed while it starts as well."""
        self.hang_up()
        with self._starting:
            if self._place.hello() is None:
                self._place.run("start")
                self.counts["starts"] += 1
