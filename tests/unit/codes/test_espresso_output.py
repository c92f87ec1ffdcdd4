"""What outputs of pw.x say and how they are judged; cut off anywhere, none of them is completed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.espresso import arrays, reading
from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.fortran import parse_duration_s
from crystalmath.codes.espresso.output import parse_output
from crystalmath.codes.espresso.series import series_of
from crystalmath.codes.espresso.verdict import judge_run
from crystalmath.domain.states import REASONS
from crystalmath.errors import OutputUnreadable
from crystalmath.services.ports import EndReceipt, Verdict
from crystalmath.units import BOHR_ANGSTROM, EV_PER_ANGSTROM3_GPA, RYDBERG_EV
from support.espresso import CASES, FIXTURES, deck, job, output

_ADAPTER = EspressoAdapter()
_GOOD = EndReceipt(1, 0, None, "exit", None, 0.0, 10.0)
_NAMES = sorted(path.stem for path in FIXTURES.glob("*.out"))
_COMPLETED = {"si.scf", "si.relax", "si.vcrelax", "ni.scf", "si.bands", "si.md"}


def judge(
    text: str, end: EndReceipt | None = None, task: str | None = None, at: Path | None = None
) -> Verdict:
    directory = at or Path("/nonexistent")
    return judge_run(parse_output(text), task=task, directory=directory, end=end, crash=None)


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("end", [None, _GOOD], ids=["unknown", "rc0"])
def test_verdicts(name: str, end: EndReceipt | None, tmp_path: Path) -> None:
    verdict = judge(output(name), end, at=tmp_path)
    reasons = {
        "si.noconv": "not_converged",
        "si.badinput": "input_rejected",
        "si.relaxmax": "not_converged",
        "si.scftime": "walltime",
    }
    assert verdict.completed is (name in _COMPLETED), verdict.message
    assert verdict.reason == reasons.get(name)
    assert verdict.completed or (verdict.message and verdict.hint)
    json.dumps(verdict.results, allow_nan=False)


@pytest.mark.parametrize("name", _NAMES)
def test_cut_off_at_any_line_it_is_never_completed(name: str) -> None:
    lines = output(name).splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line.strip())
    for end in range(last):
        verdict = judge("".join(lines[:end]))
        assert not verdict.completed, end
        assert verdict.reason in REASONS
    for end in range(last - 1):
        assert not judge("".join(lines[:end]), _GOOD, at=FIXTURES).completed, end


def test_cut_off_within_any_of_the_last_lines() -> None:
    text = output("si.scf").rstrip()
    for end in range(len(text) - 200, len(text)):
        assert not judge(text[:end]).completed


def large(text: str, n_atoms: int) -> str:
    """The output again, as if it were of a crystal of so many atoms."""
    place = "         1           Si  tau(   1) = (   0.0000000   0.0000000   0.0000000  )"
    force = "     atom    1 type  1   force =    -0.00000000   -0.00000000   -0.00000000"
    places = [
        f"{n:10d}           Si  tau({n:4d}) = ({n / 1e4:12.7f}   0.0000000   0.0000000  )"
        for n in range(3, n_atoms + 1)
    ]
    forces = [
        f"     atom {n:4d} type  1   force =    {n / 1e6:11.8f}    0.00000000    0.00000000"
        for n in range(3, n_atoms + 1)
    ]
    assert place in text
    assert force in text
    counted = f"number of atoms/cell      ={n_atoms:13d}"
    text = re.sub(r"number of atoms/cell +=\s+2", counted, text)
    after = {"tau(   2)": places, "atom    2 type": forces}
    lines = []
    for line in text.splitlines():
        lines.append(line)
        for part, more in after.items():
            lines.extend(more if part in line else ())
    return "\n".join(lines) + "\n"


def test_arrays_of_a_large_system_are_read_from_its_output(tmp_path: Path) -> None:
    job(tmp_path, deck("si.scf"), large(output("si.scf"), 1200))
    results = _ADAPTER.judge(tmp_path, _GOOD).results
    assert results["n_atoms"] == 1200
    assert results["fmax_ev_per_a"] > 0
    assert not {"structure", "forces_ev_per_a"} & set(results)
    found = arrays.read(str(tmp_path), results["arrays_in"])
    assert list(found) == ["structure", "forces_ev_per_a"]
    assert found["structure"]["symbols"] == ["Si"] * 1200
    lengths = [sum(c * c for c in force) ** 0.5 for force in found["forces_ev_per_a"]]
    assert len(lengths) == 1200
    assert max(lengths) == lengths[-1] == results["fmax_ev_per_a"]
    assert found["structure"]["positions"][-1][0] == pytest.approx(0.12 * 10.2 * BOHR_ANGSTROM)
    (tmp_path / results["arrays_in"]).unlink()
    with pytest.raises(OutputUnreadable, match="structure and forces_ev_per_a"):
        arrays.read(str(tmp_path), results["arrays_in"])


def test_job_done_is_no_proof() -> None:
    for name in ("si.noconv", "si.relaxmax", "si.scftime"):
        assert "JOB DONE" in output(name)
        assert not judge(output(name)).completed
    without = output("si.scf").replace("convergence has been achieved", "convergence was hoped for")
    assert judge(without).reason == "crashed"


def test_a_bad_exit_code_outweighs_a_good_output(tmp_path: Path) -> None:
    (tmp_path / "stderr.log").write_text("")
    text = output("si.scf")
    for end, reason in (
        (replace(_GOOD, rc=1), "crashed"),
        (replace(_GOOD, rc=None, signal=11), "crashed"),
        (replace(_GOOD, rc=None, signal=9, cause="walltime"), "walltime"),
        (replace(_GOOD, rc=1, disk_full=True), "disk_full"),
        (replace(_GOOD, rc=None, cause="not_started", failure="no such program"), "did_not_start"),
    ):
        verdict = judge(text, end, at=tmp_path)
        assert (verdict.completed, verdict.reason) == (False, reason)
        assert verdict.results["energy_ry"] == -15.84452726


def test_words_of_the_program_explain_a_bad_exit_code(tmp_path: Path) -> None:
    (tmp_path / "stderr.log").write_text("STOP 2\n")
    verdict = judge(output("si.noconv"), replace(_GOOD, rc=2), at=tmp_path)
    assert (verdict.reason, verdict.converged, verdict.energy_ev) == ("not_converged", False, None)
    assert "2 iterations" in (verdict.message or "")


@pytest.mark.parametrize(
    ("routine", "message", "late", "reason"),
    [
        ("readpp", "file Si.UPF not found", False, "input_rejected"),
        ("whatever", "something", False, "input_rejected"),
        ("whatever", "something", True, "crashed"),
        ("c_bands", "too many bands are not converged", True, "not_converged"),
        ("electrons", "charge is wrong: smearing is needed", True, "not_converged"),
        ("scale_h", "Not enough space allocated for radial FFT: try cell_factor", True, "crashed"),
        ("davcio", "error writing file", True, "disk_full"),
        ("set_x", "cannot allocate xyz", True, "out_of_memory"),
    ],
)
def test_errors(routine: str, message: str, late: bool, reason: str) -> None:
    begin = output("si.scf").partition("End of self" if late else "Current dimensions")[0]
    rule = " " + "%" * 78
    error = (
        f"\n{rule}\n     Error in routine {routine} (1):\n     {message}\n{rule}\n\n stopping ...\n"
    )
    verdict = judge(begin + error)
    assert (verdict.completed, verdict.reason) == (False, reason)
    assert f"{routine}: {message}" in (verdict.message or "")


def test_a_message_that_stands_in_crash_only(tmp_path: Path) -> None:
    begin = output("si.badinput").partition("%%%")[0]
    job(tmp_path, deck("si.badinput"), begin)
    (tmp_path / "CRASH").write_text((FIXTURES / "si.badinput.CRASH").read_text())
    (tmp_path / "stderr.log").write_text("MPI_ABORT was invoked on rank 0\n")
    verdict = _ADAPTER.judge(tmp_path, replace(_GOOD, rc=1))
    assert verdict.reason == "input_rejected"
    assert "ecutwfx" in (verdict.message or "")


def test_numbers_of_an_scf() -> None:
    results = judge(output("si.scf")).results
    assert results["energy_ev"] == pytest.approx(-215.575776, abs=5e-7)
    assert results["energy_per_atom_ev"] == pytest.approx(-215.575776 / 2, abs=5e-7)
    assert results["engine"] == {"name": "pw.x", "version": "6.7MaX", "processes": 1}
    assert results["scf"] == {"converged": True, "iterations": 6, "cycles": 1}
    assert results["structure"]["symbols"] == ["Si", "Si"]
    half = 10.2 * BOHR_ANGSTROM / 2
    assert results["structure"]["lattice"][0] == pytest.approx([-half, 0, half])
    assert results["structure"]["positions"][1] == pytest.approx([half / 2] * 3)
    assert results["volume_angstrom3"] == pytest.approx(265.302 * BOHR_ANGSTROM**3, rel=1e-6)
    assert results["pseudopotentials"][0]["md5_printed"] == "a974d1b8727157e37210f3f86afb6210"


def test_the_stress_has_the_sign_of_ase() -> None:
    """The crystal is under tension: pw.x prints a negative pressure, ASE a positive stress."""
    results = judge(output("si.scf")).results
    assert results["pressure_kbar"] == -10.25
    trace = sum(results["stress_ev_per_a3"][i][i] for i in range(3))
    assert trace > 0
    assert -trace / 3 * EV_PER_ANGSTROM3_GPA == pytest.approx(results["pressure_gpa"], abs=1e-3)


def test_a_relaxation_ends_with_its_last_geometry() -> None:
    results = judge(output("si.relax"), task="relax").results
    assert results["relaxation"]["scf_cycles"] == 5
    assert results["relaxation"]["bfgs_steps"] == 4
    alat = 10.2 * BOHR_ANGSTROM
    assert results["structure"]["positions"][0][0] == pytest.approx(0.0100081986 * alat, abs=1e-5)
    assert results["fmax_ev_per_a"] > 0
    failed = judge(output("si.relaxmax"))
    assert failed.converged is False
    assert failed.energy_ev == pytest.approx(-15.84306748 * RYDBERG_EV)
    assert failed.results["structure"]["positions"][0][0] == pytest.approx(0.0054914312 * alat)


def test_a_cell_relaxation_has_an_enthalpy_and_a_final_energy() -> None:
    verdict = judge(output("si.vcrelax"))
    results = verdict.results
    assert results["task"] == "vc-relax"
    assert results["relaxation"]["final_enthalpy_ry"] == -15.8432277115
    assert results["final_scf"]["energy_ry"] == results["energy_ry"] == -15.84439865
    assert results["lattice"]["a_angstrom"] == pytest.approx(
        10 * BOHR_ANGSTROM * 0.507908403 * 2**0.5
    )
    assert any("1.73 kbar" in warning for warning in verdict.warnings)
    middle = output("si.vcrelax").partition("Final scf calculation")[0]
    assert not judge(middle, _GOOD, at=FIXTURES).completed


def test_bands_have_no_energy_and_are_good() -> None:
    verdict = judge(output("si.bands"), task="bands")
    assert verdict.completed
    assert (verdict.energy_ev, verdict.converged) == (None, None)
    assert verdict.results["n_kpoints"] == 31
    assert verdict.results["structure"]["positions"][1] == pytest.approx(
        [10.2 * BOHR_ANGSTROM / 4] * 3
    )


def test_spin_and_dynamics() -> None:
    nickel = judge(output("ni.scf")).results
    assert nickel["magnetisation_mu_b"] == 0.73
    assert nickel["absolute_magnetisation_mu_b"] == 0.78
    assert nickel["fermi_ev"] == 15.3087
    assert "gap_ev" not in nickel
    dynamics = judge(output("si.md"))
    assert dynamics.results["md"]["steps"] == 3
    assert dynamics.results["task"] == "md"


def test_the_last_of_several_runs_in_one_file_counts() -> None:
    assert not judge(output("si.scf") + output("si.noconv")).completed
    assert judge(output("si.noconv") + output("si.scf")).completed


@pytest.mark.parametrize("text", ["", "\n", "\0\1\2", "Program PWSCF v.", "!    total energy = x"])
def test_nonsense(text: str) -> None:
    assert judge(text).reason == "crashed"


def test_md5_of_the_files_is_compared(tmp_path: Path) -> None:
    (tmp_path / "pseudo").mkdir()
    (tmp_path / "pseudo" / "Si.pz-vbc.UPF").write_text("another file")
    verdict = judge(output("si.scf"), at=tmp_path)
    assert verdict.completed
    assert verdict.results["pseudopotentials"][0]["agree"] is False
    assert any("MD5" in warning for warning in verdict.warnings)


def test_fixed_occupations_of_a_metal_are_doubted() -> None:
    level = "highest occupied level (ev):     5.9568"
    text = output("si.scf")
    assert level in text
    for lowest, doubted in (("6.5000", False), ("5.9000", True)):
        levels = f"highest occupied, lowest unoccupied level (ev):     5.9568    {lowest}"
        verdict = judge(text.replace(level, levels))
        assert verdict.completed
        assert any("smearing" in warning for warning in verdict.warnings) is doubted


def test_of_a_huge_output_the_ends_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big.out"
    head, mark, tail = output("si.scf").partition("     Self-consistent Calculation")
    with path.open("w") as stream:
        stream.write(head)
        for _ in range(1000):
            stream.write("     k point nonsense\n" * 1000)
        stream.write(mark + tail)
    monkeypatch.setattr(reading, "WHOLE_BYTES", 1024**2)
    monkeypatch.setattr(reading, "HEAD_BYTES", 64 * 1024)
    monkeypatch.setattr(reading, "TAIL_BYTES", 64 * 1024)
    result = _ADAPTER.read(path)
    assert result is not None
    assert result.verdict.completed
    assert result.n_atoms == 2
    assert result.verdict.results["energy_ry"] == -15.84452726
    assert any("very large" in warning for warning in result.verdict.warnings)


def test_progress_of_a_growing_output(tmp_path: Path) -> None:
    job(tmp_path, deck("si.relax"), "")
    assert _ADAPTER.progress(tmp_path) is None
    seen: list[str] = []
    lines = output("si.relax").splitlines(keepends=True)
    for end in range(0, len(lines), 7):
        (tmp_path / "stdout.log").write_text("".join(lines[:end]))
        progress = _ADAPTER.progress(tmp_path)
        if progress is not None and progress.text not in seen[-1:]:
            seen.append(progress.text)
    assert seen[0].startswith("SCF iteration 1")
    assert any(text.startswith("BFGS step 2, E -215.5757 eV; SCF iteration") for text in seen)
    assert any("accuracy 9.4e-05 Ry" in text for text in seen)


def test_progress_of_bands(tmp_path: Path) -> None:
    text = output("si.bands").partition("Computing kpt #:    16")[0]
    job(tmp_path, deck("si.bands"), text)
    progress = _ADAPTER.progress(tmp_path)
    assert progress is not None
    assert (progress.text, progress.fraction) == ("k point 15 of 31", pytest.approx(15 / 31))


def test_series() -> None:
    found: Any = series_of(parse_output(output("si.vcrelax")))
    assert found["energy"]["y"] == pytest.approx(
        [
            e * RYDBERG_EV
            for e in (-15.84113444, -15.84285053, -15.84317, -15.8432277, -15.84439865)
        ],
        abs=2e-3,
    )
    assert found["volume"]["y"][0] < found["volume"]["y"][-1]
    assert found["pressure"]["y"][0] == pytest.approx(5.309)
    assert len(found["scf_accuracy"]["y"]) == len(found["scf_energy"]["y"])
    assert found["scf_accuracy"]["x"][-1] == len(found["scf_accuracy"]["x"])
    assert series_of(parse_output("")) == {}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2.90s", 2.9), ("1m12.30s", 72.3), ("3h 4m", 11040.0), ("1d 2h 3m", 93780.0), ("", None)],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration_s(text) == (None if seconds is None else pytest.approx(seconds))


needs_cases = pytest.mark.skipif(
    not CASES.is_dir(), reason="the collection of outputs is not there (CRYSTALMATH_CASES)"
)


@needs_cases
@pytest.mark.parametrize("name", ["al.scf", "si.badinput", "si.noconv", "si.relax", "si.scf"])
def test_cases(name: str) -> None:
    expected = json.loads((CASES / f"{name}.expected.json").read_text())["expected"]
    found = _ADAPTER.read(CASES / f"{name}.out")
    assert found is not None
    verdict, results = found.verdict, found.verdict.results
    assert ("completed" if verdict.completed else "failed") == expected["status"]
    assert verdict.reason == expected["reason"]
    energy = expected.get("last_scf_energy_ry", expected["final_energy_ry"])
    assert results.get("energy_ry") == energy
    for key, value in (
        ("fermi_ev", "fermi_ev"),
        ("highest_occupied_ev", "highest_occupied_ev"),
        ("pressure_kbar", "pressure_kbar"),
        ("volume_bohr3", "volume_bohr3"),
        ("k_points", "n_kpoints"),
        ("electrons", "n_electrons"),
        ("bands", "n_bands"),
        ("gap_ev", "gap_ev"),
        ("total_force_ry_per_bohr", "total_force_ry_per_bohr"),
        ("final_total_force_ry_per_bohr", "total_force_ry_per_bohr"),
    ):
        if key in expected:
            assert results.get(value) == expected[key], key
    if "scf" in expected:
        assert expected["scf"].items() <= results["scf"].items()
    if "relaxation" in expected:
        assert expected["relaxation"].items() <= results["relaxation"].items()
        assert results["relaxation"]["final_energy_ry"] == expected["final_energy_ry"]
    if "must_quote" in expected:
        assert expected["must_quote"] in (verdict.message or "")
        assert expected["offending_word"] in (verdict.message or "")
    if "pseudo_md5" in expected:
        assert results["pseudopotentials"][0]["md5_printed"] == expected["pseudo_md5"]


@needs_cases
@pytest.mark.parametrize("name", ["al.scf", "si.badinput", "si.noconv", "si.relax", "si.scf"])
def test_cases_cut_off_at_any_line(name: str) -> None:
    lines = (CASES / f"{name}.out").read_text().rstrip().splitlines(keepends=True)
    for end in range(len(lines)):
        assert not judge("".join(lines[:end])).completed, end
