"""The real daemon for tests: started by its CLI in directories of its own, killed at teardown.

``daemon``
    A :class:`support.daemon.Daemon` that is *not started yet*: ``daemon.start()``, then
    ``daemon.connect()`` for raw bytes over the socket. The production methods.
``odd_daemon``
    The same with the namespace ``test`` (``daemon_with_test_methods.py``): sleeping, raising,
    returning what cannot be encoded.
``make_daemon``
    Several daemons, or one with other directories: ``make_daemon(env={...}, data=other.data)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.daemon import PRODUCTION, TEST_METHODS, Daemon


@pytest.fixture
def make_daemon() -> Iterator[Callable[..., Daemon]]:
    made: list[Daemon] = []

    def make(**options: object) -> Daemon:
        daemon = Daemon(**options)  # type: ignore[arg-type]
        made.append(daemon)
        return daemon

    yield make
    for daemon in made:
        daemon.cleanup()


@pytest.fixture
def daemon(make_daemon: Callable[..., Daemon]) -> Daemon:
    return make_daemon(program=PRODUCTION)


@pytest.fixture
def odd_daemon(make_daemon: Callable[..., Daemon]) -> Daemon:
    return make_daemon(program=TEST_METHODS)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "mark"
