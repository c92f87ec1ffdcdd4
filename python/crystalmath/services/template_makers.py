"""What templates may ask for: inputs for a structure, and what a script tells a scheduler.

Handed to ``services.template_rendering`` by ``api``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from crystalmath.contract.d3 import D3Result, GenerateD3Params
from crystalmath.contract.d12 import D12Result, GenerateD12Params
from crystalmath.contract.inputs import GenerateInputsParams, GenerateInputsResult
from crystalmath.contract.refusals import faults
from crystalmath.contract.resources import Resources
from crystalmath.errors import InvalidParams, NotFound
from crystalmath.services.materials import MaterialsService
from crystalmath.services.ports_cluster import ClusterRecord, ClusterStore
from crystalmath.services.ports_templates import Asked, BatchWriter, Made, Maker
from crystalmath.services.template_texts import option

M = TypeVar("M", bound=BaseModel)

_OF_REQUEST: Final = ("structure", "code", "task")
"""Arguments of ``code_inputs`` that are no options."""


@dataclass(frozen=True, slots=True)
class CrystalDecks:
    """``crystal_deck(structure, …)``: the deck of a structure, with the options by name.

    Attributes
    ----------
    generate
        ``materials.generate_d12``.
    """

    generate: Callable[[GenerateD12Params], D12Result]

    def __call__(self, asked: Asked) -> Made:
        """Members: ``text``, ``gui`` (none unless EXTERNAL), and some of the report."""
        given = {
            "structure": asked.arguments.get("structure"),
            "options": _others(asked, "structure"),
        }
        made = self.generate(_checked(GenerateD12Params, given))
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

    def __call__(self, asked: Asked) -> Made:
        """Members: ``text``, ``path`` of the bands."""
        deck = {"text": f"{asked.arguments.get('deck')}\n"}
        given = {"deck": deck, "options": _others(asked, "deck")}
        made = self.generate(_checked(GenerateD3Params, given))
        return Made(
            value={"text": made.d3.removesuffix("\n"), "path": made.report.path},
            warnings=tuple(made.report.warnings),
        )


@dataclass(frozen=True, slots=True)
class CodeInputs:
    """``code_inputs(structure, code=…, task=…, …)``: the input files of a code, options by name.

    What is a mapping may be given as text, like ``Mg=Mg_pv, O=O``, or as a list of such, of which
    the later ones count.

    Attributes
    ----------
    generate
        ``materials.generate_inputs``.
    """

    generate: Callable[[GenerateInputsParams], GenerateInputsResult]

    def __call__(self, asked: Asked) -> Made:
        """Members: ``texts``, ``files`` by name, and some of the report."""
        options = {
            name: option(name, value) for name, value in _others(asked, *_OF_REQUEST).items()
        }
        given = {name: asked.arguments.get(name) for name in _OF_REQUEST}
        given |= {"options": options, "context": dict(asked.context), "in_place": True}
        made = self.generate(_checked(GenerateInputsParams, given))
        files = {
            file.path: file.content.removesuffix("\n")
            for file in made.files
            if file.content is not None
        }
        report = made.report
        return Made(
            value={
                "texts": list(files.values()),
                "files": files,
                "formula": report.formula,
                "n_atoms": report.n_atoms,
                "symbol": (report.space_group or {}).get("symbol", ""),
                "k_mesh": report.k_mesh,
            },
            warnings=tuple(report.warnings),
        )


@dataclass(frozen=True, slots=True)
class BatchJobs:
    """``batch_job(cluster, …)``: what a script tells the scheduler, with the resources by name."""

    clusters: ClusterStore
    write: BatchWriter

    def __call__(self, asked: Asked) -> Made:
        """Members: ``options``, ``launch``, ``setup``."""
        resources = _checked(Resources, _others(asked, "cluster"), at="resources")
        record = self._record(asked.arguments.get("cluster"))
        words = self.write(record, resources.model_dump(mode="json", exclude_unset=True))
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


def makers(
    materials: MaterialsService, clusters: ClusterStore, write: BatchWriter
) -> Mapping[str, Maker]:
    """Name in a template → what makes it."""
    return {
        "crystal_deck": CrystalDecks(materials.generate_d12),
        "crystal_properties": CrystalProperties(materials.generate_d3),
        "code_inputs": CodeInputs(materials.generate_inputs),
        "batch_job": BatchJobs(clusters, write),
    }


def _others(asked: Asked, *names: str) -> dict[str, Any]:
    """The arguments that were given, without these."""
    return {k: v for k, v in asked.arguments.items() if k not in names and v is not None}


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
        field = ".".join(part for part in (at, member) if part)
        raise InvalidParams(f"{field}: {sentence}", field=field) from None
