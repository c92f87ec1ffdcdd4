"""The worker's end of the control channel: the agreement on the level, then words with JSON.

Two threads send on it, the one that computes and the one that beats.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

from . import plain, wire

_READ_BYTES = 65_536
_MAX_FDS = 16


class HostGone(Exception):
    """The host has closed the channel, or ended."""


class Control:
    """See the module docstring.

    Parameters
    ----------
    sock
        The inherited end.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._lock = threading.Lock()
        self._unsent = b""
        self._messages = plain.Assembler()
        self._waiting: deque[plain.Message] = deque()
        self._fds: deque[int] = deque()

    def agree(self) -> None:
        """Answer the host's STATUS and read its INIT.

        Raises
        ------
        HostGone, WireError
        """
        self._expect(wire.STATUS_WORD)
        self._send(wire.NEEDINIT)
        self._expect(wire.INIT)
        _bead, size = struct.unpack("<ii", self._exactly(8))
        if not 0 <= size <= 65_536:
            raise wire.WireError(f"an INIT of {size} bytes")
        text = self._exactly(size)
        if not text.startswith(wire.AGREEMENT):
            raise wire.WireError("the host speaks plain i-PI only")
        try:
            abi = json.loads(text[len(wire.AGREEMENT) :])["abi"]
        except (ValueError, KeyError, TypeError) as error:
            raise wire.WireError("the INIT of the host cannot be read") from error
        if abi != wire.ABI:
            raise wire.WireError(f"the host speaks version {abi}, this worker {wire.ABI}")

    def wait(self, word: bytes) -> Any:
        """Read one message, which must be this one; returns its JSON."""
        while not self._waiting:
            self.fill()
        message = self._waiting.popleft()
        if message.header.word != word:
            raise wire.WireError(f"{message.header.word!r} instead of {word!r}")
        return message.document()

    def fill(self) -> None:
        """Read what has come, waiting for something."""
        try:
            data, rights, flags, _ = self.sock.recvmsg(
                _READ_BYTES, socket.CMSG_SPACE(4 * _MAX_FDS), socket.MSG_CMSG_CLOEXEC
            )
        except OSError as error:
            raise HostGone from error
        self._keep(rights)
        if flags & socket.MSG_CTRUNC:
            raise wire.WireError("more descriptors than can be taken at once")
        if not data:
            raise HostGone
        self._waiting.extend(self._messages.feed(data))

    def messages(self) -> Iterator[plain.Message]:
        """Take the messages that are here."""
        while self._waiting:
            yield self._waiting.popleft()

    def take_descriptor(self) -> int:
        """Return the descriptor that came with the oldest ATTACH."""
        if not self._fds:
            raise wire.WireError("an ATTACH without a descriptor")
        return self._fds.popleft()

    def say(self, word: bytes, document: Any) -> None:
        """Send a message, waiting until it is gone."""
        with self._lock:
            self._send(self._unsent + plain.render_message(word, document))
            self._unsent = b""

    def beat(self, document: Any) -> None:
        """Send a BEAT if the channel takes it; a host that reads none gets none."""
        with self._lock:
            data = self._unsent or plain.render_message(wire.BEAT, document)
            try:
                sent = self.sock.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            except BlockingIOError:
                sent = 0
                data = self._unsent
            except OSError as error:
                raise HostGone from error
            self._unsent = data[sent:]

    def _keep(self, rights: list[tuple[int, int, bytes]]) -> None:
        for level, kind, data in rights:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
                self._fds.extend(fds)

    def _expect(self, word: bytes) -> None:
        found = self._exactly(len(word))
        if found != word:
            raise wire.WireError(f"the host began with {found!r}")

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.sock.recv(size - len(data))
            if not more:
                raise HostGone
            data += more
        return data

    def _send(self, data: bytes) -> None:
        try:
            self.sock.sendall(data, socket.MSG_NOSIGNAL)
        except OSError as error:
            raise HostGone from error

    def close_descriptors(self) -> None:
        """Close what nobody has taken."""
        while self._fds:
            os.close(self._fds.popleft())
