"""Params and results of ``workflows.plot`` and ``workflows.export``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crystalmath.contract.rpc import Model, Params
from crystalmath.contract.workflows import WorkflowId

ImageFormat = Literal["png", "svg", "text"]
ExportFormat = Literal["json", "csv", "phonopy", "pymatgen"]


class PlotParams(Params):
    """Which plot, and as what."""

    id: WorkflowId = Field(description="Number of the workflow.")
    kind: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Name of the plot in the results; the first one if absent.",
    )
    format: ImageFormat = Field(
        default="text", description="png or svg for a picture, text for a terminal."
    )
    columns: int = Field(
        default=80, ge=40, le=500, examples=[100], description="Width of a text, in characters."
    )
    rows: int = Field(
        default=20, ge=8, le=200, examples=[24], description="Height of a text, in lines."
    )
    ascii: bool = Field(
        default=False, description="Draw a text with ASCII characters instead of braille dots."
    )


class WorkflowPlot(Model):
    """A plot that was drawn from the results."""

    kind: str = Field(description="Name of the plot.")
    title: str = Field(description="For people.")
    format: ImageFormat = Field(description="What it is.")
    encoding: Literal["text", "base64"] = Field(description="How `content` is to be read.")
    content: str = Field(description="The file.")
    plots: list[str] = Field(description="Names of all plots of these results.")


class ExportWorkflowParams(Params):
    """Which workflow, and for which program."""

    id: WorkflowId = Field(description="Number of the workflow.")
    format: ExportFormat = Field(
        description="json: the results document; csv: its numbers as tables; phonopy and pymatgen: "
        "files that these programs read, where the kind has them."
    )


class ExportedFile(Model):
    path: str = Field(description="Its name, without a folder.")
    content: str = Field(description="Its text.")


class ExportResult(Model):
    """Files, for the client to write where it is told."""

    files: list[ExportedFile] = Field(description="The files.")
