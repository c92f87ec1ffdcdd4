"""What a structure will need, learnt from what others needed: a + b·edges. Needs numpy.

A call that ends the process for lack of memory takes everybody's worker with it, so what cannot fit
is refused before. Peaks are measured once for each new shape of request: on the CPU the largest
resident memory, on a GPU what torch had allocated.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .faults import Fault
from .structures import Structure

REACH_A = 6.0
"""Atoms that are nearer than this count as neighbours."""
APART = 4.0
"""Two measurements give a line when their edges differ by this factor."""
_GIB = 1024.0**3
_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


def edges_of(structure: Structure) -> float:
    """About how many pairs of neighbours there are, from the density of boxes with atoms in them.

    Vacuum counts for nothing, so a slab has the edges of its atoms and not of its cell.
    """
    positions = structure.positions
    if structure.has_stress():
        cell = np.array(structure.cell, np.float64)
        volume = abs(float(np.linalg.det(cell)))
        inverse = np.linalg.inv(cell)
        places = positions @ inverse
        heights = 1.0 / np.linalg.norm(inverse, axis=0)  # distances of opposite faces
    else:
        heights = np.ptp(positions, axis=0) + REACH_A
        volume = float(np.prod(heights))
        places = (positions - positions.min(axis=0)) / heights
    boxes = np.maximum(1, (heights / REACH_A).astype(int))
    index = np.floor(places % 1.0 * boxes).astype(int) % boxes
    counts = np.bincount((index[:, 0] * boxes[1] + index[:, 1]) * boxes[2] + index[:, 2])
    density = counts.astype(np.float64) * float(np.prod(boxes)) / volume
    found = float((counts * density).sum() * 4 / 3 * np.pi * REACH_A**3)
    atoms = len(positions)
    return found if structure.pbc.any() else min(found, float(atoms * (atoms - 1)))


class Memory:
    """See the module docstring.

    Parameters
    ----------
    limit_bytes
        What there is; None: all of this machine's, or of the GPU's.
    device
        Where it computes.
    known
        Measurements of earlier workers of the same kind.
    """

    def __init__(
        self,
        limit_bytes: int | None,
        device: str,
        known: Sequence[Sequence[float]] = (),
    ) -> None:
        self._meter = _GpuMeter(device) if device.startswith("cuda") else _Meter()
        self.limit_bytes = self._meter.limit_bytes(limit_bytes)
        self._points: dict[int, tuple[float, float]] = {}
        self.most_atoms = 0
        for edges, peak in known:
            self._note(float(edges), float(peak))

    def points(self) -> list[list[float]]:
        """Measurements, for the host to keep: pairs of edges and bytes. Safe in threads."""
        return [list(point) for point in list(self._points.values())]

    def begin(self) -> None:
        """Measure from here on."""
        self._meter.reset()

    def end(self, structures: Sequence[Structure], *, together: bool) -> None:
        """Note what these have needed, one after the other or all at once."""
        peak = self._meter.peak()
        if peak is None or not structures:
            return
        edges = [edges_of(structure) for structure in structures]
        self._note(sum(edges) if together else max(edges), peak)
        self.most_atoms = max(self.most_atoms, *(len(s) for s in structures))

    def objection(self, structure: Structure) -> Fault | None:
        """Why a structure cannot fit; None when it can, or nothing is known."""
        if len(structure) <= self.most_atoms:
            return None
        line = self.line()
        if line is None:
            return None
        edges = edges_of(structure)
        needed = line[0] + line[1] * edges
        if needed <= self.limit_bytes or edges <= max(x for x, _ in self._points.values()):
            return None
        return Fault(
            "out_of_memory",
            f"{len(structure)} atoms would need about {needed / _GIB:.3g} GiB of memory; there are "
            f"{self.limit_bytes / _GIB:.3g} GiB",
            hint="ask for fewer atoms",
            needed_bytes=round(needed),
        )

    def line(self) -> tuple[float, float] | None:
        """Bytes without and per edge; None before two measurements that are far apart."""
        points = sorted(self._points.values())
        if len(points) < 2 or points[-1][0] < APART * points[0][0]:
            return None
        x, y = np.array(points).T
        slope, constant = np.polyfit(x, y, 1)
        # The largest decides: a line below it would promise what was seen not to hold.
        slope = max(0.0, float(slope))
        return max(float(constant), points[-1][1] - slope * points[-1][0]), slope

    def _note(self, edges: float, peak: float) -> None:
        """Keep the largest peak of each power of two."""
        bucket = int(np.log2(max(1.0, edges)))
        if bucket not in self._points or peak > self._points[bucket][1]:
            self._points[bucket] = (edges, peak)


class _Meter:
    """The largest resident memory of this process."""

    def limit_bytes(self, given: int | None) -> float:
        if given is not None:
            return float(given)
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))

    def reset(self) -> None:
        try:
            _CLEAR.write_text("5")
        except OSError:  # not allowed here: the peak is that of the whole life, and counts as well
            return

    def peak(self) -> float | None:
        try:
            text = _STATUS.read_text()
        except OSError:
            return None
        lines = (line for line in text.splitlines() if line.startswith("VmHWM:"))
        line = next(lines, None)
        return None if line is None else 1024.0 * float(line.split()[1])


class _GpuMeter:
    """What torch has allocated on a GPU."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)

    def limit_bytes(self, _given: int | None) -> float:
        """The memory of the GPU; what is given is about the machine's."""
        if self._cuda is None:
            return float("inf")
        return float(self._cuda.get_device_properties(self._device).total_memory)

    def reset(self) -> None:
        if self._cuda is not None:
            self._cuda.reset_peak_memory_stats(self._device)

    def peak(self) -> float | None:
        return None if self._cuda is None else float(self._cuda.max_memory_allocated(self._device))


def memory_of(config: Mapping[str, Any]) -> Memory:
    """From the CONFIG of the host."""
    limit = config.get("memory_bytes")
    return Memory(
        int(limit) if limit is not None else None,
        str(config.get("device") or "cpu"),
        config.get("memory_points") or (),
    )
