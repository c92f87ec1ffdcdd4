"""The set-up that every script starts with, run on a small checkout of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Make a checkout that has the files which the set-up looks at."""
    root = tmp_path / "a checkout"
    for name in ("pyproject.toml", "uv.lock", "Cargo.lock", "src/main.rs"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{name}\n")
    (root / "Cargo.toml").write_text('rust-version = "1.88"\n')
    package = root / "python/crystalmath"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "1"\n')
    shutil.copytree(SCRIPTS, root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    return root


def in_setup(
    checkout: Path, commands: str, path: str = "/usr/bin:/bin"
) -> subprocess.CompletedProcess[str]:
    """Run shell commands after sourcing the set-up."""
    return subprocess.run(
        [
            "/bin/bash",
            "-c",
            f'set -euo pipefail; source "$0/scripts/lib/setup.sh"; {commands}',
            checkout,
        ],
        env={"PATH": path, "HOME": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )


def fingerprint(checkout: Path, level: str) -> str:
    ended = in_setup(checkout, f"fingerprint {level}")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    ("changed", "level", "differs"),
    [
        ("src/main.rs", "run", True),
        ("src/new.rs", "run", True),
        ("Cargo.lock", "run", True),
        ("uv.lock", "run", True),
        ("uv.lock", "deps", True),
        ("src/main.rs", "deps", False),
        ("python/crystalmath/api.py", "run", False),
    ],
)
def test_the_fingerprint_follows_the_inputs(
    checkout: Path, changed: str, level: str, *, differs: bool
) -> None:
    before = fingerprint(checkout, level)
    (checkout / changed).write_text("changed\n")
    assert (fingerprint(checkout, level) != before) is differs


def test_the_fingerprint_sees_a_renamed_file_and_a_moved_checkout(checkout: Path) -> None:
    before = fingerprint(checkout, "run")
    (checkout / "src/main.rs").rename(checkout / "src/other.rs")
    assert fingerprint(checkout, "run") != before
    (checkout / "src/other.rs").rename(checkout / "src/main.rs")
    assert fingerprint(checkout, "run") == before
    moved = checkout.rename(checkout.with_name("moved"))
    assert fingerprint(moved, "run") != before


def test_a_set_up_checkout_runs_the_program_in_the_callers_folder(checkout: Path) -> None:
    programs = checkout / ".venv/bin"
    programs.mkdir(parents=True)
    for name in ("python", "crystalmath", "crystalmath-server"):
        (programs / name).write_text('#!/bin/sh\necho "$PWD" "$@"; env | grep CARGO_TARGET_DIR\n')
        (programs / name).chmod(0o755)
    stamps = checkout / ".venv/.setup"
    stamps.mkdir()
    (stamps / "run").write_text(fingerprint(checkout, "run"))

    caller = checkout / "src"
    ended = subprocess.run(
        [checkout / "scripts/crystalmath", "submit", "a b"],
        cwd=caller,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout, ended.stderr) == (f"{caller} submit a b\n", "")


def test_a_missing_requirement_is_one_clear_sentence(checkout: Path) -> None:
    tools = checkout / "tools"
    tools.mkdir()
    for name in ("dirname", "sed", "sort", "head"):
        (tools / name).symlink_to(shutil.which(name, path="/usr/bin:/bin") or name)

    ended = in_setup(checkout, "find_python", path=str(tools))
    assert ended.returncode == 2
    assert ended.stderr.startswith("crystalmath: Python 3.11 or newer is needed")

    ended = in_setup(checkout, "find_cargo", path=str(tools))
    assert ended.returncode == 2
    assert ended.stderr.startswith(
        "crystalmath: Rust 1.88 or newer is needed and no cargo is on PATH"
    )


@pytest.mark.parametrize(
    ("needed", "have", "enough"),
    [("1.88", "1.88.0", True), ("1.88", "1.100.0", True), ("1.88", "1.87.9", False)],
)
def test_versions_are_compared_as_numbers(
    checkout: Path, needed: str, have: str, *, enough: bool
) -> None:
    assert (in_setup(checkout, f"is_at_least {needed} {have}").returncode == 0) is enough
