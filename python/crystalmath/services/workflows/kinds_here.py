"""Which kinds of workflow can be used here, with which engines and codes, and why others cannot.

Used by ``service`` for ``workflows.available`` and to refuse what cannot run before it is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from crystalmath.contract.planned import PLANNED
from crystalmath.contract.workflows import CreateParams, EngineUse, KindInfo
from crystalmath.errors import InvalidParams, NotImplementedYet
from crystalmath.services.ports import CodeAdapter, StructureData
from crystalmath.services.workflows.plan import Procedure

FORCES: Final = "forces"
"""The code that computes with force engines."""
_CREATE: Final = "workflows.create_"
_WITH_ENGINES: Final = "only force engines are built for this workflow; give `engine`"


def kinds(procedures: Mapping[str, Procedure], codes: Mapping[str, CodeAdapter]) -> list[KindInfo]:
    """Every kind of the contract."""
    engines = _engines(codes)
    refused = [
        EngineUse(name=name, usable=False, reason=_WITH_ENGINES)
        for name in sorted(codes)
        if name not in (FORCES, "command")
    ]
    found = []
    for procedure in procedures.values():
        usable = any(engine.usable for engine in engines)
        found.append(
            KindInfo(
                kind=procedure.kind,
                title=procedure.title,
                summary=procedure.summary,
                method=f"{_CREATE}{procedure.kind}",
                usable=usable,
                reason=None if usable else "no force engine can be used here",
                engines=engines,
                codes=refused,
                options=procedure.options.model_json_schema(),
            )
        )
    return found + [_not_built(name) for name in PLANNED if name in _TITLES]


_TITLES: Final = {
    "workflows.create_convergence": "Convergence",
    "workflows.create_bands": "Bands and density of states",
    "workflows.create_phonon": "Phonons",
    "workflows.create_elastic": "Elastic constants",
    "workflows.create_md": "Molecular dynamics",
    "workflows.launch_aiida": "A workflow of AiiDA",
}


def _not_built(method: str) -> KindInfo:
    return KindInfo(
        kind=method.removeprefix(_CREATE).removeprefix("workflows.launch_"),
        title=_TITLES[method],
        summary=f"{_TITLES[method]}: not part of this version.",
        method=method,
        usable=False,
        reason="it is not built yet",
    )


def _engines(codes: Mapping[str, CodeAdapter]) -> list[EngineUse]:
    if FORCES not in codes:
        return []
    described: Mapping[str, Any] = codes[FORCES].describe()
    return [
        EngineUse(
            name=one["name"],
            usable=bool(one["available"]),
            reason=None
            if one["available"]
            else described.get("problem") or "not installed: `forces.install` installs it",
        )
        for one in described["engines"]
    ]


def engine_of(params: CreateParams, procedure: Procedure) -> tuple[str, str | None]:
    """Code and engine of a workflow.

    Raises
    ------
    NotImplementedYet
        A code that this kind cannot use.
    InvalidParams
    """
    if params.code is not None and params.code != FORCES:
        raise NotImplementedYet(
            f"{procedure.title.lower()} with the code {params.code} is not built: {_WITH_ENGINES}",
            hint="`workflows.available` lists what can be used",
            field="code",
        )
    if params.engine is None:
        raise InvalidParams(
            "the code forces needs an engine", hint="give `engine`, like emt", field="engine"
        )
    if params.cluster is not None:
        raise InvalidParams(
            "force engines compute on this machine", hint="leave `cluster` out", field="cluster"
        )
    return FORCES, params.engine.removeprefix(f"{FORCES}:")


def check_structure(procedure: Procedure, structure: StructureData) -> None:
    """Refuse a structure that the kind has no meaning for.

    Raises
    ------
    InvalidParams
    """
    if procedure.crystals_only and not structure.is_crystal:
        raise InvalidParams(
            f"an {procedure.title.lower()} needs a crystal that repeats in three directions; this "
            f"structure repeats in {sum(structure.pbc) if structure.lattice is not None else 0}",
            hint="a layer, a rod or a molecule has no volume that could be varied",
            field="structure",
        )
