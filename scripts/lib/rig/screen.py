"""What a terminal shows after the bytes that a program wrote to it.

As much of a terminal as the UI uses, and strictly: a sequence that is not known here is an error,
so that nothing is judged by a picture that is wrong. No colours but the background, which marks the
row under the cursor. Asked whether it is there, it answers, as terminals do. Used by ``terminal``.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final

BEGIN: Final = b"\x1b[?2026h"
END: Final = b"\x1b[?2026l"
"""Around every frame (synchronized output)."""

_TOKEN = re.compile(
    r"\x1b\[(?P<params>[?0-9;:]*)(?P<final>[A-Za-z])"
    r"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|(?P<text>[^\x00-\x1f\x7f\x1b]+)"
    r"|(?P<control>[\x07\r\n])"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[?0-9;:]*|\][^\x07\x1b]*\x1b?)?\Z")
_ANSWERS: Final = {"5": b"\x1b[0n", "6": b"\x1b[%d;%dR", "": b"\x1b[?62;22c", "0": b"\x1b[?62;22c"}
_IGNORED_FINALS: Final = "hlqu"
"""Modes, cursor shape, keyboard protocol."""


class UnknownSequenceError(Exception):
    """The program wrote something that this terminal does not know."""


class Screen:
    """The cells of a terminal.

    Attributes
    ----------
    columns, rows
        Its size.
    answers
        What it has to say to the program, such as where the cursor is; for the caller to send.
    background
        By row and column: whether the cell has a background colour or is reversed.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self.answers = b""
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._rest = ""
        self._row = self._column = 0
        self._background = ""
        self._reversed = False
        self._clear()

    def feed(self, data: bytes) -> None:
        """Take in what was written; a sequence may be cut anywhere."""
        text = self._rest + self._decode(data)
        at = 0
        while at < len(text):
            token = _TOKEN.match(text, at)
            if token is None:
                if _UNFINISHED.match(text, at):
                    break
                raise UnknownSequenceError(repr(text[at : at + 40]))
            self._take(token)
            at = token.end()
        self._rest = text[at:]

    def text(self) -> str:
        """All rows, with a newline after each."""
        return "".join(f"{self.line(row)}\n" for row in range(self.rows))

    def line(self, row: int) -> str:
        """One row as text."""
        return "".join(self._cells[row])

    def _clear(self) -> None:
        self._cells = [[" "] * self.columns for _ in range(self.rows)]
        self.background = [[""] * self.columns for _ in range(self.rows)]

    def _take(self, token: re.Match[str]) -> None:
        if (text := token["text"]) is not None:
            self._put(text)
        elif (final := token["final"]) is not None:
            self._control(token["params"], final)
        elif token["control"] == "\r":
            self._column = 0
        elif token["control"] == "\n":
            self._row = min(self._row + 1, self.rows - 1)

    def _put(self, text: str) -> None:
        if not text.isascii() and any(unicodedata.east_asian_width(c) in "WF" for c in text):
            raise UnknownSequenceError(f"wide characters: {text!r}")
        end = self._column + len(text)
        if end > self.columns:
            raise UnknownSequenceError(f"text beyond column {self.columns}: {text!r}")
        self._cells[self._row][self._column : end] = text
        mark = "reversed" if self._reversed else self._background
        self.background[self._row][self._column : end] = [mark] * len(text)
        self._column = end

    def _control(self, params: str, final: str) -> None:
        if final == "H":
            row, _, column = params.partition(";")
            self._row, self._column = int(row or 1) - 1, int(column or 1) - 1
        elif final == "m":
            self._style(params)
        elif final == "J" and params == "2":
            self._clear()
        elif final in "nc" and params in _ANSWERS:
            place = (self._row + 1, self._column + 1)
            self.answers += _ANSWERS[params] % place if params == "6" else _ANSWERS[params]
        elif final not in _IGNORED_FINALS:
            raise UnknownSequenceError(f"CSI {params}{final}")

    def _style(self, params: str) -> None:
        codes = [int(code) for code in re.split("[;:]", params or "0")]
        while codes:
            code = codes.pop(0)
            if code in (38, 48, 58):
                length = {5: 2, 2: 4}[codes[0]]
                if code == 48:
                    self._background = str(codes[:length])
                del codes[:length]
            elif code in (7, 27):
                self._reversed = code == 7
            elif 40 <= code <= 49 or 100 <= code <= 107:
                self._background = "" if code == 49 else str(code)
            elif code == 0:
                self._reversed, self._background = False, ""
