"""The pure parts: identity, crash counting, memory, cutting into turns, packing."""

from __future__ import annotations

import math
import socket
import struct

import pytest

from crystalmath.errors import InvalidParams
from crystalmath.forces.pool.breaker import Breaker
from crystalmath.forces.pool.channel import turns
from crystalmath.forces.pool.control import Control, ControlClosed, ControlError
from crystalmath.forces.pool.key import key_of, place_of
from crystalmath.forces.pool.machine import Machine
from crystalmath.forces.pool.memory import (
    MIB,
    UNKNOWN_BYTES,
    Occupant,
    Peaks,
    make_room,
    over_budget,
    share_threads,
    starving,
)
from crystalmath.forces.worker import plain, wire
from support.forces import atoms, fake_engine


def test_what_changes_the_numbers_changes_the_key() -> None:
    one = fake_engine()
    others = (fake_engine("n"), fake_engine(device="cuda:0"), fake_engine(modal="omat"),
              fake_engine(key="other weights"))  # fmt: skip
    assert len({key_of(wanted) for wanted in (one, *others)}) == 5
    assert key_of(one) == key_of(fake_engine())


def test_options_in_another_order_are_the_same() -> None:
    assert key_of(fake_engine(a=1, b=2)) == key_of(fake_engine(b=2, a=1))


def test_other_weights_have_the_same_place() -> None:
    assert place_of(fake_engine(key="old")) == place_of(fake_engine(key="new"))
    assert place_of(fake_engine()) != place_of(fake_engine("n"))


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, "x" * 70_000])
def test_options_that_are_no_small_json_are_refused(value: object) -> None:
    with pytest.raises(InvalidParams) as caught:
        key_of(fake_engine(option=value))
    assert caught.value.field == "options"


def test_three_crashes_within_a_minute_pause_a_minute() -> None:
    breaker = Breaker(3, 60.0, 60.0)
    for now in (0.0, 30.0, 70.0):  # the first is forgotten
        breaker.crashed("k", f"at {now}", now)
    assert breaker.remaining_s("k", 70.0) == 0
    breaker.crashed("k", "at 80", 80.0)
    assert breaker.remaining_s("k", 90.0) == 50.0
    assert breaker.open_keys(90.0) == ["k"]
    assert breaker.last_error("k") == "at 80"
    assert breaker.remaining_s("k", 141.0) == 0
    assert breaker.remaining_s("other", 90.0) == 0


def test_old_crashes_are_forgotten() -> None:
    breaker = Breaker(3, 60.0, 60.0)
    breaker.crashed("k", "x", 0.0)
    breaker.forget_old(59.0)
    assert breaker.last_error("k") == "x"
    breaker.forget_old(61.0)
    assert breaker.last_error("k") == ""


def occupants(*given: tuple[str, int, float | None]) -> list[Occupant]:
    return [Occupant(name, size * MIB, idle) for name, size, idle in given]


def test_the_least_recently_used_idle_workers_go() -> None:
    there = occupants(("a", 400, 10.0), ("b", 400, 5.0), ("c", 400, None))
    assert make_room(300 * MIB, 1600 * MIB, there).victims == ()
    assert make_room(500 * MIB, 1600 * MIB, there).victims == ("b",)
    assert make_room(1000 * MIB, 1600 * MIB, there).victims == ("b", "a")


def test_what_cannot_fit_stops_nobody() -> None:
    there = occupants(("a", 400, 10.0), ("c", 900, None))
    room = make_room(800 * MIB, 1600 * MIB, there)
    assert not room.fits
    assert room.victims == ()


def test_one_that_is_larger_than_the_budget_may_run_alone() -> None:
    assert make_room(5000 * MIB, 1600 * MIB, []).fits
    room = make_room(5000 * MIB, 1600 * MIB, occupants(("a", 400, 1.0)))
    assert room.fits
    assert room.victims == ("a",)


def test_growth_beyond_the_budget_stops_an_idle_one() -> None:
    assert over_budget(900 * MIB, occupants(("a", 400, 1.0), ("b", 400, 2.0))) is None
    assert over_budget(700 * MIB, occupants(("a", 400, 3.0), ("b", 400, 2.0))) == "b"
    assert over_budget(700 * MIB, occupants(("a", 800, None))) is None


def test_a_machine_without_memory_ends_the_worker_that_has_it() -> None:
    def machine(available_mib: int) -> Machine:
        return Machine(10_000 * MIB, available_mib * MIB)

    sizes = {"a": 6000 * MIB, "b": 300 * MIB}
    assert starving(machine(900), sizes) is None
    assert starving(machine(700), sizes) == "a"
    assert starving(machine(700), {"b": 300 * MIB}) is None  # somebody else has it
    assert starving(machine(0), {}) is None


def test_measurements_that_are_no_numbers_are_left_alone() -> None:
    peaks = Peaks()
    peaks.learnt("a", [[1.0, 2.0], [3, 4]])
    for wrong in (None, "x", [1, 2], [[1.0]], [["a", "b"]], [[1.0, math.nan]], [[1, 2]] * 100):
        peaks.learnt("a", wrong)
    assert peaks.points("a") == [(1.0, 2.0), (3.0, 4.0)]
    assert peaks.points("b") == ()


def test_peaks_are_remembered() -> None:
    peaks = Peaks()
    assert peaks.expected_bytes("k") == UNKNOWN_BYTES
    for size in (5, 9, 7):
        peaks.saw("k", size)
    assert peaks.expected_bytes("k") == 9


@pytest.mark.parametrize(
    ("cores", "active", "threads"), [(8, 0, 8), (8, 1, 4), (8, 2, 2), (2, 5, 1)]
)
def test_cores_are_shared(cores: int, active: int, threads: int) -> None:
    assert share_threads(cores, active) == threads


def test_a_long_list_is_cut_by_count_and_by_atoms() -> None:
    one, three = atoms((0.0, 0, 0)), atoms(*[(0.0, 0, 0)] * 3)
    assert [len(t.structures) for t in turns([one] * 5, 2, 100)] == [2, 2, 1]
    assert [t.atoms for t in turns([three, one, three, one], 9, 4)] == [4, 4]
    assert [t.atoms for t in turns([three, three], 9, 2)] == [3, 3]
    assert list(turns([], 2, 100)) == []


def pair() -> tuple[Control, socket.socket]:
    ours, theirs = socket.socketpair()
    return Control(ours), theirs


@pytest.mark.parametrize("step", [1, 7, 64, 1000])
def test_messages_cut_anywhere_are_the_same(step: int) -> None:
    control, theirs = pair()
    data = (
        b"NEEDINIT".ljust(12)
        + plain.render_message(wire.BEAT, {"phase": "x" * 300})
        + plain.render_message(wire.CONFIG, {})
    )
    found = []
    for start in range(0, len(data), step):
        theirs.sendall(data[start : start + step])
        found += control.read()
    assert [m.word for m in found] == ["NEEDINIT", "BEAT", "CONFIG"]
    assert found[1].document == {"phase": "x" * 300}
    assert control.read() == []
    theirs.close()
    with pytest.raises(ControlClosed):
        control.read()
    control.close()


@pytest.mark.parametrize(
    "data",
    [
        b"HAVEDATA".ljust(12),
        b"NEEDINIT".ljust(12) + b"\xff" * 64,
        b"NEEDINIT".ljust(12)
        + plain.render_message(wire.BEAT)[:48]
        + struct.pack("<QQ", 3, 3)
        + b"no!",
        b"NEEDINIT".ljust(12)
        + plain.render_message(wire.BEAT)[:48]
        + struct.pack("<QQ", 2, 2)
        + b"[]",
    ],
)
def test_nonsense_is_an_error(data: bytes) -> None:
    control, theirs = pair()
    theirs.sendall(data)
    with pytest.raises(ControlError):
        control.read()
    theirs.close()
    control.close()


def fill(control: Control) -> None:
    for _ in range(100_000):
        control.exit()


def test_a_full_channel_is_an_error_and_not_a_wait() -> None:
    control, theirs = pair()
    with pytest.raises(ControlError, match="does not read"):
        fill(control)
    theirs.close()
    with pytest.raises((ControlClosed, ControlError)):
        control.exit()
    control.close()
