"""Bytes in, lines out: newline-delimited messages, without I/O and without JSON.

Only new bytes are searched, a line that is too long is dropped up to its newline, and memory stays
bounded whatever arrives. Called by ``connection``.
"""

from __future__ import annotations

from typing import Final


class Oversize:
    """Stands in the place of a line that was longer than the limit."""

    __slots__ = ()


OVERSIZE: Final = Oversize()
_BLANK: Final = b" \t\r\n"
Line = bytes | bytearray | Oversize


class LineFramer:
    """Splits a byte stream into lines.

    Parameters
    ----------
    max_line_bytes
        Longest line, without its newline.

    Attributes
    ----------
    discarded_bytes
        Bytes dropped so far, in all oversize lines together.
    """

    __slots__ = ("_dropping", "_max", "_partial", "discarded_bytes")

    def __init__(self, max_line_bytes: int) -> None:
        self._max = max_line_bytes
        self._partial = bytearray()
        self._dropping = False
        self.discarded_bytes = 0

    @property
    def unfinished(self) -> bool:
        """Whether a line has begun and its newline has not come."""
        return self._dropping or bool(self._partial)

    def feed(self, data: bytes) -> list[Line]:
        """Take new bytes; return the lines they complete, without newline and without blank lines.

        An oversize line is reported once, as soon as it is known to be too long.
        """
        last = len(data) - 1
        if data.find(b"\n") == last and last <= self._max and not self.unfinished:
            line = data.strip(_BLANK)  # the usual case: exactly one whole line
            return [line] if line else []
        lines: list[Line] = []
        pieces = data.split(b"\n")
        for piece in pieces[:-1]:
            self._append(piece, lines)
            self._finish(lines)
        self._append(pieces[-1], lines)
        return lines

    def _append(self, piece: bytes, lines: list[Line]) -> None:
        if self._dropping:
            self.discarded_bytes += len(piece)
        elif len(self._partial) + len(piece) > self._max:
            self.discarded_bytes += len(self._partial) + len(piece)
            self._partial = bytearray()
            self._dropping = True
            lines.append(OVERSIZE)
        else:
            self._partial += piece

    def _finish(self, lines: list[Line]) -> None:
        if not self._dropping:
            line = self._partial
            if line and (line[0] in _BLANK or line[-1] in _BLANK):
                line = line.strip(_BLANK)
            if line:
                lines.append(line)
        self._dropping = False
        self._partial = bytearray()
