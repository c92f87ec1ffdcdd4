"""The client's side of the door: connect, show the token, and speak with the worker.

Used by ``calculators``; standard library only.
"""

from __future__ import annotations

import json
import socket
from typing import Final

from crystalmath.errors import CrystalMathError, WorkerDied
from crystalmath.forces.pool.control import MAX_MESSAGE_BYTES
from crystalmath.forces.pool.endings import fault
from crystalmath.forces.worker import wire

PATIENCE_S: Final = 10.0


def knock(path: str, token: str, *, engine: str, patience_s: float = PATIENCE_S) -> socket.socket:
    """Return a data channel into a worker.

    Parameters
    ----------
    path, token
        From ``forces.attach``.
    engine
        For what errors say.

    Raises
    ------
    WorkerDied
        There is nobody behind the door.
    CrystalMathError
        What the door says.
    """
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(patience_s)
        sock.connect(path)
        sock.sendall(token.encode("ascii"))
        word, fault_text = _answer(sock)
        if word != b"ATTACH":
            raise _refusal(fault_text)
        sock.settimeout(None)
    except OSError as error:
        sock.close()
        raise WorkerDied(
            f"the worker of {engine} cannot be reached: {error.strerror or 'no answer'}",
            hint="ask again; if it stays so, look at `crystalmath engines workers`",
        ) from error
    except BaseException:
        sock.close()
        raise
    return sock


def _answer(sock: socket.socket) -> tuple[bytes, bytes]:
    fields = wire.HEADER.unpack(_exactly(sock, wire.HEADER.size))
    size = fields[-2]
    if size > MAX_MESSAGE_BYTES:
        raise ConnectionError
    return fields[0].rstrip(), _exactly(sock, size)


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


def _refusal(text: bytes) -> CrystalMathError:
    try:
        document = json.loads(text)
    except ValueError:
        document = {}
    return fault(document)
