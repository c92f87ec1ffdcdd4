"""The two real programs: ``crystalmath`` and the daemon that it starts by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.daemon import PRODUCTION, ROOT, Daemon

PATIENCE_S = 120.0


class Terminal:
    """Runs ``crystalmath`` as one user would, who has no daemon yet."""

    def __init__(self) -> None:
        self.daemon = Daemon(program=PRODUCTION)
        self.program = Path(sys.executable).with_name("crystalmath")
        assert self.program.exists(), "the client is not built; `./scripts/test` builds it"
        self.env = self.daemon.env

    def popen(self, *arguments: str, **more: Any) -> subprocess.Popen[str]:
        more.setdefault("cwd", ROOT)
        return subprocess.Popen(
            [self.program, *arguments], env=self.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more,
        )  # fmt: skip

    def run(self, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        process = self.popen(*arguments, **more)
        out, err = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def json(self, *arguments: str) -> Any:
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.daemon.cleanup()
