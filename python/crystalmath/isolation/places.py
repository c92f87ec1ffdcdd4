"""Where everything lies: declarations, environments, caches, models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """The directories.

    Attributes
    ----------
    data_dir
        The daemon's data directory; environments, caches and models are made in it.
    shipped
        Declarations that come with CrystalMath, with their locks beside them.
    user
        The user's own declarations, or None.
    uv_cache
        Cache of downloads; None: uv's own where it is on the same file system as the data, else
        one in the data directory, so that packages are hard links.
    uv
        The program uv; None: the one installed with CrystalMath, else the one in PATH.
    """

    data_dir: Path
    shipped: Path
    user: Path | None = None
    uv_cache: Path | None = None
    uv: Path | None = None

    @property
    def environments(self) -> Path:
        """Finished environments, and those being built (hidden)."""
        return self.data_dir / "environments"

    @property
    def locks(self) -> Path:
        """Locks of the user's declarations."""
        return self.data_dir / "environments" / ".locks"

    @property
    def logs(self) -> Path:
        """Full logs of builds, and the last words of workers."""
        return self.data_dir / "environments" / ".logs"

    @property
    def models(self) -> Path:
        """Weights, by their hash."""
        return self.data_dir / "models"

    @property
    def fingerprints(self) -> Path:
        """What examinations of engines have found."""
        return self.data_dir / "forces" / "fingerprints"

    @property
    def all_caches(self) -> Path:
        """One directory for each engine, and uv's if it has to be here."""
        return self.data_dir / "caches"

    def caches(self, engine: str) -> Path:
        """What the packages of one engine think is the home directory."""
        return self.all_caches / engine

    def environment(self, environment_id: str) -> Path:
        """Final directory of an environment."""
        return self.environments / environment_id


def user_declarations(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user's declarations: ``$XDG_CONFIG_HOME/crystalmath/engines``."""
    source = os.environ if environ is None else environ
    given = source.get("XDG_CONFIG_HOME", "")
    config = Path(given) if given.startswith("/") else Path.home() / ".config"
    return config / "crystalmath" / "engines"
