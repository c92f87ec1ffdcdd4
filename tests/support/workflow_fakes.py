"""A small kind of workflow, and a bench that plays it with jobs and computations of the test.

The kind ``sum``: a job gives a number, a computation makes parts of it, a job doubles each part,
and a computation adds them up. The database is a real one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from sqlalchemy import event

from crystalmath.errors import NotFound, OutputUnreadable
from crystalmath.services.ports_store import Documents, Move, NewJob
from crystalmath.services.ports_workflows import (
    NewStep,
    NewWorkflow,
    StepRecord,
    Use,
    WorkflowRecord,
)
from crystalmath.services.workflows.conduct import Conductor
from crystalmath.services.workflows.content import hash_of, text_of
from crystalmath.services.workflows.plan import Plan
from crystalmath.services.workflows.step_jobs import JobEnd, token_of
from crystalmath.storage.migrate import migrate
from crystalmath.storage.store import JobStore, open_store
from crystalmath.storage.workflows import SqliteWorkflowStore


class NoOptions(BaseModel):
    """There are none."""


class Sum:
    """See the module docstring."""

    kind = "sum"
    title = "Sum"
    summary = "Adds up."
    options: type[BaseModel] = NoOptions
    codes = frozenset({"forces"})
    result = "total"
    crystals_only = False
    required = True

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        first = NewStep("first", "a number", "job", plan.job("run", {}), {"structure": plan.start})
        parts = NewStep(
            "parts",
            "its parts",
            "computation",
            {"function": "parts", "given": {"n": plan.options["n"]}},
            {"number": Use(step="first")},
        )
        return first, parts

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        if step != "parts":
            return ()
        names = [f"part-{i}" for i in range(len(output["parts"]))]
        jobs = [
            NewStep(
                name,
                "a part",
                "job",
                plan.job("run", {}),
                {"structure": Use(step="parts", path=("parts", i))},
                required=self.required,
            )
            for i, name in enumerate(names)
        ]
        total = NewStep(
            "total",
            "their sum",
            "computation",
            {"function": "total", "given": {}},
            {"parts": tuple(Use(step=name) for name in names)},
        )
        return *jobs, total


def compute(function: str, arguments: Mapping[str, Any], _deadline_s: float) -> Any:
    """What worker processes would do."""
    if function == "parts":
        return {"parts": [{"value": i} for i in range(arguments["n"])]}
    return {"total": sum(part["value"] for part in arguments["parts"] if part is not None)}


class FakeJobs:
    """Implements ``step_jobs.StepJobs``: a job doubles the number that it is given.

    Attributes
    ----------
    ends
        By name of the step: how its job ends, where it does not complete.
    refused
        By name of the step: what is raised instead of making its job.
    given
        What each job was made from.
    unreadable
        Jobs that completed and whose files are gone.
    """

    def __init__(self, store: JobStore) -> None:
        self.store = store
        self.ends: dict[str, JobEnd] = {}
        self.refused: dict[str, Exception] = {}
        self.given: dict[str, Any] = {}
        self.cancelled: list[int] = []
        self.unreadable: set[int] = set()

    def prepare(
        self, workflow: WorkflowRecord, step: StepRecord, arguments: Mapping[str, Any]
    ) -> NewJob:
        if step.name in self.refused:
            raise self.refused[step.name]
        self.given[token_of(workflow, step)] = arguments["structure"]
        row = {"name": step.name, "code": "fake", "state": "CREATED", "runner": "local"}
        return NewJob(
            row={
                **row,
                "uuid": token_of(workflow, step),
                "created_at": 1.0,
                "workflow": workflow.id,
            },
            documents=Documents({}, {}, {}, results=arguments["structure"]),
            after=(),
            why="a step",
            token=token_of(workflow, step),
        )

    def end(self, job_id: int) -> JobEnd:
        if job_id in self.unreadable:
            raise OutputUnreadable("its files are gone")
        row = self.store.row(job_id)
        known = self.ends.get(row["name"])
        if row["state"] != "COMPLETED":
            return known or JobEnd(row["state"])
        value = self.store.documents(job_id).results["value"]
        return JobEnd("COMPLETED", {"value": 2 * value})

    def cancel(self, job_id: int) -> None:
        self.cancelled.append(job_id)
        self.to_state(job_id, "CANCELLING", "CANCELLED")

    def to_state(self, job_id: int, *states: Any) -> None:
        for state in states:
            known = self.store.row(job_id)["state"]
            self.store.move(Move(job_id, (known,), state, 2.0, why="the test"))


class Killed(BaseException):
    """The daemon is gone."""


class KillingStore:
    """The store of workflows, under which the daemon is killed at a commit.

    Attributes
    ----------
    at
        Which commit, counted from 1; 0: none.
    before
        Whether what was to be committed is lost.
    """

    CHANGES = ("create", "begin_job", "begin_computation", "end", "postpone", "conclude")

    def __init__(self, inner: SqliteWorkflowStore, at: int, *, before: bool) -> None:
        self._inner, self._at, self._before = inner, at, before
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        return self._counted(method) if name in self.CHANGES else method

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self.count += 1
            if self.count == self._at and self._before:
                raise Killed
            found = method(*arguments, **named)
            if self.count == self._at:
                raise Killed
            return found

        return call


@dataclass
class WorkflowBench:
    """A conductor on a fresh database."""

    root: Path
    template: Path
    now: float = 1000.0
    kind: Any = field(default_factory=Sum)
    computed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        path = self.root / "crystalmath.db"
        shutil.copy(self.template, path)
        self.jobs_store = open_store(path)
        # No power fails here, and waiting for the disk would be most of these tests.
        event.listen(
            self.jobs_store.engine, "connect", lambda c, _: c.execute("PRAGMA synchronous=OFF")
        )
        self.store = SqliteWorkflowStore(self.jobs_store)
        self.jobs = FakeJobs(self.jobs_store)
        self.conductor = self.new_conductor()

    def new_conductor(self, store: Any = None, compute: Any = None) -> Conductor:
        """A conductor as a freshly started daemon has it."""
        return Conductor(
            store or self.store,
            self.jobs,
            compute or self._compute,
            {self.kind.kind: self.kind},
            lambda: self.now,
            "test",
            retry_after_s=(30.0,),
        )

    def _compute(self, function: str, arguments: Mapping[str, Any], deadline_s: float) -> Any:
        self.computed.append(function)
        return compute(function, arguments, deadline_s)

    def create(self, n: int = 3, store: Any = None, token: str | None = "token-of-it") -> int:
        text = text_of({"value": 7})
        plan = Plan("a sum", "fake", None, None, hash_of(text), {}, {"n": n})
        new = NewWorkflow(
            uuid=hash_of(str(token))[:32],
            kind="sum",
            name="a sum",
            engine=None,
            model=None,
            formula=None,
            n_atoms=None,
            spec=plan.document(),
            steps=self.kind.first_steps(plan),
            artefacts=(text,),
            created_at=self.now,
            token=token,
            request_sha256="r",
        )
        return int((store or self.store).create(new)[0])

    def play(self, workflow_id: int, conductor: Conductor | None = None) -> str:
        """Let jobs and computations end until the workflow does nothing more; its state."""
        acting = conductor or self.conductor
        for _ in range(100):
            before = acting.store.workflow(workflow_id).rev
            for ended in acting.store.ended_jobs():
                acting.settle(ended)
            acting.advance(workflow_id)
            for step in acting.store.steps(workflow_id):
                if step.state == "RUNNING" and step.kind == "computation":
                    acting.finish(workflow_id, step.id)
                elif step.state == "RUNNING":
                    self.end_job(step)
            still = acting.store.workflow(workflow_id).rev == before
            if still and not acting.store.ended_jobs():
                break
        return acting.store.workflow(workflow_id).state

    def end_job(self, step: StepRecord) -> None:
        """End a step's job, as the test wants it."""
        try:
            row = self.jobs_store.row(step.jobs[-1])
        except NotFound:
            return
        end = self.jobs.ends.get(step.name)
        if row["state"] != "CREATED" or (end is not None and end.state == "RUNNING"):
            return
        state = "COMPLETED" if end is None else end.state
        between = "CANCELLING" if state == "CANCELLED" else "FINISHED"
        self.jobs.to_state(row["id"], between, state)

    def step(self, workflow_id: int, name: str) -> StepRecord:
        return next(s for s in self.store.steps(workflow_id) if s.name == name)

    def states(self, workflow_id: int) -> dict[str, str]:
        return {step.name: step.state for step in self.store.steps(workflow_id)}

    def job_names(self, workflow_id: int = 1) -> list[str]:
        with self.jobs_store.reading() as connection:
            found = connection.exec_driver_sql(
                "SELECT name FROM jobs WHERE workflow = ? ORDER BY id", (workflow_id,)
            )
            return [str(row[0]) for row in found]

    def results(self, workflow_id: int) -> str | None:
        key = self.store.workflow(workflow_id).results_hash
        return None if key is None else self.store.artefact(key)

    def close(self) -> None:
        self.jobs_store.close()


def make_template(path: Path) -> Path:
    """A migrated, empty database to copy: migrating one for each test would cost most."""
    made = open_store(path)
    migrate(made.engine, path, lambda _: None)
    made.close()
    return path
