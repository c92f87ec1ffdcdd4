"""The control channel of one worker, without waiting: what to send, and what has come.

It opens as plain i-PI, whose INIT carries the agreement on the level; then 64-byte headers with
JSON behind them. Used by the supervisor alone.
"""

from __future__ import annotations

import json
import socket
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from crystalmath.forces.worker import wire

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024
_READ_BYTES: Final = 65_536
_WORD: Final = 12


class ControlError(Exception):
    """The other end says what makes no sense, or takes nothing any more."""


class ControlClosed(Exception):
    """The other end is closed."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the worker."""

    word: str
    document: dict[str, Any] = field(default_factory=dict)


class Control:
    """The host's end.

    Parameters
    ----------
    sock
        Of the inherited pair.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._buffer = bytearray()
        self._agreed = False

    def fileno(self) -> int:
        """For the selector."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close this end."""
        self._sock.close()

    # --- out ------------------------------------------------------------------------------------

    def open(self) -> None:
        """Ask for the other end's state."""
        self._send(_word("STATUS"))

    def configure(self, config: Mapping[str, Any]) -> None:
        """Agree on the level and say what to load."""
        text = b"CMW1 " + json.dumps({"abi": wire.ABI}).encode()
        init = _word("INIT") + (0).to_bytes(4, "little") + len(text).to_bytes(4, "little") + text
        self._send(init + message("CONFIG", config))

    def attach(self, fd: int) -> None:
        """Hand over the descriptor of a data channel; the caller closes its own copy."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [fd]))]
        head = message("ATTACH")
        try:
            sent = self._sock.sendmsg([head], rights, socket.MSG_NOSIGNAL)
        except BlockingIOError as error:
            raise ControlError("it takes no further clients just now") from error
        except OSError as error:
            raise ControlClosed from error
        if sent != len(head):
            raise ControlError("it takes no further clients just now")

    def exit(self) -> None:
        """Ask it to finish what it has in hand and to leave."""
        self._send(message("EXIT"))

    def _send(self, data: bytes) -> None:
        try:
            sent = self._sock.send(data, socket.MSG_NOSIGNAL)
        except BlockingIOError as error:
            raise ControlError("it does not read what it is told") from error
        except OSError as error:
            raise ControlClosed from error
        if sent != len(data):
            raise ControlError("it does not read what it is told")

    # --- in -------------------------------------------------------------------------------------

    def read(self) -> list[Message]:
        """Return the messages that are complete now.

        Raises
        ------
        ControlClosed
            The other end is closed and nothing is left to read.
        ControlError
            What came makes no sense.
        """
        try:
            data = self._sock.recv(_READ_BYTES)
        except BlockingIOError:
            return []
        except OSError as error:
            raise ControlClosed from error
        if not data:
            raise ControlClosed
        self._buffer += data
        found = []
        while (one := self._next()) is not None:
            found.append(one)
        return found

    def _next(self) -> Message | None:
        if not self._agreed:
            if len(self._buffer) < _WORD:
                return None
            word = _text(bytes(self._buffer[:_WORD]))
            if word != "NEEDINIT":
                raise ControlError(f"it began with {word!r} and not with NEEDINIT")
            del self._buffer[:_WORD]
            self._agreed = True
            return Message(word)
        if len(self._buffer) < wire.HEADER.size:
            return None
        fields = wire.HEADER.unpack_from(self._buffer)
        payload, tail = fields[-2], fields[-1]
        if payload > MAX_MESSAGE_BYTES or tail > payload:
            raise ControlError("it announced more than can be meant")
        end = wire.HEADER.size + payload
        if len(self._buffer) < end:
            return None
        document = _document(bytes(self._buffer[end - tail : end]))
        del self._buffer[:end]
        return Message(_text(fields[0]), document)


def message(word: str, document: Mapping[str, Any] | None = None, *, request: int = 0) -> bytes:
    """Header and JSON of one message."""
    text = b"" if document is None else json.dumps(document, allow_nan=False).encode()
    size = len(text)
    return wire.HEADER.pack(_word(word), 0, request, 0, 0, 0, 0, 0.0, size, size) + text


def _word(word: str) -> bytes:
    return word.encode("ascii").ljust(_WORD)


def _text(word: bytes) -> str:
    return word.decode("ascii", "replace").strip()


def _document(text: bytes) -> dict[str, Any]:
    if not text:
        return {}
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ControlError("what it sent is no JSON") from error
    if not isinstance(document, dict):
        raise ControlError("what it sent is no JSON object")
    return document
