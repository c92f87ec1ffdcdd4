"""One daemon with real engines for all files here; their downloads come from the user's cache."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.daemon import PRODUCTION, ROOT, Daemon
from support.torch_engines import install

ENGINES = ("sevenn", "mace", "dftd3", "tblite")


@pytest.fixture(scope="session")
def daemon() -> Iterator[Daemon]:
    cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    made = Daemon(program=PRODUCTION, env={"UV_CACHE_DIR": cache})
    made.start()
    yield made
    made.cleanup()


@pytest.fixture(scope="session")
def homes(daemon: Daemon) -> dict[str, Path]:
    """Engine → its environment."""
    return {engine: install(daemon, engine) for engine in ENGINES}


@pytest.fixture(scope="session")
def mace_models(homes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files of random weights, which mean nothing."""
    folder = tmp_path_factory.mktemp("mace")
    python, script = homes["mace"] / "bin" / "python", ROOT / "tests" / "support" / "make_mace.py"
    found = [folder / f"random-{seed}.model" for seed in range(3)]
    for seed, path in enumerate(found):
        command = [python, "-I", script, path, str(seed)]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    return found


@pytest.fixture(scope="session")
def mace_model(mace_models: list[Path]) -> Path:
    return mace_models[0]


@pytest.fixture(scope="session")
def trained_model(homes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    python = homes["mace"] / "bin" / "python"
    script = ROOT / "tests" / "support" / "train_mace.py"
    # with threads it takes six times as much work, and longer
    subprocess.run(
        [python, "-I", script, folder],
        check=True, capture_output=True, timeout=1200, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return folder / "copper.model"
