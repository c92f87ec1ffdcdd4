"""Finished calculations as structures: vasprun.xml of VASP and the XML of pw.x."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crystalmath.errors import InputRejected
from crystalmath.structures.read import read_structure
from crystalmath.units import BOHR_ANGSTROM
from support.crystal import CASES

A: float = 4.25


def structure(name: str | None, shift: float) -> str:
    """Rock salt whose oxygen is moved along x."""
    attribute = "" if name is None else f' name="{name}"'
    return f"""<structure{attribute}><crystal>
   <varray name="basis"><v> 0 {A / 2} {A / 2} </v><v> {A / 2} 0 {A / 2} </v>
    <v> {A / 2} {A / 2} 0 </v></varray>
   <i name="volume"> {A**3 / 4} </i>
   <varray name="rec_basis"><v> -0.2 0.2 0.2 </v><v> 0.2 -0.2 0.2 </v><v> 0.2 0.2 -0.2 </v></varray>
  </crystal><varray name="positions"><v> 0 0 0 </v><v> {0.5 + shift} 0.5 0.5 </v></varray>
 </structure>"""


def step(shift: float, scsteps: int = 3) -> str:
    energies = "<energy>" + "".join(
        f'<i name="{name}"> -11.9 </i>' for name in ("e_fr_energy", "e_wo_entrp", "e_0_energy")
    ) + "</energy>"  # fmt: skip
    inner = f"<scstep>{energies}</scstep>" * scsteps
    forces = '<varray name="forces"><v> 0 0 0 </v><v> 0 0 0 </v></varray>'
    return f"<calculation>{inner}{structure(None, shift)}{forces}{energies}</calculation>"


HEAD = """<?xml version="1.0" encoding="ISO-8859-1"?>
<modeling>
 <generator><i name="program" type="string">vasp </i><i name="version" type="string">6.4.2 </i>
 </generator>
 <incar><i type="int" name="NSW"> 5 </i><i type="int" name="NELM"> 60 </i></incar>
 <kpoints><generation param="Gamma"><v type="int" name="divisions"> 1 1 1 </v>
  <v name="usershift"> 0 0 0 </v></generation>
  <varray name="kpointlist"><v> 0 0 0 </v></varray><varray name="weights"><v> 1 </v></varray>
 </kpoints>
 <parameters><i type="int" name="NSW"> 5 </i><i type="int" name="NELM"> 60 </i>
  <i type="int" name="IBRION"> 2 </i><i name="EDIFFG"> -0.02 </i></parameters>
 <atominfo><atoms> 2 </atoms><types> 2 </types>
  <array name="atoms"><dimension dim="1">ion</dimension><field type="string">element</field>
   <field type="int">atomtype</field>
   <set><rc><c>Mg</c><c> 1</c></rc><rc><c>O </c><c> 2</c></rc></set></array>
  <array name="atomtypes"><dimension dim="1">type</dimension>
   <field type="int">atomspertype</field><field type="string">element</field>
   <field>mass</field><field>valence</field><field type="string">pseudopotential</field>
   <set><rc><c> 1</c><c>Mg</c><c> 24.3</c><c> 2.0</c><c> PAW_PBE Mg 13Apr2007 </c></rc>
   <rc><c> 1</c><c>O </c><c> 16.0</c><c> 6.0</c><c> PAW_PBE O 08Apr2002 </c></rc></set></array>
 </atominfo>
"""
STEPS = (step(0.03), step(0.02), step(0.01))


def vasprun(*steps: str, end: bool = True) -> str:
    last = structure("finalpos", 0.01) + "</modeling>\n" if end else ""
    return HEAD + structure("initialpos", 0.04) + "".join(steps) + last


def test_spins_of_a_run_are_told() -> None:
    two = vasprun(*STEPS).replace("<incar>", '<incar><i type="int" name="ISPIN"> 2 </i>')
    for text, kind in (
        (two, "vasprun"),
        (pwscf().replace("<input>", "<input><spin><lsda>true</lsda></spin>"), "xml"),
    ):
        [said] = read_structure(text=text, format=kind)["warnings"]
        assert "the run had two spins" in said


def shift_of(document: dict[str, Any]) -> float:
    """How far the oxygen of :func:`structure` is moved, in fractions."""
    lattice, positions = np.array(document["lattice"]), np.array(document["positions"])
    return float(np.linalg.solve(lattice.T, positions[1] - positions[0])[0] - 0.5)


def test_a_finished_vasprun_gives_its_final_structure(tmp_path: Path) -> None:
    path = tmp_path / "vasprun.xml"
    path.write_text(vasprun(*STEPS), encoding="utf-8")
    document = read_structure(path=str(path))
    assert document["symbols"] == ["Mg", "O"]
    assert document["pbc"] == [True, True, True]
    assert shift_of(document) == pytest.approx(0.01)
    assert np.linalg.det(document["lattice"]) == pytest.approx(A**3 / 4)
    assert document["warnings"] == []
    assert document["source"]["format"] == "vasprun.xml"
    assert document["source"]["program"] == "VASP 6.4.2"
    assert len(document["source"]["sha256"]) == 64
    again = read_structure(text=path.read_text(encoding="utf-8"), format="vasprun")
    assert again["positions"] == document["positions"]


@pytest.mark.parametrize(
    ("text", "shift", "words"),
    [
        # The final structure that a reader would fall back to is the one that it began with.
        (vasprun(*STEPS[:2], end=False), 0.02, "cut off"),
        (vasprun(*STEPS[:2], end=False) + "</modeling>", 0.02, "does not hold its end"),
        (vasprun(*STEPS[:2]) + "<", 0.02, "cut off"),
        (vasprun(*STEPS, end=False)[:-300], 0.02, "step 2"),
        (vasprun(step(0.03), step(0.01, scsteps=60)), 0.01, "SCF of the last step"),
        (vasprun(*STEPS, step(0.01), step(0.01)), 0.01, "not relaxed after 5 steps"),
    ],
)
def test_what_did_not_end_well_is_said(text: str, shift: float, words: str) -> None:
    document = read_structure(text=text, format="xml")
    assert shift_of(document) == pytest.approx(shift)
    (warning,) = document["warnings"]
    assert words in warning


def pwscf(
    *, end: bool = True, converged: str = "true", names: tuple[str, str] = ("Si", "Si1")
) -> str:
    def atomic(x: float) -> str:
        return (
            '<atomic_structure nat="2" alat="10.2"><atomic_positions>'
            f'<atom name="{names[0]}" index="1">0 0 0</atom>'
            f'<atom name="{names[1]}" index="2">{x} 2.55 2.55</atom></atomic_positions>'
            "<cell><a1>-5.1 0 5.1</a1><a2>0 5.1 5.1</a2><a3>-5.1 5.1 0</a3></cell>"
            "</atomic_structure>"
        )

    output = (
        "<output><convergence_info><scf_conv><convergence_achieved>true</convergence_achieved>"
        f"</scf_conv><opt_conv><convergence_achieved>{converged}</convergence_achieved></opt_conv>"
        f"</convergence_info>{atomic(2.55)}<band_structure><ks_energies>1 2</ks_energies>"
        "</band_structure></output></qes:espresso>"
    )
    return (
        '<?xml version="1.0"?><qes:espresso xmlns:qes="http://www.quantum-espresso.org/ns/qes/qes-1.0">'
        '<general_info><creator NAME="PWSCF" VERSION="7.2">x</creator></general_info>'
        f"<input>{atomic(2.7)}</input><step n_step=\"1\">{atomic(2.6)}</step>"
        + (output if end else "")
    )  # fmt: skip


def x_of(document: dict[str, Any]) -> float:
    return float(document["positions"][1][0]) / BOHR_ANGSTROM


def test_the_xml_of_pwx_gives_the_structure_of_its_end(tmp_path: Path) -> None:
    path = tmp_path / "data-file-schema.xml"
    path.write_text(pwscf(), encoding="utf-8")
    document = read_structure(path=str(path))
    assert document["symbols"] == ["Si", "Si"]
    assert x_of(document) == pytest.approx(2.55)
    assert document["lattice"][0] == pytest.approx([-5.1 * BOHR_ANGSTROM, 0, 5.1 * BOHR_ANGSTROM])
    assert document["warnings"] == []
    assert document["source"]["program"] == "pw.x 7.2"


@pytest.mark.parametrize(
    ("text", "x", "words"),
    [
        (pwscf(converged="false"), 2.55, ["not relaxed"]),
        (pwscf(end=False), 2.6, ["cannot be read to its end", "last step"]),
        (pwscf(end=False).partition("<step")[0], 2.7, ["cannot be read", "was given"]),
    ],
)
def test_what_pwx_did_not_end_is_said(text: str, x: float, words: list[str]) -> None:
    document = read_structure(text=text, format="xml")
    assert x_of(document) == pytest.approx(x)
    said = document["warnings"]
    assert len(said) == len(words)
    for warning, part in zip(said, words, strict=True):
        assert part in warning


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<html><body/></html>", "'html'"),
        ("not at all", "no elements"),
        (vasprun(end=False), "before the first step"),
        (HEAD, "before the first step"),
        (vasprun(*STEPS).replace(" 0.51 0.5", " *** 0.5"), "a position of the vasprun.xml"),
        (vasprun(*STEPS).replace("<c>Mg</c><c> 1</c></rc>", "<c>Xx</c><c> 1</c></rc>"), "'Xx'"),
        (vasprun(*STEPS).replace("<rc><c>Mg</c><c> 1</c></rc>", ""), "2 positions for 1 atoms"),
        (HEAD[:300], "before the first step"),
        (pwscf()[:150], "no structure"),
        (pwscf(names=("Si", "Xx")), "'Xx'"),
        (pwscf().replace('nat="2"', 'nat="3"'), "2 atoms"),
        (pwscf().replace("-5.1 5.1 0</a3>", "-5.1 NaN 0</a3>"), "NaN"),
    ],
)
def test_what_holds_no_structure_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputRejected, match=words):
        read_structure(text=text, format="xml")


@pytest.mark.skipif(not CASES.is_dir(), reason="no folder of outputs (CRYSTALMATH_CASES)")
def test_a_real_file_of_pwx() -> None:
    document = read_structure(path=str(CASES / "qe" / "si.scf.xml"))
    assert document["formula"] == "Si"
    assert document["warnings"] == []
    assert np.linalg.det(document["lattice"]) == pytest.approx((10.2 * BOHR_ANGSTROM) ** 3 / 4)
