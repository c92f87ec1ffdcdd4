"""Paths of the files of a job: inside the directory, without clashes, not ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.codes.files import check_files, check_path
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import InputFile


@pytest.mark.parametrize(
    ("path", "clean"), [("run.sh", "run.sh"), ("./a//b/./c", "a/b/c"), ("a b", "a b"), ("ä", "ä")]
)
def test_good_paths(path: str, clean: str) -> None:
    assert check_path(path, "files.0.path") == clean


@pytest.mark.parametrize(
    "path",
    [
        *("", ".", "./", "a/", "/etc/passwd", "..", "a/../b", "../x", "a\nb", "a\0b", "\ud800"),
        *(".cm/end.json", "./.cm", "stdout.log", "./stderr.log", "x" * 256, "a/" * 600 + "b"),
    ],
)
def test_bad_paths(path: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        check_path(path, "files.3.path")
    assert caught.value.field == "files.3.path"
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    ("files", "field"),
    [
        ((InputFile("a", content="1"), InputFile("./a", content="2")), "files.1.path"),
        ((InputFile("a", content="1"), InputFile("a/b", content="2")), "files.0.path"),
        ((InputFile("a"),), "files.0"),
        ((InputFile("a", content="", source="/x"),), "files.0"),
        ((InputFile("a", source="x"),), "files.0.source"),
    ],
)
def test_bad_lists(files: tuple[InputFile, ...], field: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        check_files(files)
    assert caught.value.field == field


@given(st.text(max_size=40))
def test_what_passes_stays_inside(path: str) -> None:
    try:
        clean = check_path(path, "f")
    except InvalidParams:
        return
    parts = clean.split("/")
    assert ".." not in parts
    assert parts[0] not in {"", ".cm"}
    assert check_path(clean, "f") == clean
