"""Band structures of pw.x: one job of several steps, its script, its verdict, its levels."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.bands import levels
from crystalmath.codes.espresso.bands.decks import decks_of
from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.errors import InputRejected, InvalidParams, OutputUnreadable
from crystalmath.services.ports import EndReceipt, InputFile, JobRequest, Prepared
from support.espresso import FIXTURES
from support.espresso import deck as deck_of

_ADAPTER = EspressoAdapter()
_WRITTEN = FIXTURES / "band_structure"
_PATH = [[0.0, 0.0, 0.0], [0.25, 0.0, 0.25], [0.425, 0.0, 0.425], [0.5, 0.0, 0.5]]
_PW_X = """#!/bin/sh
[ "$1" = -in ] || exit 64
name=${2%.in}
cat "@written@/$name.out"
grep -q 'nbnd = @bands@' "$2" || [ "$name" = scf ] || exit 65
mkdir -p out/si.save && cp "@written@/$name.xml" out/si.save/data-file-schema.xml
: > out/si.save/wfc1.dat; : > out/si.wfc1; : > out/si.save/charge-density.dat
[ "$name" != "$FAILS" ] || exit 2
[ -z "$STOPS" ] || kill -USR1 $PPID
"""


@pytest.fixture
def request_(tmp_path: Path) -> JobRequest:
    (tmp_path / "upf").mkdir()
    (tmp_path / "upf" / "Si.pz-vbc.UPF").write_text("<UPF/>")
    program = tmp_path / "pw.x"
    program.write_text(_PW_X.replace("@written@", str(_WRITTEN)).replace("@bands@", "8"))
    program.chmod(0o755)
    return JobRequest(
        name="t",
        task="band_structure",
        engine=None,
        model=None,
        structure=None,
        inputs={"executable": str(program), "k_path": _PATH},
        files=(InputFile("si.in", content=deck_of("si.scf")),),
        context={"ESPRESSO_PSEUDO": str(tmp_path / "upf")},
    )


def content(prepared: Prepared, name: str) -> str:
    return next(file.content or "" for file in prepared.files if file.path == name)


def run(prepared: Prepared, directory: Path, **variables: str) -> EndReceipt:
    """Put the files where they belong and run the script."""
    directory.mkdir()
    for file in prepared.files:
        target = directory / file.path
        target.parent.mkdir(exist_ok=True)
        if file.content is None:
            shutil.copy(file.source or "", target)
        else:
            target.write_text(file.content)
    environment = {"PATH": os.environ["PATH"], "FAILS": "", "STOPS": "", **variables}
    done = subprocess.run(
        prepared.argv, cwd=directory, env=environment, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    (directory / "stderr.log").write_text(done.stderr)
    rc, signal = (done.returncode, None) if done.returncode >= 0 else (None, -done.returncode)
    return EndReceipt(1, rc, signal, "exit", None, 0.0, 1.0)


def test_the_decks_of_the_steps(request_: JobRequest) -> None:
    prepared = _ADAPTER.prepare(request_)
    assert (prepared.task, prepared.output) == ("band_structure", "scf.out")
    assert prepared.argv == ("/bin/sh", "band_structure.sh")
    assert prepared.starts_processes
    scf, bands, nscf = (
        parse_deck(content(prepared, name)) for name in ("scf.in", "bands.deck", "nscf.deck")
    )
    assert [one.calculation for one in (scf, bands, nscf)] == ["scf", "bands", "nscf"]
    assert {one.value("control", "outdir") for one in (scf, bands, nscf)} == {"./out"}
    assert scf.value("control", "tstress") is True
    assert bands.value("control", "tstress") is None
    assert bands.cards["K_POINTS"].option == "crystal"
    assert bands.cards["K_POINTS"].lines[:2] == (
        "4",
        "0.000000000000 0.000000000000 0.000000000000 1.0",
    )
    assert nscf.cards["K_POINTS"].lines == ("8 8 8 0 0 0",)
    assert "nbnd = @n_bands@" in bands.text
    assert _ADAPTER.describe()["parameters_by_task"]["band_structure"]["required"] == ["k_path"]


def test_the_dense_mesh_can_be_left_out(request_: JobRequest) -> None:
    inputs = {**request_.inputs, "mesh_factor": None}
    prepared = _ADAPTER.prepare(replace(request_, inputs=inputs))
    assert not any(file.path.startswith("nscf") for file in prepared.files)


def test_a_metal_gets_its_fermi_energy_by_tetrahedra() -> None:
    texts = decks_of(parse_deck(deck_of("al.scf")), [(0, 0, 0), (0.5, 0, 0.5)], 3, "files")
    nscf = parse_deck(texts["nscf"])
    assert nscf.word("system", "occupations", "") == "tetrahedra"
    assert nscf.value("system", "degauss") is None
    assert nscf.cards["K_POINTS"].lines == ("18 18 18 0 0 0",)
    assert parse_deck(texts["bands"]).word("system", "occupations", "") == "smearing"


def test_gamma_only_becomes_a_mesh() -> None:
    deck = parse_deck(deck_of("si.scf")).with_card("K_POINTS", "gamma", [])
    texts = decks_of(deck, [(0, 0, 0), (0.5, 0, 0.5)], 2, "files")
    assert parse_deck(texts["scf"]).cards["K_POINTS"].lines == ("1 1 1 0 0 0",)
    assert parse_deck(texts["nscf"]).cards["K_POINTS"].lines == ("2 2 2 0 0 0",)


def _spinors(deck: Deck) -> Deck:
    return deck.with_value("system", "noncolin", value=True)


def _listed(deck: Deck) -> Deck:
    return deck.with_card("K_POINTS", "crystal", ["1", "0 0 0 1"])


@pytest.mark.parametrize(
    ("change", "said"), [(_spinors, "noncolin"), (_listed, "mesh of k points")]
)
def test_decks_that_cannot_be_used(request_: JobRequest, change: Any, said: str) -> None:
    text = change(parse_deck(deck_of("si.scf"))).text
    with pytest.raises(InvalidParams, match=said) as found:
        _ADAPTER.prepare(replace(request_, files=(InputFile("si.in", content=text),)))
    assert found.value.field == "files"


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ({"k_path": [[0, 0, 0]]}, "inputs.k_path"),
        ({"k_path": [[0, 0], [0, 1]]}, "inputs.k_path.0"),
        ({"k_path": _PATH, "mesh_factor": 1}, "inputs.mesh_factor"),
        ({"k_path": _PATH, "n_bands": 0}, "inputs.n_bands"),
        ({}, "inputs.k_path"),
    ],
)
def test_inputs_that_cannot_be_used(
    request_: JobRequest, inputs: dict[str, Any], field: str
) -> None:
    given = {"executable": request_.inputs["executable"], **inputs}
    with pytest.raises(InvalidParams) as found:
        _ADAPTER.prepare(replace(request_, inputs=given))
    assert (found.value.field or "").startswith(field)


def test_a_path_is_no_input_of_another_task(request_: JobRequest) -> None:
    with pytest.raises(InvalidParams, match="k_path"):
        _ADAPTER.prepare(replace(request_, task="scf"))


def test_a_file_may_not_have_the_name_of_an_output(request_: JobRequest) -> None:
    files = (*request_.files, InputFile("bands.xml", content="mine"))
    with pytest.raises(InvalidParams, match=r"bands\.xml"):
        _ADAPTER.prepare(replace(request_, files=files))


def test_the_steps_run_one_after_the_other(request_: JobRequest, tmp_path: Path) -> None:
    job = tmp_path / "job"
    end = run(_ADAPTER.prepare(request_), job)
    assert end.rc == 0
    assert "nbnd = 8" in (job / "bands.in").read_text()
    assert not list((job / "out").rglob("*wfc*"))
    assert (job / "out" / "si.save" / "charge-density.dat").is_file()
    verdict = _ADAPTER.judge(job, end)
    assert (verdict.completed, verdict.converged) == (True, True), verdict.message
    assert verdict.results["task"] == "band_structure"
    assert verdict.results["levels_in"] == ["scf.xml", "bands.xml", "nscf.xml"]
    assert verdict.results["n_path_points"] == 4
    assert verdict.energy_ev == pytest.approx(-211.6129, abs=1e-3)
    progress = _ADAPTER.progress(job)
    assert progress is not None
    assert progress.text == "nscf"
    assert "scf_accuracy" in _ADAPTER.series(job)


def test_bands_that_are_asked_for(request_: JobRequest, tmp_path: Path) -> None:
    inputs = {**request_.inputs, "n_bands": 9}
    end = run(_ADAPTER.prepare(replace(request_, inputs=inputs)), tmp_path / "job")
    assert end.rc == 65  # this pw.x wants 8
    assert "nbnd = 9" in (tmp_path / "job" / "bands.in").read_text()


@pytest.mark.parametrize("step", ["scf", "bands", "nscf"])
def test_the_first_step_that_fails_is_named(
    request_: JobRequest, tmp_path: Path, step: str
) -> None:
    job = tmp_path / "job"
    end = run(_ADAPTER.prepare(request_), job, FAILS=step)
    assert end.rc == 2
    later = {"scf": "bands", "bands": "nscf"}.get(step)
    assert later is None or not (job / f"{later}.out").exists()
    verdict = _ADAPTER.judge(job, end)
    assert not verdict.completed
    assert (verdict.message or "").startswith(f"step {step}: ")
    assert "levels_in" not in verdict.results
    with pytest.raises(InputRejected, match="no state"):
        _ADAPTER.proceed(job, request_, "crashed")


def test_an_end_between_two_steps_is_no_result(request_: JobRequest, tmp_path: Path) -> None:
    job = tmp_path / "job"
    end = run(_ADAPTER.prepare(request_), job)
    (job / "nscf.out").unlink()
    assert "nscf" in (_ADAPTER.judge(job, end).message or "")
    (job / "bands.xml").write_text("")
    verdict = _ADAPTER.judge(job, end)
    assert (verdict.completed, verdict.reason) == (False, "crashed")
    assert "bands.xml" in (verdict.message or "")


def test_a_warning_before_the_time_limit_ends_it(request_: JobRequest, tmp_path: Path) -> None:
    job = tmp_path / "job"
    end = run(_ADAPTER.prepare(request_), job, STOPS="1")
    assert end.rc == 143
    assert (job / "out" / "si.EXIT").is_file()
    assert not (job / "bands.out").exists()
    assert "stopped before the time limit" in (job / "stderr.log").read_text()
    assert not _ADAPTER.judge(job, end).completed


def test_levels_are_those_of_the_output() -> None:
    found = levels.read(str(_WRITTEN))
    bands, mesh = found["bands"], found["nscf"]
    assert bands["k_points"] == _PATH
    assert bands["energies_ev"][0][0] == pytest.approx(
        [-5.2629, 6.6143, 6.6143, 6.6143, 9.0319, 9.0319], abs=1e-4
    )
    assert (bands["electrons"], bands["mesh"]) == (8.0, None)
    assert (mesh["mesh"], found["scf_mesh"]) == ([4, 4, 4, 0, 0, 0], [2, 2, 2, 0, 0, 0])
    assert len(mesh["k_points"]) == len(mesh["weights"]) == 8
    assert len(mesh["rotations"]) == 48
    assert (found["scf_occupations"], found["magnetisation_mu_b"]) == ("fixed", 0.0)


def test_levels_of_two_spins(tmp_path: Path) -> None:
    text = (_WRITTEN / "bands.xml").read_text().replace("<lsda>false", "<lsda>true")
    path = tmp_path / "bands.xml"
    path.write_text(text)
    energies = levels.read_levels(path)["energies_ev"]
    assert [len(energies), len(energies[0]), len(energies[0][0])] == [2, 4, 3]
    assert energies[1][0] == pytest.approx([6.6143, 9.0319, 9.0319], abs=1e-4)


def test_a_file_that_was_cut_off_gives_no_levels(tmp_path: Path) -> None:
    text = (_WRITTEN / "nscf.xml").read_text()
    path = tmp_path / "nscf.xml"
    for part in (0, 100, len(text) // 2, len(text) - 20):
        path.write_text(text[:part])
        with pytest.raises(OutputUnreadable, match=r"nscf\.xml"):
            levels.read_levels(path)
    with pytest.raises(OutputUnreadable, match="gone"):
        levels.read_levels(tmp_path / "other.xml")


def test_on_a_cluster_the_job_script_names_the_launcher(request_: JobRequest) -> None:
    inputs = {"k_path": _PATH, "npool": 2}
    request = replace(request_, remote=True, ntasks=4, executable="/opt/qe/pw.x", inputs=inputs)
    prepared = _ADAPTER.prepare(request)
    script = content(prepared, "band_structure.sh")
    assert '${CRYSTALMATH_LAUNCHER:-} "$@" -in "$name.in" > "$name.out"' in script
    assert 'program "$1" /opt/qe/pw.x -npool 2\n' in script
    assert prepared.argv == ("/bin/sh", "band_structure.sh")
