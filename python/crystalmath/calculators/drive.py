"""The program of ``forces.serve``: a worker of ours as the force program of a foreign i-PI server.

Started by path and isolated, with one end of a data channel. Ends with exit code 0 when the server
leaves; else its last line on standard error says why.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # isolated: the package that this file belongs to is not on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import argparse
import json
import os
import socket
import threading
from collections.abc import Mapping

from crystalmath.errors import CrystalMathError, InputRejected, WorkerDied, WorkerTimeout
from crystalmath.forces.connection import Connection, Floats
from crystalmath.forces.geometry import Geometry
from crystalmath.forces.ipi.serve import Service
from crystalmath.forces.ipi.template import Structure, read_template
from crystalmath.forces.reported import reported_error

_HANG_S = 86_400.0


class _Watch:
    def __init__(self, engine: str) -> None:
        self._engine = engine

    def look(self, waited_s: float) -> None:
        if waited_s > _HANG_S:
            raise WorkerTimeout(f"the worker of {self._engine} gives no answer")

    def ended(self) -> CrystalMathError:
        return WorkerDied(f"the worker of {self._engine} has ended")


def main(arguments: list[str]) -> int:
    """Serve until the server leaves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", type=int, required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--template")
    parser.add_argument("--worker", required=True)
    given = parser.parse_args(arguments)
    worker = json.loads(given.worker)
    sock = socket.socket(fileno=given.channel)
    connection = Connection(sock, worker["capabilities"], worker, _Watch(worker["engine"]))
    _end_with(sock)
    try:
        serve(connection, given.address, given.template)
    except CrystalMathError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return 0


def serve(connection: Connection, address: str, template: str | None) -> None:
    """Answer an i-PI server with the numbers of a worker."""
    if template is None:
        raise InputRejected(
            "an i-PI server sends no species: a structure file is needed", field="template"
        )
    info_keys = connection.capabilities.get("info_keys") or ()
    structure = read_template(Path(template), info_keys)

    def evaluate(moved: Structure, mask: int) -> Mapping[str, Floats]:
        arrays, faults, _seconds = connection.exchange([_geometry(moved)], mask)
        if faults:
            raise reported_error(faults[0], engine=connection.engine)
        return {name: v[0] if v.shape == (1,) else v for name, v in arrays[0].items()}

    with Service(
        evaluate, structure, _plain_address(address), properties=connection.properties
    ) as service:
        service.run()


def _plain_address(address: str) -> str:
    """``unix:NAME`` and ``unix:/PATH`` in the words of i-PI."""
    if not address.startswith("unix:"):
        return address
    name = address.removeprefix("unix:")
    return name if name.startswith("/") else f"{name}:UNIX"


def _geometry(structure: Structure) -> Geometry:
    return Geometry(
        structure.positions.astype(float).tobytes(),
        structure.cell.astype(float).tobytes(),
        structure.numbers.astype("int64").tobytes(),
        structure.pbc.astype(bool).tobytes(),
        json.dumps(dict(structure.info), sort_keys=True),
    )


def _end_with(sock: socket.socket) -> None:
    """End this program when the worker has: it may be waiting for the server for ever."""

    def wait() -> None:
        import select

        poll = select.poll()
        poll.register(sock, select.POLLRDHUP)
        poll.poll()
        sys.stderr.write("the worker has ended\n")
        sys.stderr.flush()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
