"""Servers that drive our worker, honest and lying ones."""

from __future__ import annotations

import contextlib
import secrets
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.errors import BadResult, InputRejected, WorkerDied, WorkerTimeout
from crystalmath.forces.ipi import words
from crystalmath.forces.ipi.address import socket_path
from crystalmath.forces.ipi.codec import PositionsMessage, init_message
from crystalmath.forces.ipi.host import Deadlines
from crystalmath.forces.ipi.serve import Service
from crystalmath.forces.ipi.template import Structure
from support.ipi import read_bytes as read

ATOMS = 2
POSITIONS = np.arange(6.0).reshape(2, 3)
CELL = 5.0 * np.eye(3)
SHORT = Deadlines(connect_s=0.5, call_s=0.5, first_s=0.5, leave_s=0.5)
HANG_S = 60.0
Script = Callable[[socket.socket], None]


TEMPLATE = Structure(
    np.array([29, 29], np.int32), POSITIONS, CELL, np.array([True] * 3), {"charge": 1}
)
STRESS = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
FULL = ("energy", "forces", "stress")


def evaluate(structure: Structure, mask: int) -> dict[str, Any]:
    return {"energy": -2.0, "free_energy": -3.0, "forces": structure.positions, "stress": STRESS}


def positions(atoms: int = ATOMS, cell: Any = CELL) -> PositionsMessage:
    message = PositionsMessage(atoms)
    message.fill(np.ones((atoms, 3)), cell)
    return message


@pytest.fixture
def server() -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_UNIX)
    path = socket_path(f"cmtest{secrets.token_hex(6)}")
    listener.bind(path)
    listener.listen(1)
    yield listener
    listener.close()
    Path(path).unlink()


def serve(server: socket.socket, script: Script, **options: Any) -> Service:
    """Run a worker of ours against the script of a server."""
    options = {"evaluate": evaluate, "properties": FULL, "template": TEMPLATE, **options}
    service = Service(address=server.getsockname(), **options)
    broken: list[BaseException] = []

    def run() -> None:
        peer, _ = server.accept()
        with peer:
            peer.settimeout(HANG_S)
            try:
                script(peer)
            except BaseException as error:  # noqa: BLE001 - shown by the test, not by a thread
                broken.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        service.run()
    finally:
        thread.join(HANG_S)
        assert not thread.is_alive()
        assert broken == []
    return service


def test_both_styles_of_a_server(server: socket.socket) -> None:
    heard: list[bytes] = []

    def script(peer: socket.socket) -> None:
        peer.sendall(words.STATUS)
        heard.append(read(peer, 12))
        peer.sendall(positions().alone)
        peer.sendall(words.STATUS)
        heard.append(read(peer, 12))
        peer.sendall(words.GETFORCE)
        heard.append(read(peer, 100 + 24 * ATOMS + 1))
        peer.sendall(positions().with_getforce)
        heard.append(read(peer, 100 + 24 * ATOMS + 1))
        peer.sendall(words.STATUS + words.STATUS + words.EXIT)
        heard.append(read(peer, 24))

    service = serve(server, script)
    assert service.structures == 2
    assert heard[:2] == [words.READY, words.HAVEDATA]
    assert heard[2] == heard[3]
    assert heard[4] == words.READY * 2
    virial = np.frombuffer(heard[2], "<f8", 9, 24 + 48).reshape(3, 3)
    np.testing.assert_allclose(virial * 27.211386245988, -125.0 * STRESS, rtol=1e-14)
    assert heard[2][-1:] == b" "


@pytest.mark.parametrize("skipped", [False, True])
def test_a_worker_that_wants_init(server: socket.socket, skipped: bool) -> None:
    def script(peer: socket.socket) -> None:
        peer.sendall(words.STATUS)
        assert read(peer, 12) == words.NEEDINIT
        if not skipped:
            peer.sendall(init_message(b"charge : 1", bead=7))
            peer.sendall(words.STATUS)
            assert read(peer, 12) == words.READY
        peer.sendall(positions().with_getforce)
        assert read(peer, 149)[:12] == words.FORCEREADY

    service = serve(server, script, needs_init=True)
    assert service.parameters == (b"" if skipped else b"charge : 1")


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (bytes(positions(3).with_getforce), "sent 3 atoms; the template has 2"),
        (b"SHUTDOWN    ", "'SHUTDOWN' is no word of a server"),
        (words.GETFORCE, "GETFORCE came while this end was READY"),
        (init_message(), "INIT came while this end was READY"),
        (bytes(positions().alone) * 2, "POSDATA came while this end was HAVEDATA"),
        (words.INIT + struct.pack("<ii", 0, 2_000_000_000), "INIT announces 2000000000 bytes"),
        (words.POSDATA + b"\xff" * 144 + struct.pack("<i", 2) + bytes(48), "cell that is not"),
    ],
)
def test_a_server_that_breaks_the_protocol(
    server: socket.socket, said: bytes, complaint: str
) -> None:
    closed: list[bytes] = []

    def script(peer: socket.socket) -> None:
        peer.sendall(said)
        with contextlib.suppress(ConnectionResetError):
            closed.append(read(peer, 1))

    with pytest.raises(BadResult, match=complaint):
        serve(server, script)
    assert b"".join(closed) == b""


@pytest.mark.parametrize("part", [5, 12, 100, 207])
def test_a_server_that_leaves_in_the_middle(server: socket.socket, part: int) -> None:
    with pytest.raises(WorkerDied, match="in the middle of a message"):
        serve(server, lambda peer: peer.sendall(positions().alone[:part]))


def test_a_server_that_just_leaves(server: socket.socket) -> None:
    def script(peer: socket.socket) -> None:
        peer.sendall(positions().with_getforce)
        read(peer, 149)

    assert serve(server, script).structures == 1
    assert serve(server, lambda peer: peer.sendall(positions().with_getforce)).structures == 1


@pytest.mark.parametrize(
    ("result", "kind", "complaint"),
    [
        ({"forces": np.full((2, 3), np.nan)}, BadResult, "force on atom 0"),
        ({"energy": np.inf}, BadResult, "the energy is inf"),
        ({"forces": np.zeros((3, 3))}, BadResult, r"forces of shape \(3, 3\)"),
        ({"stress": np.zeros(6)}, BadResult, r"stress of shape \(6,\)"),
        (WorkerDied("out of memory"), WorkerDied, "out of memory"),
    ],
)
def test_what_goes_wrong_here_closes_the_connection(
    server: socket.socket, result: Any, kind: type[Exception], complaint: str
) -> None:
    def failing(structure: Structure, mask: int) -> dict[str, Any]:
        if isinstance(result, Exception):
            raise result
        return {**evaluate(structure, mask), **result}

    def script(peer: socket.socket) -> None:
        peer.sendall(bytes(positions().alone) + words.STATUS)
        with contextlib.suppress(ConnectionResetError):
            assert read(peer, 1) == b""

    with pytest.raises(kind, match=complaint):
        serve(server, script, evaluate=failing)


def test_the_energy_that_belongs_to_the_forces(server: socket.socket) -> None:
    energies: list[float] = []

    def script(peer: socket.socket) -> None:
        peer.sendall(positions().with_getforce)
        energies.append(struct.unpack_from("<d", read(peer, 149), 12)[0] * 27.211386245988)

    serve(server, script)
    serve(server, script, properties=(*FULL, "free_energy"))
    assert energies == pytest.approx([-2.0, -3.0])


def test_a_worker_without_stress_refuses_a_changed_cell(server: socket.socket) -> None:
    changed = CELL.copy()
    changed[1, 0] = 0.01

    def script(peer: socket.socket) -> None:
        for cell in (CELL, CELL):
            peer.sendall(positions(cell=cell).with_getforce)
            data = read(peer, 149)
            assert not np.frombuffer(data, "<f8", 9, 24 + 48).any()
        peer.sendall(positions(cell=changed).with_getforce)
        with contextlib.suppress(ConnectionResetError):
            read(peer, 1)

    with pytest.raises(InputRejected, match="zeros would be sent") as caught:
        serve(server, script, properties=("energy", "forces"))
    assert caught.value.field == "stress"
    with pytest.raises(BadResult, match="changes the cell"):
        serve(server, script, properties=("energy", "forces"), stress=False)
    with pytest.raises(InputRejected, match="the engine has none"):
        serve(server, script, properties=("energy", "forces"), stress=True)
    with pytest.raises(InputRejected, match="gives no forces"):
        serve(server, script, properties=("energy",), stress=False)


def test_a_worker_is_stopped_from_another_thread(server: socket.socket) -> None:
    service = Service(evaluate, TEMPLATE, server.getsockname(), properties=FULL)
    thread = threading.Thread(target=service.run)
    thread.start()
    peer, _ = server.accept()
    peer.sendall(words.STATUS)
    assert read(peer, 12) == words.READY
    service.stop()
    thread.join(HANG_S)
    assert not thread.is_alive()
    peer.close()


def test_a_server_that_is_not_there() -> None:
    service = Service(evaluate, TEMPLATE, "cmtestnobody:UNIX", properties=FULL, connect_s=0.3)
    with pytest.raises(WorkerTimeout, match="nobody listens on /tmp/ipi_cmtestnobody"):
        service.run()


def test_a_server_that_comes_late() -> None:
    name = f"cmtest{secrets.token_hex(6)}"
    service = Service(evaluate, TEMPLATE, f"{name}:UNIX", properties=FULL, connect_s=HANG_S)
    thread = threading.Thread(target=service.run)
    thread.start()
    with socket.socket(socket.AF_UNIX) as late:
        late.bind(socket_path(name))
        late.listen(1)
        peer, _ = late.accept()
        peer.sendall(words.EXIT)
        thread.join(HANG_S)
        peer.close()
    Path(socket_path(name)).unlink()
    assert not thread.is_alive()
