"""The connections to one host, with connections and clocks made up."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from crystalmath.errors import AuthRefused, SshError, Unreachable
from crystalmath.runners.shells.breaker import Breaker
from crystalmath.runners.shells.connection import ConnectionLost
from crystalmath.runners.shells.hosts import Clock
from crystalmath.runners.shells.pool import HostPool, Tender

_HANG_S = 20.0


class FakeConnection:
    """Lends numbers as channels."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.alive = True
        self.open_channels = 0
        self.last_used = time.monotonic()
        self.lent = 0

    def take_channel(self, until: float) -> object:
        if self.faults:
            raise self.faults.pop(0)
        self.open_channels += 1
        self.lent += 1
        return object()

    def give_back(self, channel: object) -> None:
        self.open_channels -= 1

    def close(self) -> None:
        self.alive = False


class Made:
    """What the pool opens, one after the other: a connection or an error."""

    def __init__(self, *what: FakeConnection | SshError) -> None:
        self.what = list(what)
        self.opened = 0

    def __call__(self, until: float, ask: object) -> Any:
        self.opened += 1
        one = self.what.pop(0)
        if isinstance(one, SshError):
            raise one
        return one


class FakeClock(Clock):
    ahead_s = 0.0

    def wall(self) -> float:
        return super().wall() + self.ahead_s


def pool(made: Made, clock: Clock | None = None) -> HostPool:
    return HostPool("maple", made, Breaker("maple"), clock or Clock())


def use(one: HostPool, *, by_user: bool = False) -> None:
    with one.channel("commands", time.monotonic() + _HANG_S, by_user=by_user):
        pass


def test_one_connection_for_all_commands_and_one_for_transfers() -> None:
    first, second = FakeConnection(), FakeConnection()
    made = pool(Made(first, second))
    for _ in range(3):
        use(made)
    with made.channel("transfers", time.monotonic() + _HANG_S):
        assert (first.lent, second.lent, second.open_channels) == (3, 1, 1)
    assert second.open_channels == 0


def test_many_threads_make_one_connection() -> None:
    opener = Made(FakeConnection())
    made = pool(opener)
    threads = [threading.Thread(target=use, args=(made,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_HANG_S)
    assert opener.opened == 1


def test_a_dead_connection_is_replaced_without_a_word() -> None:
    first, second, third = FakeConnection(), FakeConnection(), FakeConnection()
    opener = Made(first, second, third)
    made = pool(opener)
    use(made)
    first.alive = False  # somebody has said so
    use(made)
    second.faults.append(ConnectionLost("no answer"))  # nobody has said so
    use(made)
    assert (second.alive, third.lent) == (False, 1)
    assert made.health().state == "ok"


def test_a_fresh_connection_that_is_lost_at_once_is_a_failure() -> None:
    made = pool(Made(FakeConnection(ConnectionLost("gone"))))
    with pytest.raises(Unreachable, match="maple does not answer"):
        use(made)
    assert made.health().failures == 1


def test_after_a_failure_only_a_user_connects_at_once() -> None:
    opener = Made(Unreachable("maple is gone"), FakeConnection())
    made = pool(opener)
    with pytest.raises(Unreachable, match="maple is gone"):
        use(made)
    with pytest.raises(Unreachable, match="again in"):
        use(made)
    assert opener.opened == 1
    use(made, by_user=True)
    use(made)


def test_a_refusal_is_told_again_without_knocking_until_reset() -> None:
    opener = Made(AuthRefused("no"), FakeConnection())
    made = pool(opener)
    for _ in range(3):
        with pytest.raises(AuthRefused):
            use(made)
    assert opener.opened == 1
    made.reset()
    use(made)


def test_an_error_within_the_loan_gives_the_channel_back() -> None:
    connection = FakeConnection()
    made = pool(Made(connection))
    with pytest.raises(ZeroDivisionError), made.channel("commands", time.monotonic() + _HANG_S):
        raise ZeroDivisionError
    assert (connection.open_channels, connection.alive) == (0, True)


def test_after_sleep_connections_are_made_anew() -> None:
    first, second, clock = FakeConnection(), FakeConnection(), FakeClock()
    made = pool(Made(first, second), clock)
    use(made)
    clock.ahead_s = 29.0
    use(made)
    assert first.alive
    clock.ahead_s = 60.0
    use(made)
    assert (first.alive, second.lent) == (False, 1)


def test_a_channel_over_its_deadline_loses_its_connection() -> None:
    connection = FakeConnection()
    made = pool(Made(connection))
    with made.channel("commands", time.monotonic() + _HANG_S) as channel:
        made.tend(idle_s=0, keep=False, overdue_s=1)
        assert connection.alive
        made.extend(channel, lambda: time.monotonic() - 2)
        made.tend(idle_s=0, keep=False, overdue_s=1)
        assert not connection.alive


def test_a_closed_pool_opens_nothing() -> None:
    opener = Made(FakeConnection())
    made = pool(opener)
    made.close(for_good=True)
    with pytest.raises(Unreachable, match="closed"):
        use(made)
    assert opener.opened == 0


def test_the_tender_ends_when_nothing_is_left_and_begins_again() -> None:
    connections = [FakeConnection(), FakeConnection()]
    made = pool(Made(*connections))
    tender = Tender(lambda: [("maple", made)], keep=lambda _n: False, idle_s=0, every_s=0.01)
    for connection in connections:
        use(made)
        tender.wake()
        deadline = time.monotonic() + _HANG_S
        while connection.alive or tender._thread is not None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    tender.stop()
