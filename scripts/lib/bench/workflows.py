"""What a workflow adds to each of its jobs: the time between the end of a job and the next.

The database is a real one, the driver that of the daemon; jobs end when the benchmark says so, so
that everything measured is the workflow's own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from bench.measure import Ledger, Target, timed
from bench.phonons.run import run as phonons
from crystalmath.services.ports_store import Documents, Move, NewJob
from crystalmath.services.ports_workflows import NewStep, NewWorkflow, StepRecord, WorkflowRecord
from crystalmath.services.workflows.conduct import Conductor
from crystalmath.services.workflows.content import hash_of, text_of
from crystalmath.services.workflows.driver import Driver
from crystalmath.services.workflows.plan import Plan
from crystalmath.services.workflows.step_jobs import JobEnd, token_of
from crystalmath.storage.migrate import migrate
from crystalmath.storage.store import JobStore, open_store
from crystalmath.storage.workflows import SqliteWorkflowStore

STEPS: Final = 40
"""Jobs of a workflow: the displacements of a phonon calculation."""
PLAIN: Final = "a job inserted, and moved to its end"
STEP: Final = f"the same as a step of {STEPS}, all turns of the driver"
LIMIT_MS: Final = 5.0


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    added = sorted(_round(ledger) for _ in range(rounds))
    per_step = Target("workflows: added per step, p50, ms", LIMIT_MS, added[len(added) // 2])
    return [per_step, *phonons(ledger, rounds)]


def _round(ledger: Ledger) -> float:
    """Measure once; what a step adds in ms."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crystalmath.db"
        store = open_store(path)
        migrate(store.engine, path, lambda _: None)
        numbers = iter(range(STEPS))

        def plain() -> None:
            _end(store, store.insert(_job(f"plain-{next(numbers)}"))[0])

        base_us = ledger.add(PLAIN, timed(plain, STEPS))
        step_us = ledger.add(STEP, _steps(store), base_us)
        store.close()
        return (step_us - base_us) / 1000


def _steps(store: JobStore) -> list[float]:
    """Time of each step from the insertion of its job to the end of what its end causes, in µs."""
    known = SqliteWorkflowStore(store)
    conductor = Conductor(known, _Jobs(store), _nothing, {"many": _Many()}, lambda: 1.0, "bench")
    driver = Driver(conductor, lambda: None)
    workflow_id = _create(known)
    whole = timed(lambda: driver.turn(everything=True), 1)
    started_us = whole[0] / STEPS
    waiting = [step.jobs[-1] for step in known.steps(workflow_id) if step.jobs]

    def one() -> None:
        _end(store, waiting.pop())
        driver.turn()

    return [started_us + us for us in timed(one, len(waiting))]


class _Options(BaseModel):
    """None."""


class _Many:
    """A kind of many jobs that need nothing of each other."""

    kind = title = summary = "many"
    options: type[BaseModel] = _Options
    codes = frozenset({"none"})
    result = "job-0"
    crystals_only = False

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        return [
            NewStep(f"job-{i}", "a job", "job", {"number": i}, {"structure": plan.start})
            for i in range(STEPS)
        ]

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:  # noqa: ARG002
        return ()


class _Jobs:
    """Jobs that give at once what they were given."""

    def __init__(self, store: JobStore) -> None:
        self._store = store

    def prepare(
        self, workflow: WorkflowRecord, step: StepRecord, arguments: Mapping[str, Any]
    ) -> NewJob:
        return _job(token_of(workflow, step), arguments["structure"])

    def end(self, job_id: int) -> JobEnd:
        results = self._store.documents(job_id).results
        return JobEnd(self._store.row(job_id)["state"], {**results, "job": job_id})

    def cancel(self, job_id: int) -> None:
        raise AssertionError(job_id)


def _nothing(function: str, arguments: Mapping[str, Any], deadline_s: float) -> Any:
    raise AssertionError((function, arguments, deadline_s))


def _job(token: str, results: Mapping[str, Any] | None = None) -> NewJob:
    row = {"uuid": token, "name": "a job", "code": "none", "state": "CREATED", "runner": "local"}
    return NewJob(
        row={**row, "created_at": 1.0},
        documents=Documents({}, {}, {}, results=results or {}),
        after=(),
        why="the benchmark",
        token=token,
    )


def _end(store: JobStore, job_id: int) -> None:
    store.move(Move(job_id, ("CREATED",), "FINISHED", 1.0, why="the benchmark"))
    store.move(Move(job_id, ("FINISHED",), "COMPLETED", 1.0, why="the benchmark"))


def _create(store: SqliteWorkflowStore) -> int:
    atoms = {"symbols": ["Si"] * 64, "positions": [[0.1, 0.2, 0.3]] * 64}
    text = text_of(atoms)
    plan = Plan("many", "none", None, None, hash_of(text), {}, {})
    new = NewWorkflow(
        uuid="0" * 32,
        kind="many",
        name="many",
        engine=None,
        model=None,
        formula="Si",
        n_atoms=64,
        spec=plan.document(),
        steps=_Many().first_steps(plan),
        artefacts=(text,),
        created_at=1.0,
    )
    return store.create(new)[0]
