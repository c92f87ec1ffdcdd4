"""One call from its receipt to its one reply: deadline, cancellation, and who gets the answer.

Whatever happens (result, cancellation, deadline, failure to start), :meth:`ActiveCall.finish`
lets exactly one reply through. Made by ``router``; handed to service functions as their ``Call``.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from crystalmath.contract.rpc import Connection
from crystalmath.errors import Cancelled, DeadlinePassed
from crystalmath.server.envelope import Request

_numbers = itertools.count(1)
INLINE_S: Final = 30.0


class InlineCall:
    """A call that the reading thread answers at once: nothing can cancel it.

    Parameters
    ----------
    request
        What was asked.
    connection
        Where it came from.

    Attributes
    ----------
    code
        Error code of the reply, 0 for a result; for the log.
    """

    __slots__ = ("_number", "code", "connection", "received", "request")

    lane: str = "inline"
    started: float | None = None

    def __init__(self, request: Request, connection: Connection) -> None:
        self.request = request
        self.connection = connection
        self.code = 0
        self._number = next(_numbers)
        self.received = time.monotonic()

    @property
    def trace_id(self) -> str:
        """Id under which the log tells more about this call."""
        return f"{getattr(self.connection, 'trace_prefix', '')}{self._number:x}"

    def check(self) -> None:
        """Never stops."""

    def remaining_s(self) -> float:
        """Return what an inline method may take at most."""
        return INLINE_S

    def wait_cancelled(self, timeout_s: float) -> bool:
        """Sleep; no inline method should."""
        time.sleep(timeout_s)
        return False

    def on_cancel(self, close: Callable[[], None]) -> None:
        """Nothing to register: the call cannot be cancelled."""


class ActiveCall(InlineCall):
    """A call on a lane; implements the contract's ``Call``.

    Parameters
    ----------
    request
        What was asked.
    connection
        Where it came from.
    deadline_s
        Seconds until it is answered with -32012.
    on_reply
        Takes the one reply (None for a notification).
    counted
        Counts as a call in flight of its connection; the elements of a batch do not.
    """

    __slots__ = (
        "_closers", "_done", "_error", "_lock", "_on_reply", "counted", "deadline", "lane",
        "read_only", "started", "wake",
    )  # fmt: skip

    def __init__(
        self,
        request: Request,
        connection: Connection,
        deadline_s: float,
        on_reply: Callable[[ActiveCall, bytes | None], None],
        *,
        lane: str = "db",
        read_only: bool = False,
        counted: bool = True,
    ) -> None:
        super().__init__(request, connection)
        self.deadline = self.received + deadline_s
        self.started: float | None = None
        self.lane = lane
        self.read_only = read_only
        self.counted = counted
        self._on_reply = on_reply
        self._lock = threading.Lock()
        self._done = False
        self._error: Cancelled | DeadlinePassed | None = None
        self.wake: threading.Event | None = None
        self._closers: list[Callable[[], None]] = []

    @property
    def is_done(self) -> bool:
        """Whether the reply is decided."""
        return self._done

    @property
    def is_stopped(self) -> bool:
        """Whether the call was told to stop."""
        return self._error is not None

    # --- for the service function -------------------------------------------------------------

    def check(self) -> None:
        """Raise ``Cancelled`` or ``DeadlinePassed`` if the call should stop here."""
        if self._error is not None:
            raise self._error
        if time.monotonic() > self.deadline:
            raise deadline_error()

    def remaining_s(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self.deadline - time.monotonic())

    def wait_cancelled(self, timeout_s: float) -> bool:
        """Sleep up to ``timeout_s``; True as soon as the call is to stop."""
        with self._lock:
            if self.wake is None:
                self.wake = threading.Event()
            if self._error is not None:
                self.wake.set()
        remaining_s = self.remaining_s()
        return self.wake.wait(min(timeout_s, remaining_s)) or remaining_s <= timeout_s

    def on_cancel(self, close: Callable[[], None]) -> None:
        """Register what frees this thread when the call is to stop."""
        with self._lock:
            if self._error is None:
                self._closers.append(close)
                return
        close()

    # --- for the server -----------------------------------------------------------------------

    def begin(self) -> bool:
        """Note that the work starts now; False if it is not wanted any more."""
        with self._lock:
            if self._done or self._error is not None:
                return False
            self.started = time.monotonic()
            return True

    def stop(self, error: Cancelled | DeadlinePassed) -> None:
        """Tell the work to stop; does not answer."""
        with self._lock:
            if self._error is not None or self._done:
                return
            self._error = error
            closers, self._closers = self._closers, []
            if self.wake is not None:
                self.wake.set()
        for close in closers:
            close()

    def finish(self, reply: bytes | None) -> bool:
        """Give the reply; False if there was one already."""
        with self._lock:
            if self._done:
                return False
            self._done = True
        self._on_reply(self, reply)
        return True


def deadline_error() -> DeadlinePassed:
    """Make the error of a call that took too long."""
    return DeadlinePassed(
        "The call took longer than its deadline.", hint="Try again, or ask for less at once."
    )


class Deadlines:
    """A thread that notices calls whose deadline has passed."""

    def __init__(self, on_expired: Callable[[ActiveCall], Any]) -> None:
        self._on_expired = on_expired
        self._heap: list[tuple[float, int, ActiveCall]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def watch(self, call: ActiveCall) -> None:
        """Watch a call until it is done or its deadline has passed."""
        with self._changed:
            first = not self._heap or call.deadline < self._heap[0][0]
            heapq.heappush(self._heap, (call.deadline, next(self._order), call))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
                self._thread.start()
            elif first:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._heap and self._heap[0][2].is_done:
                    heapq.heappop(self._heap)
                if not self._heap:
                    self._changed.wait()
                    continue
                wait_s = self._heap[0][0] - time.monotonic()
                if wait_s > 0:
                    self._changed.wait(wait_s)
                    continue
                expired = heapq.heappop(self._heap)[2]
            if not expired.is_done:
                self._on_expired(expired)
