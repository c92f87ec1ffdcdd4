"""When a host may be connected to."""

import pytest

from crystalmath.errors import AuthRefused, HostKeyChanged, SshError, Unreachable
from crystalmath.runners.shells.breaker import Breaker


def breaker(**settings: object) -> Breaker:
    return Breaker("maple", jitter=lambda: 0.5, **settings)  # type: ignore[arg-type]


def fail(gate: Breaker, now: float, error: SshError | None = None) -> None:
    gate.failed(error or Unreachable("maple is gone", stage="connect"), now, 1000 + now)


def test_waits_double_from_a_second_to_ten_minutes() -> None:
    gate, now, waits = breaker(), 0.0, []
    for _ in range(12):
        fail(gate, now)
        wait = gate.health(now).next_try_in_s
        assert wait is not None
        waits.append(wait)
        now += wait
        gate.pass_or_raise(now, by_user=False)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]


def test_in_between_the_last_error_is_told_and_a_user_may_try() -> None:
    gate = breaker()
    fail(gate, 0)
    fail(gate, 1)
    with pytest.raises(Unreachable, match=r"maple is gone \(tried 2 times, again in 2 s\)"):
        gate.pass_or_raise(1.5, by_user=False)
    gate.pass_or_raise(1.5, by_user=True)


def test_five_failures_open_it_and_success_closes_it() -> None:
    gate = breaker()
    for n in range(5):
        assert gate.health(n).state != "open"
        fail(gate, n)
    health = gate.health(5)
    assert (health.state, health.failures, health.unreachable_since) == ("open", 5, 1000)
    gate.succeeded(6, by_user=False)
    assert gate.health(6).state == "ok"
    gate.pass_or_raise(6, by_user=False)


@pytest.mark.parametrize("error", [AuthRefused("no"), HostKeyChanged("other")])
def test_a_refusal_stops_everything_until_the_user_acts(error: SshError) -> None:
    gate = breaker()
    fail(gate, 0, error)
    with pytest.raises(type(error)):
        gate.pass_or_raise(1e6, by_user=False)
    assert gate.health(1e6).state == "needs_user"
    gate.reset()
    gate.pass_or_raise(1e6, by_user=False)


def test_automatic_log_ins_are_counted_and_those_of_users_are_not() -> None:
    gate = breaker(logins_per_hour=3)
    for n in range(10):
        gate.succeeded(n, by_user=True)
    for n in range(3):
        gate.pass_or_raise(100 + n, by_user=False)
        gate.succeeded(100 + n, by_user=False)
    with pytest.raises(Unreachable, match="3 times within an hour"):
        gate.pass_or_raise(200, by_user=False)
    gate.pass_or_raise(200, by_user=True)
    gate.pass_or_raise(100 + 3600, by_user=False)
