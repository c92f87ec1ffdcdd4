"""A batch: its elements go to their lanes a few at a time, the replies return together in order.

Called by ``connection``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from crystalmath.errors import TooLarge
from crystalmath.server.calls import ActiveCall
from crystalmath.server.envelope import RefusedElementError, Request, exception_reply
from crystalmath.server.router import Pending
from crystalmath.server.settings import WireLimits


class Batch:
    """One batch in progress.

    Parameters
    ----------
    elements
        The decoded array, neither empty nor too long.
    check
        Turns an element into a request, or raises ``RefusedElementError``.
    route
        Answers a request now or later, see ``Router.route``.
    refuse
        Encodes the reply to an element that is no request.
    on_reply
        Takes the joined replies; None when all elements were notifications.
    """

    def __init__(
        self,
        elements: Sequence[Any],
        limits: WireLimits,
        *,
        check: Callable[[Any], Request],
        route: Callable[
            [Request, Callable[[ActiveCall, bytes | None], None]], bytes | Pending | None
        ],
        refuse: Callable[[RefusedElementError], bytes],
        on_reply: Callable[[bytes | None], None],
    ) -> None:
        self._elements = elements
        self._limits = limits
        self._check = check
        self._route = route
        self._refuse = refuse
        self._on_reply = on_reply
        self._lock = threading.Lock()
        self._replies: list[bytes | None] = [None] * len(elements)
        self._ids: list[Request | None] = [None] * len(elements)
        self._next = 0
        self._running = 0
        self._starting = False
        self._finished = False

    def start(self) -> None:
        """Begin; also called whenever an element is done."""
        with self._lock:
            if self._starting:
                return  # another thread is at it and will see what has changed
            self._starting = True
        while True:
            with self._lock:
                if self._running >= self._limits.batch_at_once or self._next == len(self._elements):
                    self._starting = False
                    done = self._running == 0 and self._next == len(self._elements)
                    finished = done and not self._finished
                    self._finished = done
                    break
                index = self._next
                self._next += 1
                self._running += 1
            self._begin(index)
        if finished:
            self._on_reply(self._joined())

    def _begin(self, index: int) -> None:
        try:
            request = self._check(self._elements[index])
        except RefusedElementError as refusal:
            self._store(index, self._refuse(refusal))
            return
        self._ids[index] = request

        def later(_call: ActiveCall, reply: bytes | None) -> None:
            self._store(index, reply)
            self.start()

        answer = self._route(request, later)
        if not isinstance(answer, Pending):
            self._store(index, None if request.is_notification else answer)

    def _store(self, index: int, reply: bytes | None) -> None:
        with self._lock:
            self._replies[index] = reply
            self._running -= 1

    def _joined(self) -> bytes | None:
        total = 2
        parts = []
        for request, reply in zip(self._ids, self._replies, strict=True):
            if reply is None:
                continue
            part = reply[:-1]
            if total + len(part) + 1 > self._limits.batch_response_bytes:
                part = _overflow(request, self._limits.batch_response_bytes)
            total += len(part) + 1
            parts.append(part)
        return b"[" + b",".join(parts) + b"]\n" if parts else None


def _overflow(request: Request | None, max_bytes: int) -> bytes:
    error = TooLarge(
        f"The replies of the batch are longer than {max_bytes} bytes.",
        hint="Ask for this one by itself.",
    )
    return exception_reply(request.id if request else None, error, "batch")[:-1]
