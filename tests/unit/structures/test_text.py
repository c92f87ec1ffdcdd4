"""Bytes to clean text: byte order mark, encodings, line ends, NUL, odd files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from crystalmath.errors import InputRejected
from crystalmath.structures.text import from_file, from_text


def _write(folder: Path, data: bytes) -> str:
    path = folder / "structure.cif"
    path.write_bytes(data)
    return str(path)


def test_byte_order_mark_and_line_ends_go(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfa\r\nb\rc\n"
    source = from_file(_write(tmp_path, data))
    assert source.text == "a\nb\nc\n"
    assert source.encoding == "utf-8"
    assert source.warnings == ()
    assert source.sha256 == hashlib.sha256(data).hexdigest()


def test_latin_1_is_said(tmp_path: Path) -> None:
    source = from_file(_write(tmp_path, b"\xef\xbb\xbfK\xfchn\n"))
    assert source.text == "Kühn\n"
    assert source.encoding == "latin-1"
    assert "Latin-1" in source.warnings[0]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"a\0b", "NUL"),
        ("data_x".encode("utf-16"), "UTF-16"),
        (b"", "empty"),
        (b" \n \n", "empty"),
    ],
)
def test_no_text_is_refused(tmp_path: Path, data: bytes, word: str) -> None:
    with pytest.raises(InputRejected, match=word) as caught:
        from_file(_write(tmp_path, data))
    assert caught.value.field == "structure.path"


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, tmp_path / "missing", Path("/dev/zero")):
        with pytest.raises(InputRejected) as caught:
            from_file(str(path))
        assert caught.value.field == "structure.path"
        assert str(path) in caught.value.message


def test_text_of_a_request_follows_the_same_rules() -> None:
    assert from_text("\ufeffa\r\nb").text == "a\nb"
    for bad in ("a\0b", "\ud800", "  "):
        with pytest.raises(InputRejected) as caught:
            from_text(bad)
        assert caught.value.field == "structure.text"
