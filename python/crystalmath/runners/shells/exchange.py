"""One command on one channel: both streams drained at the same time, until the end marks come.

What is executed is ``/bin/sh`` alone, with the script on its standard input.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from paramiko import Channel

SHELL: Final = "/bin/sh"
WITH_DATA: Final = (
    "/bin/sh -c 'read -r n; s=$(dd bs=1 count=$n 2>/dev/null; echo .); eval \"${s%.}\"'"
)
"""A script of a known length, read byte by byte, and then its data on the same stream.

A shell that reads its script from standard input reads ahead, into the data.
"""

_READ_BYTES: Final = 256 * 1024
_SLICE_S: Final = 5.0


class Sink(Protocol):
    """Takes the bytes of a stream."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes, cut anywhere."""


class _Wake:
    """Tells that something has come; only the reader puts it back."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def clear(self) -> None:
        """Nothing: two buffers share it, and one must not hide what the other has."""

    def wait_and_reset(self, timeout_s: float) -> None:
        self._event.wait(timeout_s)
        self._event.clear()


def start(channel: Channel, what: str, name: str) -> None:
    """Ask for a command (``exec``) or a ``subsystem`` without waiting for the answer.

    What it writes is answer enough; the library's own way waits without a time limit. A refusal
    closes the channel.
    """
    from paramiko import Message
    from paramiko.common import cMSG_CHANNEL_REQUEST

    message = Message()
    message.add_byte(cMSG_CHANNEL_REQUEST)
    message.add_int(channel.remote_chanid)
    message.add_string(what)
    message.add_boolean(True)
    message.add_string(name)
    channel.get_transport()._send_user_message(message)  # noqa: SLF001


def converse(
    channel: Channel,
    command: str,
    data: Iterable[bytes],
    out: Sink,
    err: Sink,
    *,
    ended: Callable[[], bool],
    until: Callable[[], float],
) -> bool:
    """Run a command, feed it and drain it.

    Parameters
    ----------
    ended
        Whether enough has been seen.
    until
        When to stop waiting, on the monotonic clock; asked again as bytes come.

    Returns
    -------
    bool
        Whether the end was seen; False for a lost connection or a passed deadline.
    """
    wake = _Wake()
    channel.in_buffer.set_event(wake)
    channel.in_stderr_buffer.set_event(wake)
    try:
        start(channel, "exec", command)
        if not _send(channel, data, until):
            _drain(channel, out, err)
            return ended()
    except (EOFError, OSError):  # lost while it was sent: what came back still counts
        _drain(channel, out, err)
        return ended()
    while True:
        closed = channel.closed
        try:
            _drain(channel, out, err)
        except (EOFError, OSError):
            return ended()
        if ended():
            return True
        left = until() - time.monotonic()
        if closed or left <= 0:
            return False
        wake.wait_and_reset(min(left, _SLICE_S))


def _send(channel: Channel, data: Iterable[bytes], until: Callable[[], float]) -> bool:
    for chunk in data:
        view = memoryview(chunk)
        while view:
            left = until() - time.monotonic()
            if left <= 0:
                return False
            channel.settimeout(left)
            view = view[channel.send(bytes(view[:32768])) :]
    channel.shutdown_write()
    return True


def _drain(channel: Channel, out: Sink, err: Sink) -> None:
    while channel.recv_ready():
        out.feed(channel.recv(_READ_BYTES))
    while channel.recv_stderr_ready():
        err.feed(channel.recv_stderr(_READ_BYTES))
