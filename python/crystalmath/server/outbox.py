"""What goes out on one connection: sent at once when the peer reads, else by a thread of its own.

No thread but the connection's own writer ever waits for a peer. Called by ``connection``.
"""

from __future__ import annotations

import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

_DONT_WAIT: Final = socket.MSG_DONTWAIT
_CHUNK_BYTES: Final = 1024 * 1024


class Outbox:
    """Ordered bytes to one socket.

    Parameters
    ----------
    sock
        A blocking socket.
    high_water_bytes
        Above this much unsent, :meth:`wait_below_high_water` holds its caller.
    unwritable_s
        After so long without progress the peer is given up.
    on_broken
        Called when nothing can be sent any more, or when the last byte is sent.
    on_empty
        Called when the writer has sent everything that waited.
    """

    def __init__(
        self,
        sock: socket.socket,
        high_water_bytes: int,
        unwritable_s: float,
        on_broken: Callable[[], None],
        on_empty: Callable[[], None] = lambda: None,
    ) -> None:
        self._sock = sock
        self._high_water = high_water_bytes
        self._on_broken = on_broken
        self._on_empty = on_empty
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._queue: deque[memoryview] = deque()
        self._bytes = 0
        self._broken = False
        self._closing = False
        self._last = False
        self._writer: threading.Thread | None = None
        set_timeout(sock, socket.SO_SNDTIMEO, unwritable_s)

    def send(self, data: bytes) -> None:
        """Send now what the socket takes; leave the rest to the writer."""
        with self._lock:
            if self._broken or self._closing:
                return
            if not self._queue:
                try:
                    sent = self._sock.send(data, _DONT_WAIT)
                except BlockingIOError:
                    sent = 0
                except OSError:
                    self._broken = True
                if not self._broken:
                    if sent == len(data):
                        return
                    self._push(memoryview(data)[sent:])
                    return
            else:
                self._push(memoryview(data))
                return
        self._on_broken()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is unsent."""
        return not self._queue

    @property
    def is_high(self) -> bool:
        """Whether more than the high-water mark is unsent."""
        return self._bytes > self._high_water

    def wait_below_high_water(self) -> None:
        """Hold the reader while too much is unsent."""
        with self._changed:
            while self._bytes > self._high_water and not self._broken:
                self._changed.wait()

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything is sent; False when it was not in time."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while self._queue and not self._broken:
                remaining_s = deadline - time.monotonic()
                if remaining_s <= 0:
                    return False
                self._changed.wait(remaining_s)
            return not self._queue

    def finish(self) -> None:
        """Nothing more will come: report the end as soon as everything is sent."""
        with self._changed:
            self._last = True
            empty = not self._queue
        if empty:
            self._on_broken()

    def close(self) -> None:
        """Send nothing more; wakes whoever waits. The socket is the connection's to close."""
        with self._changed:
            self._broken = True
            self._closing = True
            self._queue.clear()
            self._bytes = 0
            self._changed.notify_all()
            writer = self._writer
        if writer is not None and writer is not threading.current_thread():
            writer.join()

    def _push(self, data: memoryview) -> None:
        self._queue.append(data)
        self._bytes += len(data)
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name="writer", daemon=True)
            self._writer.start()
        else:
            self._changed.notify_all()

    def _write(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._broken:
                    self._changed.wait()
                if self._broken:
                    return
                head = self._queue[0]
            try:
                sent = self._sock.send(head[:_CHUNK_BYTES])
            except OSError:  # also BlockingIOError: no progress within the time allowed
                with self._changed:
                    self._broken = True
                    self._changed.notify_all()
                self._on_broken()
                return
            with self._changed:
                if self._queue:
                    self._bytes -= sent
                    if sent == len(head):
                        self._queue.popleft()
                    else:
                        self._queue[0] = head[sent:]
                empty = not self._queue
                ended = self._last and empty
                self._changed.notify_all()
            if ended:
                self._on_broken()
            elif empty:
                self._on_empty()


def set_timeout(sock: socket.socket, option: int, seconds: float) -> None:
    """Set a kernel timeout; unlike ``settimeout`` it costs no extra system call per operation."""
    whole = int(seconds)
    layout = "qi4x" if sys.platform == "darwin" else "ll"
    value = struct.pack(layout, whole, int((seconds - whole) * 1e6))
    sock.setsockopt(socket.SOL_SOCKET, option, value)
