"""CRYSTAL decks of cells of 100 atoms by a daemon whose workers are warm, and pings meanwhile."""

from __future__ import annotations

import random
import threading
import time
from typing import Final

from bench.measure import US_PER_S, Ledger, Target, undisturbed
from rig.place import Place
from rig.wire import Wire

SYMMETRIC: Final = "generate_d12 of 100 atoms in Pnma"
PLAIN: Final = "generate_d12 of 100 atoms in P1"
PING: Final = "system.ping while decks are made"
DECKS: Final = 8
PAUSE_S: Final = 0.002
MS_PER_S: Final = 1000.0
_PNMA: Final = (
    (1, 1, 1, 0.0, 0.0, 0.0), (-1, -1, 1, 0.5, 0.0, 0.5), (-1, 1, -1, 0.0, 0.5, 0.0),
    (1, -1, -1, 0.5, 0.5, 0.5), (-1, -1, -1, 0.0, 0.0, 0.0), (1, 1, -1, 0.5, 0.0, 0.5),
    (1, -1, 1, 0.0, 0.5, 0.0), (-1, 1, 1, 0.5, 0.5, 0.5),
)  # fmt: skip
_LENGTHS: Final = (11.0, 13.0, 9.5)
ATOMS: Final = 100
APART_A: Final = 1.2
_GRID: Final = 5
"""Atoms of the plain cell stand near the points of a grid, so that none is near another."""


Point = tuple[float, float, float]


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the targets."""
    texts = {SYMMETRIC: _symmetric(), PLAIN: _plain()}
    with Place() as place:
        place.start()
        with Wire(place.socket, 60.0) as wire:
            for text in texts.values():
                for _ in range(3):  # a worker for each, and its libraries
                    _deck(wire, text)
            for _ in range(rounds):
                for name, text in texts.items():
                    pings: list[float] = []
                    seconds = _beside(place, wire, text, pings)
                    ledger.add(name, [each * US_PER_S for each in seconds])
                    ledger.add(PING, pings)
    return [
        *(Target(f"{name}, median, ms", 150, ledger.row(name).p50_us / MS_PER_S) for name in texts),
        Target(f"{PING}, p99, ms", 10, ledger.row(PING).p99_us / MS_PER_S),
    ]


def _beside(place: Place, wire: Wire, text: str, pings: list[float]) -> list[float]:
    """Make decks while another client pings."""
    done = threading.Event()

    def ping() -> None:
        with Wire(place.socket) as other:
            while not done.is_set():
                begin = time.perf_counter()
                other.call("system.ping")
                pings.append((time.perf_counter() - begin) * US_PER_S)
                time.sleep(PAUSE_S)

    beside = threading.Thread(target=ping)
    beside.start()
    try:
        with undisturbed():
            return [_deck(wire, text) for _ in range(DECKS)]
    finally:
        done.set()
        beside.join()


def _deck(wire: Wire, text: str) -> float:
    begin = time.perf_counter()
    wire.call("materials.generate_d12", {"structure": {"text": text, "format": "poscar"}})
    return time.perf_counter() - begin


def _symmetric() -> str:
    """Twelve general positions of Pnma and one on its mirror."""
    rng = random.Random(7)
    rows: list[Point] = []
    while len(rows) < ATOMS:
        x, y, z = rng.random(), rng.random(), rng.random()
        place = (x, y, z) if ATOMS - len(rows) >= len(_PNMA) else (x, 0.25, z)
        images = list(dict.fromkeys(_image(operator, place) for operator in _PNMA))
        if _apart(rows, images):
            rows += images
    return _poscar(_LENGTHS, rows)


def _image(operator: tuple[float, ...], place: Point) -> Point:
    x, y, z = (
        round((sign * value + shift) % 1.0, 10)
        for sign, value, shift in zip(operator[:3], place, operator[3:], strict=True)
    )
    return x, y, z


def _apart(known: list[Point], images: list[Point]) -> bool:
    """Whether no new atom is near another one."""
    for index, image in enumerate(images):
        for other in (*known, *images[:index]):
            gap = [
                (one - two - round(one - two)) * length
                for one, two, length in zip(image, other, _LENGTHS, strict=True)
            ]
            if sum(each * each for each in gap) < APART_A**2:
                return False
    return True


def _plain() -> str:
    rng = random.Random(8)
    points = [(x, y, z) for x in range(_GRID) for y in range(_GRID) for z in range(4)]
    rows = [
        ((x + rng.uniform(0.1, 0.5)) / _GRID, (y + rng.uniform(0.1, 0.5)) / _GRID,
         (z + rng.uniform(0.1, 0.5)) / 4)
        for x, y, z in points
    ]  # fmt: skip
    return _poscar((12.0, 12.5, 10.5), rows)


def _poscar(lengths: tuple[float, float, float], rows: list[tuple[float, float, float]]) -> str:
    a, b, c = lengths
    lines = ["a cell of 100 atoms", "1.0", f"{a} 0 0", f"0 {b} 0", f"0 0 {c}", "Si", str(len(rows)),
             "Direct"]  # fmt: skip
    return "\n".join([*lines, *(f"{x:.10f} {y:.10f} {z:.10f}" for x, y, z in rows), ""])
