"""Tells at once that a supervisor has ended, so that nobody has to look again and again for it.

A pidfd becomes readable when its process ends (pidfd_open(2), Linux 5.3). Where the kernel has
none, or no more descriptors are to be had, the pump's regular look finds the end a little later.
Built by ``api``, told of supervisors by ``runner``.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable

from crystalmath.runners.local import procfs


class Ends:
    """Watches processes that are no children of this one.

    Parameters
    ----------
    ended
        Called, on a thread of its own, when a process has ended; must not wait.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended
        self._lock = threading.Lock()
        self._watched: dict[tuple[int, int], int] = {}
        self._epoll: select.epoll | None = None
        self._stop: int | None = None
        self._thread: threading.Thread | None = None

    def watch(self, pid: int, pid_start: int) -> None:
        """Watch a process; once is enough, and more do no harm.

        Parameters
        ----------
        pid_start
            Its start in ticks since boot, so that no other process of that number is meant.
        """
        with self._lock, contextlib.suppress(OSError, AttributeError):
            if (pid, pid_start) in self._watched:
                return
            fd = os.pidfd_open(pid)
            try:
                if not procfs.alive(pid, pid_start):
                    raise ProcessLookupError(pid)
                self._started().register(fd, select.EPOLLIN)
            except OSError:
                os.close(fd)
                raise
            self._watched[pid, pid_start] = fd

    def close(self) -> None:
        """Watch nothing any more."""
        with self._lock:
            thread, stop = self._thread, self._stop
            self._thread = self._stop = None
        if thread is not None and stop is not None:
            os.eventfd_write(stop, 1)
            thread.join()
            os.close(stop)

    def _started(self) -> select.epoll:
        if self._epoll is None:
            self._epoll = select.epoll()
            self._stop = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            self._epoll.register(self._stop, select.EPOLLIN)
            self._thread = threading.Thread(
                target=self._run, args=(self._epoll, self._stop), name="ends", daemon=True
            )
            self._thread.start()
        return self._epoll

    def _run(self, epoll: select.epoll, stop: int) -> None:
        while True:
            ready = {fd for fd, _ in epoll.poll()}
            with self._lock:
                over = stop in ready
                gone = [key for key, fd in self._watched.items() if over or fd in ready]
                for key in gone:
                    fd = self._watched.pop(key)
                    epoll.unregister(fd)
                    os.close(fd)
                if over:
                    epoll.close()
                    self._epoll = None
                    return
            self._ended()
