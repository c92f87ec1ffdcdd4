"""``templates.*``: texts with places to fill in, of the program and of the user.

Templates are read and filled in by worker processes; what a template asks for meanwhile, like the
deck of a structure, is made by ``services.template_rendering``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from crystalmath.contract.rpc import Listing, rpc
from crystalmath.contract.templates import (
    GetTemplateParams,
    ListTemplatesParams,
    RenderParams,
    RenderResult,
    SaveTemplateParams,
    SaveTemplateResult,
    TemplateRow,
    TemplatesMeta,
    TemplateSource,
)
from crystalmath.errors import Conflict, InputRejected, NotFound
from crystalmath.services.ports import RunWorker
from crystalmath.services.template_rendering import Rendering

LIST: Final = "crystalmath.templates.shelf:list_templates"
GET: Final = "crystalmath.templates.shelf:get_template"
SAVE: Final = "crystalmath.templates.saving:save_template"
WORK_S: Final = 50.0
"""Seconds for reading or writing templates, below the deadline of the methods."""


class TemplatesService:
    """The templates that are there.

    Parameters
    ----------
    folder
        The user's own.
    """

    def __init__(self, run: RunWorker, rendering: Rendering, folder: Path) -> None:
        self._run = run
        self._rendering = rendering
        self._folder = folder

    @rpc(errors=(InputRejected,), lane="proc", read_only=True, deadline_s=60.0)
    def list(self, params: ListTemplatesParams) -> Listing[TemplateRow, TemplatesMeta]:
        """List the templates with their parameters, your own ones among them.

        A template of yours that cannot be used is listed with what is wrong with it.
        """
        found = self._run(LIST, {"folder": str(self._folder), "code": params.code}, WORK_S)
        rows = [TemplateRow.model_validate(row) for row in found]
        return Listing(data=rows, meta=TemplatesMeta(total=len(rows), folder=str(self._folder)))

    @rpc(errors=(InputRejected, NotFound), lane="proc", read_only=True, deadline_s=60.0)
    def get(self, params: GetTemplateParams) -> TemplateSource:
        """Show one template with its text."""
        asked = {"folder": str(self._folder), "id": params.id, "origin": params.origin}
        return TemplateSource.model_validate(self._run(GET, asked, WORK_S))

    @rpc(errors=(InputRejected, NotFound), lane="proc", read_only=True, deadline_s=120.0)
    def render(self, params: RenderParams) -> RenderResult:
        """Fill in a template and return the files that it gives; nothing is stored.

        Geometry is written by the generator of decks, which reads back what it wrote. The files
        are linted where the template says by what.
        """
        return self._rendering.render(
            params.id, params.parameters, params.origin, context=params.context
        )

    @rpc(errors=(InputRejected, NotFound, Conflict), lane="proc", deadline_s=60.0)
    def save(self, params: SaveTemplateParams) -> SaveTemplateResult:
        """Save a template in your own folder: a text, or another template with other defaults.

        Nothing is replaced unasked. A text that is no template is refused with the line at fault.
        """
        asked = {"folder": str(self._folder), **params.model_dump(mode="json")}
        return SaveTemplateResult.model_validate(self._run(SAVE, asked, WORK_S))
