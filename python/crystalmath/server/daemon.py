"""The serving daemon: one loop in the main thread for clients, signals and the clock.

Initialisation runs in a thread of its own, so that the loop accepts and hello is answered from
the first moment. Called by ``lifecycle``, which holds the locks and has published the socket.
"""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any, Final

from crystalmath import __version__
from crystalmath.contract.rpc import Method, describe
from crystalmath.errors import Conflict, CrystalMathError
from crystalmath.server.dispatch import bind
from crystalmath.server.lifecycle import Controller, Start, report_failure
from crystalmath.server.notifier import Notifier
from crystalmath.server.proc import WorkerPool
from crystalmath.server.publish import Publication
from crystalmath.server.router import Router
from crystalmath.server.state import ServerState
from crystalmath.server.transport import Transport
from crystalmath.services.system import SystemService

_log = logging.getLogger(__name__)
_DRAIN_TICK_S: Final = 0.02
_REFUSED_TICK_S: Final = 0.05


class Daemon:
    """See the module docstring.

    Parameters
    ----------
    start
        Settings, log, and how the controller is built.
    publication
        The published socket.
    """

    def __init__(self, start: Start, publication: Publication) -> None:
        settings, ready, log, instance = start.settings, start.ready, start.log, start.instance
        self._settings = settings
        self._ready = ready
        self._publication = publication
        self._log = log
        self._instance = instance
        self._build = start.build
        self._namespaces = start.namespaces
        self._controller: Controller | None = None
        self._workers = WorkerPool(settings.proc_workers, settings.proc_idle_s)
        self._router = Router(settings, log.log_call)
        prefix = f"{instance[:8]}-"
        self._notifier = Notifier(instance, settings.limits, settings.notify_every_s)
        self._transport = Transport(self._router, settings.limits, prefix, self._notifier)
        self._state = ServerState(
            settings,
            instance,
            self._router,
            self._transport,
            self._notifier.hub,
            request_stop=self._request_stop,
            run_worker=self._workers.run,
            progress=ready.progress,
            log_problems=lambda: log.problems,
        )
        self._stop_signals = 0
        self._stop_requested = False
        self._stop_now = False
        self._failed = False
        self._initialised = threading.Event()
        self._wake_reading, self._wake_writing = os.pipe()
        os.set_blocking(self._wake_reading, False)
        os.set_blocking(self._wake_writing, False)
        self._poller = select.poll()

    def run(self) -> int:
        """Serve until told to stop; return the exit code."""
        sys.setswitchinterval(self._settings.switch_interval_s)
        self._install_signals()
        self._open_early()
        self._poller.register(self._wake_reading, select.POLLIN)
        self._listen()
        threading.Thread(target=self._initialise, name="initialise", daemon=True).start()
        self._loop()
        return self._shut_down()

    # --- start ----------------------------------------------------------------------------------

    def _open_early(self) -> None:
        """Set the methods that work before the services are there."""
        table = describe({"system": SystemService})
        if self._namespaces is None:
            from crystalmath.contract.generated import SCHEMA_SHA256

            self._state.set_table(table, SCHEMA_SHA256)
        else:
            self._state.set_table(describe({"system": SystemService, **self._namespaces}))
        system = SystemService(self._state)
        self._router.set_early(
            {
                name: bind(method, system)
                for name, method in table.items()
                if method.spec.before_ready and name != "rpc.discover"
            }
        )

    def _initialise(self) -> None:
        try:
            table, controller = self._build_controller()
            controller.start()
            services: dict[str, Any] = {"system": SystemService(self._state)}
            services.update(controller.namespaces())
            entries = {name: bind(m, services.get(m.namespace)) for name, m in table.items()}
            self._state.set_counts(
                controller.job_counts, controller.live_local_jobs, controller.cluster_rows
            )
        except CrystalMathError as error:
            self._fail(error)
        except BaseException as error:  # noqa: BLE001 - an import error as well as a SystemExit
            _log.exception("start failed")
            # Its text may hold anything, but which library is missing must be said.
            what = str(error) if isinstance(error, ImportError) else type(error).__name__
            failure = CrystalMathError(
                f"The daemon could not start: {what}.",
                hint=f"See {self._settings.log_path}.",
            )
            self._fail(failure)
        else:
            self._controller = controller
            gc.collect()
            gc.freeze()  # modules and tables stay for good: no collection need look at them again
            self._transport.last_activity = time.monotonic()
            self._router.open(entries)
            _log.info("ready: pid %d, version %s, socket %s", os.getpid(), __version__,
                      self._settings.socket_path)  # fmt: skip
            if self._settings.started == "foreground":
                self._say(f"ready (pid {os.getpid()}, socket {self._settings.socket_path})")
            self._ready.ready(
                socket=self._settings.socket_path,
                pid=os.getpid(),
                instance=self._instance,
                version=__version__,
            )
        finally:
            self._initialised.set()

    def _build_controller(self) -> tuple[dict[str, Method], Controller]:
        if self._build is None:
            from crystalmath import api

            table = api.method_table()
            from crystalmath.contract.generated import SCHEMA_SHA256

            self._state.set_table(table, SCHEMA_SHA256)
            controller: Controller = api.build(self._settings, self._state)
        else:
            table = describe({"system": SystemService, **(self._namespaces or {})})
            self._state.set_table(table)
            controller = self._build(self._settings, self._state)
        self._controller = controller
        return table, controller

    def _fail(self, error: CrystalMathError) -> None:
        self._failed = True
        self._router.fail(error)
        report_failure(error, self._settings, self._ready)
        self._wake()

    # --- the loop -------------------------------------------------------------------------------

    def _loop(self) -> None:
        settings = self._settings
        next_check = time.monotonic() + settings.self_check_s
        while not (self._stop_requested or self._failed):
            wait_s = next_check - time.monotonic()
            if settings.idle_timeout_s is not None:
                wait_s = min(wait_s, max(0.01, self._idle_remaining_s()))
            if self._transport.refused:
                wait_s = min(wait_s, _REFUSED_TICK_S)
            self._turn(wait_s)
            if time.monotonic() >= next_check:
                self._check_socket()
                next_check = time.monotonic() + settings.self_check_s
            if settings.idle_timeout_s is not None and self._is_idle() and self._leave_if_alone():
                _log.info("idle for %g s: leaving", settings.idle_timeout_s)
                return

    def _turn(self, wait_s: float) -> None:
        """Wait for something, and serve it."""
        self._poller.poll(max(0.0, wait_s) * 1000)
        with suppress(BlockingIOError):  # it was the listener, or the clock
            os.read(self._wake_reading, 4096)
        listener = self._publication.listener
        if listener is not None:
            self._transport.accept_all(listener)
        self._transport.drain_refused()
        self._transport.reopen_spare()

    def _listen(self) -> None:
        listener = self._publication.listener
        if listener is not None:
            self._poller.register(listener, select.POLLIN)

    def _check_socket(self) -> None:
        """Publish again if somebody has deleted the socket file."""
        if self._publication.is_ours():
            return
        if not self._publication.is_gone():
            _log.error("%s is not our socket any more", self._publication.path)
            return
        _log.warning("%s has vanished; publishing it again", self._publication.path)
        old = self._publication.listener
        try:
            self._publication.publish()
        except (Conflict, OSError) as error:
            _log.error("cannot publish the socket again: %s", error)
            return
        if old is not None:
            self._poller.unregister(old)
            self._transport.accept_all(old)
            old.close()
        self._listen()

    # --- idle -----------------------------------------------------------------------------------

    def _idle_remaining_s(self) -> float:
        timeout_s = self._settings.idle_timeout_s or 0.0
        if self._settings.auto_started and not self._transport.has_been_reached():
            # Whoever started it is on the way, on a busy machine for longer than a short timeout.
            timeout_s = max(timeout_s, self._settings.first_client_s)
        busy = bool(self._transport.clients()) or self._router.phase != "ready"
        if busy:
            return timeout_s
        return self._transport.last_activity + timeout_s - time.monotonic()

    def _is_idle(self) -> bool:
        if self._idle_remaining_s() > 0 or self._router.active_calls() or self._transport.clients():
            return False
        if self._is_needed():
            self._transport.last_activity = time.monotonic()
            return False
        return True

    def _is_needed(self) -> bool:
        if self._controller is None:
            return False
        try:
            return self._controller.is_needed()
        except CrystalMathError:
            # The database does not answer: who cannot be sure that nothing runs stays.
            _log.exception("the jobs could not be counted")
            return True

    def _leave_if_alone(self) -> bool:
        """Hide the socket, serve whoever was on the way in; True if there was nobody."""
        listener = self._publication.listener
        aside = self._publication.set_aside()
        if aside is None or listener is None:
            return False
        until = time.monotonic() + self._settings.idle_grace_s
        came = 0
        while time.monotonic() < until and not came:
            self._poller.poll(max(0.0, until - time.monotonic()) * 1000)
            came = self._transport.accept_all(listener)
        if not came:
            self._publication.withdraw(aside)
            return True
        try:
            self._publication.put_back(aside)
        except Conflict as error:
            _log.warning("%s", error.message)
            self._publication.withdraw(aside)
            return True
        return False

    # --- stop -----------------------------------------------------------------------------------

    def _shut_down(self) -> int:
        began = time.monotonic()
        self._router.stop()
        deadline = began + self._settings.drain_s
        while not self._failed and not self._hurried() and time.monotonic() < deadline:
            if self._initialised.is_set() and not self._router.active_calls():
                break
            self._turn(_DRAIN_TICK_S)
        left = len(self._router.active_calls())
        if left:
            _log.warning("%d calls were not finished", left)
        self._transport.close_all(0.1 if self._hurried() else 1.0)
        closer = threading.Thread(target=self._close, name="close", daemon=True)
        closer.start()
        closer.join(0.5 if self._hurried() else self._settings.close_s)
        if closer.is_alive():
            _log.warning("the services took too long to close")
        return 1 if self._failed else 0

    def _close(self) -> None:
        self._workers.close()
        if self._controller is not None:
            try:
                self._controller.close()
            except Exception:  # noqa: BLE001 - the socket and the locks must be released all the same
                _log.exception("closing failed")

    def _hurried(self) -> bool:
        return self._stop_now or self._stop_signals > 1

    def _request_stop(self, now: bool) -> None:
        self._stop_requested = True
        self._stop_now = self._stop_now or now
        self._wake()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # a full pipe: it is about to wake anyhow
            os.write(self._wake_writing, b"w")

    # --- signals --------------------------------------------------------------------------------

    def _install_signals(self) -> None:
        signal.set_wakeup_fd(self._wake_writing, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_stop_signal)
        signal.signal(signal.SIGHUP, lambda _n, _f: self._log.reopen())
        faulthandler.register(signal.SIGUSR1, file=2, all_threads=True)

    def _on_stop_signal(self, number: int, _frame: FrameType | None) -> None:
        self._stop_signals += 1
        self._stop_requested = True
        _log.info("signal %d", number)

    def _say(self, text: str) -> None:
        print(f"crystalmath-server: {text}", file=sys.stderr, flush=True)  # noqa: T201 (a terminal)
