"""Phonon jobs: the decks of pw.x and ph.x, what ph.x prints, and the verdict on both."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.deck import parse_deck
from crystalmath.codes.espresso.generate.deck import generate_inputs
from crystalmath.codes.espresso.phonons.output import parse
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import EndReceipt, InputFile, JobRequest, Prepared, Verdict
from support.espresso import FIXTURES, fcc, upf
from support.espresso import deck as deck_of

_ADAPTER = EspressoAdapter()
_WRITTEN = FIXTURES / "phonons"
_SCF = (_WRITTEN / "scf.out").read_text()
_PH = (_WRITTEN / "ph.out").read_text()
_SI = fcc("Si Si", 5.43)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "upf"
    made.mkdir()
    (made / "Si.pz-vbc.UPF").write_text(upf("Si", functional="PZ"))
    return made


def request(folder: Path, text: str, **inputs: Any) -> JobRequest:
    return JobRequest(
        name="t",
        task="ph",
        engine=None,
        model=None,
        structure=None,
        inputs=inputs,
        files=(InputFile("si.in", content=text),),
        context={"ESPRESSO_PSEUDO": str(folder)},
        remote=True,
        executable="/opt/qe/pw.x",
    )


def content(prepared: Prepared, name: str) -> str:
    return next(file.content or "" for file in prepared.files if file.path == name)


def judged(
    directory: Path, scf: str, ph: str | None, rc: int | None = 0, signal: int | None = None
) -> Verdict:
    directory.mkdir(exist_ok=True)
    (directory / "phonons.sh").write_text("")
    (directory / "stderr.log").write_text("")
    (directory / "scf.out").write_text(scf)
    if ph is not None:
        (directory / "ph.out").write_text(ph)
    return _ADAPTER.judge(directory, EndReceipt(1, rc, signal, "exit", None, 0.0, 1.0))


def test_the_decks_and_the_script(folder: Path) -> None:
    prepared = _ADAPTER.prepare(request(folder, deck_of("si.scf"), epsil=True, npool=1))
    scf, ph, script = (content(prepared, name) for name in ("scf.in", "ph.in", "phonons.sh"))
    assert parse_deck(scf).value("electrons", "conv_thr") == 1e-12
    assert any("conv_thr" in note for note in prepared.warnings)
    assert "outdir = './out'" in ph
    assert "epsil = .true." in ph
    assert ph.splitlines()[-1] == "0.000000000000 0.000000000000 0.000000000000"
    assert "program ph /opt/qe/ph.x" in script
    assert '${CRYSTALMATH_LAUNCHER:-} "$@" -in "$name.in"' in script
    assert (prepared.task, prepared.output) == ("ph", "scf.out")


def test_what_ph_x_cannot_do_is_refused(folder: Path) -> None:
    si = deck_of("si.scf")
    with pytest.raises(InvalidParams, match="q_mesh"):
        _ADAPTER.prepare(request(folder, si, q_mesh=[2, 2, 2]))
    with pytest.raises(InvalidParams, match="at Γ"):
        _ADAPTER.prepare(request(folder, si, epsil=True, q_point=[0.5, 0, 0]))
    asked = request(folder, si)
    taken = replace(asked, files=(*asked.files, InputFile("ph.out", content="")))
    with pytest.raises(InvalidParams, match="by the job itself"):
        _ADAPTER.prepare(taken)


def with_ph(asked: JobRequest, text: str) -> JobRequest:
    """The request with a deck of ph.x before that of its SCF, and nothing said of the task."""
    return replace(asked, task=None, files=(InputFile("my.ph.in", content=text), *asked.files))


def test_a_deck_of_ph_x_makes_it_a_phonon_job(folder: Path, tmp_path: Path) -> None:
    cell = "CELL_PARAMETERS angstrom\n 0 2.7 2.7\n 2.7 0 2.7\n 2.7 2.7 0\n"
    si = deck_of("si.scf").replace("ibrav = 2", "ibrav = 0")
    si = si.replace("ATOMIC_SPECIES", f"{cell}ATOMIC_SPECIES", 1).replace("celldm(1) = 10.20, ", "")
    asked = request(folder, si)
    prefix = parse_deck(si).prefix
    text = f"x\n&INPUTPH\n prefix='{prefix}', outdir='/tmp/x'\n tr2_ph = 1.0d-15\n/\n0.0 0.0 0.0\n"
    prepared = _ADAPTER.prepare(with_ph(asked, text))
    assert (prepared.task, prepared.output) == ("ph", "scf.out")
    assert "tr2_ph = 1d-15" in content(prepared, "ph.in")
    assert "outdir = './out'" in content(prepared, "ph.in")
    assert "my.ph.in" not in [file.path for file in prepared.files]
    # the wave vector is in 2π/alat, there and back
    lines = content(
        _ADAPTER.prepare(with_ph(asked, text.replace("0.0 0.0 0.0", "0 0 -1.4142135623731"))),
        "ph.in",
    ).splitlines()
    assert [float(word) for word in lines[-1].split()] == pytest.approx([0, 0, -(2**0.5)])
    (tmp_path / "si.ph").write_text(text)
    of_disk = InputFile("si.ph", source=str(tmp_path / "si.ph"))
    assert _ADAPTER.prepare(replace(asked, task=None, files=(*asked.files, of_disk))).task == "ph"
    for wrong, words in (
        (text.replace("tr2_ph", "ldisp"), "ldisp is not part"),
        (text.replace("0.0 0.0 0.0", "0 0"), "one wave vector"),
        (text.replace("1.0d-15", "1.0d-2"), "tr2_ph: must be"),
        (text.replace(prefix, "other"), "its prefix is 'other'"),
    ):
        with pytest.raises(InvalidParams, match=words) as caught:
            _ADAPTER.prepare(with_ph(asked, wrong))
        assert caught.value.field == "files.0"
    with pytest.raises(InvalidParams, match="stands there, too"):
        _ADAPTER.prepare(with_ph(replace(asked, inputs={"epsil": True}), text))
    with pytest.raises(InvalidParams, match="none of the SCF"):
        _ADAPTER.prepare(replace(with_ph(asked, text), files=with_ph(asked, text).files[:1]))
    with pytest.raises(InvalidParams, match="a second deck"):
        _ADAPTER.prepare(with_ph(with_ph(asked, text), text))


def made(folder: Path, **options: Any) -> dict[str, Any]:
    given = {"pseudo_family": "pz-vbc", "ecutwfc_ry": 18.0, **options}
    context = {"ESPRESSO_PSEUDO": str(folder)}
    return generate_inputs({"document": asdict(_SI)}, given, "ph", context)


def test_both_decks_are_written_for_a_structure(folder: Path) -> None:
    written = made(folder, q_point=[0.5, 0.5, 0.0], tr2_ph=1e-16)
    assert written["report"]["task"] == "ph"
    names = [file["path"] for file in written["files"]]
    assert names == ["Si.scf.in", "Si.ph.in", "pseudo/Si.pz-vbc.UPF"]
    scf = parse_deck(written["files"][0]["content"])
    lines = written["files"][1]["content"].splitlines()
    assert float(str(scf.value("electrons", "conv_thr"))) <= 1e-12
    assert f"  prefix = '{scf.prefix}'" in lines
    assert f"  outdir = '{str(scf.value('control', 'outdir')).rstrip('/')}'" in lines
    # b1 = (-1, -1, 1), b2 = (1, 1, 1), b3 = (-1, 1, -1) in 2π/a; alat is a/√2
    assert [abs(float(word)) for word in lines[-1].split()] == pytest.approx([0, 0, 0.5**0.5])
    with pytest.raises(InputRejected) as caught:
        made(folder, epsil=True, smearing="gaussian")
    assert caught.value.field == "options.epsil"


def test_results_of_a_whole_run(tmp_path: Path) -> None:
    verdict = judged(tmp_path, _SCF, _PH)
    assert verdict.completed, verdict.message
    found = verdict.results["frequencies"]
    assert [(one["modes"], one["irrep"]) for one in found["groups"]] == [
        ([1, 3], "T_1u"),
        ([4, 6], "T_2g"),
    ]
    assert (found["modes"], found["acoustic"], found["negative"]) == (6, 3, 0)
    assert found["q_fractions"] == [[0.0, 0.0, 0.0]]
    assert verdict.results["dielectric_tensor"][2][2] == pytest.approx(20.838955489)
    assert len(verdict.results["born_charges_e"]) == 2
    assert verdict.results["born_charge_sum_e"] == pytest.approx(2.03484)
    assert any("Born charges sum up to 2.03 e" in word for word in verdict.warnings)


def test_a_truncated_output_is_never_completed(tmp_path: Path) -> None:
    lines = _PH.splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines) if "JOB DONE" in line)
    for count in range(end):
        verdict = judged(tmp_path, _SCF, "".join(lines[:count]))
        assert not verdict.completed, count
    assert judged(tmp_path, _SCF, "".join(lines[: end + 1])).completed
    for count in range(0, len(lines), 7):
        parse("".join(lines[:count])[:-3])


def test_an_scf_that_was_cut_off_is_never_completed(tmp_path: Path) -> None:
    lines = _SCF.splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines) if "JOB DONE" in line)
    for count in range(0, end, 3):
        assert not judged(tmp_path, "".join(lines[:count]), _PH).completed, count
    assert not judged(tmp_path / "b", _SCF, None).completed


def test_no_convergence_is_told_above_job_done(tmp_path: Path) -> None:
    text = (_WRITTEN / "noconv.ph.out").read_text()
    assert "JOB DONE" in text
    for rc in (0, 1):
        verdict = judged(tmp_path, _SCF, text, rc)
        assert (verdict.completed, verdict.reason) == (False, "not_converged")
        assert "step ph: representation 1 of the response" in (verdict.message or "")


def test_a_field_without_an_answer_did_not_converge(tmp_path: Path) -> None:
    head, _, rest = _PH.partition("          Dielectric constant in cartesian axis")
    verdict = judged(tmp_path, _SCF, head + rest.partition("T_2g")[2])
    assert (verdict.completed, verdict.reason) == (False, "not_converged")


def test_ends_before_the_end(tmp_path: Path) -> None:
    half = _PH.partition("Representation #  2")[0]
    stopped = half + "\n     Maximum CPU time exceeded\n\n   JOB DONE.\n"
    assert judged(tmp_path, _SCF, stopped).reason == "walltime"
    killed = judged(tmp_path, _SCF, half, rc=None, signal=9)
    assert not killed.completed
    assert killed.reason is not None
    assert judged(tmp_path, _SCF, _PH, rc=1).reason == "crashed"


def test_it_is_not_continued(tmp_path: Path, folder: Path) -> None:
    judged(tmp_path, _SCF, _PH)
    with pytest.raises(InputRejected, match="phonon job"):
        _ADAPTER.proceed(tmp_path, request(folder, deck_of("si.scf")), "walltime")
