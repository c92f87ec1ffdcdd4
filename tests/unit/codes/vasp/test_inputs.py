"""Inputs that are written for structures: the sets of pymatgen, changes of them, the k points."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.codes.vasp.deck.incar import parse_incar, words
from crystalmath.codes.vasp.deck.poscar import parse_poscar_head
from crystalmath.codes.vasp.generate.inputs import generate_inputs
from crystalmath.codes.vasp.large import LINTER
from crystalmath.codes.vasp.lint.incar import Beside, lint_incar
from crystalmath.codes.vasp.run.writer import GENERATE
from crystalmath.contract.inputs import GenerateInputsResult
from crystalmath.errors import InputRejected, InvalidParams
from support.vasp import POSCAR
from support.workers import run_here

MGO = {"text": POSCAR, "format": "poscar"}
CUBE = {
    "text": "MgO\n4.2\n1 0 0\n0 1 0\n0 0 1\nMg O\n4 4\nDirect\n0 0 0\n0 .5 .5\n.5 0 .5\n.5 .5 0\n"
    ".5 .5 .5\n.5 0 0\n0 .5 0\n0 0 .5\n",
    "format": "poscar",
}
NIO = {
    "text": "NiO\n4.2\n.5 .5 1\n.5 1 .5\n1 .5 .5\nNi O\n2 2\nDirect\n0 0 0\n.5 .5 .5\n.25 .25 .25\n"
    ".75 .75 .75\n",
    "format": "poscar",
}


def made(structure: Any = MGO, task: str = "relax", **options: Any) -> tuple[dict[str, str], Any]:
    given = {"structure": structure, "options": options, "task": task}
    answer = run_here(GENERATE, given, 60.0)
    GenerateInputsResult.model_validate(answer)
    return {file["path"]: file["content"] for file in answer["files"]}, answer["report"]


def test_magnesium_oxide_by_the_relaxation_set() -> None:
    files, report = made()
    tags, _ = parse_incar(files["INCAR"])
    assert (tags["ENCUT"], float(tags["EDIFF"]), tags["ISPIN"]) == ("520", 1e-4, "2")
    assert files["KPOINTS"].splitlines()[2:4] == ["Gamma", "9 9 9"]
    assert files["POSCAR"].splitlines()[1] == "1.0"
    assert files["POSCAR"].splitlines()[5:8] == ["Mg O", "1 1", "Direct"]
    assert files["POTCAR.spec"] == "# PBE\nMg_pv\nO\n"
    assert report["space_group"]["number"] == 225
    assert report["settings"].keys() == {"input_set"}
    assert report["settings"]["input_set"]["value"] == "MPRelaxSet"
    assert report["k_mesh"] == [9, 9, 9]


@pytest.mark.parametrize(
    ("task", "name", "tag", "value"),
    [
        ("static", "MPStaticSet", "NSW", "0"),
        ("relax", "MP24RelaxSet", "METAGGA", "R2scan"),
        ("static", "MatPESStaticSet", "KSPACING", "0.22"),
        ("dos", "MPNonSCFSet", "ICHARG", "11"),
        ("relax", "MVLSlabSet", "ISIF", "2"),
    ],
)
def test_every_set_gives_its_own(task: str, name: str, tag: str, value: str) -> None:
    files, report = made(task=task, set=name)
    tags, _ = parse_incar(files["INCAR"])
    assert tags[tag] == value
    assert report["settings"]["input_set"]["value"] == name
    assert report["k_mesh"] is not None
    assert ("KSPACING" in tags) != ("KPOINTS" in files)
    errors = [one for one in lint_incar(tags, Beside(2, 2, 200)) if one.severity == "error"]
    assert errors == []


def test_the_mesh_of_a_density_of_states_is_twice_that_of_a_static_run() -> None:
    _, static = made(task="static")
    files, report = made(task="dos")
    assert report["k_mesh"] == [2 * n for n in static["k_mesh"]]
    assert files["KPOINTS"].splitlines()[2:4] == [
        "Gamma",
        " ".join(str(n) for n in report["k_mesh"]),
    ]
    assert report["k_points_from"].startswith("2 times the mesh of a static run")


def test_what_differs_from_the_set_is_listed() -> None:
    files, report = made(
        incar={"ENCUT": 600, "LCHARG": False},
        kpoints=[6, 6, 6],
        fmax_ev_per_a=0.01,
        max_steps=50,
        cell="constant_volume",
        potcars={"Mg": "Mg"},
    )
    tags, _ = parse_incar(files["INCAR"])
    assert (tags["EDIFFG"], tags["NSW"], tags["ISIF"]) == ("-0.01", "50", "4")
    listed = {
        name: (one["set"], one["value"]) for name, one in report["settings"].items() if "set" in one
    }
    assert listed == {
        "EDIFFG": (None, "-0.01"),
        "NSW": ("99", "50"),
        "ISIF": ("3", "4"),
        "ENCUT": ("520", "600"),
        "LCHARG": (None, ".FALSE."),
        "KPOINTS": ("9 9 9", "6 6 6"),
        "POTCAR Mg": ("Mg_pv", "Mg"),
    }
    assert files["POTCAR.spec"].split() == ["#", "PBE", "Mg", "O"]


def test_a_static_run_with_the_set_of_a_relaxation_moves_nothing() -> None:
    files, report = made(task="static", set="MPRelaxSet")
    tags, _ = parse_incar(files["INCAR"])
    assert (tags["NSW"], tags["IBRION"], tags["ISIF"]) == ("0", "-1", "2")
    assert "EDIFFG" not in parse_incar(made(task="static", set="MP24RelaxSet")[0]["INCAR"])[0]
    relaxing, _ = parse_incar(made(set="MPRelaxSet")[0]["INCAR"])
    same = tags.keys() - {"NSW", "IBRION", "ISIF"}
    assert all(tags[name] == relaxing[name] for name in same)
    assert files["KPOINTS"] == made(set="MPRelaxSet")[0]["KPOINTS"]
    assert report["settings"]["NSW"]["set"] == "99"


def test_meshes_contain_gamma_and_have_the_symmetry() -> None:
    files, report = made(CUBE, k_spacing_inv_angstrom=0.3)
    assert files["KPOINTS"].splitlines()[2:4] == ["Gamma", "5 5 5"]
    _, report = made(kpoints=[4, 4, 2])
    assert any("4 × 4 × 4 does" in one for one in report["warnings"])
    files, _ = made(set="MP24RelaxSet", kpoints=[4, 4, 4])
    assert "KSPACING" not in files["INCAR"]
    assert "4 4 4" in files["KPOINTS"]


def test_bands_follow_the_path_in_the_cell_as_given() -> None:
    files, report = made(task="bands")
    assert "Γ–X–U | K–Γ–L–W–X" in report["k_points_from"]
    cell = POSCAR.replace("0 2.1 2.1\n2.1 0 2.1\n2.1 2.1 0", "0 2.1 2.1\n0 -2.1 2.1\n2.1 0 2.1")
    turned = {"text": cell.replace("0.5 0.5 0.5", "0.5 0.5 0"), "format": "poscar"}
    other, _ = made(turned, task="bands")

    def lengths(text: str) -> list[float]:
        head = parse_poscar_head(POSCAR if text is files["KPOINTS"] else turned["text"], "x")
        back = np.linalg.inv(np.array(head.lattice)).T
        points = np.array([line.split()[:3] for line in text.splitlines()[3:]], dtype=float) @ back
        return [float(np.linalg.norm(b - a)) for a, b in pairwise(points)]

    assert lengths(files["KPOINTS"]) == pytest.approx(lengths(other["KPOINTS"]), abs=1e-9)
    x = next(line for line in other["KPOINTS"].splitlines() if line.endswith(" X"))
    back = np.linalg.inv(np.array(parse_poscar_head(turned["text"], "x").lattice)).T
    cartesian = np.array(x.split()[:3], dtype=float) @ back * 4.2
    assert sorted(np.abs(cartesian).round(9).tolist()) == [0.0, 0.0, 1.0]
    with pytest.raises(InputRejected, match="holds 4 of them"):
        made(CUBE, task="bands")
    with pytest.raises(InputRejected, match="along a path"):
        made(task="bands", kpoints=[2, 2, 2])


def test_atoms_are_one_block_per_element_and_the_order_is_told() -> None:
    mixed = {"text": CUBE["text"].replace("Mg O\n4 4", "Mg O Mg O\n2 2 2 2"), "format": "poscar"}
    mixed["text"] = re.sub(r"(?s)Direct.*", "", mixed["text"]) + (
        "Direct\n0 0 0\n0 .5 .5\n.5 .5 .5\n.5 0 0\n.5 0 .5\n.5 .5 0\n0 .5 0\n0 0 .5\n"
    )
    files, report = made(mixed, task="static")
    assert files["POSCAR"].splitlines()[5:7] == ["Mg O", "4 4"]
    assert report["settings"]["atoms"]["value"] == [0, 1, 4, 5, 2, 3, 6, 7]
    assert len(words(parse_incar(files["INCAR"])[0]["MAGMOM"])) == 8


@pytest.mark.parametrize(
    ("task", "options", "field"),
    [
        ("relax", {"set": "MPStaticSet"}, "options.set"),
        ("static", {"max_steps": 3}, "options.max_steps"),
        ("static", {"kpoints": [2, 2, 2], "k_spacing_inv_angstrom": 0.3}, "options.k_spacing"),
        ("static", {"kpoints": [2, 2]}, "options.kpoints"),
        ("static", {"incar": {"ENCUT": "500; NSW = 3"}}, "options.incar.ENCUT"),
        ("static", {"incar": {"ENCUT": "abc"}}, "options.incar.ENCUT"),
        ("static", {"incar": {"ENCUT": -5}}, "options.incar.ENCUT"),
        ("static", {"incar": {"SIGMA": True}}, "options.incar.SIGMA"),
        ("static", {"incar": {"ISPIN": 3}}, "options.incar.ISPIN"),
        ("static", {"incar": {"MAGMOM": [1, "up"]}}, "options.incar.MAGMOM"),
        ("static", {"potcars": {"Mg": "../x"}}, "options.potcars.Mg"),
        ("static", {"potcars": {"Si": "Si"}}, "options.potcars.Si"),
        ("phonon", {}, "task"),
    ],
)
def test_wrong_options_are_refused_by_name(task: str, options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        generate_inputs(MGO, options, task)
    assert str(caught.value.field).startswith(field)


def test_a_molecule_needs_a_cell() -> None:
    with pytest.raises(InputRejected, match="repeats a structure in three directions") as caught:
        generate_inputs({"text": "2\n\nH 0 0 0\nH 0 0 0.74\n", "format": "xyz"}, {}, "static")
    assert "`materials.convert.vacuum_angstrom: 10`" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "beside", "tag", "severity"),
    [
        ("NSW = 5", Beside(), "IBRION", "warning"),
        ("IBRION = 2", Beside(), "NSW", "warning"),
        ("NSW = 5\nIBRION = -1", Beside(), "IBRION", "warning"),
        ("NSW = 5\nIBRION = 0", Beside(), "POTIM", "error"),
        ("NSW = 5\nIBRION = 2\nISIF = 3", Beside(), "ENCUT", "warning"),
        ("ISIF = 2\nPSTRESS = 10", Beside(), "PSTRESS", "warning"),
        ("EDIFFG = 0.02", Beside(), "EDIFFG", "warning"),
        ("EDIFF = 1e-3\nEDIFFG = 1e-4", Beside(), "EDIFFG", "warning"),
        ("ISMEAR = -5", Beside(n_kpoints=1), "ISMEAR", "error"),
        ("KGAMMA = .FALSE.", Beside(gamma_needed=True), "KGAMMA", "error"),
        ("ISPIN = 2\nMAGMOM = 3*1.0", Beside(n_atoms=2), "MAGMOM", "error"),
        ("MAGMOM = 2*1.0", Beside(n_atoms=2), "MAGMOM", "warning"),
        ("LDAU = T\nLDAUL = 2 -1", Beside(n_species=2), "LDAUU", "error"),
        ("LDAU = T\nLDAUL = 2\nLDAUU = 4 0", Beside(n_species=2), "LDAUL", "error"),
        ("LDAUU = 4 0", Beside(n_species=2), "LDAU", "warning"),
        ("NCORE = 4", Beside(cores=6), "NCORE", "error"),
        ("NPAR = 2\nNCORE = 2", Beside(cores=4), "NPAR", "warning"),
        ("KPAR = 0", Beside(), "KPAR", "error"),
        ("ENCUT = abc", Beside(), "ENCUT", "error"),
        ("ENCUT = 0", Beside(), "ENCUT", "error"),
        ("EDIFF =", Beside(), "EDIFF", "error"),
        ("ISMEAR = 0.5", Beside(), "ISMEAR", "error"),
    ],
)
def test_the_linter_finds(text: str, beside: Beside, tag: str, severity: str) -> None:
    found = [(one.tag, one.severity) for one in lint_incar(parse_incar(text)[0], beside)]
    assert (tag, severity) in found


def test_the_linter_is_silent_where_nothing_is_wrong() -> None:
    good = "ENCUT = 520 eV\nEDIFF = 1.D-6\nLDAUL = 2 2*-1\nLDAUU = 3*0\nLDAU = .TRUE.\nNSW = 0"
    assert lint_incar(parse_incar(good)[0], Beside(2, 3, 100, 4)) == []
    good = "ENCUT = 520\nIBRION = 2\nNSW = 50\nISIF = 3\nEDIFFG = -0.01\nISPIN = 2\nMAGMOM = 2*0.6"
    assert lint_incar(parse_incar(good)[0], Beside(2, 2, 100, 4)) == []


def test_tags_are_read_as_vasp_reads_them() -> None:
    text = (
        "ENCUT = 520 ! eV\n# NSW = 3\nISMEAR=0;SIGMA = 0.05\nMAGMOM = 2*0.6 \\\n 1.0\nencut = 300\n"
    )
    tags, twice = parse_incar(text)
    assert tags == {"ENCUT": "520", "ISMEAR": "0", "SIGMA": "0.05", "MAGMOM": "2*0.6 1.0"}
    assert twice == ["ENCUT"]
    assert words(tags["MAGMOM"]) == ["0.6", "0.6", "1.0"]


def test_what_the_static_run_had_is_kept_and_what_it_left_out_is_left_out() -> None:
    previous = {"ENCUT": "600", "LDAU": ".TRUE.", "LDAUL": "2 -1", "LDAUU": "4 0", "LASPH": None}
    given = {"structure": NIO, "options": {}, "task": "dos", "previous_incar": previous}
    answer = run_here(GENERATE, given, 60.0)
    tags, _ = parse_incar(answer["files"][0]["content"])
    assert (tags["ENCUT"], tags["LDAUU"], tags["LDAUL"]) == ("600", "4 0", "2 -1")
    assert "LASPH" not in tags
    listed = answer["report"]["settings"]
    assert (listed["LDAUU"]["value"], listed["LDAUU"]["set"]) == ("4 0", "6.2 0")


def test_a_hubbard_set_has_one_value_per_block() -> None:
    files, _ = made(NIO, task="static")
    tags, _ = parse_incar(files["INCAR"])
    assert words(tags["LDAUU"])[:1] == ["6.2"]
    assert not [o for o in lint_incar(tags, Beside(4, 2, 99)) if o.severity == "error"]


def test_an_incar_on_disk_is_judged_beside_its_poscar(tmp_path: Path) -> None:
    (tmp_path / "INCAR").write_text("ISPIN = 2\nSIGMA = 0.05; MAGMOM = 3*1.0\n")
    (tmp_path / "POSCAR").write_text(POSCAR)
    (row,) = run_here(LINTER.function, {"path": str(tmp_path / "INCAR")}, 5.0)
    assert (row["line"], row["column"], row["code"]) == (2, 15, "magmom")
    assert run_here(LINTER.function, {"text": "ISPIN = 2\nMAGMOM = 3*1.0\n"}, 5.0) == []
    twice = run_here(LINTER.function, {"text": "ENCUT = 400\nENCUT = 500\n"}, 5.0)
    assert [(row["line"], row["severity"]) for row in twice] == [(2, "warning")]
    with pytest.raises(InputRejected, match="no such file"):
        run_here(LINTER.function, {"path": str(tmp_path / "absent")}, 5.0)


def test_moments_follow_their_atoms_into_the_order_of_poscar() -> None:
    mixed = {
        "text": "NiO\n4.2\n.5 .5 1\n.5 1 .5\n1 .5 .5\nNi O Ni O\n1 1 1 1\nDirect\n0 0 0\n"
        ".25 .25 .25\n.5 .5 .5\n.75 .75 .75\n",
        "format": "poscar",
    }
    files, _ = made(mixed, incar={"MAGMOM": [2.0, 0.5, -2.0, 0.25]})
    assert files["POSCAR"].splitlines()[5:7] == ["Ni O", "2 2"]
    assert parse_incar(files["INCAR"])[0]["MAGMOM"].split() == ["2", "-2", "0.5", "0.25"]
    with pytest.raises(InvalidParams, match="in another order") as refused:
        made(mixed, incar={"MAGMOM": "2*2.0 2*0.5"})
    assert refused.value.field == "options.incar.MAGMOM"
