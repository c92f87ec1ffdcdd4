"""What a client's requests of one shape need, prepared once. Needs numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import plain, wire
from .desk import Desk
from .faults import Fault
from .memory import Memory
from .outputs import Target, shape_of
from .structures import Structure, read_only


class Known:
    """What a generation has said: numbers, pbc and info of its structures."""

    def __init__(self, header: wire.Header, message: plain.Message, desk: Desk) -> None:
        payload = message.payload
        n, atoms = header.structures, header.atoms
        layout = wire.request_layout(n, atoms, new=True)
        self.generation = header.generation
        self.counts = np.frombuffer(payload, np.int32, n, layout.counts).tolist()
        plain.check_counts(self.counts, atoms)
        self.counts_bytes = bytes(payload[layout.counts : layout.counts + 4 * n])
        self.numbers = np.frombuffer(payload, np.int32, atoms, layout.numbers).copy()
        if self.numbers.min() < 1:
            raise wire.WireError("an atom is of no element")
        pbc = np.frombuffer(payload, np.uint8, 3 * n, layout.pbc)
        if pbc.max() > 1:
            raise wire.WireError("periodicity is neither yes nor no")
        self.pbc = pbc.astype(np.bool_).reshape(n, 3)
        self.infos = plain.check_infos(message.document(), n)
        self.objections: dict[int, Fault] = {}
        at = 0
        for i, count in enumerate(self.counts):
            nothing = np.zeros((3, 3))
            structure = Structure(
                self.numbers[at : at + count], nothing[:0], nothing, self.pbc[i], self.infos[i]
            )
            objection = desk.objection(structure)
            if objection is not None:
                self.objections[i] = objection
            at += count

    def structures_over(self, buffer: bytearray, layout: wire.RequestLayout) -> list[Structure]:
        """Structures whose cells and positions are in the bytes of the request."""
        n, atoms = len(self.counts), len(self.numbers)
        start = wire.HEADER_BYTES
        cells = np.frombuffer(buffer, np.float64, 9 * n, start + layout.cells).reshape(n, 3, 3)
        positions = np.frombuffer(buffer, np.float64, 3 * atoms, start + layout.positions)
        cells, positions = read_only(cells), read_only(positions.reshape(atoms, 3))
        found, at = [], 0
        for i, count in enumerate(self.counts):
            numbers = read_only(self.numbers[at : at + count])
            found.append(
                Structure(
                    numbers,
                    positions[at : at + count],
                    cells[i],
                    read_only(self.pbc[i]),
                    self.infos[i],
                )
            )
            at += count
        return found


class Plan:
    """What is prepared for requests of one shape.

    Attributes
    ----------
    same
        The fixed parts of the header of a request that this plan serves.
    size
        Bytes of such a request, header included.
    cells
        Where the cells are, to notice their change.
    reply
        The answer; ``numbers`` is its payload as one flat array.
    measured
        Whether the memory of the next request is measured.
    """

    def __init__(self, header: wire.Header, buffer: bytearray, known: Known, desk: Desk) -> None:
        n, atoms = header.structures, header.atoms
        layout = wire.request_layout(n, atoms, new=False)
        size = wire.HEADER_BYTES + layout.size
        self.same: tuple[Any, ...] = (
            wire.HEADER.pack(wire.EVAL, 0, 0, header.generation, n, atoms, header.mask, 0, 0, 0)[
                :16
            ],
            *_fixed(header, layout.size),
        )
        self.size = size
        self.header = header
        self.names = list(wire.names_of(header.mask))
        self.shape = (n, atoms, header.mask)
        self.cells = slice(
            wire.HEADER_BYTES + layout.cells, wire.HEADER_BYTES + layout.cells + 72 * n
        )
        self.seen_cells = b""
        self.objections = known.objections
        self.measured = False
        self.flat: dict[int, Fault] = {}
        self._partial = desk.capabilities.withheld.get("partial_stress")
        self.wants_stress = bool(header.mask & (wire.BITS["stress"] | wire.BITS["stresses"]))
        self.structures = known.structures_over(buffer, layout)
        members = desk.capabilities.members
        self.members = members if header.mask & wire.COMMITTEE_MASK else 0
        sections, self.payload = wire.result_layout(n, atoms, header.mask, self.members)
        self.reply = bytearray(wire.HEADER_BYTES + self.payload)
        self.view = memoryview(self.reply)
        self.reply[: wire.HEADER_BYTES] = wire.render_header(
            wire.RESULT,
            generation=header.generation,
            structures=n,
            atoms=atoms,
            mask=header.mask,
            payload=self.payload,
        )
        self.numbers = np.frombuffer(self.reply, np.float64, offset=wire.HEADER_BYTES)
        self.targets = _targets(self.numbers, sections, known.counts, self.members)

    def find_too_large(self, memory: Memory) -> None:
        """Object to structures that would not fit."""
        for i, structure in enumerate(self.structures):
            if i not in self.objections and (fault := memory.objection(structure)) is not None:
                self.objections = {**self.objections, i: fault}

    def update_stress(self, cells: bytes) -> None:
        """Find the structures that have no stress with these cells."""
        self.seen_cells = cells
        self.flat = {}
        for i, structure in enumerate(self.structures):
            if not structure.has_stress():
                self.flat[i] = _no_stress("there is no stress without a periodic direction and a "
                                          "volume")  # fmt: skip
            elif self._partial is not None and not structure.pbc.all():
                self.flat[i] = _no_stress(
                    f"the stress of slabs and wires is switched off: {self._partial}"
                )


def _no_stress(why: str) -> Fault:
    return Fault("input_rejected", why, hint="ask for energy and forces only", field="properties")


def _fixed(header: wire.Header, payload: int) -> tuple[bytes, bytes]:
    packed = wire.HEADER.pack(
        wire.EVAL, 0, 0, header.generation, header.structures, header.atoms, header.mask, 0.0,
        payload, 0,
    )  # fmt: skip
    return packed[24:40], packed[48:64]


def _targets(
    numbers: Any, sections: Sequence[wire.Section], counts: Sequence[int], members: int
) -> list[list[Target]]:
    found: list[list[Target]] = [[] for _ in counts]
    for section in sections:
        at = section.start // 8
        for targets, atoms in zip(found, counts, strict=True):
            shape = shape_of(section.name, atoms, members)
            size = int(np.prod(shape))
            view = numbers[at : at + size].reshape(shape)
            scalar = wire.SIZES[section.name] == (1, 0) and shape == (1,)
            targets.append(Target(section.name, view, scalar=scalar))
            at += size
    return found
