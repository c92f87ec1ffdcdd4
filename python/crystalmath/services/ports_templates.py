"""What templates may ask for while they are rendered; ``services.template_makers`` has the makers.

A template calls a maker like a function: ``crystal_deck(structure, functional="PBE0").text``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from crystalmath.contract.jobs import SubmitParams
from crystalmath.services.ports_cluster import ClusterRecord


@dataclass(frozen=True, slots=True)
class Asked:
    """What a template calls a maker with.

    Attributes
    ----------
    arguments
        By name, the first one among them.
    context
        Variables of the environment of whoever fills the template in.
    """

    arguments: Mapping[str, Any]
    context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """What a maker gives a template.

    Attributes
    ----------
    value
        Its members, as the template reads them; JSON values.
    """

    value: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


class Maker(Protocol):
    """Makes what a template cannot write by itself."""

    def __call__(self, asked: Asked) -> Made:
        """Raise ``InputRejected`` with the argument at fault as ``field``."""


class TemplateFiller(Protocol):
    """Fills in the template of a submission; ``services.template_inputs`` does."""

    def __call__(self, params: SubmitParams) -> tuple[SubmitParams, tuple[str, ...]]:
        """The submission with the files of its template, and what to look at first.

        Raises
        ------
        InvalidParams, InputRejected
            With the field of the submission at fault.
        """


@dataclass(frozen=True, slots=True)
class BatchWords:
    """What a script for a scheduler is made of.

    Attributes
    ----------
    options
        For the scheduler, one each, like ``--nodes=2``.
    launch
        What stands before a program of several processes; empty for one.
    setup
        Lines before the program.
    """

    options: Sequence[str]
    launch: str
    setup: Sequence[str] = field(default=())


class BatchWriter(Protocol):
    """Says how resources are asked for; ``runners.slurm`` has it."""

    def __call__(self, record: ClusterRecord | None, resources: Mapping[str, Any]) -> BatchWords:
        """Raise ``InvalidParams`` for what may not stand in an option.

        Parameters
        ----------
        record
            The cluster, whose defaults count; None: no cluster in particular.
        resources
            The fields of ``contract.resources.Resources`` that were given.
        """
