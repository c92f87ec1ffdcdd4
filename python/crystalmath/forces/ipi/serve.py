"""One of our workers as the force program of a foreign i-PI server.

    with Service(evaluate, read_template(path), "si:UNIX", properties=("energy", "forces")) as it:
        it.run()

The server moves the atoms and sends positions and cell; species, periodicity and charge come from
the template. i-PI has no message for an error: when something fails, the connection is closed and
the error is raised here.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from crystalmath.errors import BadResult, InputRejected, WorkerDied, WorkerTimeout
from crystalmath.forces.ipi.address import socket_path
from crystalmath.forces.ipi.codec import ForcesMessage
from crystalmath.forces.ipi.commands import AskForces, AskStatus, Begin, CommandReader, Leave, Move
from crystalmath.forces.ipi.template import Structure
from crystalmath.forces.ipi.words import (
    CODATA,
    HAVEDATA,
    NEEDINIT,
    READY,
    Array,
    Order,
    Units,
    surprise,
)
from crystalmath.forces.worker import wire

Evaluate = Callable[[Structure, int], Mapping[str, Any]]
"""Structure and property mask of ``wire`` → ``energy``, ``forces`` (N, 3), ``stress`` (3, 3) …"""

_TRY_AGAIN_S: Final = 0.1
_SAME_CELL: Final = 1e-7


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens: the path of a socket file, or host and port."""

    path: str | None = None
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return self.path if self.path is not None else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Read ``unix:NAME`` or ``NAME:UNIX``, ``unix:/PATH`` or ``/PATH``, or ``HOST:PORT``.

    Raises
    ------
    InputRejected
        It is neither; ``field`` is ``address``.
    """
    file = text.removeprefix("unix:")
    if Path(file).is_absolute():
        return Address(path=file)
    if file != text:
        return Address(path=socket_path(file))
    name, colon, rest = text.rpartition(":")
    if colon and rest.upper() == "UNIX":
        return Address(path=socket_path(name))
    if colon and name and rest.isascii() and rest.isdigit() and 0 < int(rest) < 65536:
        return Address(host=name.strip("[]"), port=int(rest))
    raise InputRejected(
        f"{text!r} is no address of an i-PI server",
        hint="give unix:NAME, unix:/PATH or HOST:PORT",
        field="address",
    )


class Service:
    """Answers one server until it says EXIT or closes the connection.

    Parameters
    ----------
    properties
        What ``evaluate`` can give. The energy that is sent is ``free_energy`` where there is one,
        as it is the one that belongs to the forces.
    stress
        By default the virial is sent wherever the template has a stress. False sends zeros, and the
        server must leave the cell as it is.
    needs_init
        Ask for INIT before the first structure, for servers that pass parameters in it.
    order
        Atom i of the server is our atom ``order[i]``.
    connect_s
        How long to wait for the server to listen.

    Raises
    ------
    InputRejected
        ``field`` is ``address``, ``stress`` or ``properties``.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        template: Structure,
        address: str,
        *,
        properties: Collection[str],
        stress: bool | None = None,
        needs_init: bool = False,
        order: Order | None = None,
        units: Units = CODATA,
        connect_s: float = 30.0,
    ) -> None:
        self.address = parse_address(address)
        self.structures = 0
        self.parameters = b""
        self._evaluate, self._template = evaluate, template
        self._with_stress = _decide_stress(template, properties, stress)
        self._mask, self._energy = _mask(properties, with_stress=self._with_stress)
        self._state = NEEDINIT if needs_init else READY
        self._reader = CommandReader(len(template), units=units, order=order)
        self._message = ForcesMessage(len(template), units=units, order=order)
        self._first_cell: Array | None = None
        self._stopped = threading.Event()
        self._connect_s = connect_s
        self._connection: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connect(self) -> None:
        """Connect, waiting for the server if it does not listen yet.

        Raises
        ------
        WorkerTimeout
            It does not listen within ``connect_s``.
        """
        until = time.monotonic() + self._connect_s
        while self._connection is None and not self._stopped.is_set():
            try:
                self._connection = _open(self.address)
            except (ConnectionRefusedError, FileNotFoundError, TimeoutError) as error:
                if time.monotonic() >= until:
                    raise WorkerTimeout(
                        f"nobody listens on {self.address}: {error.strerror or error}",
                        hint="start the i-PI server first",
                    ) from None
                self._stopped.wait(_TRY_AGAIN_S)
            except OSError as error:
                raise InputRejected(
                    f"cannot connect to {self.address}: {error.strerror or error}", field="address"
                ) from None

    def run(self) -> int:
        """Answer until the server leaves; return how many structures were evaluated.

        Raises
        ------
        BadResult
            The server sent what does not belong there, or the result is not finite.
        WorkerDied
            The connection broke in the middle of a message.
        Exception
            Whatever ``evaluate`` raised. In every case the connection is closed.
        """
        try:
            self.connect()
            while not self._stopped.is_set() and self._listen():
                pass
        finally:
            self.close()
        return self.structures

    def stop(self) -> None:
        """Let :meth:`run` return, from another thread or a signal handler."""
        self._stopped.set()
        if (connection := self._connection) is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection; may be called again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _listen(self) -> bool:
        """Take what came and answer it; False when the server has left."""
        connection = self._connection
        assert connection is not None
        try:
            count = connection.recv_into(self._reader.room())
        except ConnectionResetError:
            count = 0
        if count == 0:
            if self._reader.unfinished and not self._stopped.is_set():
                raise WorkerDied("the i-PI server closed the connection in the middle of a message")
            return False
        self._reader.took(count)
        while (command := self._reader.next_command()) is not None:
            if isinstance(command, Leave):
                return False
            if not self._answer(connection, command):
                return False
        return True

    def _answer(
        self, connection: socket.socket, command: AskStatus | AskForces | Begin | Move
    ) -> bool:
        reply: bytes | memoryview
        match command:
            case AskStatus():
                reply = self._state
            case AskForces():
                self._expect(HAVEDATA, said="GETFORCE")
                self._state = READY
                reply = self._message.all
            case Begin():
                self._expect(NEEDINIT, said="INIT")
                self.parameters = command.text
                self._state = READY
                return True
            case Move():
                # some servers send it without INIT to a program that asked for one
                self._expect(READY, NEEDINIT, said="POSDATA")
                self._compute(command)
                self._state = HAVEDATA
                return True
        try:
            connection.sendall(reply)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def _expect(self, *states: bytes, said: str) -> None:
        if self._state not in states:
            raise surprise(f"{said} came while this end was {self._state.decode().rstrip()}")

    def _compute(self, move: Move) -> None:
        template = self._template
        periodic = bool(template.pbc.any())
        cell = move.cell if periodic else template.cell
        if periodic and not self._with_stress:
            self._insist_on(cell)
        structure = Structure(template.numbers, move.positions, cell, template.pbc, template.info)
        result = self._evaluate(structure, self._mask)
        forces = np.asarray(result["forces"], float)
        if forces.shape != move.positions.shape:
            raise BadResult(f"forces of shape {forces.shape} for {len(template)} atoms")
        virial = np.zeros((3, 3))
        if self._with_stress:
            stress = np.asarray(result["stress"], float)
            if stress.shape != (3, 3):
                raise BadResult(f"a stress of shape {stress.shape} where (3, 3) belongs")
            virial = -structure.volume_angstrom3 * stress
        self._message.fill(float(result[self._energy]), forces, virial)
        self.structures += 1

    def _insist_on(self, cell: Array) -> None:
        """Refuse a changed cell where the virial is not real."""
        if self._first_cell is None:
            self._first_cell = cell.copy()
        elif not np.allclose(cell, self._first_cell, rtol=_SAME_CELL, atol=_SAME_CELL):
            raise BadResult(
                "the server changes the cell, but this worker sends no stress",
                hint="keep the cell fixed, or serve an engine that has a stress",
            )


def _decide_stress(template: Structure, properties: Collection[str], wanted: bool | None) -> bool:
    possible = "stress" in properties and template.has_stress()
    if wanted and not possible:
        raise InputRejected(
            "the stress was asked for, but "
            + (
                "the template has no periodic cell"
                if "stress" in properties
                else "the engine has none"
            ),
            field="stress",
        )
    if wanted is None and template.has_stress() and not possible:
        raise InputRejected(
            "the engine has no stress, and i-PI cannot say so: zeros would be sent",
            hint="serve it without stress on purpose, for servers that leave the cell as it is",
            field="stress",
        )
    return possible if wanted is None else wanted


def _mask(properties: Collection[str], *, with_stress: bool) -> tuple[int, str]:
    energy = "free_energy" if "free_energy" in properties else "energy"
    names = [energy, "forces", *(["stress"] if with_stress else [])]
    missing = [name for name in names if name not in properties]
    if missing:
        raise InputRejected(f"the engine gives no {' and no '.join(missing)}", field="properties")
    return wire.mask_of(names), energy


def _open(address: Address) -> socket.socket:
    if address.path is not None:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(address.path)
        except BaseException:
            connection.close()
            raise
        return connection
    connection = socket.create_connection((address.host, address.port), timeout=10.0)
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return connection
