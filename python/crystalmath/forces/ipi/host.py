"""Our host: drives a foreign force program over i-PI.

    with Host("lammps", 8, command=["lmp", "-in", "in.lmp"], directory=folder) as host:
        result = host.evaluate(positions, cell)

The program is started, connects to a socket of ours and then answers structure after structure. A
surprise, a missed deadline and an interruption end the conversation and the program, as i-PI has no
way to find back.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self

import numpy as np

from crystalmath.errors import InputRejected, WorkerDied, WorkerTimeout
from crystalmath.forces.ipi import quirks as known
from crystalmath.forces.ipi.address import Door
from crystalmath.forces.ipi.codec import (
    Forces,
    PositionsMessage,
    ReplyReader,
    all_moderate,
    init_message,
)
from crystalmath.forces.ipi.conversation import Conversation, last_lines
from crystalmath.forces.ipi.frame import Turn, whole_virial
from crystalmath.forces.ipi.program import Program
from crystalmath.forces.ipi.quirks import Quirks
from crystalmath.forces.ipi.words import (
    EXIT,
    GETFORCE,
    HAVEDATA,
    NEEDINIT,
    READY,
    STATUS,
    Array,
    Order,
    show,
    surprise,
)

_COMPUTING: Final = "computing forces"
_GREETING: Final = "answering STATUS"
_TERM_GRACE_S: Final = 2.0
_TICK_S: Final = 0.2
_FAR_ANGSTROM: Final = 1e300


@dataclass(frozen=True, slots=True)
class Deadlines:
    """In seconds; the first answer and a connection that follows a calculation get more.

    Attributes
    ----------
    first_s
        For the first structure; by default 20 calls, at least 300 s.
    leave_s
        For a program to end by itself after EXIT; pw.x writes its wavefunctions then.
    """

    connect_s: float = 30.0
    call_s: float = 300.0
    first_s: float | None = None
    leave_s: float = 30.0

    @property
    def first(self) -> float:
        """What the first answer gets."""
        return max(300.0, 20.0 * self.call_s) if self.first_s is None else self.first_s


DEFAULT_DEADLINES: Final = Deadlines()


class _Held:
    """What must not outlive the host: the program and the connection to it."""

    def __init__(self, door: Door) -> None:
        self.owner = os.getpid()
        self.door = door
        self.program: Program | None = None
        self.conversation: Conversation | None = None

    def let_go(self) -> int | None:
        """Close the connection, end the program; a fork only closes what it inherited."""
        if self.conversation is not None:
            self.conversation.connection.close()
            self.conversation = None
        if os.getpid() != self.owner:
            self.door.listener.close()
            return None
        self.door.close()
        if self.program is None:
            return None
        code = self.program.stop(_TERM_GRACE_S)
        self.program.forget()
        self.program = None
        return code


class Host:
    """One foreign program for one number of atoms; safe in threads, which take turns.

    Parameters
    ----------
    program
        A record of ``quirks``, or its name.
    command
        What to start, with the placeholders ``{name}``, ``{path}``, ``{host}`` and ``{port}``; with
        none of them, the record's own arguments for an address are appended. Empty: somebody else
        starts the program, and :attr:`door` says where it must connect.
    directory
        Where it runs, with its input files; by default an empty one for the time it runs.
    order
        Its atom i is our atom ``order[i]``; see ``frame.order_for``.

    Raises
    ------
    InputRejected
        Of the arguments, or later of a structure.
    Conflict
        The name or port is in use.
    BadResult, WorkerDied, WorkerTimeout
        From :meth:`evaluate`: what went wrong, with the last lines that the program wrote.
    """

    def __init__(
        self,
        program: Quirks | str,
        atoms: int,
        *,
        command: Sequence[str] = (),
        directory: Path | None = None,
        transport: Literal["unix", "inet"] = "unix",
        name: str | None = None,
        port: int = 0,
        order: Order | None = None,
        deadlines: Deadlines = DEFAULT_DEADLINES,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.quirks = known.find(program) if isinstance(program, str) else program
        self.atoms = atoms
        self.deadlines = deadlines
        self.exit_code: int | None = None
        self._command, self._directory = tuple(command), directory
        self._environment = dict(environment or {})
        self._lock = threading.Lock()
        self._ended: str | None = None
        self._begun = False
        self._good_cell = b""
        self._turn: Turn | None = None
        self._positions = PositionsMessage(atoms, units=self.quirks.units, order=order)
        self._reader = ReplyReader(atoms, units=self.quirks.units, order=order)
        self.door = Door(transport, name=name, port=port)
        self._held = _Held(self.door)
        weakref.finalize(self, self._held.let_go)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the program and wait for its connection; :meth:`evaluate` does it if need be."""
        with self._lock:
            self._check_usable()
            try:
                self._connected()
            except BaseException as error:
                self._abandon(error)
                raise

    def evaluate(self, positions: Array, cell: Array, *, out: Array | None = None) -> Forces:
        """Ask for energy, forces and virial of positions (N, 3) in a cell (rows), in Å.

        The arrays of the answer are the caller's; its forces are ``out`` where that is given.
        """
        self._check_structure(positions, cell)
        with self._lock:
            self._check_usable()
            turn = self._fill(positions, cell)
            try:
                return self._finish(self._exchange(out), turn)
            except BaseException as error:
                self._abandon(error)
                raise

    def close(self) -> None:
        """Send EXIT and wait for the end of the program; ends it when it stays. Repeatable."""
        with self._lock:
            conversation = self._held.conversation
            if conversation is not None and os.getpid() == self._held.owner:
                self._say_goodbye(conversation)
            self._set_ended("it was closed", self._held.let_go())

    def abort(self) -> None:
        """End the program now, also while another thread waits for its answer."""
        conversation, program = self._held.conversation, self._held.program
        if conversation is not None:
            with contextlib.suppress(OSError):
                conversation.connection.shutdown(socket.SHUT_RDWR)
        if program is not None:
            program.stop(0.0)

    # what is refused before a byte is sent

    def _check_structure(self, positions: Array, cell: Array) -> None:
        if positions.shape != (self.atoms, 3) or cell.shape != (3, 3):
            raise InputRejected(
                f"positions of shape {positions.shape} in a cell of shape {cell.shape}; "
                f"this program was started for {self.atoms} atoms",
                field="positions",
            )
        if not all_moderate(positions):
            atom = int(np.argwhere(~(abs(positions) < _FAR_ANGSTROM))[0][0])
            raise InputRejected(
                f"the position of atom {atom} (counted from 0) is not finite", field="positions"
            )
        if self._good_cell == cell.tobytes():
            return
        if not all_moderate(cell):
            raise InputRejected("the cell is not finite", field="cell")
        self._good_cell = cell.tobytes()

    def _check_usable(self) -> None:
        if os.getpid() != self._held.owner:
            raise WorkerDied(
                f"{self.quirks.title} belongs to the process that started it",
                hint="make a calculator of its own in every process",
            )
        if self._ended is not None:
            raise WorkerDied(f"{self.quirks.title} is gone: {self._ended}")

    def _fill(self, positions: Array, cell: Array) -> Turn | None:
        if self.quirks.cell != "triangular":
            self._positions.fill(positions, cell)
            return None
        turn = self._turn
        if turn is None or not turn.is_for(cell):
            turn = self._turn = Turn(cell)
        self._positions.fill(turn.there(positions), turn.cell)
        return turn

    # the conversation

    def _exchange(self, out: Array | None) -> Forces:
        conversation = self._connected()
        allowed_s = self.deadlines.call_s if self._begun else self.deadlines.first
        conversation.allowed_s = allowed_s
        until = time.monotonic() + allowed_s
        conversation.expect_silence()
        if not (self._begun and self.quirks.consolidated):
            self._make_ready(conversation, until)
        if self.quirks.consolidated:
            conversation.send(self._positions.with_getforce, until, _COMPUTING)
        else:
            conversation.send(self._positions.alone, until, _COMPUTING)
            self._ask_state(conversation, until, _COMPUTING, HAVEDATA)
            conversation.send(GETFORCE, until, _COMPUTING)
        self._reader.expect("forces")
        conversation.receive(self._reader, until, _COMPUTING)
        self._begun = True
        return self._reader.forces(out)

    def _make_ready(self, conversation: Conversation, until: float) -> None:
        """Ask for its state; send INIT where it wants one, and only there."""
        if self._ask_state(conversation, until, _GREETING, READY, NEEDINIT) == NEEDINIT:
            conversation.send(init_message(), until, _GREETING)
            self._ask_state(conversation, until, _GREETING, READY)

    def _ask_state(
        self, conversation: Conversation, until: float, phase: str, *expected: bytes
    ) -> bytes:
        conversation.send(STATUS, until, phase)
        self._reader.expect("state")
        conversation.receive(self._reader, until, phase)
        state = self._reader.state()
        if state not in expected:
            raise surprise(f"it is {show(state)} where {show(expected[0])} belongs")
        return state

    def _connected(self) -> Conversation:
        conversation = self._held.conversation
        if conversation is None:
            allowed_s = self.deadlines.connect_s
            if self.quirks.calculates_before_connecting:
                allowed_s = max(allowed_s, self.deadlines.first)
            if self._command:
                self._held.program = Program(
                    self.quirks.name,
                    self._arguments(),
                    directory=self._directory,
                    environment=self._environment,
                )
            connection = self._accept(allowed_s)
            conversation = Conversation(connection, self.quirks.title, self._held.program)
            self._held.conversation = conversation
        return conversation

    def _arguments(self) -> list[str]:
        arguments = [self.door.fill_in(argument) for argument in self._command]
        if arguments == list(self._command):
            unix = self.door.transport == "unix"
            more = self.quirks.unix_arguments if unix else self.quirks.inet_arguments
            arguments += [self.door.fill_in(argument) for argument in more]
        return arguments

    def _accept(self, allowed_s: float) -> socket.socket:
        """Wait for the program to connect, or to end, or for the deadline."""
        program, title = self._held.program, self.quirks.title
        poll = select.poll()
        poll.register(self.door.listener, select.POLLIN)
        if program is not None and program.pidfd >= 0:
            poll.register(program.pidfd, select.POLLIN)
        until = time.monotonic() + allowed_s
        while (left_s := until - time.monotonic()) > 0.0:
            poll.poll(min(left_s, _TICK_S) * 1e3)
            if (connection := self.door.accept()) is not None:
                return connection
            if program is not None and program.exit_code() is not None:
                raise WorkerDied(
                    f"{title} {program.describe_end()} before it connected",
                    hint=last_lines(program),
                )
        raise WorkerTimeout(
            f"{title} did not connect within {allowed_s:g} s", hint=last_lines(program)
        )

    # results and endings

    def _finish(self, result: Forces, turn: Turn | None) -> Forces:
        virial = whole_virial(result.virial_ev, self.quirks)
        if virial is result.virial_ev and turn is None:
            return result
        forces = result.forces_ev_per_angstrom
        if turn is not None:
            turned, virial = turn.back(forces, virial)
            forces[...] = turned
        return Forces(result.energy_ev, forces, virial, result.extras)

    def _say_goodbye(self, conversation: Conversation) -> None:
        """Send EXIT. Whatever comes of it is a clean end: exit codes say nothing."""
        with contextlib.suppress(WorkerDied, WorkerTimeout):
            conversation.send(EXIT, time.monotonic() + _TERM_GRACE_S, "leaving")
        if self._held.program is not None:
            self._held.program.wait(self.deadlines.leave_s)

    def _abandon(self, error: BaseException) -> None:
        reason = str(error) or type(error).__name__
        self._set_ended(reason, self._held.let_go())

    def _set_ended(self, reason: str, exit_code: int | None) -> None:
        if self._ended is None:
            self._ended, self.exit_code = reason, exit_code
