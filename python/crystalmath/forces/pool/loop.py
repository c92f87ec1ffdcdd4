"""One thread that waits for descriptors and for calls, and looks around now and then.

Everything in it runs under the lock of the roster. It lives as long as the pool.
"""

from __future__ import annotations

import logging
import os
import selectors
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_log = logging.getLogger(__name__)


class Loop:
    """See the module docstring.

    Parameters
    ----------
    lock
        Held while anything runs.
    look
        Called in each turn; returns the seconds until the next look, None: when something happens.
    is_over
        Whether to end; asked after each look.
    """

    def __init__(
        self,
        lock: threading.Condition,
        look: Callable[[], float | None],
        is_over: Callable[[], bool],
    ) -> None:
        self._lock = lock
        self._look = look
        self._is_over = is_over
        self._selector = selectors.DefaultSelector()
        self._calls: deque[Callable[[], None]] = deque()
        self._waking, self._wake = os.pipe()
        os.set_blocking(self._waking, False)
        os.set_blocking(self._wake, False)
        self._selector.register(self._waking, selectors.EVENT_READ, self._woken)
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread if it does not run yet."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="force-supervisor", daemon=True)
            self._thread.start()

    def is_here(self) -> bool:
        """Whether the caller is the thread."""
        return threading.current_thread() is self._thread

    def soon(self, call: Callable[[], None]) -> None:
        """Run something in the thread."""
        self._calls.append(call)
        self.start()
        self.poke()

    def poke(self) -> None:
        """Let it look around now."""
        with suppress(BlockingIOError):  # a full pipe: it is about to wake anyhow
            os.write(self._wake, b"w")

    def watch(self, source: Any, on_readable: Callable[[], None]) -> None:
        """Call ``on_readable`` whenever ``source`` can be read."""
        if self.is_here():
            self._selector.register(source, selectors.EVENT_READ, on_readable)
        else:
            self.soon(lambda: self.watch(source, on_readable))

    def unwatch(self, source: Any) -> None:
        """No longer; only in the thread."""
        with suppress(KeyError, ValueError):
            self._selector.unregister(source)

    def join(self, timeout_s: float) -> None:
        """Wait for its end."""
        self.poke()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def guarded(self, call: Callable[[], None]) -> None:
        """Run something; one worker's trouble must not end the watch over the others."""
        try:
            call()
        except Exception:  # noqa: BLE001 - see above; the log has it
            _log.exception("the supervisor of the force workers stumbled")

    def _woken(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._waking, 4096)

    def _run(self) -> None:
        while True:
            with self._lock:
                while self._calls:
                    self.guarded(self._calls.popleft())
                wait_s = self._look()
                if self._is_over():
                    return
            for key, _ in self._selector.select(wait_s):
                with self._lock:
                    self.guarded(key.data)
