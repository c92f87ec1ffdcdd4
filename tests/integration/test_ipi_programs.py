"""Programs that die, hang, stay or fork: what the host says then, and that nothing is left."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.errors import BadResult, InputRejected, WorkerDied, WorkerTimeout
from crystalmath.forces.ipi.host import Deadlines, Host

ATOMS = 2
POSITIONS = np.arange(6.0).reshape(2, 3)
CELL = 5.0 * np.eye(3)
SHORT = Deadlines(connect_s=0.5, call_s=0.5, first_s=0.5, leave_s=0.5)
HANG_S = 60.0
Script = Callable[[socket.socket], None]


CLIENT = """
import os, signal, socket, struct, sys, time
peer = socket.socket(socket.AF_UNIX)
def read(size):
    data = b""
    while len(data) < size and (more := peer.recv(size - len(data))):
        data += more
    return data
def connect():
    peer.connect(sys.argv[1])
    read(12); peer.sendall(b"READY       ")
def structure():
    read(172 + 48)
def forces():
    peer.sendall(b"FORCEREADY  " + struct.pack("<di", -1.0, 2) + bytes(48 + 72 + 4))
"""


@pytest.fixture
def program() -> Iterator[Callable[..., Host]]:
    """Makes a host whose program is this Python text."""
    made: list[Host] = []

    def make(text: str, deadlines: Deadlines = SHORT) -> Host:
        command = [sys.executable, "-S", "-c", CLIENT + text, "{path}"]
        longer = Deadlines(HANG_S, deadlines.call_s, deadlines.first_s, deadlines.leave_s)
        made.append(Host("ase", ATOMS, command=command, deadlines=longer))
        return made[-1]

    yield make
    for host in made:
        host.close()


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("sys.exit('no such pseudopotential')", "ended with exit code 1 before it connected"),
        ("print('SCF failed'); os._exit(3)", "ended with exit code 3 before it connected"),
        ("connect(); structure(); sys.exit('atoms lost')", "ended with exit code 1 while comp"),
        ("connect(); structure(); os.kill(os.getpid(), 9)", "was ended by SIGKILL while computing"),
        ("connect(); structure(); os.kill(os.getpid(), 11)", "was ended by SIGSEGV while comp"),
        ("connect(); structure(); peer.sendall(b'FORCEREADY  '); os._exit(0)", "in the middle"),
    ],
)
def test_the_death_of_a_program_is_told_with_its_last_words(
    program: Callable[..., Host], text: str, ending: str
) -> None:
    with pytest.raises(WorkerDied, match=ending) as caught:
        program(text, Deadlines(call_s=HANG_S, first_s=HANG_S)).evaluate(POSITIONS, CELL)
    for words_of_it in ("no such pseudopotential", "atoms lost"):
        if words_of_it in text:
            assert words_of_it in (caught.value.hint or "")


def test_a_launcher_that_dies_before_its_ranks(program: Callable[..., Host]) -> None:
    """The connection stays open in another process: death is seen all the same, and swept up."""
    text = """
connect(); structure()
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), file=sys.stderr, flush=True)
    time.sleep(100)
os._exit(4)
"""
    host = program(text, Deadlines(call_s=HANG_S, first_s=HANG_S))
    with pytest.raises(WorkerDied, match="ended with exit code 4") as caught:
        host.evaluate(POSITIONS, CELL)
    (rank,) = (int(word) for word in (caught.value.hint or "").split() if word.isdigit())
    deadline = time.monotonic() + HANG_S
    while _alive(rank):
        assert time.monotonic() < deadline
        os.sched_yield()


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.parametrize(
    "text",
    [
        "connect(); structure(); time.sleep(100)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); connect(); structure(); time.sleep(100)",
        "connect(); structure(); os.kill(os.getpid(), signal.SIGSTOP)",
        "connect(); structure()\nwhile True: pass",
    ],
)
def test_a_program_that_hangs_is_ended(program: Callable[..., Host], text: str) -> None:
    host = program(text)
    host.start()
    process = host._held.program
    assert process is not None
    with pytest.raises(WorkerTimeout, match=r"within 0\.5 s"):
        host.evaluate(POSITIONS, CELL)
    assert not _alive(process.process.pid)
    assert host.exit_code is not None
    assert host.exit_code < 0


@pytest.mark.parametrize("code", [0, 1, 128, 130, 255])
def test_any_exit_code_after_exit_is_a_clean_end(program: Callable[..., Host], code: int) -> None:
    host = program(f"connect(); structure(); forces(); read(12); os._exit({code})")
    host.evaluate(POSITIONS, CELL)
    host.close()
    assert host.exit_code == code
    host.close()
    with pytest.raises(WorkerDied, match="it was closed"):
        host.evaluate(POSITIONS, CELL)


def test_a_program_that_stays_after_exit_is_ended(program: Callable[..., Host]) -> None:
    host = program("connect(); structure(); forces(); time.sleep(100)")
    host.evaluate(POSITIONS, CELL)
    host.close()
    assert host.exit_code == -signal.SIGTERM


def test_a_fork_leaves_the_program_alone(program: Callable[..., Host]) -> None:
    host = program("connect(); structure(); forces(); structure(); forces(); read(12)")
    host.evaluate(POSITIONS, CELL)
    child = os.fork()
    if child == 0:
        try:
            host.evaluate(POSITIONS, CELL)
        except WorkerDied as error:
            host.close()
            os._exit(0 if "belongs to the process" in error.message else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    host.evaluate(POSITIONS, CELL)


def test_a_forgotten_host_ends_its_program(program: Callable[..., Host]) -> None:
    host = Host(
        "ase",
        ATOMS,
        command=[sys.executable, "-S", "-c", CLIENT + "connect(); time.sleep(100)", "{path}"],
    )
    host.start()
    held = host._held.program
    assert held is not None
    pid = held.process.pid
    del host
    gc.collect()
    assert not _alive(pid)


def test_an_abort_from_another_thread(program: Callable[..., Host]) -> None:
    host = program(
        "connect(); structure(); time.sleep(100)", Deadlines(call_s=HANG_S, first_s=HANG_S)
    )
    host.start()
    threading.Timer(0.2, host.abort).start()
    begun = time.monotonic()
    with pytest.raises(WorkerDied):
        host.evaluate(POSITIONS, CELL)
    assert time.monotonic() - begun < HANG_S


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"command": ["no-such-program"]}, "command"),
        ({"command": ["true"], "directory": Path("/no/such/directory")}, "directory"),
    ],
)
def test_what_cannot_be_started(options: dict[str, Any], field: str) -> None:
    host = Host("ase", ATOMS, **options)
    with pytest.raises(InputRejected) as caught:
        host.evaluate(POSITIONS, CELL)
    assert caught.value.field == field
    assert not Path(host.door.path).exists()


def test_nothing_is_left_behind(program: Callable[..., Host]) -> None:
    def everything() -> tuple[int, list[Path], list[Path]]:
        gc.collect()
        temporary = Path("/tmp")
        return (
            len(list(Path("/proc/self/fd").iterdir())),
            sorted(temporary.glob("ipi_cm????????????????")),
            sorted(temporary.glob("crystalmath-ipi-*")),
        )

    before = everything()
    for text in (
        "connect(); structure(); forces(); read(12)",
        "connect(); structure(); peer.sendall(b'RUBBISH     '); read(1)",
        "connect(); structure(); os._exit(1)",
        "os._exit(1)",
    ):
        host = program(text, Deadlines(call_s=HANG_S, first_s=HANG_S))
        with contextlib.suppress(BadResult, WorkerDied):
            host.evaluate(POSITIONS, CELL)
        host.close()
    after = everything()
    assert after[0] == before[0]
    assert set(after[1]) <= set(before[1])
    assert set(after[2]) <= set(before[2])
