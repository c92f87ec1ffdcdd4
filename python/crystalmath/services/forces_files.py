"""Arrays of an evaluation in a file: ``.npz`` and extended XYZ, written without numpy.

The arrays of all structures stand one after the other; ``counts`` says where each begins. What a
structure does not have is NaN there.
"""

from __future__ import annotations

import os
import struct
import zipfile
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Final

from crystalmath.domain.elements import NUMBERS
from crystalmath.errors import InputRejected
from crystalmath.services.ports_pool import Computed, PlainStructure

FORMATS: Final = (".npz", ".extxyz", ".xyz")

_NAN: Final = struct.pack("<d", float("nan"))
_SHAPES: Final[dict[str, tuple[str, tuple[int, ...]]]] = {
    "energy": ("structure", ()),
    "free_energy": ("structure", ()),
    "stress": ("structure", (3, 3)),
    "dipole": ("structure", (3,)),
    "forces": ("atom", (3,)),
    "energies": ("atom", ()),
    "stresses": ("atom", (3, 3)),
    "magmoms": ("atom", ()),
    "charges": ("atom", ()),
}
WRITTEN: Final = frozenset(_SHAPES)
"""Properties that a file may hold."""


def check_file(path: str) -> Path:
    """Return the path if a file of arrays can be written there; raises ``InputRejected``."""
    file = Path(path)
    if file.suffix not in FORMATS:
        raise InputRejected(f"{file.name}: the name must end in {', '.join(FORMATS)}", field="file")
    if not file.parent.is_dir():
        raise InputRejected(f"there is no directory for {file.name}", field="file",
                            hint="make it first")  # fmt: skip
    return file


def write_arrays(
    path: Path,
    structures: Sequence[PlainStructure],
    computed: Sequence[Computed],
    properties: Sequence[str],
) -> None:
    """Write all arrays, so that a reader finds a whole file or none.

    Raises
    ------
    InputRejected
        The file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        if path.suffix == ".npz":
            _write_npz(temporary, structures, computed, properties)
        else:
            with temporary.open("w", encoding="utf-8", newline="\n") as stream:
                for structure, one in zip(structures, computed, strict=True):
                    _write_frame(stream, structure, one)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputRejected(f"{path.name} cannot be written: {error.strerror}", field="file",
                            hint="give another file") from error  # fmt: skip


def floats(data: bytes) -> list[float]:
    """Little-endian float64 bytes as numbers."""
    return list(struct.unpack(f"<{len(data) // 8}d", data))


# --- .npz -----------------------------------------------------------------------------------------


def _write_npz(
    path: Path,
    structures: Sequence[PlainStructure],
    computed: Sequence[Computed],
    properties: Sequence[str],
) -> None:
    counts = array("i", (len(s.symbols) for s in structures))
    total = sum(counts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as bundle:
        _add(bundle, "counts", "<i4", (len(structures),), [counts.tobytes()])
        numbers = array("i", (NUMBERS.get(x, 0) for s in structures for x in s.symbols))
        _add(bundle, "numbers", "<i4", (total,), [numbers.tobytes()])
        positions = (_doubles(chain.from_iterable(s.positions)) for s in structures)
        _add(bundle, "positions", "<f8", (total, 3), positions)
        cells = (_doubles(chain.from_iterable(s.cell or ((0.0,) * 3,) * 3)) for s in structures)
        _add(bundle, "cell", "<f8", (len(structures), 3, 3), cells)
        pbc = bytes(bool(p) for s in structures for p in s.pbc)
        _add(bundle, "pbc", "|b1", (len(structures), 3), [pbc])
        for name in properties:
            kind, shape = _SHAPES[name]
            first = len(structures) if kind == "structure" else total
            _add(bundle, name, "<f8", (first, *shape), _column(name, computed))


def _column(name: str, computed: Sequence[Computed]) -> Iterator[bytes]:
    kind, shape = _SHAPES[name]
    width = 1
    for extent in shape:
        width *= extent
    for one in computed:
        rows = 1 if kind == "structure" else one.n_atoms
        yield one.arrays.get(name) or _NAN * (rows * width)


def _doubles(values: Iterator[float]) -> bytes:
    return array("d", values).tobytes()


def _add(
    bundle: zipfile.ZipFile,
    name: str,
    dtype: str,
    shape: tuple[int, ...],
    parts: Iterator[bytes] | list[bytes],
) -> None:
    extent = f"({shape[0]},)" if len(shape) == 1 else str(shape)
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {extent}, }}"
    # The header of format 1.0 ends in a newline, at a multiple of 64 bytes.
    padded = head.ljust(-(-(len(head) + 11) // 64) * 64 - 11) + "\n"
    with bundle.open(f"{name}.npy", "w", force_zip64=True) as stream:
        stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode())
        for part in parts:
            stream.write(part)


# --- extended XYZ ---------------------------------------------------------------------------------


def _write_frame(stream: IO[str], structure: PlainStructure, one: Computed) -> None:
    columns = ["species:S:1", "pos:R:3"]
    rows = [[symbol] for symbol in structure.symbols]
    _extend(rows, [x for position in structure.positions for x in position], 3)
    for name, (kind, shape) in _SHAPES.items():
        width = {(): 1, (3,): 3}.get(shape)
        if kind == "atom" and width is not None and name in one.arrays:
            columns.append(f"{name}:R:{width}")
            _extend(rows, floats(one.arrays[name]), width)
    words = [f"Properties={':'.join(columns)}"]
    if structure.cell is not None:
        words.insert(0, f'Lattice="{_numbers(chain.from_iterable(structure.cell))}"')
    words.append('pbc="{}"'.format(" ".join("T" if p else "F" for p in structure.pbc)))
    for name in ("energy", "free_energy", "stress", "dipole"):
        if name in one.arrays:
            text = _numbers(floats(one.arrays[name]))
            words.append(f'{name}="{text}"' if " " in text else f"{name}={text}")
    if one.kind is not None:
        words.append(f'error="{one.kind}"')
    stream.write(f"{len(rows)}\n{' '.join(words)}\n")
    stream.writelines(" ".join(row) + "\n" for row in rows)


def _extend(rows: list[list[str]], values: Sequence[float], width: int) -> None:
    for i, row in enumerate(rows):
        row += [repr(float(x)) for x in values[i * width : (i + 1) * width]]


def _numbers(values: Sequence[float] | Iterator[float]) -> str:
    return " ".join(repr(float(x)) for x in values)
