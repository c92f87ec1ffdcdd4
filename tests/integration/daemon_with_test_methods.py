"""``crystalmath-server`` with one more namespace, ``test``, whose methods misbehave on demand.

A program: the tests run it in place of the entry point, with the same arguments. Everything but
the services is the real thing. ``TEST_DAEMON_START`` makes the start slow or fail: after so many
seconds, or as soon as a file is there.
"""

from __future__ import annotations

import datetime as dt
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from crystalmath.contract.rpc import Call, Model, NoParams, Params, rpc
from crystalmath.errors import DatabaseError, NotFound
from crystalmath.server.cli import main
from crystalmath.server.settings import Settings
from crystalmath.server.start import ReadyPipe
from crystalmath.services.events import Happening
from crystalmath.services.ports_server import ServerPort
from crystalmath.services.subscriptions import EventsService

PLANTED_PATH = "/srv/private/planted-path"


class SleepParams(Params):
    seconds: float = Field(ge=0, le=60, description="How long.")
    mark: str | None = Field(default=None, description="File to write when done.")


class Inner(Params):
    number: int = Field(ge=1, description="A number.")
    words: list[str] = Field(default_factory=list, description="Words.")


class NestedParams(Params):
    name: str = Field(min_length=1, max_length=10, description="A name.")
    inner: Inner = Field(description="More.")


class ValueParams(Params):
    what: str = Field(description="Which value to return.")
    size: int = Field(default=0, ge=0, description="Bytes of text.")


class WorkParams(Params):
    function: str = Field(description="module:function.")
    kwargs: dict[str, Any] = Field(default_factory=dict, description="Its arguments.")
    deadline_s: float = Field(default=10.0, gt=0, description="Seconds.")


class PublishParams(Params):
    count: int = Field(ge=1, le=10**7, description="Events.")
    jobs: int = Field(ge=1, le=10**6, description="Jobs that they are about, in turn.")


class Done(Model):
    done: bool = Field(description="It was done.")


class FloatResult(Model):
    value: float = Field(description="A number.")


class MisbehavingService:
    """Methods for the tests of the daemon itself."""

    def __init__(self, server: ServerPort) -> None:
        self._server = server
        self.changes = 0
        self._lock = threading.Lock()

    @rpc(lane="db", read_only=True, deadline_s=30.0)
    def sleep(self, params: SleepParams, call: Call) -> Done:
        """Sleep, as reading work that can be cancelled."""
        call.wait_cancelled(params.seconds)
        call.check()
        return Done(done=True)

    @rpc(lane="db", read_only=True, deadline_s=0.3)
    def too_slow(self, params: SleepParams) -> Done:
        """Sleep longer than the deadline, without looking at it."""
        time.sleep(params.seconds)
        return Done(done=True)

    @rpc(lane="net", deadline_s=30.0)
    def change(self, params: SleepParams) -> Done:
        """Sleep, then change something: never dropped half-way."""
        time.sleep(params.seconds)
        with self._lock:
            self.changes += 1
        if params.mark:
            Path(params.mark).write_text("done", encoding="ascii")
        return Done(done=True)

    @rpc(lane="db", read_only=True)
    def changes_made(self, params: NoParams) -> dict[str, int]:
        """Count the changes."""
        return {"changes": self.changes}

    @rpc(lane="db", read_only=True)
    def nested(self, params: NestedParams) -> Done:
        """Take nested params."""
        return Done(done=True)

    @rpc(lane="db", read_only=True)
    def type_error(self, params: NoParams) -> Done:
        """Raise a TypeError."""
        raise TypeError(f"missing 1 required positional argument: {PLANTED_PATH}")

    @rpc(lane="db", read_only=True)
    def system_exit(self, params: NoParams) -> Done:
        """Raise SystemExit."""
        raise SystemExit(3)

    @rpc(lane="inline", read_only=True)
    def inline_exit(self, params: NoParams) -> Done:
        """Raise SystemExit on the reading thread."""
        raise SystemExit(3)

    @rpc(lane="db", read_only=True)
    def os_error(self, params: NoParams) -> Done:
        """Raise an error whose text holds a path."""
        raise FileNotFoundError(2, "No such file", PLANTED_PATH)

    @rpc(lane="db", read_only=True, errors=(NotFound,))
    def not_found(self, params: NoParams) -> Done:
        """Raise an error of the tree."""
        raise NotFound("There is no such thing.", hint="Look elsewhere.", field="what")

    @rpc(lane="db", read_only=True)
    def value(self, params: ValueParams) -> Any:
        """Return a value of the kind asked for."""
        return _value(params.what, params.size)

    @rpc(lane="db", read_only=True)
    def nan_model(self, params: NoParams) -> FloatResult:
        """Return a model with a NaN."""
        return FloatResult(value=float("nan"))

    @rpc(lane="db", deadline_s=120.0)
    def publish(self, params: PublishParams) -> Done:
        """Tell subscribers about made-up jobs; the event's ``n`` counts from 0."""
        for n in range(params.count):
            job_id = 1 + n % params.jobs
            content = {"kind": "job", "job": {"id": job_id, "n": n, "text": "x" * 500}}
            self._server.hub.publish(
                [Happening(("jobs", f"job:{job_id}"), ("job", job_id), 600, content.copy)]
            )
        return Done(done=True)

    @rpc(lane="proc", deadline_s=60.0)
    def work(self, params: WorkParams) -> Any:
        """Run a function in a worker process."""
        return self._server.run_worker(params.function, params.kwargs, params.deadline_s)


def _value(what: str, size: int) -> Any:
    cycle: list[Any] = []
    cycle.append(cycle)
    if what == "text":
        return "x" * size
    if what == "rows":
        return [{"i": i} for i in range(size)]
    values: dict[str, Any] = {
        "nan": {"a": float("nan"), "b": [float("inf"), 1.5]},
        "datetime": dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
        "naive": dt.datetime(2026, 1, 2),  # noqa: DTZ001 - what the test is about
        "path": Path("/a/b"),
        "bytes": b"bytes",
        "cycle": cycle,
        "set": {1, 2},
        "surrogate": "\ud800",
    }
    if what == "numpy":
        import numpy as np

        return {"f": np.float64(1.5), "i": np.int64(7), "nan": np.float32("nan")}
    return values[what]


def _wait_for(what: str) -> None:
    if not what.startswith("/"):
        time.sleep(float(what))
        return
    while not Path(what).exists():
        time.sleep(0.005)


class MisbehavingController:
    """Stands in for ``api.CrystalController``."""

    def __init__(self, server: ServerPort) -> None:
        self._server = server
        self._test = MisbehavingService(server)
        self._events = EventsService(server.hub)

    def namespaces(self) -> Mapping[str, Any]:
        return {"test": self._test, "events": self._events}

    def start(self) -> None:
        plan = os.environ.get("TEST_DAEMON_START", "")
        if plan.startswith("slow:"):
            self._server.progress("taking its time")
            _wait_for(plan.partition(":")[2])
        elif plan.startswith("fail:"):
            _wait_for(plan.partition(":")[2])
            raise DatabaseError("The database is a stone.", hint="Get another.")
        elif plan == "import":
            raise ImportError("No module named 'unobtainium'")
        elif plan == "die":
            os._exit(9)

    def close(self) -> None:
        return

    def job_counts(self) -> Mapping[str, int]:
        return {}

    def cluster_rows(self) -> list[dict[str, Any]]:
        return []

    def is_needed(self) -> bool:
        return self.live_local_jobs() > 0

    def live_local_jobs(self) -> int:
        marker = os.environ.get("TEST_DAEMON_LIVE_MARKER")
        return int(marker is not None and Path(marker).exists())


def build(_settings: Settings, server: ServerPort) -> MisbehavingController:
    return MisbehavingController(server)


NAMESPACES = {"test": MisbehavingService, "events": EventsService}


def run(settings: Settings, ready: ReadyPipe) -> int:
    from crystalmath.server import lifecycle

    return lifecycle.run(settings, ready, build=build, namespaces=NAMESPACES)


if __name__ == "__main__":
    main(run)
