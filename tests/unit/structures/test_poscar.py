"""POSCAR: element names, scales, coordinates, and what is wrong with them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from ase import Atoms
from ase.io import write

from crystalmath.errors import InputRejected
from crystalmath.structures.formats.poscar import read_poscar
from crystalmath.structures.structure import Structure

_ROCKSALT = """{comment}
{scale}
5.64 0 0
0 5.64 0
0 0 5.64
{names}4 4
Direct
0 0 0
.5 .5 0
.5 0 .5
0 .5 .5
.5 .5 .5
0 0 .5
0 .5 0
.5 0 0
"""


def _rocksalt(comment: str = "x", scale: str = "1.0", names: str = "Na Cl\n") -> str:
    return _ROCKSALT.format(comment=comment, scale=scale, names=names)


def _read(text: str) -> Structure:
    return read_poscar(text, "structure.text")


def test_names_and_positions() -> None:
    raw = _read(_rocksalt())
    assert raw.symbols == ["Na"] * 4 + ["Cl"] * 4
    assert raw.lattice is not None
    np.testing.assert_allclose(raw.positions[1], [2.82, 2.82, 0])
    assert raw.warnings == []


@pytest.mark.parametrize("comment", ["sample seven", "Na", "Na Cl K", "Na Xx", "4 4", ""])
def test_without_names_nothing_is_invented(comment: str) -> None:
    with pytest.raises(InputRejected, match="2 groups of 4, 4 atoms") as caught:
        _read(_rocksalt(comment, names=""))
    assert caught.value.hint is not None
    assert caught.value.field == "structure.text"


def test_names_of_the_comment_are_taken_with_a_warning() -> None:
    raw = _read(_rocksalt("Na Cl", names=""))
    assert raw.symbols == ["Na"] * 4 + ["Cl"] * 4
    assert "comment line" in raw.warnings[0]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("Fe2+ O2-", ("Fe", "O")),
        ("Na_pv Cl/e1f2ab", ("Na", "Cl")),
        ("Zr_sv_GW/1a2b D", ("Zr", "H")),
        ("FE o", ("Fe", "O")),
    ],
)
def test_species_names(names: str, expected: tuple[str, str]) -> None:
    raw = _read(_rocksalt(names=names + "\n"))
    assert (raw.symbols[0], raw.symbols[4]) == expected


@pytest.mark.parametrize("name", ["Qq", "X", "H.5", "Na+Cl", "Vac"])
def test_unknown_species_are_named_with_their_line(name: str) -> None:
    with pytest.raises(InputRejected, match=r"line 6: .*is no element") as caught:
        _read(_rocksalt(names=f"{name} Cl\n"))
    assert name in caught.value.message


def test_negative_scale_is_a_volume() -> None:
    raw = _read(_rocksalt(scale="-200.0"))
    assert raw.lattice is not None
    assert np.linalg.det(raw.lattice) == pytest.approx(200.0)


def test_three_scales() -> None:
    raw = _read(_rocksalt(scale="1.0 2.0 3.0"))
    assert raw.lattice is not None
    np.testing.assert_allclose(np.diag(raw.lattice), [5.64, 11.28, 16.92])


@pytest.mark.parametrize("scale", ["0", "x", "1 -1 1", "nan", ""])
def test_bad_scales(scale: str) -> None:
    with pytest.raises(InputRejected, match="line 2"):
        _read(_rocksalt(scale=scale))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("0 0 0\n.5", "0 0 nan\n.5", 9),
        ("0 0 0\n.5", "0 0 inf\n.5", 9),
        ("0 0 0\n.5", "0 0\n.5", 9),
        ("4 4", "4 -4", 7),
        ("4 4", "4", 7),
        ("4 4", "99999999999 4", 7),
        ("Direct\n", "", 8),
        ("5.64 0 0", "5.64 0 1_0", 3),
    ],
)
def test_bad_lines_are_named(old: str, new: str, line: int) -> None:
    text = _rocksalt().replace(old, new, 1)
    with pytest.raises(InputRejected, match=f"line {line}: "):
        _read(text)


def test_cut_off_anywhere_is_refused() -> None:
    lines = _rocksalt().split("\n")
    for count in range(1, 15):
        with pytest.raises(InputRejected):
            _read("\n".join(lines[:count]))


def test_selective_dynamics_and_velocities_are_no_part_of_it() -> None:
    text = _rocksalt().replace("Direct", "Selective dynamics\nDirect")
    raw = _read(text.replace("0 0 0\n", "0 0 0 T T F\n") + "\n0.1 0.1 0.1\n")
    assert len(raw.symbols) == 8
    assert "selective dynamics" in raw.warnings[0]


def test_agrees_with_ase_on_what_ase_writes() -> None:
    rng = np.random.default_rng(7)
    for direct in (True, False):
        cell = np.eye(3) * 5 + rng.normal(size=(3, 3)) * 0.5
        atoms = Atoms("Cu2AuO3", scaled_positions=rng.random((6, 3)), cell=cell, pbc=True)
        stream = io.StringIO()
        write(stream, atoms, format="vasp", direct=direct)
        raw = _read(stream.getvalue())
        np.testing.assert_allclose(raw.positions, atoms.positions, atol=1e-12)
        assert raw.lattice is not None
        np.testing.assert_allclose(raw.lattice, cell, atol=1e-12)
        assert raw.symbols == atoms.get_chemical_symbols()
