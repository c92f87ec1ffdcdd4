"""The client's side of the door: connect, show the token, and speak with the worker.

Used by ``calculators``; standard library only.
"""

from __future__ import annotations

import socket
from typing import Final

from crystalmath.errors import CrystalMathError, WorkerDied
from crystalmath.forces.reported import reported_error
from crystalmath.forces.worker import plain, wire

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
        answer = _answer(sock)
        if answer.header.word != wire.ATTACH:
            raise _refusal(answer)
        sock.settimeout(None)
    except (OSError, wire.WireError) as error:
        sock.close()
        text = getattr(error, "strerror", None) or str(error)
        raise WorkerDied(
            f"the worker of {engine} cannot be reached: {text}",
            hint="ask again; if it stays so, look at `crystalmath engines workers`",
        ) from error
    except BaseException:
        sock.close()
        raise
    return sock


def _answer(sock: socket.socket) -> plain.Message:
    header = wire.parse_header(_exactly(sock, wire.HEADER_BYTES))
    return plain.Message(header, _exactly(sock, header.payload))


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


def _refusal(answer: plain.Message) -> CrystalMathError:
    document = answer.document()
    return reported_error(document if isinstance(document, dict) else {})
