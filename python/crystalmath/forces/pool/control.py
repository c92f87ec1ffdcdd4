"""The control channel of one worker, without waiting: what to send, and what has come.

It opens as plain i-PI, whose INIT carries the agreement on the level; then 64-byte headers with
JSON behind them. Used by the supervisor alone.
"""

from __future__ import annotations

import socket
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from crystalmath.forces.worker import plain, wire

_READ_BYTES: Final = 65_536


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
        self._opening = b""
        self._agreed = False
        self._assembler = plain.Assembler()

    def fileno(self) -> int:
        """For the selector."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close this end."""
        self._sock.close()

    # --- out ------------------------------------------------------------------------------------

    def open(self) -> None:
        """Ask for the other end's state."""
        self._send(wire.STATUS_WORD)

    def configure(self, config: Mapping[str, Any]) -> None:
        """Agree on the level and say what to load."""
        self._send(plain.render_agreement() + plain.render_message(wire.CONFIG, dict(config)))

    def attach(self, fd: int) -> None:
        """Hand over the descriptor of a data channel; the caller closes its own copy."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [fd]))]
        head = plain.render_message(wire.ATTACH)
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
        self._send(plain.render_message(wire.EXIT))

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
        found: list[Message] = []
        if not self._agreed:
            found, data = self._opened(data)
        try:
            for message in self._assembler.feed(data):
                document = message.document()
                if document is not None and not isinstance(document, dict):
                    raise ControlError("what it sent is no JSON object")
                found.append(Message(_text(message.header.word), document or {}))
        except wire.WireError as error:
            raise ControlError(str(error)) from error
        return found

    def _opened(self, data: bytes) -> tuple[list[Message], bytes]:
        """Take the one word that i-PI has for the beginning; what follows is ours."""
        self._opening += data
        size = len(wire.NEEDINIT)
        if len(self._opening) < size:
            return [], b""
        word, rest = self._opening[:size], self._opening[size:]
        if word != wire.NEEDINIT:
            raise ControlError(f"it began with {_text(word)!r} and not with NEEDINIT")
        self._agreed = True
        return [Message("NEEDINIT")], rest


def _text(word: bytes) -> str:
    return word.decode("ascii", "replace").strip()
