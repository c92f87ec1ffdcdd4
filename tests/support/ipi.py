"""For tests of i-PI: structures that tell transposition and sign, strain derivatives, words."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
from ase import Atoms
from ase.build import bulk

from crystalmath.forces.ipi import words
from crystalmath.forces.ipi.codec import ReplyReader
from crystalmath.forces.ipi.conversation import Conversation

ASE_CLIENT = Path(__file__).with_name("ipi_ase_client.py")
RECORD = "CRYSTALMATH_CONFORMANCE"
"""Names the file to which what was measured is appended: see ``scripts/conformance``."""


def record(program: str, version: str, **checks: object) -> None:
    """Note what was measured with one program; assertions have passed by then."""
    if (path := os.environ.get(RECORD)) is not None:
        with Path(path).open("a", encoding="utf-8") as stream:
            line = {"program": program, "version": version, "checks": checks}
            stream.write(json.dumps(line) + "\n")


def nine(structure: Atoms) -> Atoms:
    """Strain a structure so that no component of its cell is zero and none equals another."""
    strain = np.array([[0.02, 0.01, 0.03], [0.015, -0.01, 0.02], [0.04, -0.02, 0.01]])
    structure.set_cell(structure.cell.array @ (np.eye(3) + strain), scale_atoms=True)
    if (abs(structure.cell.array) < 1e-3).any():
        structure.set_cell(structure.cell.array + 0.05 * np.arange(1, 10).reshape(3, 3))
    assert (abs(structure.cell.array) > 1e-3).all()
    return structure


def copper() -> Atoms:
    """Four atoms in a cell with nine non-zero entries."""
    atoms = bulk("Cu", cubic=True)
    atoms.rattle(0.05, seed=1)
    return nine(atoms)


def alloy() -> Atoms:
    """Copper and gold in an order that no program would choose."""
    atoms = bulk("Cu", cubic=True) * (2, 1, 1)
    atoms.symbols[[1, 4, 6]] = "Au"
    atoms.rattle(0.05, seed=2)
    return nine(atoms)


def differences(atoms: Atoms, other: Atoms) -> tuple[float, float, float]:
    """Return those of energy (relative), forces and stress."""
    energy, theirs = atoms.get_potential_energy(), other.get_potential_energy()
    stress = atoms.get_stress(voigt=False) - other.get_stress(voigt=False)
    return (
        abs(energy - theirs) / abs(theirs),
        float(abs(atoms.get_forces() - other.get_forces()).max()),
        float(abs(stress).max()),
    )


def strain_stress(atoms: Atoms, step: float = 1e-4) -> Any:
    """Nine derivatives of the energy by the strain, over the volume: central differences."""
    cell, positions, calculator = atoms.cell.array.copy(), atoms.positions.copy(), atoms.calc
    stress = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            energies = []
            for change in (step, -step):
                strain = np.eye(3)
                strain[i, j] += change
                atoms.set_cell(cell @ strain)
                atoms.positions[:] = positions @ strain
                energies.append(atoms.get_potential_energy())
            stress[i, j] = (energies[0] - energies[1]) / (2.0 * step)
    atoms.set_cell(cell)
    atoms.positions[:] = positions
    atoms.calc = calculator
    return stress / abs(np.linalg.det(cell))


def ase_client(structure: Path, transport: str = "unix", *more: str) -> list[str]:
    """Return the command of an ASE client for the structure of a file."""
    address = "{name}" if transport == "unix" else "{host}:{port}"
    return [sys.executable, str(ASE_CLIENT), transport, address, str(structure), *more]


def read_bytes(peer: socket.socket, size: int) -> bytes:
    """Read so many bytes, or what came before the end."""
    data = b""
    while len(data) < size and (more := peer.recv(size - len(data))):
        data += more
    return data


class Overheard:
    """The words of a conversation, in order: ``>STATUS`` is ours, ``<READY`` the program's."""

    def __init__(self, monkeypatch: Any) -> None:
        self.words: list[str] = []
        send, state, forces = Conversation.send, ReplyReader.state, ReplyReader.forces
        heard = self.words

        def sending(self: Conversation, data: Any, until: float, phase: str) -> None:
            said = bytes(data[:12]).decode().strip()
            heard.append(f">{said}")
            if bytes(data[-12:]) == words.GETFORCE and said != "GETFORCE":
                heard.append(">GETFORCE")
            send(self, data, until, phase)

        def answering(self: ReplyReader) -> bytes:
            answer = state(self)
            heard.append(f"<{answer.decode().strip()}")
            return answer

        def giving(self: ReplyReader, out: Any = None) -> Any:
            heard.append("<FORCEREADY")
            return forces(self, out)

        monkeypatch.setattr(Conversation, "send", sending)
        monkeypatch.setattr(ReplyReader, "state", answering)
        monkeypatch.setattr(ReplyReader, "forces", giving)
