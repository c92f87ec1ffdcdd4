"""The terminal UI as a person sees it: the real program in tmux, its screen read back as text.

One tmux server for each :class:`Screen`, without anybody's configuration. Nothing sleeps: what is
expected is polled for, with a deadline that only catches a hang.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import pytest

PATIENCE_S = 60.0
NO_TMUX = "tmux is not installed"
ENDED = "UI-ENDED-WITH"


def require_tmux() -> str:
    """Path of tmux; installed where the tests run in CI, else the test is skipped."""
    found = shutil.which("tmux")
    if found is None and os.environ.get("CI") == "true" and os.geteuid() == 0:
        for words in (["update", "-q"], ["install", "-y", "-q", "tmux"]):
            subprocess.run(["apt-get", *words], check=True, capture_output=True, timeout=600)
        found = shutil.which("tmux")
    if found is None:
        pytest.skip(NO_TMUX)
    return found


class Screen:
    """One window of tmux in which the UI runs, and a shell after it.

    Parameters
    ----------
    env
        The whole environment of the program.
    before
        Words before the program, e.g. a relay.
    """

    def __init__(
        self,
        program: Path,
        *arguments: str,
        env: Mapping[str, str],
        cols: int = 80,
        rows: int = 24,
        before: tuple[str, ...] = (),
        cwd: Path | None = None,
    ) -> None:
        self._tmux = (require_tmux(), "-f", "/dev/null", "-L", f"cm-{uuid.uuid4().hex[:12]}")
        self.env = {**env, "TERM": "screen-256color", "LANG": "C.UTF-8", "PS1": "prompt> "}
        command = shlex.join([*before, str(program), *arguments])
        script = f"{command}; echo {ENDED} $?; exec sh"
        self._run(
            "new-session", "-d", "-x", str(cols), "-y", str(rows), "sh", "-c", script,
            env=self.env, cwd=cwd,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the window with everything in it."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True, timeout=30)

    def _run(self, *words: str, **more: Any) -> str:
        done = subprocess.run(
            [*self._tmux, *words], check=True, capture_output=True, timeout=30, **more
        )
        return done.stdout.decode("utf-8", "replace")

    def keys(self, *names: str) -> None:
        """Press keys, by tmux's names: ``Enter``, ``C-s``, ``Down``, ``a``."""
        self._run("send-keys", *names)

    def type(self, text: str) -> None:
        """Type a text, letter by letter."""
        self._run("send-keys", "-l", text)

    def click(self, column: int, row: int) -> None:
        """Press and release the left button there, counted from 0."""
        for end in "Mm":
            self.type(f"\x1b[<0;{column + 1};{row + 1}{end}")

    def text(self, *, colours: bool = False) -> str:
        """What is on the screen; ``colours`` keeps the attributes."""
        return self._run("capture-pane", "-p", *(["-e"] if colours else []))

    def lines(self) -> list[str]:
        """The rows of the screen."""
        return self.text().split("\n")

    def resize(self, cols: int, rows: int) -> None:
        """Give the window another size."""
        self._run("resize-window", "-x", str(cols), "-y", str(rows))

    def see(self, *wanted: str, gone: tuple[str, ...] = (), timeout_s: float = PATIENCE_S) -> str:
        """Wait until all the texts are on the screen, and none of ``gone`` is; return it."""

        def found(text: str) -> str | None:
            shown = all(one in text for one in wanted) and not any(one in text for one in gone)
            return text if shown else None

        return self._poll(found, f"{wanted} without {gone}", timeout_s)

    def see_match(
        self, pattern: str, *, gone: tuple[str, ...] = (), timeout_s: float = PATIENCE_S
    ) -> str:
        """Wait until the pattern fits the screen, and none of ``gone`` is on it; return it."""

        def found(text: str) -> str | None:
            shown = re.search(pattern, text) and not any(one in text for one in gone)
            return text if shown else None

        return self._poll(found, f"{pattern!r} without {gone}", timeout_s)

    def see_row(self, *words: str, timeout_s: float = PATIENCE_S) -> str:
        """Wait for a line that holds all the words; return it."""

        def found(text: str) -> str | None:
            lines = (line for line in text.split("\n") if all(word in line for word in words))
            return next(lines, None)

        return self._poll(found, f"a line with {words}", timeout_s)

    def collect(self, pattern: str, *, until: str, timeout_s: float = PATIENCE_S) -> list[str]:
        """What the pattern's group fits, each new value once, until a text is on the screen."""
        values: list[str] = []

        def found(text: str) -> str | None:
            if until in text:
                return text
            values.extend(one for one in re.findall(pattern, text) if one not in values)
            return None

        self._poll(found, repr(until), timeout_s)
        return values

    def _poll(self, found: Callable[[str], str | None], what: str, timeout_s: float) -> str:
        deadline = time.monotonic() + timeout_s
        while True:
            text = self.text()
            if (answer := found(text)) is not None:
                return answer
            if time.monotonic() >= deadline:
                raise AssertionError(f"not on the screen in {timeout_s:g} s: {what}\n{text}")
            time.sleep(0.05)

    def leave(self) -> str:
        """Press q until the program has ended well: the first ones may lead back to the list."""
        for _ in range(3):
            self.keys("q")
            with contextlib.suppress(AssertionError):
                return self.see(f"{ENDED} 0", timeout_s=3.0)
        return self.see(f"{ENDED} 0")

    def vanish(self) -> None:
        """Take the terminal away, as a cut connection or a crashed terminal does."""
        os.kill(int(self._run("display-message", "-p", "#{pid}")), signal.SIGKILL)

    def program_pid(self) -> int:
        """Pid of the UI: what runs below the window's shell."""
        shell = self._run("display-message", "-p", "#{pane_pid}").strip()
        text = Path(f"/proc/{shell}/task/{shell}/children").read_text(encoding="ascii")
        return int(text.split()[0])
