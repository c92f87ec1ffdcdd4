"""The real daemon for tests: started by its CLI in directories of its own, killed at teardown.

``daemon``
    A :class:`support.daemon.Daemon` with the production methods, *not started yet*:
    ``daemon.start()``, then ``daemon.connect()`` for raw bytes over its socket.
``odd_daemon``
    The same with the namespace ``test`` of ``daemon_with_test_methods.py``: methods that sleep,
    raise, and return what cannot be encoded. Starts faster, as it has no database.
``running``
    An ``odd_daemon`` that is started once per module; for tests that leave it as it was.
``raw``
    A connection to ``running``.
``make_daemon``
    Makes several, or one with other directories: ``make_daemon(env={...}, data=other.data)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from support.daemon import PRODUCTION, TEST_METHODS, Daemon, RawSocket


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


@pytest.fixture(scope="module")
def running() -> Iterator[Daemon]:
    made = Daemon(program=TEST_METHODS)
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


@pytest.fixture
def raw(running: Daemon) -> Iterator[RawSocket]:
    with running.connect() as connection:
        yield connection
