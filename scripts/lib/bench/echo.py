"""A bare echo over a Unix socket, the measure of everything: ``python echo.py SOCKET``.

A process of its own, without any other work; serves one connection after the other until killed.
"""

from __future__ import annotations

import socket
import sys


def main(path: str) -> None:
    """Answer every chunk with itself."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()
    while True:
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(4096):
                connection.sendall(data)


if __name__ == "__main__":
    main(sys.argv[1])
