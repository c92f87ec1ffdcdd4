"""Reading outputs of CRYSTAL: what is printed, and no more, however the file is cut or grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from crystalmath.codes.crystal.output.files import Follower, load_run, sniff
from crystalmath.codes.crystal.output.lines import Reader
from crystalmath.codes.crystal.output.run import Run
from crystalmath.codes.crystal.output.series import progress_of, series_of
from crystalmath.codes.crystal.output.verdict import judge_run, status_of
from support.crystal import CASES, END, scf_output


def read(text: str) -> Run:
    reader = Reader()
    reader.feed(text.encode("latin-1"))
    return reader.finish()


def test_the_numbers_are_those_that_are_printed() -> None:
    verdict = judge_run(read(scf_output()), end=None, directory=None, alone=True)
    results = verdict.results
    assert verdict.completed
    assert results["final_energy_hartree"] == -271.21814374931
    assert results["scf"]["cycles"] == 7
    assert results["gap"] == {"ev": 7.1237, "kind": "direct"}
    assert results["version"] == "CRYSTAL17 1.0.2"
    assert results["deck_nat"] == [212, 8]
    assert results["atomic_numbers"] == [12, 8]
    assert results["formula"] == "MgO"
    structure = results["structure"]
    assert structure["symbols"] == ["Mg", "O"]
    assert verdict.energy_ev == pytest.approx(-7380.2217, abs=1e-3)


def test_cut_at_any_line_it_is_never_completed() -> None:
    lines = scf_output().encode().splitlines(keepends=True)
    reader = Reader()
    for line in lines[:-1]:
        reader.feed(line)
        assert status_of(reader.run) == "incomplete"
    reader.feed(lines[-1])
    assert status_of(reader.finish()) == "completed"


def test_a_number_cut_off_is_not_taken() -> None:
    whole = scf_output(end=None)
    run = read(whole[: whole.rindex("1814374931E+02")])
    assert run.scfs[0].energy is None


@pytest.mark.parametrize("data", [b"", b"\0\1\2" * 5000, b"x" * 200_000, b"\n" * 1000])
def test_what_is_no_output_gives_nothing(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "mgo.out"
    path.write_bytes(data)
    assert not sniff(data[:65536])
    verdict = judge_run(load_run(path), end=None, directory=None, alone=True)
    assert not verdict.completed
    assert "final_energy_hartree" not in verdict.results


def test_an_error_line_overrules_normal_termination() -> None:
    text = scf_output(end=None) + " ERROR **** f90main **** GEOMETRY OPTIMIZATION FAILED\n" + END
    verdict = judge_run(read(text), end=None, directory=None, alone=True)
    assert (verdict.completed, verdict.reason) == (False, "not_converged")


def test_a_title_that_looks_like_an_error_or_an_end_is_a_title() -> None:
    assert status_of(read(scf_output("ERROR **** of my life ****"))) == "completed"
    title = "EEEEEEEEEE TERMINATION"
    assert status_of(read(scf_output(title, end=None) + f" {title}\n")) == "incomplete"


def test_too_many_cycles_is_a_failure_though_it_terminates_normally() -> None:
    text = scf_output().replace("CONVERGENCE ON ENERGY     ", "TOO MANY CYCLES           ")
    verdict = judge_run(read(text), end=None, directory=None, alone=True)
    assert (verdict.completed, verdict.reason) == (False, "not_converged")
    assert "final_energy_hartree" not in verdict.results
    assert "gap" not in verdict.results


def test_an_optimisation_that_failed_is_a_failure_though_it_terminates_normally() -> None:
    failed = " * OPT END - FAILED * E(AU):  -2.712181437000E+02  POINTS  100 *\n"
    verdict = judge_run(
        read(scf_output(end=None) + failed + END), end=None, directory=None, alone=True
    )
    assert (verdict.completed, verdict.reason) == (False, "not_converged")
    assert "100 points" in str(verdict.message)
    assert "final_energy_hartree" not in verdict.results


def test_a_failure_where_the_title_should_be_is_no_title() -> None:
    begin = " EEEEEEEEEE STARTING  DATE 01 01 2024 TIME 12:00:00.0\n"
    ended = " == SCF ENDED - TOO MANY CYCLES            E(AU) -3.1282821683361E+03 CYCLES  10\n"
    verdict = judge_run(read(begin + ended + END), end=None, directory=None, alone=True)
    assert (verdict.completed, verdict.reason) == (False, "not_converged")
    assert verdict.results["scf"]["energy_hartree"] == -3128.2821683361


def test_the_last_of_several_energies_and_runs_counts() -> None:
    second = scf_output().replace("374931E+02", "374999E+02")
    assert read(scf_output() + second).scfs[0].energy == -271.21814374999
    assert status_of(read(scf_output() + scf_output(end=None))) == "incomplete"


def test_an_energy_with_dispersion_is_the_final_one_and_is_told() -> None:
    added = " TOTAL ENERGY + DISP (AU) -2.7130000000000E+02\n"
    run = read(scf_output(end=None) + added + END)
    verdict = judge_run(run, end=None, directory=None, alone=True)
    assert verdict.results["final_energy_hartree"] == -271.3
    assert verdict.results["scf"]["energy_hartree"] == -271.21814374931
    assert any("DISP" in warning for warning in verdict.warnings)


def test_a_conducting_last_cycle_has_no_gap() -> None:
    conducting = (
        " POSSIBLY CONDUCTING STATE - EFERMI(AU) -1.0302531E-01 (RES. CHARGE  1.1E-10;IT.  6)\n"
    )
    end = scf_output(end=None).splitlines(keepends=True)
    cycle = " CYC   9 ETOT(AU) -2.712181437493E+02 DETOT -1.0E-08\n"
    run = read("".join([*end[:-1], cycle, conducting, end[-1]]) + END)
    results = judge_run(run, end=None, directory=None, alone=True).results
    assert results["conducting"] is True
    assert "gap" not in results


def test_a_growing_output_is_not_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "mgo.out"
    follower = Follower()
    whole = scf_output(cycles=5).encode()
    path.write_bytes(whole[:900])
    _, first = follower.update(path)
    for at in range(900, len(whole), 200):
        with path.open("ab") as stream:
            stream.write(whole[at : at + 200])
        run, read_bytes = follower.update(path)
        assert read_bytes == len(whole[at : at + 200])
    assert first == 900
    assert len(run.scfs[0].energies) == 5
    assert follower.update(path)[1] == 0


def test_another_attempt_in_the_same_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "mgo.out"
    follower = Follower()
    path.write_text(scf_output(cycles=2, end=None))
    follower.update(path)
    path.write_text(scf_output("MgO again", cycles=6))
    run, _ = follower.update(path)
    assert len(run.scfs) == 1
    assert len(run.scfs[0].energies) == 6


def test_progress_and_curves_tell_the_cycles() -> None:
    text = scf_output(cycles=3, end=None)
    run = read(text[: text.index(" == SCF ENDED")])
    progress = progress_of(run)
    assert progress is not None
    assert progress.text == "SCF cycle 2, change 1.0e-03 Ha"
    curves = series_of(run)
    assert curves["scf_energy"]["x"] == [0.0, 1.0, 2.0]
    assert curves["scf_accuracy"]["unit"] == "eV"


@pytest.mark.skipif(not CASES.is_dir(), reason="no folder of outputs (CRYSTALMATH_CASES)")
def test_real_outputs_cut_anywhere_are_never_completed() -> None:
    for name in ("mgo_scf.out", "s2_molecule_opt.out", "mgo_elastic.out"):
        data = (CASES / name).read_bytes()
        end = data.index(b"\n EEEEEEEEEE TERMINATION")
        reader = Reader()
        for line in data[: end + 1].splitlines(keepends=True):
            reader.feed(line)
            assert status_of(reader.run) != "completed"
