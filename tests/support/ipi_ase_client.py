"""An unmodified ASE SocketClient: ``ipi_ase_client.py unix|inet ADDRESS STRUCTURE [no-stress]``.

EMT for what it knows, else a Lennard-Jones potential.
"""

from __future__ import annotations

import sys
from typing import Any

from ase.calculators.emt import EMT, parameters
from ase.calculators.lj import LennardJones
from ase.calculators.socketio import SocketClient
from ase.io import read


def calculator_for(atoms: Any) -> Any:
    if set(atoms.symbols) <= set(parameters):
        return EMT()
    return LennardJones(sigma=2.3, epsilon=0.4, rc=6.0)


def main(kind: str, address: str, structure: str, *more: str) -> None:
    atoms: Any = read(structure)
    atoms.calc = calculator_for(atoms)
    where: dict[str, Any] = {"unixsocket": address}
    if kind == "inet":
        host, port = address.split(":")
        where = {"host": host, "port": int(port)}
    SocketClient(**where).run(atoms, use_stress="no-stress" not in more)


if __name__ == "__main__":
    main(*sys.argv[1:])
