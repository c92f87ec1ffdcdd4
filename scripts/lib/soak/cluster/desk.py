"""The user of the run: submits, cancels, looks, and never gives a call up.

A call that a dying daemon cuts off is made again to the next one, which is started when there is
none. Every submission has a token, so that none is made twice.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from rig.place import Place, RigError, wait_until
from rig.testbed import HOME, USER, WAYS, give_key, let_in
from rig.wire import RpcError, Wire
from soak.cluster.jobs import Ticket, params

CALL_S: Final = 170.0
GIVE_UP_S: Final = 240.0
SERVE_S: Final = 300.0


class Desk:
    """See the module docstring.

    Parameters
    ----------
    runs
        Folder of the files in which the jobs count their runs.
    """

    def __init__(self, place: Place, runs: Path) -> None:
        self.place = place
        self.runs = runs
        self.counts: Counter[str] = Counter()
        self._wire: Wire | None = None

    def open(self) -> None:
        """Describe the clusters, and accept the keys of their hosts as a user does."""
        give_key(self.place.root)
        for name, way in WAYS.items():
            workdir = str(self.remote / name)
            record = {"name": name, "username": USER, "remote_workdir": workdir, "min_poll_s": 5}
            unlimited = {"query_budget": None, "submit_budget": None}
            self.call("clusters.create", {**record, **way, **unlimited})
            let_in(self._data, name)

    @property
    def remote(self) -> Path:
        """Where the jobs' directories are made, on the cluster."""
        return HOME / f"soak-{self.place.root.name}"

    def _data(self, method: str, given: dict[str, Any]) -> Any:
        return self.call(method, given)["data"]

    def test(self, name: str) -> dict[str, Any]:
        """Have a cluster tried."""
        report: dict[str, Any] = self._data("clusters.test", {"id": name})
        return report

    def submit(self, ticket: Ticket) -> None:
        """Submit a job."""
        answer = self.call("jobs.submit", params(ticket, self.runs))
        ticket.job_id = int(answer["data"]["job"]["id"])

    def cancel(self, ticket: Ticket) -> None:
        """Wish the end of a job."""
        ticket.cancel_asked = True
        self.call("jobs.cancel", {"id": ticket.job_id})

    def look(self, name: str) -> None:
        """Have a cluster looked at now; one that does not answer is tried, as a user would."""
        said = self.call("slurm.sync", {"cluster": name})["meta"]["clusters"][0]
        if not said["complete"]:
            self.counts["looks without an answer"] += 1
            self.test(name)

    def call(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """Call a method, and again until there is an answer.

        Raises
        ------
        RpcError
            It is refused for good.
        RigError
            There was no answer for too long.
        """
        deadline = time.monotonic() + GIVE_UP_S
        while True:
            try:
                if self._wire is None:
                    self._wire = Wire(self.place.socket, CALL_S)
                return self._wire.call(method, given)
            except RpcError as error:
                if not error.retryable or time.monotonic() > deadline:
                    raise
                self.counts["calls refused for now"] += 1
                time.sleep(0.3)
            except OSError as error:
                if time.monotonic() > deadline:
                    raise RigError(f"{method}: {error}") from error
                self.hang_up()
                self.serve()

    def hang_up(self) -> None:
        """Close the connection; the next call opens one."""
        if self._wire is not None:
            self._wire.sock.close()
            self._wire = None

    def serve(self) -> int:
        """Have a daemon, on a busy machine too; returns its pid."""

        def ready() -> bool:
            if self.place.is_ready():
                return True
            self.place.run("start")
            self.counts["starts of the daemon"] += 1
            return False

        wait_until("a daemon that is ready", ready, SERVE_S)
        return self.place.pid()

    def rows(self, tickets: list[Ticket]) -> dict[int, sqlite3.Row]:
        """What the database says of jobs, without asking the daemon."""
        with closing(connect(self.place)) as connection:
            found = connection.execute(
                "SELECT j.*, r.collected, r.handed_over_at, r.scheduler_id AS ident FROM jobs j "
                "LEFT JOIN remote_jobs r ON r.job_id = j.id"
            )
            wanted = {ticket.job_id for ticket in tickets}
            return {row["id"]: row for row in found if row["id"] in wanted}


def connect(place: Place) -> sqlite3.Connection:
    """Open the database beside the daemon."""
    connection = sqlite3.connect(place.database, timeout=30.0)
    connection.row_factory = sqlite3.Row
    return connection
