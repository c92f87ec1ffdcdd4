"""Which kinds of workflow can be used here, with which engines and codes, and why others cannot.

Used by ``service`` for ``workflows.available`` and to refuse what cannot run before it is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from crystalmath.contract.planned import PLANNED
from crystalmath.contract.workflows import CreateParams, EngineUse, KindInfo
from crystalmath.errors import InvalidParams, NotImplementedYet
from crystalmath.services.ports import CodeAdapter, StructureData
from crystalmath.services.workflows.calculations import CRYSTAL, FORCES, VASP
from crystalmath.services.workflows.kinds.phonon import least_edge
from crystalmath.services.workflows.plan import Procedure

_CREATE: Final = "workflows.create_"


def kinds(procedures: Mapping[str, Procedure], codes: Mapping[str, CodeAdapter]) -> list[KindInfo]:
    """Every kind of the contract."""
    engines = _engines(codes)
    found = []
    for procedure in procedures.values():
        usable_engines = engines if FORCES in procedure.codes else []
        uses = [
            _code_use(procedure, name, code)
            for name, code in sorted(codes.items())
            if name not in (FORCES, "command")
        ]
        usable = any(one.usable for one in (*usable_engines, *uses))
        found.append(
            KindInfo(
                kind=procedure.kind,
                title=procedure.title,
                summary=procedure.summary,
                method=f"{_CREATE}{procedure.kind}",
                usable=usable,
                reason=None if usable else _nothing_usable(procedure),
                engines=usable_engines,
                codes=uses,
                options=procedure.options.model_json_schema(),
            )
        )
    return found + [_not_built(name) for name in PLANNED if name in _TITLES]


def _code_use(procedure: Procedure, name: str, code: CodeAdapter) -> EngineUse:
    """Whether a kind can use a code here; one that is missing here may be on a cluster."""
    if name not in procedure.codes:
        reason = f"not built: {_computed_by(procedure)}"
        if (meanwhile := _MEANWHILE.get((procedure.kind, name))) is not None:
            reason = f"{reason}; {meanwhile}"
        return EngineUse(name=name, usable=False, reason=reason)
    problem = code.describe().get("problem")
    return EngineUse(name=name, usable=problem is None, reason=problem)


def _nothing_usable(procedure: Procedure) -> str:
    if procedure.codes == {FORCES}:
        return "no force engine can be used here"
    return f"nothing that computes it can be used here; {_computed_by(procedure)}"


def _computed_by(procedure: Procedure) -> str:
    named = ["force engines" if one == FORCES else one for one in sorted(procedure.codes)]
    return f"it is computed by {', '.join(named)}"


_TITLES: Final = {
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


_NO_MEANING: Final = {
    ("bands", FORCES): "a force engine has no electrons, so it has no bands",
}
"""What a kind of workflow cannot be asked of, and why."""
_MEANWHILE: Final = {
    ("phonon", CRYSTAL): "the template crystal/freq makes a job of CRYSTAL's own FREQCALC",
    ("elastic", CRYSTAL): "the template crystal/elastic makes a job of CRYSTAL's own ELASTCON",
    ("bands", CRYSTAL): "the template crystal/dos_bands makes the decks of bands and densities",
}
"""What does what a workflow does not do yet."""


def engine_of(params: CreateParams, procedure: Procedure) -> tuple[str, str | None]:
    """Code and engine of a workflow.

    Raises
    ------
    NotImplementedYet
        A code that this kind cannot use.
    InvalidParams
    """
    code = params.code or FORCES
    reason = _NO_MEANING.get((procedure.kind, code))
    if reason is not None:
        raise InvalidParams(
            reason,
            hint=f"{_computed_by(procedure)}: give `code`",
            field="engine" if params.code is None else "code",
        )
    if code not in procedure.codes:
        raise NotImplementedYet(
            f"{procedure.title.lower()} with {'a force engine' if code == FORCES else code} is not "
            f"built: {_computed_by(procedure)}",
            hint=_MEANWHILE.get(
                (procedure.kind, code), "`workflows.available` lists what can be used"
            ),
            field="engine" if params.code is None else "code",
        )
    if code != FORCES:
        return code, None
    if params.engine is None:
        raise InvalidParams(
            "the code forces needs an engine", hint="give `engine`, like emt", field="engine"
        )
    if params.cluster is not None:
        raise InvalidParams(
            "force engines compute on this machine", hint="leave `cluster` out", field="cluster"
        )
    return FORCES, params.engine.removeprefix(f"{FORCES}:")


def settled(
    params: CreateParams, code: str, options: Mapping[str, Any], structure: StructureData
) -> dict[str, Any]:
    """The options with what depends on code and structure settled.

    Raises
    ------
    InvalidParams
        One that the code has no use for.
    """
    given: Collection[str] = getattr(getattr(params, "options", None), "model_fields_set", ())
    if code != FORCES and "optimizer" in given:
        raise InvalidParams(
            f"{code} chooses its steps itself", hint="leave it out", field="options.optimizer"
        )
    if code == VASP and "smax_gpa" in given:
        raise InvalidParams(
            "VASP ends a relaxation by the forces alone",
            hint="leave it out: what stress is left is told, and doubted above 0.1 GPa",
            field="options.smax_gpa",
        )
    if code == CRYSTAL and "smax_gpa" in given:
        raise InvalidParams(
            "CRYSTAL has no limit for the stress: it judges the cell by its gradient, with the "
            "same number as the atoms",
            hint="leave it out; a smaller `options.fmax_ev_per_a` tightens both",
            field="options.smax_gpa",
        )
    found = dict(options)
    if "cell" in options and options["cell"] is None:
        found["cell"] = "full" if structure.is_crystal else "fixed"
    if found.get("cell", "fixed") != "fixed" and not any(structure.pbc):
        raise InvalidParams(
            "a molecule has no cell that could change",
            hint="leave it out",
            field="options.cell",
        )
    if "edge_angstrom" in options and options["edge_angstrom"] is None:
        found["edge_angstrom"] = least_edge(code)
    return found


def check_structure(procedure: Procedure, structure: StructureData) -> None:
    """Refuse a structure that the kind has no meaning for.

    Raises
    ------
    InvalidParams
    """
    if procedure.crystals_only and not structure.is_crystal:
        raise InvalidParams(
            f"{procedure.title.lower()} needs a crystal that repeats in three directions; this "
            f"structure repeats in {sum(structure.pbc) if structure.lattice is not None else 0}",
            hint="a layer, a rod or a molecule has no volume and no mesh of its own",
            field="structure",
        )
