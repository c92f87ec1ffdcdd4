"""What a workflow was asked for, and the steps that a kind of workflow makes of it.

A kind is a :class:`Procedure` in ``kinds``: plain rules, no I/O. It says which steps come first and
which a step adds when it has ended; all of them are data, and what they give is named by its hash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from crystalmath.services.ports_workflows import NewStep, Use

MAX_NAME: int = 70
"""Characters of a workflow's name that its jobs carry in theirs."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked for; stored with the workflow.

    Attributes
    ----------
    structure
        Hash of the structure to start from.
    source
        Where it came from.
    options
        Of the kind, with every default filled in.
    inputs
        Of every job, as far as the kind does not set them itself.
    cluster
        Where its jobs run; None: on this machine.
    """

    name: str
    code: str
    engine: str | None
    model: str | None
    structure: str
    source: Mapping[str, str]
    options: Mapping[str, Any]
    context: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    cluster: str | None = None

    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)

    def job(self, task: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The action of a step that is a job: the fields of ``jobs.submit``.

        Parameters
        ----------
        inputs
            What the kind sets; it outweighs what the user gave for all jobs.
        """
        return {
            "code": self.code,
            "engine": self.engine,
            "model": self.model,
            "task": task,
            "inputs": {**self.inputs, **inputs},
            "cluster": self.cluster,
            "context": dict(self.context),
            "resources": dict(self.resources),
        }

    @property
    def start(self) -> Use:
        """The structure to start from."""
        return Use(artefact=self.structure)

    @property
    def provenance(self) -> dict[str, str]:
        """What results say of their origin."""
        known = {"code": self.code, "structure": self.structure}
        if self.engine is not None:
            known["engine"] = self.engine
        if self.model is not None:
            known["model"] = self.model
        return known


def decode_plan(document: Mapping[str, Any]) -> Plan:
    """JSON form → value; the inverse of :meth:`Plan.document`."""
    return Plan(**document)


class Procedure(Protocol):
    """One kind of workflow.

    Attributes
    ----------
    options
        Model of its options.
    codes
        Which codes can compute it.
    result
        Name of the step that gives the results document.
    crystals_only
        Whether it has no meaning for what does not repeat in three directions.
    """

    kind: str
    title: str
    summary: str
    options: type[BaseModel]
    codes: frozenset[str]
    result: str
    crystals_only: bool

    def first_steps(self, plan: Plan) -> Sequence[NewStep]:
        """The steps that a new workflow has."""

    def next_steps(self, plan: Plan, step: str, output: Any) -> Sequence[NewStep]:
        """The steps that the end of a step adds.

        Parameters
        ----------
        output
            What the step gave.
        """


@runtime_checkable
class Tried(Protocol):
    """A kind whose jobs are known only after a computation: what can be checked beforehand."""

    def trial(self, plan: Plan) -> Mapping[str, Any]:
        """The action of a job like those that will come, for the structure to start from."""


@runtime_checkable
class Standardised(Protocol):
    """A kind that computes the standard cell: doubts about the cell that was given do not count.

    Attributes
    ----------
    standardises
        True.
    """

    standardises: bool


def computation(function: str, **given: Any) -> dict[str, Any]:
    """The action of a step that a worker process computes."""
    return {"function": function, "given": given}
