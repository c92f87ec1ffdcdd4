"""The private socket: tokens, strangers, vanishing clients, and that nothing grows."""

from __future__ import annotations

import os
import socket
import stat
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crystalmath.errors import ForcesError, Overloaded, WorkerDied
from crystalmath.forces.pool.channel import Channel, ChannelClosed, Turn
from crystalmath.forces.pool.knock import knock
from crystalmath.forces.pool.pool import Pool
from crystalmath.forces.worker import plain, wire
from crystalmath.services.ports_pool import PoolLimits
from support.forces import PlainHost, WaitingCall, atoms, fake_engine, until

LIMITS = PoolLimits(look_s=0.05, token_s=0.5, knock_s=0.3, channels=8)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    host = PlainHost()
    pool = Pool(host, LIMITS, str(tmp_path / "door"))
    yield pool
    pool.close()
    assert until(lambda: host.running() == 0)


class Enter:
    """Makes channels, and closes at the end what a test has left open."""

    def __init__(self) -> None:
        self._made: list[Channel] = []

    def __call__(self, pool: Pool) -> Channel:
        way = pool.attach(fake_engine(), WaitingCall())
        self._made.append(Channel(knock(way.path, way.token, engine="fake"), "fake"))
        return self._made[-1]

    def close(self) -> None:
        for channel in self._made:
            channel.close()


@pytest.fixture
def enter() -> Iterator[Enter]:
    made = Enter()
    yield made
    made.close()


def open_files(pid: object) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def ask(channel: Channel, *positions: tuple[float, float, float]) -> bytes:
    turn = Turn((atoms(*positions),))
    computed, _ = channel.ask(turn, ["forces"], 0.0, 10.0)
    return computed[0].arrays["forces"]


def test_a_client_speaks_with_the_worker_itself(pool: Pool, enter: Enter) -> None:
    channel = enter(pool)
    assert ask(channel, (1.0, 2.0, 3.0)) != ask(channel, (1.0, 2.0, 4.0))
    assert until(lambda: pool.workers()[0].clients == 1)
    channel.close()
    assert until(lambda: pool.workers()[0].clients == 0)


def test_what_follows_the_token_at_once_is_the_workers(pool: Pool) -> None:
    """A client need not wait for the answer to its token."""
    way = pool.attach(fake_engine(), WaitingCall())
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(way.path)
        copper = plain.Structure([29], [(1.0, 0.0, 0.0)], [(0.0,) * 3] * 3, (False,) * 3, {})
        request = plain.render_request([copper], ["energy"], request=9, generation=1)
        sock.sendall(way.token.encode() + request)
        sock.settimeout(10)
        heads = [wire.HEADER.unpack(sock.recv(64, socket.MSG_WAITALL)) for _ in range(2)]
    assert [head[0].strip() for head in heads] == [b"ATTACH", b"RESULT"]
    assert heads[1][2] == 9


def test_only_this_user_may_reach_it(pool: Pool) -> None:
    way = pool.attach(fake_engine(), WaitingCall())
    assert stat.S_IMODE(Path(way.path).stat().st_mode) == 0o600


def test_a_token_is_good_once_and_not_for_long(pool: Pool) -> None:
    way = pool.attach(fake_engine(), WaitingCall())
    knock(way.path, way.token, engine="fake").close()
    with pytest.raises(ForcesError, match="not good"):
        knock(way.path, way.token, engine="fake")
    with pytest.raises(ForcesError, match="not good"):
        knock(way.path, "0" * 32, engine="fake")
    late = pool.attach(fake_engine(), WaitingCall())
    time.sleep(0.6)  # a token has no event to wait for; this is its whole life
    with pytest.raises(ForcesError, match="not good"):
        knock(late.path, late.token, engine="fake")


def test_who_shows_nothing_is_sent_away(pool: Pool, enter: Enter) -> None:
    way = pool.attach(fake_engine(), WaitingCall())
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(way.path)
        sock.send(b"half a token")
        sock.settimeout(10)
        assert sock.recv(1) == b""
    assert ask(enter(pool), (1.0, 0, 0))


def test_a_token_of_a_worker_that_was_stopped(pool: Pool) -> None:
    way = pool.attach(fake_engine(), WaitingCall())
    pool.stop(way.worker, "now")
    with pytest.raises(WorkerDied):
        knock(way.path, way.token, engine="fake")


def test_a_full_worker_takes_no_more(pool: Pool, enter: Enter) -> None:
    channels = [enter(pool) for _ in range(8)]
    until(lambda: pool.workers()[0].clients == 8)
    way = pool.attach(fake_engine(), WaitingCall())
    with pytest.raises(Overloaded, match="8 clients"):
        knock(way.path, way.token, engine="fake")
    for channel in channels:
        channel.close()


def test_a_path_that_is_too_long_says_so(tmp_path: Path) -> None:
    host = PlainHost()
    pool = Pool(host, LIMITS, str(tmp_path / ("d" * 120)))
    try:
        with pytest.raises(ForcesError, match="107 bytes"):
            pool.attach(fake_engine(), WaitingCall())
    finally:
        pool.close()


def test_a_leftover_socket_is_replaced(tmp_path: Path, enter: Enter) -> None:
    host = PlainHost()
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(tmp_path / "door"))
    pool = Pool(host, LIMITS, str(tmp_path / "door"))
    try:
        assert ask(enter(pool), (1.0, 0, 0))
    finally:
        pool.close()


def test_eight_clients_get_their_own_answers(pool: Pool, enter: Enter) -> None:
    """Every reply belongs to its request: the worker gives back the positions."""
    wrong: list[object] = []

    def client(number: int) -> None:
        channel = enter(pool)
        for i in range(500):
            turn = Turn((atoms((float(number), float(i), 0.0)),))
            computed, _ = channel.ask(turn, ["forces"], 0.0, 30.0)
            expected = Turn((atoms((float(number), float(i), 0.0)),)).structures[0].positions
            if _floats(computed[0].arrays["forces"]) != list(expected[0]):
                wrong.append((number, i))
        channel.close()

    threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert pool.workers()[0].requests == 4000


def test_coming_and_going_leaves_nothing_behind(pool: Pool, enter: Enter) -> None:
    for _ in range(20):
        enter(pool).close()
    until(lambda: pool.workers()[0].clients == 0)
    before = open_files("self")
    theirs = open_files(pool.workers()[0].pid)
    for i in range(200):
        channel = enter(pool)
        if i % 3:
            ask(channel, (1.0, 0, 0))
        channel.close()
    until(lambda: pool.workers()[0].clients == 0)
    assert until(lambda: open_files("self") <= before)
    assert open_files(pool.workers()[0].pid) <= theirs


def test_death_of_the_worker_ends_every_channel(pool: Pool, enter: Enter) -> None:
    channels = [enter(pool) for _ in range(3)]
    pid = pool.workers()[0].pid
    assert pid is not None
    os.kill(pid, 9)
    for channel in channels:
        with pytest.raises(ChannelClosed):
            ask(channel, (1.0, 0, 0))
        channel.close()


def _floats(data: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(data) // 8}d", data))
