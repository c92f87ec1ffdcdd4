"""Rules for every model of the contract: descriptions, units in names, bounds, no surprises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, get_args

import pytest
from pydantic import BaseModel

from contract.table import BUILT, TABLE
from crystalmath.contract.events import NOTIFICATIONS
from crystalmath.contract.openrpc import document

UNITS: Final = (
    *("_s", "_ms", "_fs", "_days", "_hours", "_per_s", "_mib", "_k", "_gpa", "_angstrom"),
    *("_angstrom3", "_degrees", "_g_per_cm3", "_hartree"),
    *("_ev", "_ev_angstrom", "_ev_per_a", "_ev_per_a3", "_mub", "_e", "_e_a"),
)

NO_UNIT: Final = {
    "ConvergenceOptions.values": "the parameter that they are of says it",
    "ConvergenceOptions.tolerance": "the quantity that it is of says it",
    "ProgressView.fraction": "a fraction of one",
    "InstallTask.fraction": "a fraction of one",
    "EngineCheck.value": "its unit stands beside it",
    "EngineCheck.tolerance": "its unit stands beside it",
    "Series.x": "its label and unit stand beside it",
    "Series.y": "its label and unit stand beside it",
    "BornIn.dielectric": "relative permittivities",
    "CancelParams.id": "an id that happens to be a number",
    "ElasticOptions.sizes": "relative changes",
    "SiteFound.fraction": "fractional coordinates",
    "D12Options.toldee": "called as the keyword of CRYSTAL: a power of ten in hartree",
    "D12Report.transformation": "acts on fractional coordinates",
    "D12Report.origin_shift": "fractional coordinates",
    "D12Report.max_displacement": "the name of the interface's page, in Å",
    "PseudopotentialUsed.z_valence": "a number of electrons",
    "D3Report.special_points": "fractional coordinates of reciprocal space",
    "EosOptions.reach": "a relative change",
    "Eos.vmin": "a ratio of volumes",
    "Eos.vmax": "a ratio of volumes",
    "FreqCalc.isotopes": "called as the keyword of CRYSTAL: masses in u",
    "FreqCalc.temperat": "called as the keyword of CRYSTAL: a number, and two temperatures in K",
    "OptGeom.toldeg": "called as the keyword of CRYSTAL: hartree/bohr",
    "OptGeom.toldex": "called as the keyword of CRYSTAL: bohr",
    "SymmetryFound.max_strain": "a relative change",
    "SymmetryFound.origin_shift": "fractional coordinates",
    "SymmetryFound.transformation": "acts on fractional coordinates",
}

NO_BOUND: Final = {
    "CancelParams.id": "any id that a call may have",
    "FileIn.content": "bounded by its bytes, which a schema cannot say",
    "LintParams.text": "bounded by its bytes, which a schema cannot say",
    "ReadOutputParams.text": "bounded by its bytes, which a schema cannot say",
    "ImportStructureParams.text": "bounded by its bytes, which a schema cannot say",
    "ForceStructure.text": "bounded by its bytes, which a schema cannot say",
    "WaveIn.text": "bounded by its bytes, which a schema cannot say",
    "StructureIn.text": "bounded by its bytes, which a schema cannot say",
}

SCHEMAS: Final[dict[str, dict[str, Any]]] = document(TABLE)["components"]["schemas"]


def _models(annotation: Any, seen: set[type[BaseModel]]) -> None:
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if is_model and annotation not in seen:
        seen.add(annotation)
        for info in annotation.model_fields.values():
            _models(info.annotation, seen)
    for argument in get_args(annotation):
        _models(argument, seen)


def models(*, sent: bool) -> list[type[BaseModel]]:
    """Every model that clients send, or every one that they receive."""
    seen: set[type[BaseModel]] = set()
    for method in BUILT:
        for part in (method.params,) if sent else (method.listing or (method.result,)):
            _models(part, seen)
    if not sent:
        for notification in NOTIFICATIONS:
            _models(notification.params, seen)
    return sorted(seen, key=lambda model: model.__name__)


EVERY: Final = sorted({*models(sent=True), *models(sent=False)}, key=lambda model: model.__name__)
every_model = pytest.mark.parametrize("model", EVERY, ids=lambda model: model.__name__)


@every_model
def test_every_field_is_described(model: type[BaseModel]) -> None:
    for name, info in model.model_fields.items():
        assert info.description, name
        assert info.description.endswith((".", "…")), name


@every_model
def test_models_are_closed_and_frozen(model: type[BaseModel]) -> None:
    assert model.model_config.get("extra") == "forbid"
    assert model.model_config.get("frozen") is True


@pytest.mark.parametrize("model", models(sent=True), ids=lambda model: model.__name__)
def test_params_convert_nothing(model: type[BaseModel]) -> None:
    assert model.model_config.get("strict") is True


@every_model
def test_floating_numbers_carry_their_unit(model: type[BaseModel]) -> None:
    for name, info in model.model_fields.items():
        if _holds_float(info.annotation) and f"{model.__name__}.{name}" not in NO_UNIT:
            assert name.endswith(UNITS), name


@pytest.mark.parametrize("model", models(sent=True), ids=lambda model: model.__name__)
def test_what_is_sent_is_bounded(model: type[BaseModel]) -> None:
    for name, schema in SCHEMAS[model.__name__].get("properties", {}).items():
        if f"{model.__name__}.{name}" not in NO_BOUND:
            assert list(_unbounded(schema)) == [], name


def test_exceptions_are_needed() -> None:
    present = {f"{model.__name__}.{name}" for model in EVERY for name in model.model_fields}
    assert {*NO_UNIT, *NO_BOUND} <= present


def _holds_float(annotation: Any) -> bool:
    return annotation is float or any(_holds_float(part) for part in get_args(annotation))


def _unbounded(schema: dict[str, Any]) -> Iterator[str]:
    for choice in schema.get("anyOf", []):
        yield from _unbounded(choice)
    kind = schema.get("type")
    needed = {
        "string": {"maxLength", "enum", "const"},
        "array": {"maxItems"},
        "integer": {"maximum", "exclusiveMaximum"},
        "number": {"maximum", "exclusiveMaximum"},
    }.get(str(kind))
    if needed is not None and not needed & set(schema):
        yield str(schema)
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, dict):
            yield from _unbounded(inner)
