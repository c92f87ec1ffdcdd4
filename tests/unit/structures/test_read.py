"""Reading as a whole: formats, requests, checks that hold for all, and no traceback ever."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase import Atoms
from ase.build import bulk, molecule
from ase.io import write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crystalmath.errors import CrystalMathError, InputRejected, InvalidParams
from crystalmath.structures.formula import reduced_formula
from crystalmath.structures.read import read_structure
from crystalmath.structures.reader import READ_STRUCTURE, WorkerStructureReader


@pytest.mark.parametrize(
    ("name", "ase_format"),
    [
        ("a.cif", "cif"),
        ("POSCAR", "vasp"),
        ("CONTCAR_2", "vasp"),
        ("a.vasp", "vasp"),
        ("a.extxyz", "extxyz"),
        ("a.xyz", "extxyz"),
        ("a.xsf", "xsf"),
        ("a.cube", "cube"),
        ("a.gen", "gen"),
        ("a.json", "json"),
    ],
)
def test_formats_by_file_name(tmp_path: Path, name: str, ase_format: str) -> None:
    atoms = bulk("NaCl", "rocksalt", a=5.64, cubic=True)
    path = tmp_path / name
    write(path, atoms, format=ase_format)
    document = read_structure(path=str(path))
    json.dumps(document, allow_nan=False)
    assert document["formula"] == "ClNa"
    assert sorted(document["symbols"]) == sorted(atoms.get_chemical_symbols())
    np.testing.assert_allclose(np.linalg.det(document["lattice"]), atoms.get_volume(), rtol=1e-5)
    assert document["pbc"] == [True, True, True]
    assert document["source"]["path"] == str(path)


def test_a_molecule_has_no_lattice() -> None:
    document = read_structure(text="2\nhydrogen\nH 0 0 0\nH 0 0 0.74\n", format="xyz")
    assert document["lattice"] is None
    assert document["pbc"] == [False, False, False]
    assert document["warnings"] == []


def test_a_slab_keeps_its_two_directions() -> None:
    text = (
        '1\nLattice="2.5 0 0 0 2.5 0 0 0 0" pbc="T T F" Properties=species:S:1:pos:R:3\nCu 0 0 0\n'
    )
    document = read_structure(text=text, format="xyz")
    assert document["pbc"] == [True, True, False]
    assert np.linalg.det(document["lattice"]) == pytest.approx(6.25)


def test_the_last_of_several_frames_is_said() -> None:
    text = "1\na\nCu 0 0 0\n1\nb\nAu 0 0 0\n"
    document = read_structure(text=text, format="xyz")
    assert document["symbols"] == ["Au"]
    assert "2 structures" in document["warnings"][0]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"path": "copper.cif"}, "structure.path"),
        ({"path": "~/copper.cif"}, "structure.path"),
        ({"path": "../copper.cif"}, "structure.path"),
        ({"path": "/a\0b.cif"}, "structure.path"),
        ({"path": "/a/b.unknown"}, "structure.path"),
        ({"path": "/a/\ud800.cif"}, "structure.path"),
        ({"text": "\ud800", "format": "cif"}, "structure.text"),
        ({"path": "/a/fort.9.wave"}, "structure.path"),
        ({"path": "/a.cif", "text": "x", "format": "cif"}, "structure"),
        ({}, "structure"),
        ({"text": "x"}, "structure.format"),
        ({"text": "x", "format": "py"}, "structure.format"),
        ({"text": "x" * (8 * 1024 * 1024 + 1), "format": "cif"}, "structure.text"),
    ],
)
def test_requests_that_are_wrong_on_their_face(arguments: dict[str, str], field: str) -> None:
    def run(function: str, kwargs: dict[str, Any], deadline_s: float) -> Any:
        raise AssertionError(f"no worker is needed for {function} {kwargs} {deadline_s}")

    for call in (read_structure, WorkerStructureReader(run, 1.0).read):
        with pytest.raises(InvalidParams) as caught:
            call(**arguments)
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("2\n\nQq 0 0 0\nH 0 0 1\n", "Qq"),
        ("2\n\nX 0 0 0\nH 0 0 1\n", "dummy"),
        ("1\n\nH 0 0 nan\n", "nan"),
        ("1\n\nH 0 0 inf\n", "inf"),
        ("3\n\nH 0 0 0\nH 0 0 1\n", "too early"),
        ("0\n\n", "no atoms"),
        ("2\n\nMg 0 0 0\nO 0 0 0.4\n", "Mg 1 and O 2 are 0.400 Å apart"),
        ('1\nLattice="1 0 0 0 1 0 0 0 0.9"\nH 0 0 0\n', "volume of the cell is 0.9"),
        ('1\nLattice="1e308 0 0 0 1 0 0 0 9"\nH 0 0 0\n', "axis of the cell is 1e"),
        ('1\nLattice="9 0 0 0 9 0 0 0 0.4"\nH 0 0 0\n', "periodic image"),
        ('1\nLattice="1 2" Properties=species:S:1:pos:R:3\nH 0 0 0\n', "cannot be read"),
    ],
)
def test_refusals_hold_for_every_format(text: str, word: str) -> None:
    with pytest.raises(InputRejected, match=word) as caught:
        read_structure(text=text, format="xyz")
    assert caught.value.field in {"structure", "structure.text"}
    copy = pickle.loads(pickle.dumps(caught.value))  # it has to come out of a worker process
    assert (copy.message, copy.field, copy.hint) == (
        caught.value.message,
        caught.value.field,
        caught.value.hint,
    )


def test_short_bonds_are_warned_of() -> None:
    document = read_structure(text="2\n\nCu 0 0 0\nCu 0 0 1.5\n", format="xyz")
    assert "only 1.500 Å apart" in document["warnings"][0]


def test_a_left_handed_cell_is_turned_over() -> None:
    text = '2\nLattice="4 0 0 0 4.5 0 1 0 -5"\nCu 0 0 0\nAu 1 2 3\n'
    document = read_structure(text=text, format="xyz")
    lattice = np.array(document["lattice"])
    assert np.linalg.det(lattice) == pytest.approx(90)
    assert document["positions"] == [[0, 0, 0], [1, 2, 3]]
    assert "left-handed" in document["warnings"][0]
    before = Atoms(cell=[[4, 0, 0], [0, 4.5, 0], [1, 0, -5]]).cell.cellpar()
    np.testing.assert_allclose(Atoms(cell=lattice).cell.cellpar(), before)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
@given(
    text=st.text(max_size=200) | st.sampled_from(["data_x\n", "2\n\nH 0 0 0\n", "x\n1.0\n1 0 0\n"]),
    tail=st.text(alphabet="_loopdataHCu0123456789.'\";#$ \n-", max_size=200),
    kind=st.sampled_from(["cif", "poscar", "xyz", "xsf", "gen", "cube", "json", "pwi"]),
)
def test_any_text_is_read_or_refused(text: str, tail: str, kind: str) -> None:
    refused: str | None = "read"
    symbols: list[str] = []
    try:
        symbols = read_structure(text=text + tail, format=kind)["symbols"]
    except CrystalMathError as error:
        refused = error.field
    assert refused is not None
    assert symbols or refused != "read"


def test_the_reader_of_the_services_asks_a_worker(tmp_path: Path) -> None:
    path = tmp_path / "w.xyz"
    write(path, molecule("H2O"))
    asked: list[tuple[str, float]] = []

    def run(function: str, kwargs: dict[str, Any], deadline_s: float) -> Any:
        asked.append((function, deadline_s))
        return json.loads(json.dumps(read_structure(**kwargs)))

    structure = WorkerStructureReader(run, 7.0).read(path=str(path))
    assert asked == [(READ_STRUCTURE, 7.0)]
    assert structure.symbols == ("O", "H", "H")
    assert structure.formula == "H2O"
    assert structure.lattice is None
    assert structure.positions[0] == pytest.approx(molecule("H2O").positions[0])


def test_the_daemon_s_side_loads_nothing_heavy() -> None:
    code = (
        "import sys, crystalmath.structures.reader, crystalmath.structures.read;"
        "print(sorted({'numpy', 'ase', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("symbols", "formula"),
    [
        (["Mg", "O"] * 4, "MgO"),
        (["O", "H", "C", "H", "H", "H"], "CH4O"),
        (["O", "H", "H"], "H2O"),
        (["Sr", "Ti", "O", "O", "O"], "O3SrTi"),
        (["Cu"] * 13, "Cu"),
        ([], ""),
    ],
)
def test_formulas(symbols: list[str], formula: str) -> None:
    assert reduced_formula(symbols) == formula
