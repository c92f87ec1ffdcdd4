"""Consent to licences: one file for each text that was accepted, so that nobody is asked twice."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Literal

from crystalmath.errors import EnvironmentUnbuildable, LicenceNotAccepted
from crystalmath.isolation.models import save_json
from crystalmath.isolation.places import Places
from crystalmath.services.ports_forces import ModelDeclaration


class Licences:
    """What was accepted. Safe between processes: a text is a file of its own."""

    def __init__(self, places: Places) -> None:
        self._root = places.models / "licences"

    def consent(self, model: ModelDeclaration) -> Literal["not_needed", "given", "needed"]:
        """Whether a model's licence must be accepted, and was."""
        if model.license_text is None:
            return "not_needed"
        return "given" if self._path_of(model.license_text).is_file() else "needed"

    def accept(self, engine: str, model: ModelDeclaration) -> None:
        """Record the consent, once for each text.

        Raises
        ------
        EnvironmentUnbuildable
            It cannot be written.
        """
        if model.license_text is None or self.consent(model) == "given":
            return
        entry = {
            "licence": model.license_id,
            "text": model.license_text,
            "engine": engine,
            "model": model.id,
            "accepted_at": time.time(),
        }
        try:
            save_json(self._path_of(model.license_text), entry)
        except OSError as error:
            raise EnvironmentUnbuildable(
                f"the consent cannot be recorded: {error.strerror}",
                hint="check the permissions of the data directory",
            ) from None

    def check(self, engine: str, model: ModelDeclaration) -> None:
        """Raise ``LicenceNotAccepted`` where consent is needed and not given."""
        if self.consent(model) == "needed":
            raise LicenceNotAccepted(
                f"the model {model.id} has the licence {model.license_id or 'below'}, which must "
                f"be accepted first: {model.license_text}",
                hint=f"crystalmath engines install {engine} --model {model.id} --accept-license",
            )

    def _path_of(self, text: str) -> Path:
        """The file of a text; how it is broken into lines does not matter."""
        digest = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
        return self._root / f"{digest}.json"
