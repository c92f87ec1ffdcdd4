"""Magnetic moments that files give: which are read, and what is said of the others."""

from __future__ import annotations

import io
from dataclasses import asdict

import numpy as np
import pytest

from crystalmath.domain.moments import moments_of_elements, starting_moments
from crystalmath.errors import InputRejected
from crystalmath.services.structure_in import decode_structure
from crystalmath.services.workflows.content import bare_structure, hash_of, text_of
from crystalmath.structures.identity import content_hash
from crystalmath.structures.read import read, read_structure
from crystalmath.structures.structure import of_document
from support.magnets import iron, iron_data

PLAIN = iron("", "").replace(":initial_magmoms:R:0", "")
DECK = """&control
/
&system
ibrav=0, nat=2, ntyp=2, ecutwfc=30, nspin=2, starting_magnetization(1)=0.3
/
&electrons
/
ATOMIC_SPECIES
Fe1 55.8 Fe.upf
Fe2 55.8 Fe.upf
CELL_PARAMETERS angstrom
2.87 0 0
0 2.87 0
0 0 2.87
ATOMIC_POSITIONS crystal
Fe1 0 0 0
Fe2 0.5 0.5 0.5
K_POINTS gamma
"""
CIF = """data_fe
_cell_length_a 2.87
_cell_length_b 2.87
_cell_length_c 2.87
_cell_angle_alpha 90
_cell_angle_beta 90
_cell_angle_gamma 90
_symmetry_space_group_name_H-M 'P 1'
loop_
_atom_site_label
_atom_site_type_symbol
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
Fe1 Fe 0 0 0
Fe2 Fe 0.5 0.5 0.5
loop_
_atom_site_moment_label
_atom_site_moment_crystalaxis_x
_atom_site_moment_crystalaxis_y
_atom_site_moment_crystalaxis_z
Fe1 0 0 2.2
Fe2 0 0 2.2
"""


@pytest.mark.parametrize("column", ["initial_magmoms", "magmoms", "magmom"])
def test_each_column_of_an_extended_xyz_is_read(column: str) -> None:
    found = read(text=iron(2.2, -2.2, column=column), format="extxyz")
    assert (found.moments, found.warnings) == ((2.2, -2.2), [])


def test_what_ase_writes_as_json_is_read() -> None:
    from ase import Atoms
    from ase.io import write

    stream = io.StringIO()
    cell, places = np.eye(3) * 2.87, [(0, 0, 0), (1.435, 1.435, 1.435)]
    write(stream, Atoms("Fe2", places, cell=cell, pbc=True, magmoms=[2.2, -2.2]), format="json")
    assert read(text=stream.getvalue(), format="json").moments == (2.2, -2.2)


def test_the_moment_of_the_whole_cell_is_none_of_an_atom() -> None:
    text = PLAIN.replace("pbc=", "magmom=4.4 pbc=")
    found = read(text=text, format="extxyz")
    assert (found.sites.moments, found.warnings) == (None, [])


def test_one_atom_has_one_moment() -> None:
    lines = iron(2.2, 2.2, column="magmoms").splitlines()
    text = "\n".join(["1", *lines[1:3], ""])
    assert read(text=text, format="extxyz").moments == (2.2,)


def test_vectors_along_one_axis_are_numbers_and_others_are_told() -> None:
    along = read(text=iron("0 2.2 0", "0 -2.2 0"), format="extxyz")
    assert (along.moments, along.warnings) == ((2.2, -2.2), [])
    canted = read(text=iron("0 2.2 0", "0.5 -2.2 0"), format="extxyz")
    assert canted.moments is None
    assert "not along one axis" in canted.warnings[0]


def test_a_moment_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputRejected, match="moment of atom 2 is nan"):
        read(text=iron(2.2, "nan"), format="extxyz")


@pytest.mark.parametrize(
    ("text", "format_", "said"),
    [
        (DECK, "pwi", "starting_magnetization is not taken over"),
        (CIF, "cif", "the magnetic moments of the CIF are not read"),
        (CIF.replace("moment_", "moment."), "cif", "the magnetic moments of the CIF are not read"),
    ],
)
def test_moments_in_other_forms_are_told(text: str, format_: str, said: str) -> None:
    found = read(text=text, format=format_)
    assert found.moments is None
    assert [warning for warning in found.warnings if said in warning]


def test_charges_of_atoms_are_told() -> None:
    found = read(text=iron(1.5, -0.5, column="initial_charges"), format="extxyz")
    assert "charges of the atoms, +1 e in all, are not taken over" in found.warnings[0]
    assert read(text=iron(0, 0, column="initial_charges"), format="extxyz").warnings == []


def test_the_daemon_has_the_moments_that_the_file_gives() -> None:
    data = iron_data(2.2, -2.2)
    assert data.moments == (2.2, -2.2)
    assert of_document(asdict(data)).moments == (2.2, -2.2)
    old = {key: value for key, value in asdict(data).items() if key != "sites"}
    assert decode_structure(old).moments is None


def test_hashes_of_structures_without_moments_are_what_they_were() -> None:
    plain, zero = (read_structure(text=text, format="extxyz") for text in (PLAIN, iron(0, 0)))
    keys = {"lattice", "pbc", "symbols", "positions", "formula"}
    assert bare_structure(plain).keys() == keys
    assert bare_structure(plain) == bare_structure(zero)
    noise = iron_data(0.004, -0.003)
    assert bare_structure(asdict(noise)).keys() == keys
    magnetic = bare_structure(asdict(iron_data(2.2, -2.2)))
    assert magnetic["sites"] == {"moments": [2.2, -2.2]}
    assert hash_of(text_of(magnetic)) != hash_of(text_of(bare_structure(plain)))
    known = "28745edf693e"
    assert content_hash(of_document(zero))[:12] == known
    assert content_hash(of_document(plain)) != content_hash(of_document(zero))


def test_moments_to_start_from() -> None:
    assert starting_moments(None) is None
    assert starting_moments((None, -0.001)) is None
    assert starting_moments((None, 2.219)) == (0.0, 2.22)
    assert moments_of_elements(("O", "Fe", "Fe"), (0.0, 2.0, 2.0)) == {
        "O": 0.0,
        "Fe": 2.0,
    }
    assert moments_of_elements(("Fe", "Fe"), (2.0, -2.0)) is None
