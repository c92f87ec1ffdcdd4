"""Plots and exports of workflows: what is asked of worker processes, and what is refused."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from crystalmath.contract.workflow_files import ExportWorkflowParams, PlotParams
from crystalmath.errors import IllegalTransition, InvalidParams, NotFound
from crystalmath.services.workflows.computations import COMPUTATIONS
from crystalmath.services.workflows.results import Results

RESULTS = {
    "kind": "eos",
    "plots": [{"name": "energy", "title": "E"}, {"name": "pressure", "title": "p"}],
}
STRUCTURE = {"symbols": ["Cu"]}


class Store:
    """One workflow, with the results and the step of an equation of state."""

    def __init__(self, results: Mapping[str, Any] | None = RESULTS) -> None:
        self.documents = {"r": json.dumps(results), "o": json.dumps({"structure": STRUCTURE})}
        self.record = SimpleNamespace(
            kind="eos",
            state="RUNNING" if results is None else "COMPLETED",
            results_hash=None if results is None else "r",
        )
        self.step = SimpleNamespace(name="relax", output_hash="o", action={}, uses={})

    def workflow(self, _id: int) -> Any:
        return self.record

    def steps(self, _id: int) -> list[Any]:
        return [self.step]

    def artefact(self, key: str) -> str:
        return self.documents[key]


class Worker:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, function: str, arguments: Mapping[str, Any], _deadline_s: float) -> Any:
        self.asked.append((function.rpartition(":")[2], arguments))
        if function.endswith("plotted"):
            return {"content": "…", "encoding": "text"}
        return {"a.csv": "1\n"}


def results(store: Store | None = None) -> tuple[Results, Worker]:
    worker = Worker()
    return Results(store or Store(), worker), worker  # type: ignore[arg-type]


def test_the_first_plot_is_drawn_when_none_is_named() -> None:
    service, worker = results()
    drawn = service.plot(PlotParams(id=1))
    assert (drawn.kind, drawn.title, drawn.plots) == ("energy", "E", ["energy", "pressure"])
    assert service.plot(PlotParams(id=1, kind="pressure", format="svg")).kind == "pressure"
    assert [arguments["plot"]["name"] for _, arguments in worker.asked] == ["energy", "pressure"]
    assert [arguments["image"] for _, arguments in worker.asked] == ["text", "svg"]


def test_a_plot_that_is_not_there_is_refused() -> None:
    service, _ = results()
    with pytest.raises(NotFound, match="no plot 'bands'") as refused:
        service.plot(PlotParams(id=1, kind="bands"))
    assert refused.value.hint == "it has: energy, pressure"
    with pytest.raises(NotFound, match="have no plots"):
        results(Store({"kind": "relax", "plots": []}))[0].plot(PlotParams(id=1))


def test_nothing_is_made_of_a_workflow_that_has_not_completed() -> None:
    service, worker = results(Store(None))
    with pytest.raises(IllegalTransition, match="RUNNING: it has no results"):
        service.plot(PlotParams(id=1))
    with pytest.raises(IllegalTransition):
        service.export(ExportWorkflowParams(id=1, format="json"))
    assert not worker.asked


def test_an_export_is_given_what_it_is_made_from() -> None:
    service, worker = results()
    [file] = service.export(ExportWorkflowParams(id=1, format="csv")).files
    assert (file.path, file.content) == ("a.csv", "1\n")
    service.export(ExportWorkflowParams(id=1, format="pymatgen"))
    assert worker.asked == [
        ("as_csv", {"results": RESULTS}),
        ("as_structure", {"structure": STRUCTURE}),
    ]


def test_a_format_that_a_kind_does_not_have_is_refused() -> None:
    service, worker = results()
    with pytest.raises(InvalidParams, match="no files for phonopy") as refused:
        service.export(ExportWorkflowParams(id=1, format="phonopy"))
    assert (refused.value.field, refused.value.hint) == (
        "format",
        "they give json, csv, pymatgen",
    )
    assert not worker.asked


@pytest.mark.parametrize("name", sorted(COMPUTATIONS))
def test_every_computation_is_a_function(name: str) -> None:
    module, _, function = name.partition(":")
    assert callable(getattr(importlib.import_module(module), function))
