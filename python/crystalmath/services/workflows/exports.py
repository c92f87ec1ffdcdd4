"""Which files for other programs a kind of workflow gives, and what they are made from. Data.

Every export is a function that a worker process runs: it is given what steps gave, or the results
document, and returns name → text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from crystalmath.services.ports_workflows import StepRecord, Use, WorkflowStore
from crystalmath.services.workflows.computations import (
    EXPORT_CSV,
    EXPORT_ELASTIC,
    EXPORT_JSON,
    EXPORT_PHONONS,
    EXPORT_PHONOPY,
    EXPORT_STRUCTURE,
)
from crystalmath.services.workflows.inputs import arguments_of


@dataclass(frozen=True, slots=True)
class Export:
    """One format of one kind.

    Attributes
    ----------
    function
        What makes the files.
    uses
        What of other steps it takes.
    step, taken
        A step, and those of its own arguments that the export takes too.
    with_results
        Whether it takes the results document, as ``results``.
    """

    function: str
    uses: Mapping[str, Use] = field(default_factory=dict)
    step: str | None = None
    taken: tuple[str, ...] = ()
    with_results: bool = False

    def arguments(
        self, results: Mapping[str, Any], steps: Sequence[StepRecord], store: WorkflowStore
    ) -> dict[str, Any]:
        """What the function is called with.

        Raises
        ------
        MissingPart, NotFound
        """
        own = next((step for step in steps if step.name == self.step), None)
        given: Mapping[str, Any] = {} if own is None else own.action["given"]
        used = {} if own is None else own.uses
        uses = {**self.uses, **{name: used[name] for name in self.taken if name in used}}
        plain = {name: given[name] for name in self.taken if name in given}
        whole = {"results": dict(results)} if self.with_results else {}
        return {**plain, **arguments_of(uses, steps, store), **whole}


def _structure(step: str) -> Export:
    """The structure that a step ended with, for pymatgen."""
    return Export(EXPORT_STRUCTURE, {"structure": Use(step=step, path=("structure",))})


_PHONONS: Final = ("displaced", "points", "options")
_ALWAYS: Final[Mapping[str, Export]] = {
    "json": Export(EXPORT_JSON, with_results=True),
    "csv": Export(EXPORT_CSV, with_results=True),
}
_OF_KIND: Final[Mapping[str, Mapping[str, Export]]] = {
    "relax": {"pymatgen": _structure("relax")},
    "eos": {"pymatgen": _structure("relax")},
    "md": {"pymatgen": _structure("dynamics")},
    "phonon": {
        "phonopy": Export(EXPORT_PHONOPY, step="phonons", taken=_PHONONS),
        "pymatgen": Export(EXPORT_PHONONS, step="phonons", taken=_PHONONS),
    },
    "elastic": {
        "pymatgen": Export(EXPORT_ELASTIC, step="fit", taken=("relaxed", "strained", "points"))
    },
}


def exports_of(kind: str) -> Mapping[str, Export]:
    """Format → how it is made."""
    return {**_ALWAYS, **_OF_KIND.get(kind, {})}
