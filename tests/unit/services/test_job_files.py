"""Reading parts of files: bytes, characters, ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.errors import InvalidParams
from crystalmath.services import job_files


def pieces(path: Path, limit: int) -> list[str]:
    """Read a file to its end, piece by piece."""
    found: list[str] = []
    offset = 0
    with job_files.open_inside(path.parent, path.name) as descriptor:
        while True:
            piece = job_files.read_piece(descriptor, offset, limit)
            assert piece.start == offset
            if piece.end == offset:
                return found
            found.append(piece.text)
            offset = piece.end


@given(text=st.text(max_size=60), limit=st.integers(min_value=4, max_value=20))
def test_pieces_join_to_the_whole_text(
    tmp_path_factory: pytest.TempPathFactory, text: str, limit: int
) -> None:
    path = tmp_path_factory.mktemp("pieces") / "log"
    path.write_bytes(text.encode())
    assert "".join(pieces(path, limit)) == text


@given(data=st.binary(max_size=60), limit=st.integers(min_value=1, max_value=20))
def test_any_bytes_come_to_an_end(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, limit: int
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "log"
    path.write_bytes(data)
    pieces(path, limit)


@given(
    lines=st.lists(st.text(alphabet="ab", max_size=5), max_size=12),
    ends=st.booleans(),
    n=st.integers(min_value=0, max_value=14),
)
def test_tail_gives_the_last_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ends: bool, n: int
) -> None:
    text = "\n".join(lines) + ("\n" if ends and lines else "")
    path = tmp_path_factory.mktemp("tail") / "log"
    path.write_text(text)
    expected = "".join(text.splitlines(keepends=True)[-n:]) if n else ""
    with job_files.open_inside(path.parent, path.name) as descriptor:
        assert job_files.read_tail(descriptor, n, 1 << 20).text == expected


def test_the_tail_of_a_huge_file_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
        stream.seek(0, os.SEEK_END)
        stream.write(b"\nlast\n")
    with job_files.open_inside(tmp_path, "log") as descriptor:
        assert job_files.read_tail(descriptor, 1, 65536).text == "last\n"
        piece = job_files.read_tail(descriptor, 2, 65536)
        assert piece.end - piece.start == 65536


def test_a_fifo_is_refused_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (
        pytest.raises(InvalidParams, match="not a regular file"),
        job_files.open_inside(tmp_path, "pipe"),
    ):
        pass


def test_odd_names_are_listed(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad\xff.dat")).write_text("x")
    (tmp_path / "ok.out").write_text("x")
    (tmp_path / ".cm").mkdir()
    (tmp_path / ".cm" / "end.json").write_text("{}")
    files, truncated = job_files.list_files(tmp_path, {"bad"})
    assert {f.path: f.kind for f in files} == {
        ".cm/end.json": "internal",
        "bad\ufffd.dat": "output",
        "ok.out": "log",
    }
    assert not truncated
