"""A client that lists all jobs in pages, again and again: ``python lister.py SOCKET``.

A process of its own, killed when enough was measured. Does not read what it gets beyond the cursor
of the next page, so that the daemon has as much to do as possible.
"""

from __future__ import annotations

import re
import socket
import sys

_NEXT = re.compile(rb'"next":\s*"([^"]+)"')


def main(path: str) -> None:
    """List until killed."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    after = b"null"
    while True:
        connection.sendall(
            b'{"jsonrpc":"2.0","id":1,"method":"jobs.list","params":{"limit":1000,"after":%s}}\n'
            % after
        )
        reply = b""
        while not reply.endswith(b"\n"):
            data = connection.recv(1 << 18)
            if not data:
                raise SystemExit("the daemon closed the connection")
            reply += data
        found = _NEXT.search(reply, max(0, len(reply) - 500)) or _NEXT.search(reply)
        after = b'"%s"' % found[1] if found else b"null"


if __name__ == "__main__":
    main(sys.argv[1])
