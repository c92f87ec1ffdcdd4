"""How a pw.x job that did not complete goes on: from which state, and with what set right."""

from __future__ import annotations

from pathlib import Path

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.errors import InputRejected
from crystalmath.services.ports import Continuation, InputFile, JobRequest
from support.espresso import deck, job, output

_ADAPTER = EspressoAdapter()


def proceed(
    directory: Path, deck_text: str, output_text: str, reason: str | None
) -> tuple[Continuation, Deck]:
    job(directory, deck_text, output_text)
    inputs = {"npool": 2, "values": {"electrons.mixing_beta": 0.7}, "save_from": "/somewhere"}
    files = (
        InputFile("si.in", content="as it was given"),
        InputFile("notes.txt", content="x"),
        InputFile("out/si.save/old.dat", source="/elsewhere"),
    )
    (directory / "notes.txt").write_text("x")
    request = JobRequest("t", None, None, None, None, inputs, files, {})
    found = _ADAPTER.proceed(directory, request, reason)
    assert found.inputs == {"npool": 2, "deck": "si.in"}
    assert found.files[1].path == "pseudo/Si.pz-vbc.UPF"
    assert found.files[2].path == "notes.txt"
    return found, parse_deck(found.files[0].content or "")


def test_too_few_iterations_are_made_more(tmp_path: Path) -> None:
    found, text = proceed(tmp_path, deck("si.noconv"), output("si.noconv"), "not_converged")
    assert text.value("electrons", "electron_maxstep") == 100
    assert text.value("electrons", "mixing_beta") is None
    assert "electron_maxstep 2 → 100" in found.fix


def test_a_swinging_scf_is_mixed_less(tmp_path: Path) -> None:
    swinging = output("si.noconv").replace("0.00219346 Ry", "0.9 Ry").replace(
        "scf accuracy    <       0.00219122", "scf accuracy    <       5.0"
    )  # fmt: skip
    found, text = proceed(tmp_path, deck("si.noconv"), swinging, "not_converged")
    assert text.value("electrons", "mixing_beta") == 0.35
    assert "mixing_beta 0.7 → 0.35" in found.fix


@pytest.mark.parametrize(
    ("beta", "key", "value"),
    [("0.15", "mixing_beta", 0.1), ("0.1", "mixing_mode", "local-TF")],
)
def test_what_is_left_when_iterations_are_enough(
    tmp_path: Path, beta: str, key: str, value: object
) -> None:
    given = deck("si.noconv").replace("maxstep = 2", f"maxstep = 500, mixing_beta = {beta}")
    _, text = proceed(tmp_path, given, output("si.noconv"), "not_converged")
    assert text.value("electrons", "electron_maxstep") == 500
    assert text.value("electrons", key) == value


def test_a_relaxation_starts_from_its_last_geometry(tmp_path: Path) -> None:
    given = deck("si.relax").replace("1.0d-4", "1.0d-4, nstep = 2, max_seconds = 100")
    found, text = proceed(tmp_path, given, output("si.relaxmax"), "not_converged")
    assert text.cards["ATOMIC_POSITIONS"].option == "alat"
    assert text.cards["ATOMIC_POSITIONS"].lines[0].split()[1] == "0.0099750850"
    assert text.value("control", "nstep") == 4
    assert text.value("control", "max_seconds") is None
    assert "CELL_PARAMETERS" not in text.cards
    assert "last geometry, number 2" in found.fix


def test_fixed_atoms_stay_fixed(tmp_path: Path) -> None:
    fixed = output("si.relaxmax").replace("0.0003339929", "0.0003339929   0   0   1")
    _, text = proceed(tmp_path, deck("si.relax"), fixed, "not_converged")
    assert text.cards["ATOMIC_POSITIONS"].lines[0].split()[-3:] == ["0", "0", "1"]


def test_a_cell_relaxation_takes_its_cell_along(tmp_path: Path) -> None:
    broken_off = output("si.vcrelax").partition("Begin final coordinates")[0]
    found, text = proceed(tmp_path, deck("si.vcrelax"), broken_off, "crashed")
    assert text.value("system", "ibrav") == 0
    assert text.value("system", "celldm(1)") == 10.0
    assert text.cards["CELL_PARAMETERS"].option == "alat"
    assert text.cards["CELL_PARAMETERS"].lines[0].split()[2] == "0.507908403"
    assert text.cards["ATOMIC_POSITIONS"].lines[1].split()[1] == "0.2539542013"
    assert "number 4" in found.fix


def test_a_cell_in_angstrom_makes_the_positions_angstrom(tmp_path: Path) -> None:
    begin = output("si.vcrelax").partition("Begin final coordinates")[0]
    angstrom = begin.replace("CELL_PARAMETERS (alat= 10.00000000)", "CELL_PARAMETERS (angstrom)")
    given = deck("si.vcrelax").replace("celldm(1) = 10.00", "a = 5.29, cosab = 0.5")
    _, text = proceed(tmp_path, given, angstrom, None)
    assert text.cards["CELL_PARAMETERS"].option == "angstrom"
    assert text.cards["ATOMIC_POSITIONS"].option == "angstrom"
    x = float(text.cards["ATOMIC_POSITIONS"].lines[1].split()[1])
    assert x == pytest.approx(0.2539542013 * 10 * 0.529177210903)
    assert text.value("system", "a") is None
    assert text.value("system", "cosab") is None


def test_a_clean_stop_goes_on_from_the_saved_state(tmp_path: Path) -> None:
    save = tmp_path / "out" / "si.save"
    save.mkdir(parents=True)
    (save / "wfc1.dat").write_text("x")
    (tmp_path / "out" / "si.restart_scf").write_text("x")
    (tmp_path / "out" / "other.wfc1").write_text("x")
    found, text = proceed(tmp_path, deck("si.scf"), output("si.scftime"), "walltime")
    assert text.value("control", "restart_mode") == "restart"
    assert [file.path for file in found.files[3:]] == ["out/si.save/wfc1.dat", "out/si.restart_scf"]
    assert "saved state" in found.fix


def test_without_a_state_it_starts_again_and_says_so(tmp_path: Path) -> None:
    given = deck("si.scf").replace("tstress", "restart_mode = 'restart', tstress")
    found, text = proceed(tmp_path, given, output("si.scf")[:5000], "crashed")
    assert text.value("control", "restart_mode") is None
    assert "no state was saved" in found.fix


def test_a_cell_that_grew_gets_room(tmp_path: Path) -> None:
    begin = output("si.vcrelax").partition("Begin final coordinates")[0]
    error = (
        " %%%\n     Error in routine scale_h (1):\n"
        "     Not enough space allocated for radial FFT: try restarting with a larger cell_factor\n"
        " %%%\n"
    )
    _, text = proceed(tmp_path, deck("si.vcrelax"), begin + error, "crashed")
    assert text.value("cell", "cell_factor") == 2.0


@pytest.mark.parametrize("reason", ["input_rejected", "did_not_start", "dependency_failed"])
def test_what_never_began_cannot_go_on(tmp_path: Path, reason: str) -> None:
    with pytest.raises(InputRejected, match="never began"):
        proceed(tmp_path, deck("si.badinput"), output("si.badinput"), reason)


def test_without_output_there_is_nothing_to_go_on_from(tmp_path: Path) -> None:
    with pytest.raises(InputRejected, match="gone"):
        proceed(tmp_path, deck("si.scf"), "", "crashed")
