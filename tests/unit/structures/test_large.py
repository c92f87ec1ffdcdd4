"""Large structures: read without taking longer per atom, and refused with the limit named."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from crystalmath.errors import InputRejected
from crystalmath.structures import checks, text
from crystalmath.structures.formats.cif.listed import Listed
from crystalmath.structures.formats.cif.operators import SPECIAL_POSITION_A
from crystalmath.structures.formats.cif.sites import Site
from crystalmath.structures.read import read_structure

HANG_S = 60.0
"""Reading takes about a second; comparing every atom with every other one took many minutes."""


def places(count: int) -> list[tuple[int, int, int]]:
    side = round(count ** (1 / 3)) + 1
    return [(i % side, i // side % side, i // side**2) for i in range(count)]


def cif(count: int) -> str:
    side = round(count ** (1 / 3)) + 1
    head = (
        f"data_x\n_cell_length_a {3 * side}\n_cell_length_b {3 * side}\n_cell_length_c {3 * side}\n"
        "_cell_angle_alpha 90\n_cell_angle_beta 90\n_cell_angle_gamma 90\n"
        "_space_group_name_H-M_alt 'P 1'\nloop_\n_space_group_symop_operation_xyz\n'x,y,z'\n"
        "loop_\n_atom_site_label\n_atom_site_type_symbol\n"
        "_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n"
    )
    rows = [
        f"Cu{i} Cu {x / side:.6f} {y / side:.6f} {z / side:.6f}"
        for i, (x, y, z) in enumerate(places(count))
    ]
    return head + "\n".join(rows) + "\n"


def xyz(count: int) -> str:
    rows = [f"Cu {3 * x} {3 * y} {3 * z}" for x, y, z in places(count)]
    return f"{count}\n\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize(("content", "kind"), [(cif(6000), "cif"), (xyz(6000), "xyz")])
def test_thousands_of_atoms_are_read(content: str, kind: str) -> None:
    began = time.monotonic()
    document = read_structure(text=content, format=kind)
    assert len(document["symbols"]) == 6000
    assert time.monotonic() - began < HANG_S


def test_too_many_atoms_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MAX_ATOMS", 50)
    for content, kind in ((cif(60), "cif"), (xyz(60), "xyz")):
        with pytest.raises(InputRejected, match="60 atoms or more; 50 can be read") as caught:
            read_structure(text=content, format=kind)
        assert caught.value.field == "structure"
    assert len(read_structure(text=cif(50), format="cif")["symbols"]) == 50


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.xyz"
    with path.open("wb") as file:
        file.truncate(text.MAX_FILE_BYTES + 1)
    with pytest.raises(InputRejected, match="may have 16 MiB") as caught:
        read_structure(path=str(path))
    assert (caught.value.field, caught.value.hint is not None) == ("structure.path", True)


@pytest.mark.parametrize(
    "lattice",
    [
        np.diag([4.0, 5.0, 6.0]),
        np.array([[3.0, 0.0, 0.0], [-1.5, 2.6, 0.0], [0.4, 0.3, 9.0]]),
        np.diag([0.005, 4.0, 4.0]),
        np.array([[2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 2.0]]),
    ],
    ids=["orthorhombic", "triclinic", "thinner than a box", "flat"],
)
def test_neighbours_are_found_as_by_comparing_all(lattice: np.ndarray) -> None:
    random = np.random.default_rng(7)
    listed = Listed(lattice)
    known: list[tuple[Site, np.ndarray]] = []
    found = 0
    for number in range(400):
        place = random.random(3) * 3 - 1
        if known and number % 3 == 0:  # beside one that is there, also through a face of the cell
            other = known[random.integers(len(known))][1][0]
            shift = random.normal(size=3) * SPECIAL_POSITION_A * 0.6
            step = shift @ np.linalg.pinv(lattice)
            place = other + step + random.integers(-1, 2, size=3)
        symbol = ("Cu", "O")[number % 2]
        site = Site(f"s{number}", symbol, place, symbol, None)
        expected = next(
            (
                old.name
                for old, images in known
                if old.symbol == site.symbol
                and np.linalg.norm(
                    (place - images - np.rint(place - images)) @ lattice, axis=1
                ).min()
                < SPECIAL_POSITION_A
            ),
            None,
        )
        twin = listed.find(site, place)
        assert (None if twin is None else twin.name) == expected
        found += expected is not None
        images = np.array([place, 1 - place])
        listed.add(site, images)
        known.append((site, images))
    assert found > 5
