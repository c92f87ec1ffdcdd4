"""A kind of workflow played on a real database, with EMT in this process in place of its jobs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from crystalmath.services.ports_workflows import NewWorkflow
from crystalmath.services.workflows.content import bare_structure, hash_of, text_of
from crystalmath.services.workflows.plan import Plan, Procedure
from crystalmath.services.workflows.step_jobs import JobEnd
from crystalmath.structures.structure import Structure, of_document
from support import emt
from support.workflow_fakes import FakeJobs, WorkflowBench


class EmtJobs(FakeJobs):
    """Jobs that give energy, forces and stress of the structure that they were given."""

    def end(self, job_id: int) -> JobEnd:
        row = self.store.row(job_id)
        if row["state"] != "COMPLETED":
            return self.ends.get(row["name"]) or JobEnd(row["state"])
        given = self.store.documents(job_id).results
        return JobEnd("COMPLETED", emt_output(text_of(given)))


@cache
def emt_output(text: str) -> dict[str, Any]:
    """What a single point with EMT gives for a structure."""
    import json

    document = json.loads(text)
    structure = of_document(document)
    return {
        "structure": document,
        "energy_ev": emt.energy(structure),
        "forces_ev_per_a": emt.forces(structure).tolist(),
        "stress_ev_per_a3": emt.stress(structure).tolist(),
        "engine": {"name": "emt"},
    }


def compute(function: str, arguments: Mapping[str, Any], _deadline_s: float) -> Any:
    """Run a computation as a worker process does."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(**arguments)


@dataclass
class KindBench(WorkflowBench):
    """Plays one workflow of a real kind; nothing is relaxed, so give a structure at its minimum."""

    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.jobs = EmtJobs(self.jobs_store)
        self.conductor = self.new_conductor(compute=compute)

    def begin(self, structure: Structure) -> int:
        """Start a workflow of this structure."""
        text = text_of(bare_structure(structure.document()))
        procedure: Procedure = self.kind
        options = procedure.options(**self.options).model_dump(mode="json")
        plan = Plan("a test", "forces", "emt", None, hash_of(text), {}, options)
        new = NewWorkflow(
            uuid=hash_of(text)[:32],
            kind=procedure.kind,
            name=plan.name,
            engine="emt",
            model=None,
            formula=None,
            n_atoms=len(structure.symbols),
            spec=plan.document(),
            steps=procedure.first_steps(plan),
            artefacts=(text,),
            created_at=self.now,
        )
        return int(self.store.create(new)[0])


def bench_of(root: Path, template: Path, kind: Procedure, options: Mapping[str, Any]) -> KindBench:
    """A bench for workflows of a kind."""
    return KindBench(root, template, kind=kind, options=dict(options))
