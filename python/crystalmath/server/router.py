"""Sends each request to its lane, and knows every call that is not answered yet.

Also the gate of the daemon's life: while it starts, calls wait; when the start failed, they get
that error; while it stops, new ones are refused. Called by ``connection`` and ``batch`` (requests),
``lifecycle`` (phases) and ``state`` (counts).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, Protocol

from crystalmath.contract.rpc import Connection, Spec
from crystalmath.contract.system import ServerState
from crystalmath.errors import Cancelled, CrystalMathError, Overloaded, ShuttingDown
from crystalmath.server.calls import ActiveCall, Deadlines, InlineCall, deadline_error
from crystalmath.server.dispatch import Entry, Handler, reply_to
from crystalmath.server.envelope import JsonId, Request, exception_reply
from crystalmath.server.lanes import Lane, LaneCounts
from crystalmath.server.metrics import Latencies
from crystalmath.server.settings import Settings

OnReply = Callable[[ActiveCall, bytes | None], None]

WHILE_STOPPING: Final = frozenset({"system.hello", "system.status", "system.shutdown", "$/cancel"})
"""Answered while the daemon stops; everything else is refused with -32010."""


class Pending:
    """Returned when the reply comes later, through the callback."""

    __slots__ = ()


PENDING: Final = Pending()
_UNKNOWN: Final = Spec()


class Client(Connection, Protocol):
    """What the router needs of a connection."""

    trace_prefix: str

    def register(self, call: ActiveCall) -> bool:
        """Note a call in flight; False when there are too many."""

    def find(self, call_id: JsonId) -> ActiveCall | None:
        """Find a call in flight by its id."""

    def was_answered(self, call_id: JsonId) -> bool:
        """Whether a call of this id was answered recently."""


class Router:
    """See the module docstring.

    Parameters
    ----------
    settings
        Sizes of the lanes, limits.
    log_call
        Notes a finished call in the log.
    """

    def __init__(self, settings: Settings, log_call: Callable[[InlineCall, int], None]) -> None:
        self.phase: ServerState = "starting"
        self._is_open = False
        self.latencies = Latencies()
        self._max_reply_bytes = settings.limits.response_bytes
        self._log_call = log_call
        self._failure: CrystalMathError | None = None
        self._entries: dict[str, Entry] = {}
        self._functions: dict[str, Handler] = {}
        self._lanes = {
            "db": Lane("db", settings.db_workers, settings.db_queue),
            "net": Lane("net", settings.net_workers, settings.net_queue),
            "proc": Lane("proc", settings.proc_workers, settings.proc_queue),
            "forces": Lane("forces", settings.forces_workers, settings.forces_queue),
        }
        self._lock = threading.Lock()
        self._active: set[ActiveCall] = set()
        self._gate: list[ActiveCall] = []
        self._deadlines = Deadlines(self._expire)
        self._emptied = threading.Event()

    # --- phases -------------------------------------------------------------------------------

    def set_early(self, entries: Mapping[str, Entry]) -> None:
        """Set the methods that are answered before the daemon is ready."""
        self._entries = dict(entries)
        self._functions = {name: entry.function for name, entry in entries.items()}

    def open(self, entries: Mapping[str, Entry]) -> None:
        """Set the whole table; calls that waited go on."""
        self.set_early(entries)
        with self._lock:
            if self.phase == "starting":
                self.phase = "ready"
                self._is_open = True
            waiting, self._gate = self._gate, []
        for call in waiting:
            self._place(call)

    def fail(self, error: CrystalMathError) -> None:
        """Answer waiting and later calls with the reason why the daemon cannot start."""
        with self._lock:
            self._failure = error
            waiting, self._gate = self._gate, []
        for call in waiting:
            self._refuse(call, error)

    def stop(self) -> None:
        """Refuse new calls from now on."""
        with self._lock:
            self.phase = "stopping"
            self._is_open = False
            waiting, self._gate = self._gate, []
        for call in waiting:
            self._refuse(call, shutting_down())

    def wait_drained(self, timeout_s: float) -> bool:
        """Wait until no call is in flight."""
        deadline = time.monotonic() + timeout_s
        while True:
            self._emptied.clear()
            if not self._active:
                return True
            if not self._emptied.wait(max(0.0, deadline - time.monotonic())):
                return not self._active

    # --- requests -----------------------------------------------------------------------------

    def route(
        self, request: Request, client: Client, on_reply: OnReply, *, counted: bool = True
    ) -> bytes | Pending | None:
        """Answer a request now (the inline lane) or later.

        Parameters
        ----------
        request
            A checked element.
        client
            Where it came from.
        on_reply
            Takes the reply when it comes later.
        counted
            Counts as a call in flight of its connection.

        Returns
        -------
        bytes or PENDING or None
            The reply with its newline; None for a notification that is done.
        """
        entry = self._entries.get(request.method)
        if not self._is_open:
            held = self._held_back(request, entry, client, on_reply, counted=counted)
            if held is not True:
                return held
        if entry is None or entry.lane == "inline":
            now = InlineCall(request, client)
            reply = reply_to(now, self._functions, self._max_reply_bytes)
            if entry is not None:
                self.latencies.record(entry.name, time.monotonic() - now.received)
            if now.code:
                self._log_call(now, len(reply or b""))
            return reply
        call = self._new_call(request, client, entry.spec, on_reply, counted=counted)
        if not self._admit(call, client):
            return self._overloaded(call, "Too many calls of this connection are in flight.")
        self._place(call)
        return PENDING

    def cancel(
        self, client: Client, call_id: JsonId
    ) -> Literal["cancelled", "finished", "unknown"]:
        """Cancel a call of a connection; a change that has begun is told to stop and answers."""
        call = client.find(call_id)
        if call is None:
            return "finished" if client.was_answered(call_id) else "unknown"
        error = Cancelled("The call was cancelled.")
        call.stop(error)
        if call.started is None or call.read_only:
            self._refuse(call, error)
        return "cancelled"

    def drop(self, call: ActiveCall) -> None:
        """Give up a call whose client is gone: reading stops, a change goes on."""
        if call.read_only:
            call.stop(Cancelled("The client is gone."))
            call.finish(None)

    # --- counts -------------------------------------------------------------------------------

    def active_calls(self) -> list[ActiveCall]:
        """Return the calls that are not answered yet."""
        with self._lock:
            return list(self._active)

    def lane_counts(self) -> list[LaneCounts]:
        """Return what the lanes are doing."""
        return [lane.counts() for lane in self._lanes.values()]

    # --- inside -------------------------------------------------------------------------------

    def _held_back(
        self, request: Request, entry: Entry | None, client: Client, on_reply: OnReply, *,
        counted: bool,
    ) -> bytes | Pending | Literal[True] | None:  # fmt: skip
        """Apply the phase; True lets the request through."""
        if self.phase == "stopping" and request.method not in WHILE_STOPPING:
            return self._refusal(InlineCall(request, client), shutting_down())
        if entry is not None and entry.spec.before_ready:
            return True
        call = self._new_call(request, client, entry.spec if entry else _UNKNOWN, on_reply,
                              counted=counted)  # fmt: skip
        if self._failure is not None:
            return self._refusal(call, self._failure)
        if not self._admit(call, client):
            return self._overloaded(call, "Too many calls of this connection are in flight.")
        with self._lock:
            waits = self.phase == "starting" and self._failure is None
            if waits:
                self._gate.append(call)
        if not waits:  # the phase changed just now
            self._place_or_refuse(call)
        return PENDING

    def _place_or_refuse(self, call: ActiveCall) -> None:
        if self._failure is not None:
            self._refuse(call, self._failure)
        elif self.phase == "stopping":
            self._refuse(call, shutting_down())
        else:
            self._place(call)

    def _new_call(
        self, request: Request, client: Client, spec: Spec, on_reply: OnReply, *, counted: bool
    ) -> ActiveCall:
        cap_s = client.deadline_cap_s
        deadline_s = spec.deadline_s if cap_s is None else min(cap_s, spec.deadline_s)

        def done(call: ActiveCall, reply: bytes | None) -> None:
            with self._lock:
                self._active.discard(call)
                if not self._active:
                    self._emptied.set()
            on_reply(call, None if request.is_notification else reply)
            if request.method in self._entries:
                self.latencies.record(request.method, time.monotonic() - call.received)
            self._log_call(call, len(reply or b""))

        return ActiveCall(request, client, deadline_s, done, lane=spec.lane,
                          read_only=spec.read_only, counted=counted)  # fmt: skip

    def _admit(self, call: ActiveCall, client: Client) -> bool:
        if not client.register(call):
            return False
        with self._lock:
            self._active.add(call)
        self._deadlines.watch(call)
        return True

    def _place(self, call: ActiveCall) -> None:
        """Hand an admitted call to its lane."""
        entry = self._entries.get(call.request.method)
        if entry is not None:
            call.lane, call.read_only = entry.lane, entry.spec.read_only
        lane = self._lanes.get(call.lane) if entry is not None else None
        if lane is None:
            self._run(call)
        elif not lane.submit(lambda: self._run(call)):
            self._refuse(call, Overloaded(f"Too many calls wait in lane {lane.name}.", hint=_AGAIN))

    def _run(self, call: ActiveCall) -> None:
        if not call.begin():
            call.finish(None)  # nobody waits: it was answered, or its client is gone
            return
        call.finish(reply_to(call, self._functions, self._max_reply_bytes))

    def _expire(self, call: ActiveCall) -> None:
        error = deadline_error()
        call.stop(error)
        self._refuse(call, error)

    def _refuse(self, call: ActiveCall, error: CrystalMathError) -> None:
        call.code = error.code
        call.finish(exception_reply(call.request.id, error, call.trace_id))

    def _refusal(self, call: InlineCall, error: CrystalMathError) -> bytes | None:
        if call.request.is_notification:
            return None
        return exception_reply(call.request.id, error, call.trace_id)

    def _overloaded(self, call: InlineCall, text: str) -> bytes | None:
        return self._refusal(call, Overloaded(text, hint=_AGAIN))


_AGAIN: Final = "Wait a moment and try again."


def shutting_down() -> ShuttingDown:
    """Make the error of a call that comes while the daemon stops."""
    return ShuttingDown("The daemon is stopping.", hint="Try again; the next daemon will answer.")


def ignore_call(_call: InlineCall, _reply_bytes: int) -> Any:
    """Log nothing; for tests."""
