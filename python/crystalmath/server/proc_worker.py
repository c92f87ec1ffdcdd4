"""The program of a warm worker: a line in (function, arguments), a line out (value or error).

Its standard input is a socket to the daemon; it ends when that closes. Which functions may be
asked for is the daemon's decision. Started by ``proc``, never imported.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import traceback
from typing import Any, Final

from crystalmath.errors import CrystalMathError
from crystalmath.server.strict_json import encode
from crystalmath.structures import read

READERS: Final = {"d12": "crystalmath.codes.crystal.source:read_deck"}
"""Kind of structure → what reads it, where that belongs to a code."""


def serve(sock: socket.socket) -> None:
    """Answer lines until the other end closes."""
    with sock.makefile("rb") as lines:
        for line in lines:
            sock.sendall(encode(answer(json.loads(line))) + b"\n")


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run one request."""
    module, _, name = request["function"].partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
        value = function(**request["kwargs"])
        encode(value)  # what has no form in JSON is this function's error, not the pool's
    except CrystalMathError as error:
        return {
            "error": {
                "kind": error.kind,
                "message": error.message,
                "hint": error.hint,
                "field": error.field,
            }
        }
    except Exception as error:  # noqa: BLE001 - reported in the daemon's log
        return {
            "error": {
                "kind": None,
                "message": type(error).__name__,
                "traceback": traceback.format_exc(),
            }
        }
    return {"value": value}


def main() -> None:
    """Take over the socket on descriptor 0 and serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    read.READERS.update(READERS)
    sock = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)  # what a library prints goes to the log, not between the lines
    os.close(null)
    serve(sock)


if __name__ == "__main__":
    main()
