"""Which weights are meant: the default model, a declared one, or a user's file."""

from __future__ import annotations

from pathlib import Path

from crystalmath.errors import InputRejected, NotFound
from crystalmath.isolation.licences import Licences
from crystalmath.isolation.models import ModelStore
from crystalmath.services.ports_forces import (
    EngineDeclaration,
    ModelDeclaration,
    ModelState,
    ResolvedModel,
)


class ModelChoice:
    """Models of declared engines, as they stand here."""

    def __init__(self, store: ModelStore, licences: Licences) -> None:
        self._store = store
        self._licences = licences

    def state(self, engine: str, model: ModelDeclaration, *, installed: bool) -> ModelState:
        """Say whether a model is here and may be used."""
        path: Path | None = None
        present = installed and model.source in ("builtin", "package")
        if model.source == "download":
            path = self._store.path_of(model)
            present = path.is_file()
        return ModelState(
            engine=engine,
            declaration=model,
            present=present,
            consent=self._licences.consent(model),
            sha256=model.sha256,
            path=str(path) if path is not None and present else None,
        )

    def named(self, engine: EngineDeclaration, model: str) -> ModelDeclaration:
        """Return a declared model; raises ``NotFound`` listing what exists."""
        for one in engine.models:
            if one.id == model:
                return one
        names = ", ".join(one.id for one in engine.models) or "none by name"
        raise NotFound(
            f"the engine {engine.name} has no model {model[:200]!r}",
            hint=f"models: {names}; a file is given by its absolute path",
            field="model",
        )

    def resolve(self, engine: EngineDeclaration, model: str | None, version: str) -> ResolvedModel:
        """Find what a worker loads.

        Parameters
        ----------
        version
            Package and version that packaged weights come with.

        Raises
        ------
        NotFound, LicenceNotAccepted, InputRejected
        """
        if model is not None and model.startswith("/"):
            return self._file(engine, Path(model))
        chosen = self._default(engine) if model is None else self.named(engine, model)
        if chosen.source == "file":
            raise InputRejected(
                f"the engine {engine.name} needs a file with its weights",
                hint="give its absolute path as model",
                field="model",
            )
        self._licences.check(engine.name, chosen)
        if chosen.source == "download":
            return self._download(engine.name, chosen)
        key = f"{engine.name} {version}:{chosen.id}"
        return ResolvedModel(chosen.id, chosen.id, key, None, chosen)

    def _default(self, engine: EngineDeclaration) -> ModelDeclaration:
        marked = [one for one in engine.models if one.default]
        if marked:
            return marked[0]
        if len(engine.models) == 1:
            return engine.models[0]
        names = ", ".join(one.id for one in engine.models)
        raise InputRejected(
            f"the engine {engine.name} has no default model",
            hint=f"one of {names}" if names else "give the absolute path of a file as model",
            field="model",
        )

    def _file(self, engine: EngineDeclaration, path: Path) -> ResolvedModel:
        declared = next((one for one in engine.models if one.source == "file"), None)
        if declared is None:
            raise InputRejected(
                f"the engine {engine.name} takes no model files",
                hint=f"models: {', '.join(one.id for one in engine.models)}",
                field="model",
            )
        self._licences.check(engine.name, declared)
        digest = self._store.hash_file(path)
        return ResolvedModel(path.name, str(path), digest, digest, declared)

    def _download(self, engine: str, model: ModelDeclaration) -> ResolvedModel:
        assert model.sha256 is not None
        path = self._store.path_of(model)
        if not path.is_file():
            raise NotFound(
                f"the weights of {model.id} are not here",
                hint=f"crystalmath engines install {engine} --model {model.id}",
                field="model",
            )
        return ResolvedModel(model.id, str(path), model.sha256, model.sha256, model)
