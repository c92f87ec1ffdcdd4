"""Starts a worker of one's own and speaks with it until its model is loaded.

The process is made by a thread that lives as long as this process: a child that asks to die with
its parent dies with the *thread* that made it.
"""

from __future__ import annotations

import os
import queue
import select
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from crystalmath.errors import BadResult, CrystalMathError, WorkerTimeout
from crystalmath.forces.launch import Launch
from crystalmath.forces.page import PageView
from crystalmath.forces.reported import death_of, reported_error, with_tail
from crystalmath.forces.worker import plain, wire
from crystalmath.services.ports_forces import HostedProcess, ProcessHost

_READ_BYTES: Final = 65_536
_END_S: Final = 5.0
"""How long an end that has begun may take to become visible."""

T = TypeVar("T")
OnPhase = Callable[[str], None]


class Started:
    """A process with a loaded model.

    Attributes
    ----------
    capabilities
        What it says it can do.
    """

    def __init__(
        self,
        process: HostedProcess,
        control: socket.socket,
        page: PageView,
        capabilities: dict[str, Any],
    ) -> None:
        self.process = process
        self.control = control
        self.page = page
        self.capabilities = capabilities


def start(host: ProcessHost, launch: Launch, on_phase: OnPhase = lambda _text: None) -> Started:
    """Start a worker and load its model.

    Parameters
    ----------
    on_phase
        Told what it is doing, now and then.

    Raises
    ------
    EnvironmentBroken, InputRejected, OutOfMemory, WorkerDied, WorkerTimeout, ForcesError
    """
    ours, theirs = socket.socketpair()
    page = PageView()
    try:
        process = in_lasting_thread(lambda: _spawn(host, launch, theirs, page))
    except BaseException:
        ours.close()
        page.close()
        raise
    finally:
        theirs.close()
    try:
        capabilities = _Handshake(launch, process, ours, page, on_phase).run()
    except BaseException:
        ours.close()
        process.stop(launch.deadlines.term_s)
        page.close()
        raise
    return Started(process, ours, page, capabilities)


def _spawn(
    host: ProcessHost, launch: Launch, control: socket.socket, page: PageView
) -> HostedProcess:
    arguments = [
        "--control", str(control.fileno()), "--status", str(page.fd),
        "--declaration", launch.environment.declaration,
    ]  # fmt: skip
    return host.start(
        launch.environment,
        arguments,
        pass_fds=(control.fileno(), page.fd),
        threads=launch.threads,
        name=launch.environment.engine,
    )


class _Handshake:
    """From the first byte to the capabilities."""

    def __init__(
        self,
        launch: Launch,
        process: HostedProcess,
        control: socket.socket,
        page: PageView,
        on_phase: OnPhase,
    ) -> None:
        self._launch = launch
        self._engine = launch.environment.engine
        self._process = process
        self._control = control
        self._page = page
        self._on_phase = on_phase
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def run(self) -> dict[str, Any]:
        limits = self._launch.deadlines
        self._send(wire.STATUS_WORD)
        self._expect_init(time.monotonic() + limits.connect_s)
        init = plain.render_agreement()
        self._send(init + plain.render_message(wire.CONFIG, self._launch.config()))
        return self._await_loaded(time.monotonic() + limits.load_s)

    def _expect_init(self, until: float) -> None:
        found = b""
        while len(found) < len(wire.NEEDINIT):
            found += self._receive(until, len(wire.NEEDINIT) - len(found), "to speak")
        if found != wire.NEEDINIT:
            raise BadResult(f"the worker of {self._engine} began with {found!r}")

    def _await_loaded(self, until: float) -> dict[str, Any]:
        messages = plain.Assembler()
        while True:
            try:
                for message in messages.feed(self._receive(until, _READ_BYTES, "to load")):
                    answer = self._hear(message)
                    if answer is not None:
                        return answer
            except wire.WireError as error:
                raise BadResult(f"the worker of {self._engine} talks nonsense: {error}") from error

    def _hear(self, message: plain.Message) -> dict[str, Any] | None:
        document = message.document()
        if not isinstance(document, dict):
            raise wire.WireError("a message without content")
        word = message.header.word
        if word == wire.BEAT:
            self._on_phase(str(document.get("phase", "")))
            return None
        if word == wire.FAULT:
            raise with_tail(
                reported_error(document, engine=self._engine), self._process.stderr_tail()
            )
        if word != wire.CONFIG:
            raise wire.WireError(f"{word!r} while it loads")
        return document

    def _send(self, data: bytes) -> None:
        try:
            self._control.sendall(data, socket.MSG_NOSIGNAL)
        except OSError:
            raise self._death() from None

    def _receive(self, until: float, size: int, what: str) -> bytes:
        wait_ms = max(0.0, until - time.monotonic()) * 1000
        if not self._poll.poll(wait_ms):
            raise self._late(what)
        try:
            data = self._control.recv(size)
        except OSError:
            data = b""
        if not data:
            raise self._death()
        return data

    def _late(self, what: str) -> CrystalMathError:
        limits = self._launch.deadlines
        seconds = limits.load_s if what == "to load" else limits.connect_s
        phase = self._page.look().phase
        self._process.stop(limits.term_s)
        error = WorkerTimeout(
            f"the worker of {self._engine} took longer than {seconds:g} s {what}; it was {phase}",
            hint="a slow disk? give it more time, or look at `crystalmath engines doctor`",
        )
        return with_tail(error, self._process.stderr_tail())

    def _death(self) -> CrystalMathError:
        if self._process.wait(_END_S) is None:
            self._process.stop(self._launch.deadlines.term_s)
        return death_of(self._engine, self._process.report(self._page.look().phase))


class _LastingThread:
    """Runs calls in one thread that never ends."""

    def __init__(self) -> None:
        self._pid = 0
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()

    def call(self, function: Callable[[], T]) -> T:
        done: Future[T] = Future()
        with self._lock:
            if self._pid != os.getpid():  # first use, or a fork has left the thread behind
                self._pid = os.getpid()
                self._calls = queue.SimpleQueue()
                threading.Thread(target=self._run, name="force-starter", daemon=True).start()
            self._calls.put((function, done))
        return done.result()

    def _run(self) -> None:
        calls = self._calls
        while True:
            function, done = calls.get()
            try:
                done.set_result(function())
            except BaseException as error:  # noqa: BLE001 - it belongs to the caller
                done.set_exception(error)


_lasting = _LastingThread()


def in_lasting_thread(function: Callable[[], T]) -> T:
    """Run a function in a thread that lives as long as this process."""
    return _lasting.call(function)


def _renew_lock() -> None:
    global _lasting  # noqa: PLW0603 - a lock that was held at a fork stays locked for ever
    _lasting = _LastingThread()


os.register_at_fork(after_in_child=_renew_lock)
