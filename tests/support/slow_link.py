"""A program behind a slow link: ``slow_link.py BYTES_PER_S PROGRAM ARGUMENT …``.

The program runs in a pseudo-terminal of the same size; what it prints passes at the given rate,
what is typed passes at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
import tty

_TICK_S = 0.05


def _copy_size(to: int) -> None:
    size = fcntl.ioctl(0, termios.TIOCGWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
    fcntl.ioctl(to, termios.TIOCSWINSZ, size)


def main(rate: int, argv: list[str]) -> int:
    """Run until the program ends; its exit code."""
    pid, master = pty.fork()
    if pid == 0:
        os.execvp(argv[0], argv)
    _copy_size(master)
    signal.signal(signal.SIGWINCH, lambda *_: _copy_size(master))
    before = termios.tcgetattr(0)
    tty.setraw(0)
    allowance, last = 0.0, time.monotonic()
    try:
        while True:
            now = time.monotonic()
            allowance = min(rate * _TICK_S * 2, allowance + rate * (now - last))
            last = now
            watched = [0, master] if allowance >= 1 else [0]
            ready = select.select(watched, [], [], _TICK_S)[0]
            if 0 in ready:
                os.write(master, os.read(0, 1024))
            if master in ready:
                data = os.read(master, max(1, int(allowance)))
                allowance -= len(data)
                os.write(1, data)
    except OSError:
        pass  # the program has ended
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSADRAIN, before)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
