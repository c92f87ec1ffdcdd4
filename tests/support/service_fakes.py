"""Fakes of the adapters, and a bench that puts the job services together on a real database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crystalmath.contract.jobs import SubmitParams
from crystalmath.errors import InvalidParams
from crystalmath.services.events import EventHub
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_events import JobEvents
from crystalmath.services.jobs import JobsParts, JobsService
from crystalmath.services.ports import (
    Continuation,
    EndReceipt,
    Finished,
    JobRequest,
    Launch,
    Observation,
    Prepared,
    Progress,
    Reading,
    Runner,
    StructureData,
    Verdict,
)
from crystalmath.services.pump import Pump, PumpTiming
from crystalmath.services.steps import Steps
from crystalmath.services.submission import Desk
from crystalmath.storage.migrate import migrate
from crystalmath.storage.store import JobStore, open_store


class FakeCode:
    """Prepares anything; the verdict is settable."""

    name = "fake"
    title = "A fake for tests"
    tasks = ("run",)

    def __init__(self) -> None:
        self.verdict = Verdict(completed=True, converged=True, energy_ev=-2.0)
        self.shown: Progress | None = None

    def describe(self) -> Mapping[str, Any]:
        schema = {"type": "object"}
        return {
            "parameters": schema,
            "parameters_by_task": {"run": schema},
            "executable": None,
            "engines": [],
        }

    def prepare(self, request: JobRequest) -> Prepared:
        if "reject" in request.inputs:
            raise InvalidParams("refused by the fake", field="inputs.reject")
        return Prepared(
            task=request.task or "run",
            argv=("true",),
            files=request.files,
            formula="Cu",
            n_atoms=4,
        )

    def progress(self, directory: Path) -> Progress | None:
        return self.shown

    def judge(self, directory: Path, end: EndReceipt | None) -> Verdict:
        return self.verdict

    def series(self, directory: Path) -> Mapping[str, Any]:
        return {}

    def recognise(self, path: Path) -> Finished | None:
        return None

    def read(self, path: Path) -> Reading | None:
        return None

    def proceed(self, directory: Path, request: JobRequest, reason: str | None) -> Continuation:
        return Continuation("as before", request.inputs, request.files, request.structure)


class FakeRunner:
    """Runs nothing: the test says what is observed."""

    name = "fake"

    def __init__(self) -> None:
        self.launched: list[Launch] = []
        self.cancelled: list[str] = []
        self.seen: dict[str, Observation] = {}
        self.fail_with: OSError | None = None
        self.alive: set[str] = set()

    def launch(self, launch: Launch) -> None:
        if self.fail_with is not None:
            raise self.fail_with
        self.launched.append(launch)
        self.seen[launch.key] = Observation("running", t_start=100.0)

    def observe(self, directory: Path, key: str) -> Observation:
        alone = Observation("running" if key in self.alive else "unclaimed")
        return self.seen.get(key, alone)

    def cancel(self, directory: Path, key: str) -> None:
        self.cancelled.append(key)
        if key not in self.seen:
            self.alive.discard(key)

    def end(self, key: str, cause: str = "exit", rc: int | None = 0) -> None:
        """Let the run end."""
        receipt = EndReceipt(1, rc, None, cause, None, 100.0, 103.5)  # type: ignore[arg-type]
        self.seen[key] = Observation("ended", t_start=100.0, end=receipt)


class NoReader:
    """No structure is ever needed."""

    def read(self, **_: str | None) -> StructureData:
        raise AssertionError("no structure was expected")


class FakeCall:
    """A call that nobody cancels."""

    trace_id = "t"
    connection = None

    def check(self) -> None:
        return None

    def remaining_s(self) -> float:
        return 10.0

    def wait_cancelled(self, timeout_s: float) -> bool:
        return False

    def on_cancel(self, close: Callable[[], None]) -> None:
        return None


@dataclass
class Bench:
    """The job services on a fresh database."""

    root: Path
    runner: Any = field(default_factory=FakeRunner)
    code: Any = field(default_factory=FakeCode)
    reader: Any = field(default_factory=NoReader)
    slots: int = 2
    now: float = 1000.0

    def __post_init__(self) -> None:
        (self.root / "jobs").mkdir(exist_ok=True)
        path = self.root / "crystalmath.db"
        self.hub = EventHub("instance-1")
        self.changes = JobEvents(self.hub, lambda: self.now)
        self.store: JobStore = open_store(path, self.changes)
        migrate(self.store.engine, path, lambda _: None)
        self.directories = JobDirectories(self.root / "jobs")
        self.woken = threading.Event()
        self.pump = self.new_pump()
        codes = {self.code.name: self.code}
        self.service = JobsService(
            JobsParts(
                store=self.store,
                desk=Desk(self.store, codes, self.reader, cores=2),
                codes=codes,
                directories=self.directories,
                clock=lambda: self.now,
                wake=self.woken.set,
                end_unrecorded=self.pump.end_unrecorded,
            )
        )

    def new_pump(self, store: Any = None, runner: Runner | None = None) -> Pump:
        """A pump as a freshly started daemon has it."""
        steps = Steps(
            store=store or self.store,
            codes={self.code.name: self.code},
            runner=runner or self.runner,
            directories=self.directories,
            clock=lambda: self.now,
            version="test",
        )
        timing = PumpTiming(poll_s=0.01, idle_s=0.05, cancel_every_s=0.0)
        return Pump(steps, slots=self.slots, timing=timing, clock=lambda: self.now)

    def submit(self, **fields: Any) -> int:
        """Submit a job to the fake code and return its id."""
        params = SubmitParams(**{"name": "a job", "code": self.code.name, **fields})
        result = self.service.submit(params, FakeCall())  # type: ignore[arg-type]
        assert result.job is not None
        return result.job.id

    def state(self, job_id: int) -> str:
        return str(self.store.row(job_id)["state"])

    def key(self, job_id: int) -> str:
        return str(self.store.row(job_id)["uuid"])

    def close(self) -> None:
        self.store.close()
