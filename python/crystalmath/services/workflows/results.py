"""What is made of the results of a workflow: plots, and files for other programs.

The work is done by worker processes; called by ``service``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from crystalmath.contract.workflow_files import (
    ExportResult,
    ExportWorkflowParams,
    PlotParams,
    WorkflowPlot,
)
from crystalmath.errors import IllegalTransition, InvalidParams, NotFound
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_workflows import WorkflowRecord, WorkflowStore
from crystalmath.services.workflows.computations import PLOT
from crystalmath.services.workflows.exports import exports_of
from crystalmath.services.workflows.inputs import MissingPart

WORK_S: Final = 50.0
"""Seconds for one picture, or one export."""


@dataclass(frozen=True, slots=True)
class Results:
    """Reads what workflows have ended with."""

    store: WorkflowStore
    run_worker: RunWorker

    def document(self, record: WorkflowRecord) -> dict[str, Any]:
        """The results document; empty until the workflow is COMPLETED."""
        if record.results_hash is None:
            return {}
        found: dict[str, Any] = json.loads(self.store.artefact(record.results_hash))
        return found

    def plot(self, params: PlotParams) -> WorkflowPlot:
        """Draw a plot.

        Raises
        ------
        NotFound
            There is no such workflow, or it has no such plot.
        IllegalTransition
            It has no results.
        """
        plots = {plot["name"]: plot for plot in self._completed(params.id)[1]["plots"]}
        if not plots:
            raise NotFound(
                f"the results of workflow {params.id} have no plots",
                hint="its numbers are in `results` of `workflows.get`",
            )
        name = params.kind or next(iter(plots))
        if name not in plots:
            raise NotFound(
                f"workflow {params.id} has no plot {name!r}",
                hint=f"it has: {', '.join(plots)}",
            )
        arguments = {
            "plot": plots[name],
            "image": params.format,
            "columns": params.columns,
            "rows": params.rows,
            "ascii_only": params.ascii,
        }
        return WorkflowPlot(
            kind=name,
            title=plots[name]["title"],
            format=params.format,
            plots=list(plots),
            **self.run_worker(PLOT, arguments, WORK_S),
        )

    def export(self, params: ExportWorkflowParams) -> ExportResult:
        """Make the files of a format.

        Raises
        ------
        NotFound, IllegalTransition
        InvalidParams
            The kind has nothing for this format.
        """
        record, document = self._completed(params.id)
        exports = exports_of(record.kind)
        export = exports.get(params.format)
        if export is None:
            raise InvalidParams(
                f"workflows of the kind {record.kind} give no files for {params.format}",
                hint=f"they give {', '.join(exports)}",
                field="format",
            )
        try:
            arguments = export.arguments(document, self.store.steps(params.id), self.store)
        except MissingPart as missing:
            raise NotFound(f"an export is not possible: {missing}") from None
        files = self.run_worker(export.function, arguments, WORK_S)
        return ExportResult.model_validate(
            {"files": [{"path": path, "content": text} for path, text in files.items()]}
        )

    def _completed(self, workflow_id: int) -> tuple[WorkflowRecord, dict[str, Any]]:
        record = self.store.workflow(workflow_id)
        document = self.document(record)
        if not document:
            raise IllegalTransition(
                f"workflow {workflow_id} is {record.state}: it has no results",
                hint="results come when it is COMPLETED; `workflows.get` shows how far it is",
            )
        return record, document
