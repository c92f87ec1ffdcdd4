"""Programs that break the protocol: a typed error within the deadline, and no residue.

The liars are threads of this process at the other end of a real socket.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from crystalmath.errors import BadResult, InputRejected, WorkerDied, WorkerTimeout
from crystalmath.forces.ipi import words
from crystalmath.forces.ipi.codec import ForcesMessage
from crystalmath.forces.ipi.host import Deadlines, Host
from support.ipi import read_bytes as read

ATOMS = 2
POSITIONS = np.arange(6.0).reshape(2, 3)
CELL = 5.0 * np.eye(3)
SHORT = Deadlines(connect_s=0.5, call_s=0.5, first_s=0.5, leave_s=0.5)
HANG_S = 60.0
Script = Callable[[socket.socket], None]


def answer(atoms: int = ATOMS, extras: bytes = b"") -> bytearray:
    message = ForcesMessage(atoms, extras=extras)
    message.fill(-1.0, np.ones((atoms, 3)), np.eye(3))
    return bytearray(message.all)


def patched(at: int, patch: bytes) -> bytes:
    data = answer()
    data[at : at + len(patch)] = patch
    return bytes(data)


def ready(peer: socket.socket) -> None:
    assert read(peer, 12) == words.STATUS
    peer.sendall(words.READY)


def structure(peer: socket.socket, atoms: int = ATOMS) -> None:
    assert read(peer, 172 + 24 * atoms)[:12] == words.POSDATA


def give(data: bytes) -> Script:
    """Behave until the forces are asked for, then send this and stay."""

    def script(peer: socket.socket) -> None:
        ready(peer)
        structure(peer)
        peer.sendall(data)
        read(peer, 1)

    return script


@pytest.fixture
def against() -> Iterator[Callable[..., Host]]:
    """Makes a host whose program is a script in a thread."""
    hosts: list[Host] = []
    threads: list[threading.Thread] = []

    def make(
        script: Script, atoms: int = ATOMS, record: str = "ase", deadlines: Deadlines = SHORT
    ) -> Host:
        host = Host(record, atoms, deadlines=deadlines)

        def run() -> None:
            with socket.socket(socket.AF_UNIX) as peer, contextlib.suppress(OSError):
                peer.settimeout(HANG_S)
                peer.connect(host.door.path)
                script(peer)

        hosts.append(host)
        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return host

    yield make
    for host in hosts:
        host.close()
    for thread in threads:
        thread.join(HANG_S)
        assert not thread.is_alive()


def test_an_honest_one(against: Callable[..., Host]) -> None:
    result = against(give(bytes(answer()))).evaluate(POSITIONS, CELL)
    assert result.energy_ev == pytest.approx(-1.0, rel=1e-7)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (bytes(answer(3)), "forces on 3 atoms; 2 were sent"),
        (patched(20, struct.pack("<i", -7)), "forces on -7 atoms"),
        (b"SEGFAULT    ", "'SEGFAULT' is no word"),
        (b"Er", "'Er' is no word"),
        (words.READY, "'READY' came where FORCEREADY belongs"),
        (patched(12, struct.pack("<d", float("nan"))), "the energy is nan"),
        (patched(24, struct.pack("<d", float("-inf"))), "force on atom 0 .* is -inf along x"),
        (patched(72, struct.pack("<d", float("nan"))), "virial's xx is nan"),
        (patched(144, struct.pack("<i", 2_000_000_000)), "extras of 2000000000 bytes"),
        (patched(144, struct.pack("<i", -1)), "extras of -1 bytes"),
        (bytes(answer()) + b"!", "1 bytes more"),
    ],
)
def test_a_wrong_answer(against: Callable[..., Host], data: bytes, complaint: str) -> None:
    host = against(give(data))
    begun = time.monotonic()
    with pytest.raises(BadResult, match=complaint):
        host.evaluate(POSITIONS, CELL)
    assert time.monotonic() - begun < HANG_S
    with pytest.raises(WorkerDied, match=f"is gone: .*{complaint}"):
        host.evaluate(POSITIONS, CELL)


def test_an_answer_that_comes_twice_is_not_taken_for_the_next(
    against: Callable[..., Host],
) -> None:
    told = threading.Event()

    def script(peer: socket.socket) -> None:
        ready(peer)
        structure(peer)
        peer.sendall(answer())
        told.wait(HANG_S)
        peer.sendall(answer())
        sent.set()
        read(peer, 1)

    sent = threading.Event()
    host = against(script)
    host.evaluate(POSITIONS, CELL)
    told.set()
    assert sent.wait(HANG_S)
    with pytest.raises(BadResult, match="came unasked"):
        host.evaluate(POSITIONS, CELL)


@pytest.mark.parametrize("part", [0, 5, 12, 30, len(answer()) - 1])
def test_silence_in_the_middle_of_an_answer(against: Callable[..., Host], part: int) -> None:
    host = against(give(bytes(answer())[:part]))
    begun = time.monotonic()
    with pytest.raises(WorkerTimeout, match=r"within 0\.5 s while computing forces"):
        host.evaluate(POSITIONS, CELL)
    assert 0.4 < time.monotonic() - begun < HANG_S


@pytest.mark.parametrize("part", [0, 5, 12, 30, len(answer()) - 1])
def test_a_close_in_the_middle_of_an_answer(against: Callable[..., Host], part: int) -> None:
    def script(peer: socket.socket) -> None:
        ready(peer)
        structure(peer)
        peer.sendall(answer()[:part])

    where = "in the middle of its answer" if part else "computing forces"
    with pytest.raises(WorkerDied, match=f"closed the connection while .*{where}"):
        against(script).evaluate(POSITIONS, CELL)


@pytest.mark.parametrize(
    ("script", "kind", "complaint"),
    [
        (lambda peer: None, WorkerDied, "closed the connection"),
        (lambda peer: read(peer, 13), WorkerTimeout, "while answering STATUS"),
        (
            lambda peer: (peer.sendall(words.HAVEDATA), read(peer, 13)),
            BadResult,
            "unasked|HAVEDATA",
        ),
        (
            lambda peer: (read(peer, 12), peer.sendall(words.HAVEDATA), read(peer, 1)),
            BadResult,
            "'HAVEDATA' where 'READY' belongs",
        ),
    ],
)
def test_a_wrong_beginning(
    against: Callable[..., Host], script: Script, kind: type[Exception], complaint: str
) -> None:
    with pytest.raises(kind, match=complaint):
        against(script).evaluate(POSITIONS, CELL)


def test_init_only_when_it_is_asked_for_and_only_once(against: Callable[..., Host]) -> None:
    heard: list[bytes] = []

    def script(peer: socket.socket) -> None:
        for state in (words.NEEDINIT, words.NEEDINIT):
            heard.append(read(peer, 12))
            peer.sendall(state)
            if state == words.NEEDINIT and len(heard) == 1:
                heard.append(read(peer, 12 + 4 + 4 + 1))
        read(peer, 1)

    with pytest.raises(BadResult, match="'NEEDINIT' where 'READY' belongs"):
        against(script).evaluate(POSITIONS, CELL)
    assert heard == [words.STATUS, words.INIT + struct.pack("<ii", 0, 1) + b"\0", words.STATUS]


def test_ready_where_it_should_have_data(against: Callable[..., Host]) -> None:
    def script(peer: socket.socket) -> None:
        ready(peer)
        read(peer, 160 + 24 * ATOMS)
        ready(peer)
        read(peer, 1)

    with pytest.raises(BadResult, match="'READY' where 'HAVEDATA' belongs"):
        against(script, record="generic").evaluate(POSITIONS, CELL)


def test_a_program_that_does_not_read(against: Callable[..., Host]) -> None:
    """More bytes than the kernel keeps: sending must not hang either."""

    def script(peer: socket.socket) -> None:
        ready(peer)
        over.wait(HANG_S)

    over = threading.Event()
    host = against(script, atoms=100_000)
    with pytest.raises(WorkerTimeout, match="while computing forces"):
        host.evaluate(np.zeros((100_000, 3)), CELL)
    over.set()


def test_nobody_connects() -> None:
    host = Host("ase", ATOMS, deadlines=SHORT)
    with pytest.raises(WorkerTimeout, match=r"did not connect within 0\.5 s"):
        host.evaluate(POSITIONS, CELL)
    assert not Path(host.door.path).exists()


def test_bad_structures_are_refused_and_nothing_is_sent(against: Callable[..., Host]) -> None:
    host = against(give(bytes(answer())))
    wrong = POSITIONS.copy()
    wrong[1, 2] = np.nan
    with pytest.raises(InputRejected, match="position of atom 1") as caught:
        host.evaluate(wrong, CELL)
    assert caught.value.field == "positions"
    with pytest.raises(InputRejected, match="cell") as caught:
        host.evaluate(POSITIONS, np.full((3, 3), np.inf))
    with pytest.raises(InputRejected, match="started for 2 atoms"):
        host.evaluate(np.zeros((3, 3)), CELL)
    host.evaluate(POSITIONS, CELL)


def test_an_interruption_ends_the_conversation(against: Callable[..., Host]) -> None:
    """Whoever presses Ctrl-C must not get the late answer for the next structure."""
    host = against(give(b""), deadlines=Deadlines(call_s=HANG_S, first_s=HANG_S))
    main = threading.main_thread().ident
    assert main is not None
    asked = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    asked.start()
    with pytest.raises(KeyboardInterrupt):
        host.evaluate(POSITIONS, CELL)
    asked.join()
    with pytest.raises(WorkerDied, match="is gone: KeyboardInterrupt"):
        host.evaluate(POSITIONS, CELL)
