"""Which files for other programs a kind of workflow gives, and what they are made from. Data.

Every export is a function that a worker process runs: it is given what steps gave, or the results
document, and returns name → text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from crystalmath.services.ports_workflows import StepRecord, Use
from crystalmath.services.workflows.computations import (
    EXPORT_CSV,
    EXPORT_JSON,
    EXPORT_STRUCTURE,
)

Uses = Mapping[str, Use | tuple[Use, ...]]


def _nothing(_steps: Sequence[StepRecord]) -> Uses:
    return {}


def _final(step: str) -> Callable[[Sequence[StepRecord]], Uses]:
    """The structure that a step ended with."""
    return lambda _steps: {"structure": Use(step=step, path=("structure",))}


@dataclass(frozen=True, slots=True)
class Export:
    """One format of one kind.

    Attributes
    ----------
    function
        What makes the files.
    uses
        Of the steps of the workflow: what they gave that the function takes.
    with_results
        Whether it takes the results document too, as ``results``.
    """

    function: str
    uses: Callable[[Sequence[StepRecord]], Uses] = _nothing
    with_results: bool = False


_ALWAYS: Final[Mapping[str, Export]] = {
    "json": Export(EXPORT_JSON, with_results=True),
    "csv": Export(EXPORT_CSV, with_results=True),
}
_OF_KIND: Final[Mapping[str, Mapping[str, Export]]] = {
    "relax": {"pymatgen": Export(EXPORT_STRUCTURE, _final("relax"))},
    "eos": {"pymatgen": Export(EXPORT_STRUCTURE, _final("relax"))},
    "md": {"pymatgen": Export(EXPORT_STRUCTURE, _final("dynamics"))},
}


def exports_of(kind: str) -> Mapping[str, Export]:
    """Format → how it is made."""
    return {**_ALWAYS, **_OF_KIND.get(kind, {})}
