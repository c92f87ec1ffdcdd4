"""The version stands in three places and is the same in all of them."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

import crystalmath

ROOT = Path(__file__).resolve().parents[2]


def test_both_languages_and_the_lock_file_name_one_version() -> None:
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    own = next(crate for crate in locked if crate["name"] == "crystalmath")
    assert package["version"] == crystalmath.__version__
    assert own["version"] == crystalmath.__version__


def test_what_is_installed_is_this_version() -> None:
    assert version("crystalmath") == crystalmath.__version__
