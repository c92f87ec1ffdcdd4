"""What a run of VASP says of itself: numbers, units, convergence, and what is known to fail."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from crystalmath.codes.vasp.adapter import VaspAdapter
from crystalmath.codes.vasp.large import read as read_in_worker
from crystalmath.codes.vasp.output.failures import find_failure
from crystalmath.codes.vasp.output.vasprun import parse_vasprun
from crystalmath.codes.vasp.run.writer import WorkerInputs
from crystalmath.services.ports import CodeAdapter, EndReceipt, Verdict
from support.vasp import INCAR, MGO, POSCAR, TITLES, step, vasprun
from support.workers import run_here

GOOD = EndReceipt(1, 0, None, "exit", None, 0.0, 1.0)
RELAX = {"NSW": 5, "IBRION": 2, "ISIF": 3}
_ADAPTER: CodeAdapter = VaspAdapter(WorkerInputs(run_here, 60.0))


def judge(
    directory: Path,
    text: str | None,
    *,
    end: EndReceipt | None = GOOD,
    outcar: str = "",
    stdout: str = "",
) -> Verdict:
    (directory / ".cm").mkdir(exist_ok=True)
    (directory / "stderr.log").write_text("")
    (directory / "stdout.log").write_text(stdout)
    if outcar:
        (directory / "OUTCAR").write_text(f" vasp.6.4.2\n{outcar}\n")
    if text is not None:
        (directory / "vasprun.xml").write_text(text)
    return _ADAPTER.judge(directory, end)


def test_a_static_run_gives_energy_forces_stress_and_gap_in_our_units(tmp_path: Path) -> None:
    verdict = judge(tmp_path, vasprun())
    found = verdict.results
    assert (verdict.completed, verdict.converged, found["task"]) == (True, True, "static")
    assert verdict.energy_ev == found["energy_ev"] == -12.03
    assert found["energy_per_atom_ev"] == pytest.approx(-6.015)
    # not the e_0_energy of the ionic step, which is wrong in files of many versions
    assert found["energy_sigma0_ev"] == pytest.approx(-12.02)
    assert found["forces_ev_per_a"] == [[0.0, 0.0, 0.01], [0.0, 0.0, -0.01]]
    assert found["fmax_ev_per_a"] == pytest.approx(0.01)
    # 5 kbar outwards is a negative stress of 0.5 GPa in the sign of ASE
    assert found["stress_ev_per_a3"][0][0] == pytest.approx(-0.5 / 160.2176634)
    assert found["pressure_gpa"] == pytest.approx(0.5)
    assert found["smax_gpa"] == pytest.approx(0.5)
    assert found["gap_ev"] == pytest.approx(4.25)
    assert found["gap_is_direct"] is True
    assert found["fermi_ev"] == 3.25
    assert (found["formula"], found["n_atoms"]) == ("MgO", 2)
    assert found["structure"]["positions"][1] == pytest.approx([2.1, 2.1, 2.1])
    assert found["volume_angstrom3"] == pytest.approx(2 * 2.1**3)
    assert found["engine"] == {"name": "VASP", "version": "6.4.2"}


@pytest.mark.parametrize(
    ("style", "sizes", "beside", "mesh"),
    [
        ("Gamma", "4 4 3", "0 0 0", "4 4 3 0 0 0"),
        ("Monkhorst-Pack", "4 5 6", "0 0 0", "4 5 6 1 0 1"),
        ("Gamma", "4 4 4", "0.5 0 0", None),
        ("Listgenerated", "10 0 0", "0 0 0", None),
    ],
)
def test_settings_and_mesh_are_those_that_the_run_names(
    tmp_path: Path, style: str, sizes: str, beside: str, mesh: str | None
) -> None:
    made_of = (
        f'<generation param="{style}"><v type="int" name="divisions"> {sizes} </v>'
        f'<v name="usershift"> {beside} </v></generation>'
    )
    text = vasprun(ISMEAR=0, SIGMA=0.05, PREC="accura", METAGGA="--")
    found = judge(tmp_path, text.replace("<kpoints>", f"<kpoints>{made_of}")).results["settings"]
    assert found.pop("k_points", None) == mesh
    assert found == {
        "encut_ev": 520.0, "ismear": 0, "sigma_ev": 0.05, "ediff_ev": 1e-5, "prec": "accura",
    }  # fmt: skip


def test_pymatgen_reads_the_same_numbers(tmp_path: Path) -> None:
    from pymatgen.io.vasp.outputs import Vasprun

    path = tmp_path / "vasprun.xml"
    path.write_text(vasprun(step(), step((-12.1, -12.2), force=0.02)))
    theirs = Vasprun(str(path), parse_dos=False, parse_potcar_file=False, parse_eigen=False)
    with path.open("rb") as stream:
        ours = parse_vasprun(stream)
    last, said = ours.steps[-1], theirs.ionic_steps[-1]
    assert last.free_energy_ev == said["e_fr_energy"]
    assert last.energy_sigma0_ev == pytest.approx(float(theirs.final_energy))
    assert last.forces_ev_per_a == [tuple(row) for row in said["forces"]]
    assert last.stress_kbar == [tuple(row) for row in said["stress"]]
    assert ours.symbols == theirs.atomic_symbols
    assert ours.integer("NELM") == theirs.parameters["NELM"]


def test_electrons_that_ran_out_of_steps_are_not_converged(tmp_path: Path) -> None:
    verdict = judge(tmp_path, vasprun(NELM=3))
    assert (verdict.completed, verdict.reason) == (False, "not_converged")
    assert "3 steps (NELM = 3)" in str(verdict.message)
    assert (verdict.converged, verdict.energy_ev) == (False, None)
    reached = "aborting loop because EDIFF is reached"
    assert judge(tmp_path, vasprun(NELM=3), outcar=reached).completed  # in the last allowed step
    missed = "aborting loop EDIFF was not reached (unconverged)"
    assert judge(tmp_path, vasprun(), outcar=missed).reason == "not_converged"


def test_a_relaxation_needs_its_ions_converged(tmp_path: Path) -> None:
    done = judge(tmp_path, vasprun(step(), step(), **RELAX))
    assert (done.completed, done.results["task"]) == (True, "relax")
    assert done.results["relaxation"] == {"converged": True, "steps": 2}
    assert any("plane waves are those of the first cell" in one for one in done.warnings)
    out = judge(tmp_path, vasprun(step(), step(), **{**RELAX, "NSW": 2}))
    assert (out.completed, out.reason) == (False, "not_converged")
    assert "not relaxed after 2 steps (NSW = 2)" in str(out.message)
    said = "reached required accuracy - stopping structural energy minimisation"
    last = judge(tmp_path, vasprun(step(), step(), **{**RELAX, "NSW": 2}), stdout=said)
    assert last.completed


def test_a_file_that_is_cut_off_anywhere_is_never_completed(tmp_path: Path) -> None:
    whole = vasprun(step(), step((-12.0, -12.5)), **RELAX)
    for cut in range(0, len(whole.rstrip()) - 1, 97):
        verdict = judge(tmp_path, whole[:cut])
        assert not verdict.completed, cut
        assert verdict.reason == "crashed"
    partial = judge(tmp_path, whole[: whole.rindex("<structure")])
    assert partial.results["energy_ev"] == -12.5
    assert "cut off after 2 ionic steps" in str(partial.message)
    assert judge(tmp_path, whole).completed


@pytest.mark.parametrize(
    ("text", "reason", "fix"),
    [
        ("ZBRENT: fatal error in bracketing", "crashed", "CONTCAR"),
        ("Error EDDDAV: Call to ZHEGV failed. Returncode = 8", "crashed", "ALGO"),
        ("BRMIX: very serious problems the old and the new charge", "crashed", "ICHARG = 2"),
        ("POSMAP internal error: symmetry equivalent atom not found", "crashed", "SYMPREC"),
        ("VERY BAD NEWS! internal error in subroutine SGRCON:", "crashed", "ISYM = 0"),
        ("Reciprocal lattice and k-lattice belong to different class", "crashed", "Γ-centred"),
    ],
)
def test_known_texts_are_told_with_what_may_help(
    tmp_path: Path, text: str, reason: str, fix: str
) -> None:
    verdict = judge(tmp_path, None, stdout=f" |     {text}    |\n")
    assert (verdict.completed, verdict.reason) == (False, reason)
    assert text in str(verdict.message)
    assert fix in str(verdict.hint)


def test_a_warning_that_was_survived_is_no_failure(tmp_path: Path) -> None:
    text = " WARNING: Sub-Space-Matrix is not hermitian in DAV            4\n"
    assert judge(tmp_path, vasprun(), stdout=text).completed
    cut = judge(tmp_path, vasprun()[:-40], stdout=text)
    assert "Sub-Space-Matrix" in str(cut.message)
    assert find_failure("ZBRENT: accuracy reached") is None
    assert find_failure("ZBRENT:  can't locate minimum, use default step") is None


def test_the_exit_code_the_stop_file_and_the_machine_count(tmp_path: Path) -> None:
    assert judge(tmp_path, vasprun(), end=EndReceipt(1, 9, None, "exit", None, 0.0, 1.0)).reason
    late = judge(tmp_path, vasprun(), end=EndReceipt(1, None, 15, "walltime", None, 0.0, 9.0))
    assert (late.reason, "CONTCAR" in str(late.hint)) == ("walltime", True)
    stopped = judge(tmp_path, vasprun(), outcar=" soft stop encountered!  aborting job ...")
    assert stopped.reason == "walltime"


def test_a_metal_has_no_gap_and_bands_are_no_energy(tmp_path: Path) -> None:
    metal = vasprun().replace("5.2500 0.0000", "0.7500 0.4000")
    assert "gap_ev" not in judge(tmp_path, metal).results
    # No sampled level is partly filled, but a band is full at one point and empty at the other.
    crossed = vasprun().replace("1.0000 1.0000", "1.0000 0.0000")
    assert "gap_ev" not in judge(tmp_path, crossed).results
    dos = judge(tmp_path, vasprun(ICHARG=11))
    assert (dos.completed, dos.results["task"], dos.converged) == (True, "dos", None)
    assert dos.energy_ev is None
    assert not {"energy_ev", "forces_ev_per_a", "stress_ev_per_a3"} & set(dos.results)


def test_other_potentials_than_those_of_the_job_are_told(tmp_path: Path) -> None:
    (tmp_path / "potcar.json").write_text(
        '{"functional": "PBE", "potentials": [{"label": "Mg", "title": "PAW_PBE Mg 01Jan2000"}]}'
    )
    verdict = judge(tmp_path, vasprun())
    assert any(TITLES[0] in one for one in verdict.warnings)
    assert verdict.results["titles"] == list(TITLES)


def test_bytes_that_are_no_run_kill_nothing(tmp_path: Path) -> None:
    for raw in (
        b"",
        b"\0\xff" * 99,
        b"<modeling>",
        b"<modeling><calculation><v> x </v></calculation>",
    ):
        assert not parse_vasprun(BytesIO(raw)).closed
    (tmp_path / "vasprun.xml").write_bytes(b"<modeling><generator><i>vasp</i>" + b"\xff" * 99)
    assert judge(tmp_path, None).reason == "crashed"


def test_a_calculation_by_hand_is_taken_in_without_its_potentials(tmp_path: Path) -> None:
    for name, text in {"INCAR": INCAR, "POSCAR": POSCAR, "POTCAR": "x", "OUTCAR": "o"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "vasprun.xml").write_text(vasprun())
    found = _ADAPTER.recognise(tmp_path)
    assert found is not None
    assert [file.path for file in found.files] == ["vasprun.xml", "OUTCAR", "INCAR", "POSCAR"]
    assert found.inputs == {"potcars": {"Mg": "Mg_pv", "O": "O"}, "potcar_functional": "PBE"}
    assert any("POTCAR stays where it is" in one for one in found.warnings)
    reading = _ADAPTER.read(tmp_path / "vasprun.xml")
    assert reading is not None
    assert reading.verdict.completed
    assert (reading.task, reading.formula) == ("static", "MgO")
    (tmp_path / "other.xml").write_text("<modeling><generator>crystal</generator></modeling>")
    assert _ADAPTER.read(tmp_path / "other.xml") is None
    in_worker = read_in_worker("read", str(tmp_path))
    assert in_worker["verdict"]["energy_ev"] == -12.03


@pytest.mark.parametrize(
    ("family", "functional"), [("PAW_PBE", "PBE"), ("PAW_GGA", "PW91"), ("PAW", "LDA")]
)
def test_a_rerun_takes_potentials_of_the_same_functional(
    tmp_path: Path, family: str, functional: str
) -> None:
    for name, text in {"INCAR": INCAR, "POSCAR": POSCAR}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "vasprun.xml").write_text(vasprun().replace("PAW_PBE", family))
    found = _ADAPTER.recognise(tmp_path)
    assert found is not None
    assert found.inputs["potcar_functional"] == functional
    told = any("from which release its potentials are" in one for one in found.warnings)
    assert told == (functional == "PBE")


def test_potentials_of_several_functionals_are_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "vasprun.xml").write_text(vasprun().replace("PAW_PBE", "PAW_GGA", 1))
    found = _ADAPTER.recognise(tmp_path)
    assert found is not None
    assert found.inputs == {}


def test_progress_and_curves(tmp_path: Path) -> None:
    (tmp_path / "OSZICAR").write_text(
        "DAV:   1    -0.1E+02   -0.1E+02\n   1 F= -.12030000E+02 E0= -.12E+02\n"
        "RMM:   4    -0.12E+02   -0.3E-03   -0.1E-03\n"
    )
    progress = _ADAPTER.progress(tmp_path)
    assert progress is not None
    assert progress.text == "step 1, E -12.0300 eV; SCF step 4, change -0.3E-03 eV"
    grown = tuple(tuple(x * 1.01 for x in row) for row in MGO["lattice"])
    (tmp_path / "vasprun.xml").write_text(vasprun(step(), step((-12.5,), lattice=grown), **RELAX))
    curves = _ADAPTER.series(tmp_path)
    assert curves["energy"]["y"] == [-12.03, -12.5]
    assert curves["scf_energy"]["y"] == [-10.0, -12.0, -12.03, -12.5]
    assert curves["volume"]["y"][1] == pytest.approx(2 * 2.1**3 * 1.01**3)
