"""Reading an output line by line, bounded in memory, as it comes: the core that others register at.

A line is looked up by its first four characters behind the blanks; a handler may hand back what
takes the lines behind it. Nothing is read twice, so a growing file costs what was added. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from crystalmath.codes.crystal.output.run import Run

Taker = Callable[[str], bool]
"""Takes the lines of a block; False when the line is not of it any more, and is then looked up."""
Handler = Callable[[Run, str], Taker | None]

MAX_LINE: Final = 64 * 1024
"""Longer lines are no text of CRYSTAL; what is beyond is dropped."""
MAX_ECHO: Final = 4000
_KEY: Final = 4
_HANDLERS: dict[bytes, list[tuple[bytes, Handler]]] = {b"EEEE": [], b"ERRO": []}
_BANNER: Final = re.compile(rb"^ \* +CRYSTAL(\d\d) +\*\s*$")
_RELEASE: Final = re.compile(r"(?:public|release|version)\s*:?\s*([\d.]*\d)", re.IGNORECASE)
START: Final = b" EEEEEEEEEE STARTING"
END: Final = b" EEEEEEEEEE TERMINATION"
ERROR: Final = b" ERROR ****"
_MARKS: Final = (b"EEEE", b"ERRO")
_NO_TITLES: Final = (b"== SCF ENDED", b"GEOMETRY FOR WAVE FUNCTION")
"""What stands where the title should only if the output has none there."""
_CLOCK: Final = b"TTTT"


def at(*beginnings: str) -> Callable[[Handler], Handler]:
    """Register what is done at lines that begin so behind their blanks."""

    def register(handler: Handler) -> Handler:
        for beginning in beginnings:
            whole = beginning.encode()
            _HANDLERS.setdefault(whole[:_KEY], []).append((whole, handler))
        return handler

    return register


class Reader:
    """The state of reading one output; ``feed`` it, and look at ``run`` at any time."""

    def __init__(self) -> None:
        self.run = Run()
        self._rest = b""
        self._block: Taker | None = None
        self._title_next = False
        self._inside = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the output; a line that has not ended waits for its end."""
        lines = (self._rest + data).split(b"\n")
        rest = lines.pop()
        self._rest = rest if len(rest) <= MAX_LINE else rest[:MAX_LINE]
        handlers = _HANDLERS
        for line in lines:
            key = line.lstrip(b" ")[:_KEY]
            if self._inside and self._block is None:
                # Most lines end here: what is done for them counts in large outputs.
                if key == _CLOCK:
                    self.run.clock = line
                    continue
                if key not in handlers:
                    continue
            self._take(line[:MAX_LINE].rstrip(b"\r"), key)

    def finish(self) -> Run:
        """Say that nothing more comes; a last line without its end counts only as a mark."""
        line = self._rest.rstrip(b"\r")
        if self.run.started and line.startswith((END, ERROR)):
            self._mark(line)
        return self.run

    def _take(self, line: bytes, key: bytes) -> None:
        if (not self._inside or key in _MARKS) and self._outside(line):
            self._inside = self.run.started and not self.run.ended and not self._title_next
            return
        text = line.decode("latin-1")
        if self._block is not None:
            if self._block(text):
                return
            self._block = None
        stripped = line.lstrip(b" ")
        for beginning, handler in _HANDLERS.get(key, ()):
            if stripped.startswith(beginning):
                self._block = handler(self.run, text)
                return

    def _outside(self, line: bytes) -> bool:
        """The frame of a run: banner, start, title, marks; whether the line is done with."""
        if self._title_next:
            self._title_next = False
            if not line.lstrip(b" ").startswith(_NO_TITLES):
                self.run.title = line.decode("latin-1").strip()
                return True
        if line.startswith((START, END, ERROR)):
            return self._mark(line)
        run = self.run
        if run.started and not run.ended:
            return False
        banner = _BANNER.match(line)
        if banner is not None:
            # Several runs in one file: the last one counts.
            echo = [] if run.started else run.echo
            self.run = Run(version=f"CRYSTAL{banner[1].decode()}", echo=echo)
            self._block = None
        elif not run.started:
            self._before(line)
        return True

    def _before(self, line: bytes) -> None:
        run = self.run
        text = line.decode("latin-1")
        if run.version is not None and run.release is None:
            found = _RELEASE.search(text)
            run.release = found[1] if found else None
        elif run.version is None and len(run.echo) < MAX_ECHO and len(text) < 200:
            run.echo.append(text.strip())

    def _mark(self, line: bytes) -> bool:
        """Start, end and errors of the program; the echoed title is none of them."""
        run = self.run
        text = line.decode("latin-1").strip()
        if run.title and text == run.title:
            return True
        if line.startswith(START):
            if run.started:
                self.run = run = Run(version=run.version, release=run.release)
            run.started, self._title_next, self._block = True, True, None
        elif not run.started:
            return False
        elif line.startswith(ERROR):
            if run.error is None:
                run.error = " ".join(text.split())
        else:
            run.ended = True
        return True
