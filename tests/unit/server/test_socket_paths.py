"""The rule where the socket is: the table that Python and Rust share."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from crystalmath.contract.socket_path import (
    Facts,
    PathRefusedError,
    data_directory,
    socket_path,
)
from crystalmath.errors import ConfigError
from crystalmath.server import paths

TABLE = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "socket_paths.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda c: c["name"])
def test_socket_table(case: dict[str, Any]) -> None:
    def probe(path: str) -> Facts | None:
        found = case["facts"].get(path)
        if found is None:
            return None
        mode, writable = int(found["mode"], 8), found.get("writable", True)
        return Facts(found["kind"], found["uid"], mode, writable)

    try:
        chosen = socket_path(case["flag"], case["env"], case["uid"], probe, case["platform"])
    except PathRefusedError as refused:
        got = {"refused": refused.reason}
    else:
        got = {"path": chosen.path, "origin": chosen.origin}
        if chosen.shortened_from is not None:
            got["shortened_from"] = chosen.shortened_from
    assert got == case["expect"]


@pytest.mark.parametrize("case", TABLE["data_dirs"], ids=lambda c: c["name"])
def test_data_table(case: dict[str, Any]) -> None:
    try:
        got = {"path": data_directory(case["flag"], case["env"])}
    except PathRefusedError as refused:
        got = {"refused": refused.reason}
    assert got == case["expect"]


def test_every_expected_word_occurs() -> None:
    words = {c["expect"].get("refused", c["expect"].get("origin")) for c in TABLE["cases"]}
    assert words == {
        "flag", "environment", "runtime", "run_user", "caches", "tmp",
        "relative", "no_file_name", "unsafe_directory",
    }  # fmt: skip


def test_probe_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").touch()
    assert paths.probe(str(tmp_path / "link")).kind == "symlink"  # type: ignore[union-attr]
    assert paths.probe(str(tmp_path / "file")).kind == "file"  # type: ignore[union-attr]
    assert paths.probe(str(tmp_path / "missing")) is None
    found = paths.probe(str(tmp_path / "real"))
    assert found == Facts("dir", os.getuid(), 0o700, writable=True)


def test_refusal_is_in_the_users_words() -> None:
    with pytest.raises(ConfigError, match="relative") as caught:
        paths.resolve_socket("a.sock", {})
    assert "--socket" in str(caught.value.hint)


def test_shortening_names_the_limit() -> None:
    long = "/" + "d" * 150 + "/a.sock"
    chosen = paths.resolve_socket(long, {})
    notice = paths.shortening_notice(chosen)
    assert notice is not None
    assert "107" in notice
    assert long in notice
    assert paths.shortening_notice(paths.resolve_socket("/a/b.sock", {})) is None


def test_missing_directory_of_an_explicit_path(tmp_path: Path) -> None:
    chosen = paths.resolve_socket(str(tmp_path / "no" / "a.sock"), {})
    with pytest.raises(ConfigError, match="does not exist"):
        paths.ensure_socket_directory(chosen)
