"""From the bytes of a file, or the text of a request, to clean text.

The rules: strip a byte order mark, decode UTF-8 and else Latin-1 (and say which), refuse NUL, turn
CRLF and CR into LF. Called by ``structures.read`` in a worker process.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from crystalmath.errors import InputRejected

MAX_FILE_BYTES: Final = 16 * 1024**2
"""What a worker process reads well within its time."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The clean text of a structure.

    Attributes
    ----------
    field
        The request field it came from, for error messages.
    sha256
        Of the bytes as they were given.
    name
        Of the file, without its directory; empty for a text.
    """

    text: str
    field: str
    encoding: str
    sha256: str
    warnings: tuple[str, ...] = ()
    name: str = ""


def from_file(path: str) -> SourceText:
    """Read the regular file ``path``.

    Raises
    ------
    InputRejected
        It is missing, unreadable, no regular file, too large, or no text.
    """
    field = "structure.path"
    try:
        # O_NONBLOCK: opening a FIFO that nobody writes to must not hang.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputRejected(f"{path} cannot be read: {error.strerror}", field=field) from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise InputRejected(f"{path} is not a regular file", field=field)
        if status.st_size > MAX_FILE_BYTES:
            raise InputRejected(
                f"{path} has {status.st_size / 1024**2:.0f} MiB; a structure file may have "
                f"{MAX_FILE_BYTES // 1024**2} MiB",
                hint="give the one structure that is meant, without trajectory and volume data",
                field=field,
            )
        with os.fdopen(handle, "rb", closefd=False) as stream:
            data = stream.read(MAX_FILE_BYTES)
    except OSError as error:
        raise InputRejected(f"{path} cannot be read: {error.strerror}", field=field) from error
    finally:
        os.close(handle)
    return _clean(data, field, PurePath(path).name)


def of_large_file(path: str) -> SourceText:
    """Check the regular file ``path``, of any size, which its reader takes as a stream.

    Returns
    -------
    SourceText
        Without the text.

    Raises
    ------
    InputRejected
        It is missing, unreadable, empty, or no regular file.
    """
    field = "structure.path"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise InputRejected(f"{path} is not a regular file", field=field)
            if status.st_size == 0:
                raise InputRejected("the input is empty", field=field)
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputRejected(f"{path} cannot be read: {error.strerror}", field=field) from error
    return SourceText("", field, "", digest)


def from_text(text: str) -> SourceText:
    """Clean a text that came in a request."""
    field = "structure.text"
    try:
        return _clean(text.encode(), field)
    except UnicodeEncodeError as error:
        raise InputRejected("the text is not valid Unicode", field=field) from error


def _clean(data: bytes, field: str, name: str = "") -> SourceText:
    digest = hashlib.sha256(data).hexdigest()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputRejected("the text is UTF-16", hint="save it as UTF-8", field=field)
    if b"\0" in data:
        raise InputRejected(
            "the input holds NUL bytes: it is no text file",
            hint="is it compressed or binary? give the plain text file",
            field=field,
        )
    data = data.removeprefix(b"\xef\xbb\xbf")
    warnings: tuple[str, ...] = ()
    try:
        text, encoding = data.decode(), "utf-8"
    except UnicodeDecodeError:
        text, encoding = data.decode("latin-1"), "latin-1"
        warnings = ("the text is not UTF-8; it was read as Latin-1",)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise InputRejected("the input is empty", field=field)
    return SourceText(text, field, encoding, digest, warnings, name)
