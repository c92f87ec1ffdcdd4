"""Which providers there are, in the order in which they are preferred. Called by ``api``."""

from __future__ import annotations

from crystalmath.materials.embedded import EmbeddedProvider
from crystalmath.materials.files import FilesProvider
from crystalmath.materials.materials_project import MaterialsProjectProvider
from crystalmath.materials.optimade import OptimadeProvider
from crystalmath.materials.project import ProjectProvider
from crystalmath.services.ports import RunWorker
from crystalmath.services.ports_materials import (
    JobStructures,
    MaterialsSettings,
    MaterialStore,
    Provider,
)


def build_providers(
    settings: MaterialsSettings, run: RunWorker, materials: MaterialStore, jobs: JobStructures
) -> tuple[Provider, ...]:
    """Build all of them."""
    allowed = not settings.offline
    files = (FilesProvider(run, settings.folders),) if settings.folders else ()
    databases = (
        OptimadeProvider(run, name, url, allowed=allowed)
        for name, url in settings.optimade.items()
        if url
    )
    return (
        EmbeddedProvider(run),
        ProjectProvider(run, materials, jobs),
        *files,
        MaterialsProjectProvider(run, settings.mp_api_key, settings.mp_url, allowed=allowed),
        *databases,
    )
