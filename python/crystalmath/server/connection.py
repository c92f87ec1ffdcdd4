"""One client: a thread that reads its requests, and the calls of it that are in flight.

Inline methods are answered by the reading thread itself; the others go to lanes and their replies
are sent as they are ready. Called by ``transport``.
"""

from __future__ import annotations

import logging
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from crystalmath.contract.event_names import SUBSCRIBE
from crystalmath.errors import INVALID_REQUEST, PARSE_ERROR, Overloaded, TooLarge
from crystalmath.server import envelope
from crystalmath.server.batch import Batch
from crystalmath.server.calls import ActiveCall
from crystalmath.server.envelope import JsonId, RefusedElementError, Request, check_element
from crystalmath.server.framing import Line, LineFramer, Oversize
from crystalmath.server.notifier import Notifier
from crystalmath.server.outbox import Outbox, set_timeout
from crystalmath.server.router import Router
from crystalmath.server.settings import WireLimits
from crystalmath.server.strict_json import BadJsonError, decode

READ_BYTES: Final = 65536
REMEMBERED_IDS: Final = 256

_log = logging.getLogger(__name__)


class ClientConnection:
    """A connected client; implements the contract's ``Connection``.

    Parameters
    ----------
    number
        Number of the connection in this run.
    sock
        The connected socket, blocking; owned from here on.
    on_closed
        Called once, when the connection is gone.
    notifier
        Sends it what it subscribes to.

    Attributes
    ----------
    is_taking
        The reading thread is at work on what it has read.
    """

    def __init__(
        self,
        number: int,
        sock: socket.socket,
        router: Router,
        limits: WireLimits,
        trace_prefix: str,
        on_closed: Callable[[ClientConnection], None],
        *,
        notifier: Notifier,
    ) -> None:
        self.id = number
        self.trace_prefix = f"{trace_prefix}{number:x}-"
        self.deadline_cap_s: float | None = None
        self.ssh_auth_sock: str | None = None
        self.client: str | None = None
        self.opened = time.monotonic()
        self._sock = sock
        self._router = router
        self._limits = limits
        self._on_closed = on_closed
        self._framer = LineFramer(limits.request_bytes)
        self._outbox = Outbox(
            sock, limits.outbox_bytes, limits.unwritable_s, self.hang_up, notifier.wake
        )
        self._notifier = notifier
        self._feed = notifier.open(number, self._outbox)
        self._lock = threading.Lock()
        self._calls: dict[JsonId, ActiveCall] = {}
        self._others: set[ActiveCall] = set()  # notifications in flight
        self._answered: deque[JsonId] = deque(maxlen=REMEMBERED_IDS)
        self._in_flight = 0
        self._open_subscribing = 0
        self._oversize_lines = 0
        self._sending_ended = False
        self.is_taking = False
        set_timeout(sock, socket.SO_RCVTIMEO, limits.unfinished_line_s)

    # --- for the transport --------------------------------------------------------------------

    def start(self) -> None:
        """Start the reading thread."""
        threading.Thread(target=self._run, name=f"client-{self.id}", daemon=True).start()

    @property
    def in_flight(self) -> int:
        """Calls that are not answered yet."""
        return self._in_flight

    def flush(self, timeout_s: float) -> bool:
        """Wait until what was read is answered and every reply is with the kernel."""
        deadline = time.monotonic() + timeout_s
        while self.is_taking and time.monotonic() < deadline:
            time.sleep(0.001)  # e.g. the reply to system.shutdown itself
        return self._outbox.flush(max(0.0, deadline - time.monotonic()))

    def hang_up(self) -> None:
        """End the connection; wakes its threads."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            _log.debug("connection %d was closed already", self.id)

    # --- for the router -----------------------------------------------------------------------

    def register(self, call: ActiveCall) -> bool:
        """Note a call in flight; False when there are too many."""
        with self._lock:
            if call.counted:
                if self._in_flight >= self._limits.in_flight:
                    return False
                self._in_flight += 1
                self._open_subscribing += call.request.method == SUBSCRIBE
            if call.request.is_notification:
                self._others.add(call)
            else:
                self._calls[call.request.id] = call
        return True

    def find(self, call_id: JsonId) -> ActiveCall | None:
        """Find a call in flight by its id."""
        return self._calls.get(call_id)

    def was_answered(self, call_id: JsonId) -> bool:
        """Whether a call of this id was answered recently."""
        return call_id in self._answered

    # --- reading ------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._read()
        except Exception:  # noqa: BLE001 - one connection must not take the others with it
            _log.exception("connection %d failed", self.id)
        finally:
            self._close()

    def _read(self) -> None:
        receive, feed, outbox = self._sock.recv, self._framer.feed, self._outbox
        while True:
            try:
                data = receive(READ_BYTES)
            except BlockingIOError:  # the kernel's timeout
                if self._framer.unfinished:
                    _log.info("connection %d: unfinished line, closing", self.id)
                    return
                continue
            except OSError:
                return
            if not data:
                self._finish_replies()
                return
            self.is_taking = True
            for line in feed(data):
                self._take(line)
                if outbox.is_high:
                    outbox.wait_below_high_water()
            self.is_taking = False
            if self._feed.held:  # a reply that was sent meanwhile has left it to this thread
                self._begin_to_tell()
            if self._gives_up():
                self._part_politely()
                return

    def _gives_up(self) -> bool:
        return (
            self._oversize_lines >= self._limits.oversize_lines
            or self._framer.discarded_bytes > self._limits.discarded_bytes
        )

    def _part_politely(self) -> None:
        """Let the peer read the last error: closing with unread bytes would reset it."""
        _log.info("connection %d: too much was sent that is no request, closing", self.id)
        self._outbox.flush(self._limits.refused_drain_s)
        until = time.monotonic() + self._limits.refused_drain_s
        try:
            self._sock.shutdown(socket.SHUT_WR)
            set_timeout(self._sock, socket.SO_RCVTIMEO, self._limits.refused_drain_s)
            while time.monotonic() < until and self._sock.recv(READ_BYTES):
                continue
        except OSError:
            return

    def _finish_replies(self) -> None:
        """Handle the end of the client's sending side: half-closed, or gone altogether."""
        self._sending_ended = True
        poller = select.poll()
        poller.register(self._sock, 0)  # POLLHUP and POLLERR are always reported
        self._hang_up_if_finished()
        while True:
            events = poller.poll()
            if events:
                return

    def _hang_up_if_finished(self) -> None:
        with self._lock:
            finished = self._sending_ended and self._in_flight == 0
        if finished:
            self._outbox.finish()

    def _take(self, line: Line) -> None:
        if isinstance(line, Oversize):
            self._oversize_lines += 1
            error = TooLarge(
                f"A request is at most {self._limits.request_bytes} bytes long.",
                hint="Send less at once.",
            )
            self._outbox.send(envelope.exception_reply(None, error, self.trace_prefix))
            return
        try:
            message = decode(line, self._limits.nesting)
        except BadJsonError:
            self._outbox.send(
                envelope.reserved_error(
                    None, PARSE_ERROR, "One JSON text per line, UTF-8.", self.trace_prefix
                )
            )
            return
        if type(message) is list:
            self._take_batch(message)
            return
        try:
            request = check_element(message)
            if self._calls and not request.is_notification and request.id in self._calls:
                raise _id_in_flight()
        except RefusedElementError as refusal:
            self._outbox.send(self._refused(refusal))
            return
        answer = self._router.route(request, self, self._reply)
        if type(answer) is bytes:
            self._outbox.send(answer)
            self._answered.append(request.id)
        if self._feed.held:
            self._begin_to_tell()

    def _checked(self, element: Any) -> Request:
        request = check_element(element)
        if self._calls and not request.is_notification and request.id in self._calls:
            raise _id_in_flight()
        return request

    def _refused(self, refusal: RefusedElementError) -> bytes:
        return envelope.reserved_error(
            refusal.reply_id, refusal.code, refusal.hint, self.trace_prefix
        )

    def _take_batch(self, elements: list[Any]) -> None:
        most = self._limits.batch_items
        if not elements or len(elements) > most:
            hint = f"A batch holds 1 to {most} elements."
            self._outbox.send(self._refused(RefusedElementError(INVALID_REQUEST, hint)))
            return
        with self._lock:
            if self._in_flight >= self._limits.in_flight:
                admitted = False
            else:
                admitted = True
                self._in_flight += 1
                self._open_subscribing += 1
        if not admitted:
            self._outbox.send(
                envelope.exception_reply(
                    None, Overloaded("Too many calls of this connection are in flight.",
                                     hint="Wait a moment and try again."),
                    self.trace_prefix,
                )
            )  # fmt: skip
            return

        def joined(reply: bytes | None) -> None:
            if reply is not None:
                self._outbox.send(reply)
            with self._lock:
                self._open_subscribing -= 1
            self._release()

        Batch(
            elements,
            self._limits,
            check=self._checked,
            route=lambda request, later: self._router.route(
                request, self, lambda call, reply: self._batch_reply(call, reply, later),
                counted=False,
            ),
            refuse=self._refused,
            on_reply=joined,
        ).start()  # fmt: skip

    # --- replies ------------------------------------------------------------------------------

    def _reply(self, call: ActiveCall, reply: bytes | None) -> None:
        self._forget(call)
        if reply is not None:
            self._outbox.send(reply)
        if call.request.method == SUBSCRIBE:
            with self._lock:
                self._open_subscribing -= 1
        self._release()

    def _batch_reply(
        self,
        call: ActiveCall,
        reply: bytes | None,
        later: Callable[[ActiveCall, bytes | None], None],
    ) -> None:
        self._forget(call)
        later(call, reply)

    def _forget(self, call: ActiveCall) -> None:
        with self._lock:
            if call.request.is_notification:
                self._others.discard(call)
            else:
                self._calls.pop(call.request.id, None)
                self._answered.append(call.request.id)

    def _release(self) -> None:
        with self._lock:
            self._in_flight -= 1
        if self._feed.held and not self.is_taking:  # else the reading thread does it
            self._begin_to_tell()
        if self._sending_ended:
            self._hang_up_if_finished()

    def _begin_to_tell(self) -> None:
        """Let notifications out, unless the reply to a subscription may still be on its way."""
        with self._lock:
            waits = self._open_subscribing > 0
        if not waits:
            self._notifier.release(self._feed)

    def _close(self) -> None:
        with self._lock:
            left = [*self._calls.values(), *self._others]
        for call in left:
            self._router.drop(call)
        self._notifier.close(self._feed)
        self._outbox.close()
        self._sock.close()
        self._on_closed(self)


def _id_in_flight() -> RefusedElementError:
    # without the id: under it the error could be taken for the answer of the first call
    return RefusedElementError(INVALID_REQUEST, "A call of this id is in flight.")
