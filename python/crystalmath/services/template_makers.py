"""What templates may ask for: the deck of a structure, and what a script tells a scheduler.

Handed to ``services.template_rendering`` by ``api``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from crystalmath.contract.d3 import D3Result, GenerateD3Params
from crystalmath.contract.d12 import D12Result, GenerateD12Params
from crystalmath.contract.refusals import faults
from crystalmath.contract.resources import Resources
from crystalmath.errors import InvalidParams, NotFound
from crystalmath.services.ports_cluster import ClusterRecord, ClusterStore
from crystalmath.services.ports_templates import BatchWriter, Made

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class CrystalDecks:
    """``crystal_deck(structure, …)``: the deck of a structure, with the options by name.

    Attributes
    ----------
    generate
        ``materials.generate_d12``.
    """

    generate: Callable[[GenerateD12Params], D12Result]

    def __call__(self, arguments: Mapping[str, Any]) -> Made:
        """Members: ``text``, ``gui`` (none unless EXTERNAL), and some of the report."""
        options = {k: v for k, v in arguments.items() if k != "structure" and v is not None}
        asked = {"structure": arguments.get("structure"), "options": options}
        made = self.generate(_checked(GenerateD12Params, asked))
        return Made(
            value={
                "text": made.d12.removesuffix("\n"),
                "gui": None if made.gui is None else made.gui.removesuffix("\n"),
                "dimension": made.report.dimension,
                "group": made.report.group,
                "symbol": (made.report.space_group or {}).get("symbol", ""),
                "n_atoms": made.report.n_atoms,
                "shrink": made.report.shrink,
            },
            warnings=tuple(made.report.warnings),
        )


@dataclass(frozen=True, slots=True)
class CrystalProperties:
    """``crystal_properties(deck, …)``: what is asked of a wave function, with the options by name.

    Attributes
    ----------
    generate
        ``materials.generate_d3``.
    """

    generate: Callable[[GenerateD3Params], D3Result]

    def __call__(self, arguments: Mapping[str, Any]) -> Made:
        """Members: ``text``, ``path`` of the bands."""
        options = {k: v for k, v in arguments.items() if k != "deck" and v is not None}
        asked = {"deck": {"text": f"{arguments.get('deck')}\n"}, "options": options}
        made = self.generate(_checked(GenerateD3Params, asked))
        return Made(
            value={"text": made.d3.removesuffix("\n"), "path": made.report.path},
            warnings=tuple(made.report.warnings),
        )


@dataclass(frozen=True, slots=True)
class BatchJobs:
    """``batch_job(cluster, …)``: what a script tells the scheduler, with the resources by name."""

    clusters: ClusterStore
    write: BatchWriter

    def __call__(self, arguments: Mapping[str, Any]) -> Made:
        """Members: ``options``, ``launch``, ``setup``."""
        given = {k: v for k, v in arguments.items() if k != "cluster" and v is not None}
        asked = _checked(Resources, given, at="resources")
        record = self._record(arguments.get("cluster"))
        words = self.write(record, asked.model_dump(mode="json", exclude_unset=True))
        return Made(
            value={
                "options": list(words.options),
                "launch": words.launch,
                "setup": list(words.setup),
            }
        )

    def _record(self, wanted: object) -> ClusterRecord | None:
        if wanted in (None, ""):
            return None
        try:
            record = self.clusters.cluster(str(wanted)).record
        except NotFound as error:
            known = ", ".join(one.record.name for one in self.clusters.clusters())
            raise InvalidParams(
                f"there is no cluster {wanted!r}",
                field="cluster",
                hint=f"clusters here: {known or 'none'}; left out, the script is for any",
            ) from error
        if record.kind != "slurm":
            raise InvalidParams(
                f"{record.name} has no scheduler", field="cluster", hint="take a script for it"
            )
        return record


def _checked(model: type[M], given: Mapping[str, Any], at: str = "") -> M:
    """Validate what a template gave.

    Raises
    ------
    InvalidParams
        Naming the first member at fault.
    """
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        member, sentence = faults(error, given)[0]
        name = member.rpartition(".")[2] or at
        field = ".".join(part for part in (at, member) if part)
        raise InvalidParams(f"{name}: {sentence}", field=field) from None
