"""A user with a terminal, and no daemon yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.conftest import Terminal
from support.daemon import ROOT
from support.screen import Screen

Open = Callable[..., Screen]


@pytest.fixture
def screen(terminal: Terminal) -> Iterator[Open]:
    """Opens the UI; every window is closed at the end, before the daemon is."""
    opened: list[Screen] = []

    def open_one(*arguments: str, env: dict[str, str] | None = None, **more: Any) -> Screen:
        more.setdefault("cwd", ROOT)
        made = Screen(terminal.program, *arguments, env={**terminal.env, **(env or {})}, **more)
        opened.append(made)
        return made

    yield open_one
    for one in opened:
        one.close()
