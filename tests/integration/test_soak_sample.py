"""A seeded sample of what ``scripts/soak`` does in full, and against real daemons like it.

The durations of the acceptance cases are held ten times wider here: on a busy machine only a hang
is a fault.
"""

from __future__ import annotations

import pytest

from soak import connect, events, fuzz, idle, kill, starters, stopstart
from soak.outcome import Outcome

SEED = 20260106
HANG_S = 60.0
MOST_START_S = 30.0


def check(outcome: Outcome) -> None:
    assert outcome.ok, "\n".join([outcome.facts, *outcome.problems[:10]])


@pytest.mark.timeout(300)
def test_no_job_is_lost_or_run_twice_when_the_daemon_is_killed() -> None:
    check(kill.run(6, SEED, print))


def test_mutated_lines_get_exactly_the_replies_they_should() -> None:
    check(fuzz.run(2_000, SEED, print, hang_s=HANG_S))


def test_no_call_fails_around_the_idle_exit() -> None:
    check(idle.run(12, SEED, print))


def test_stop_and_start_under_load_leaves_nothing_behind() -> None:
    check(stopstart.run(4, SEED, print))


def test_clients_that_come_and_go_leave_no_descriptors() -> None:
    check(connect.run(100, SEED, print))


def test_many_starters_start_one_daemon() -> None:
    check(starters.run(1, SEED, print, clients=16, most_s=MOST_START_S))


def test_who_never_reads_costs_little_and_delays_nobody() -> None:
    check(events.run(5_000, SEED, print, hang_s=HANG_S, unwritable_s=0.5))
