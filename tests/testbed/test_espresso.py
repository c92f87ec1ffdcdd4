"""The code ``espresso`` with the real pw.x: run, watched, judged, continued, imported."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crystalmath.contract.jobs import (
    ContinueParams,
    ContinueResult,
    ImportParams,
    Job,
    JobIdParams,
    RerunParams,
    SeriesParams,
)
from crystalmath.errors import IllegalTransition, InvalidParams
from support.service_fakes import Bench, FakeCall

if TYPE_CHECKING:
    from conftest import QuantumEspresso

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(900)]

EXAMPLES = Path(__file__).parents[2] / "examples"
SI_SCF_RY = -15.84452726
_HANG_S = 120.0
_CALL: Any = FakeCall()


def submit(bench: Bench, qe: QuantumEspresso, deck: str, **fields: Any) -> int:
    files = [{"path": "si.in", "content": deck}]
    context = {"ESPRESSO_PSEUDO": str(qe.pseudo)}
    return bench.submit(**{"files": files, "context": context, **fields})


def finish(bench: Bench, job: int) -> Job:
    """Move the jobs until this one has ended."""
    deadline = time.monotonic() + _HANG_S
    while bench.state(job) not in ("COMPLETED", "FAILED", "CANCELLED"):
        assert time.monotonic() < deadline, bench.state(job)
        bench.pump.turn()
        os.sched_yield()
    return bench.service.get(JobIdParams(id=job))


def go_on(bench: Bench, job: int, **fields: Any) -> ContinueResult:
    params = ContinueParams.model_validate({"id": job, **fields})
    return bench.service.continue_(params, _CALL)


def run(bench: Bench, qe: QuantumEspresso, name: str, **fields: Any) -> Job:
    return finish(bench, submit(bench, qe, qe.deck(name), **fields))


def test_the_example_has_the_energy_of_the_reference(bench: Bench, qe: QuantumEspresso) -> None:
    source = str(EXAMPLES / "si.scf.in")
    job = bench.submit(
        files=[{"path": "si.scf.in", "source": source}],
        context={"ESPRESSO_PSEUDO": str(qe.pseudo)},
    )
    full = finish(bench, job)
    assert (full.state, full.reason) == ("COMPLETED", None), full.message
    assert full.results["energy_ry"] == pytest.approx(SI_SCF_RY, abs=1e-5)
    assert full.science.energy_ev == pytest.approx(-215.575776, abs=1e-4)
    assert full.science.converged is True
    assert (full.formula, full.n_atoms, full.task) == ("Si", 2, "scf")
    assert full.results["engine"]["version"].startswith("6.7")
    assert [one["agree"] for one in full.results["pseudopotentials"]] == [True]
    assert {"si.scf.in", "pseudo/Si.pz-vbc.UPF"} == set(full.provenance.input_hashes)
    assert full.warnings == []
    directory = Path(full.directory)
    assert (directory / "out" / "silicon.save").is_dir()
    series = bench.service.series(SeriesParams(id=job)).series
    accuracy = series["scf_accuracy"]
    assert accuracy.x == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert accuracy.unit == "Ry"
    assert accuracy.y[0] == pytest.approx(0.0609, abs=1e-3)
    assert accuracy.y[-1] is not None
    assert accuracy.y[-1] < 1e-8
    again = bench.service.rerun(RerunParams(id=job), _CALL)
    assert again.job is not None
    assert finish(bench, again.job.id).state == "COMPLETED"


def test_two_processes_give_the_same(bench: Bench, qe: QuantumEspresso) -> None:
    inputs = {"npool": 2}
    full = run(bench, qe, "si.scf", resources={"ntasks": 2}, inputs=inputs)
    assert full.state == "COMPLETED", full.message
    assert full.results["energy_ry"] == pytest.approx(SI_SCF_RY, abs=1e-5)
    assert full.results["engine"]["processes"] == 2
    assert full.provenance.argv[1:3] == ["-n", "2"]


def test_relaxation_and_its_final_structure(bench: Bench, qe: QuantumEspresso) -> None:
    full = run(bench, qe, "si.relax")
    assert full.state == "COMPLETED", full.message
    assert full.results["energy_ry"] == pytest.approx(-15.84452693, abs=2e-5)
    assert full.results["relaxation"]["converged"] is True
    assert full.results["n_ionic_steps"] >= 3
    (x, y, z) = (b - a for a, b in zip(*full.results["structure"]["positions"], strict=True))
    quarter = 0.25 * 10.2 * 0.529177210903
    assert [x, y, z] == pytest.approx([quarter] * 3, abs=1e-3)
    series = bench.service.series(SeriesParams(id=full.id)).series
    assert len(series["force"].y) == full.results["relaxation"]["scf_cycles"]
    assert {"energy", "volume", "a", "scf_energy"} <= set(series)


def test_cell_relaxation_has_two_energies(bench: Bench, qe: QuantumEspresso) -> None:
    full = run(bench, qe, "si.vcrelax")
    assert full.state == "COMPLETED", full.message
    assert full.results["final_scf"]["energy_ry"] == pytest.approx(-15.84439865, abs=2e-5)
    assert full.results["relaxation"]["final_enthalpy_ry"] == pytest.approx(-15.84323, abs=2e-5)
    assert full.results["energy_ry"] == full.results["final_scf"]["energy_ry"]


def test_a_metal_with_spin(bench: Bench, qe: QuantumEspresso) -> None:
    full = run(bench, qe, "ni.scf")
    assert full.results["energy_ry"] == pytest.approx(-85.72339901, abs=2e-5)
    assert full.results["magnetisation_mu_b"] == pytest.approx(0.73, abs=0.02)
    assert full.results["fermi_ev"] == pytest.approx(15.3087, abs=0.01)


def test_bands_take_the_density_of_another_job(bench: Bench, qe: QuantumEspresso) -> None:
    with pytest.raises(InvalidParams, match=r"si\.save"):
        submit(bench, qe, qe.deck("si.bands"))
    scf = run(bench, qe, "si.scf")
    full = run(bench, qe, "si.bands", inputs={"save_from": scf.directory})
    assert (full.state, full.task) == ("COMPLETED", "bands"), full.message
    assert full.results["n_kpoints"] == 31
    assert full.science.energy_ev is None


def test_an_scf_that_does_not_converge_is_continued(bench: Bench, qe: QuantumEspresso) -> None:
    source = str(EXAMPLES / "si.noconv.in")
    job = bench.submit(
        files=[{"path": "si.noconv.in", "source": source}],
        context={"ESPRESSO_PSEUDO": str(qe.pseudo)},
    )
    full = finish(bench, job)
    assert (full.state, full.reason) == ("FAILED", "not_converged")
    assert "JOB DONE" in (Path(full.directory) / "stdout.log").read_text()
    assert full.science.status == "not_converged"
    assert full.science.energy_ev is None

    seen = go_on(bench, job, dry_run=True)
    assert seen.job is None
    assert "electron_maxstep 2 → 100" in seen.fix
    assert [(c.before.strip(), c.after.strip()) for c in seen.changes] == [
        ("electron_maxstep = 2", "electron_maxstep = 100")
    ]
    onward = go_on(bench, job, client_token="continue-once")
    assert onward.job is not None
    assert go_on(bench, job, client_token="continue-once").repeated
    done = finish(bench, onward.job.id)
    assert done.state == "COMPLETED", done.message
    assert done.results["energy_ry"] == pytest.approx(SI_SCF_RY, abs=1e-5)
    assert done.rerun_of == job
    with pytest.raises(IllegalTransition):
        go_on(bench, onward.job.id)


def test_a_relaxation_out_of_steps_goes_on_from_its_geometry(
    bench: Bench, qe: QuantumEspresso
) -> None:
    deck = qe.deck("si.relax").replace("1.0d-4", "1.0d-4, nstep = 2")
    full = finish(bench, submit(bench, qe, deck))
    assert (full.state, full.reason) == ("FAILED", "not_converged"), full.message
    assert full.science.energy_ev is not None
    onward = go_on(bench, full.id)
    assert "nstep 2 → 4" in onward.fix
    assert onward.job is not None
    done = finish(bench, onward.job.id)
    assert done.state == "COMPLETED", done.message
    assert done.results["energy_ry"] == pytest.approx(-15.84452693, abs=1e-5)


def test_a_clean_stop_in_time_goes_on_from_the_saved_state(
    bench: Bench, qe: QuantumEspresso
) -> None:
    deck = qe.deck("si.scf").replace("tstress", "max_seconds = 0.05, tstress")
    full = finish(bench, submit(bench, qe, deck.replace("4 4 4 1", "8 8 8 1")))
    assert (full.state, full.reason) == ("FAILED", "walltime"), full.message
    onward = go_on(bench, full.id)
    assert "saved state" in onward.fix
    assert onward.job is not None
    done = finish(bench, onward.job.id)
    assert done.state == "COMPLETED", done.message
    assert "read from directory" in (Path(done.directory) / "stdout.log").read_text()


def test_the_time_limit_of_the_job_becomes_max_seconds(bench: Bench, qe: QuantumEspresso) -> None:
    job = submit(bench, qe, qe.deck("si.long"), resources={"walltime_s": 12.0})
    full = finish(bench, job)
    assert (full.state, full.reason) == ("FAILED", "walltime"), full.message
    assert "max_seconds" in (full.message or "")
    assert full.progress.text
    assert any("max_seconds was set to 9" in warning for warning in full.warnings)


def test_a_bad_deck_is_quoted(bench: Bench, qe: QuantumEspresso) -> None:
    full = run(bench, qe, "si.badinput")
    assert (full.state, full.reason) == ("FAILED", "input_rejected")
    assert "bad line in namelist &system" in (full.message or "")
    assert "ecutwfx" in (full.message or "")


def test_a_missing_pseudopotential_is_named_before_anything_starts(
    bench: Bench, qe: QuantumEspresso
) -> None:
    with pytest.raises(InvalidParams, match=r"Si\.missing\.UPF") as caught:
        submit(bench, qe, qe.deck("si.nopseudo"))
    assert "Si.pz-vbc.UPF" in (caught.value.hint or "")
    assert bench.store.counts() == {}


def test_crlf_is_repaired(bench: Bench, qe: QuantumEspresso) -> None:
    full = finish(bench, submit(bench, qe, qe.deck("si.scf").replace("\n", "\r\n")))
    assert full.state == "COMPLETED", full.message
    assert any("CRLF" in warning for warning in full.warnings)


@pytest.fixture
def by_hand(tmp_path: Path, qe: QuantumEspresso) -> Path:
    """A directory in which somebody ran pw.x."""
    folder = tmp_path / "silicon by hand"
    folder.mkdir()
    (folder / "si.in").write_text(qe.deck("si.scf"), encoding="utf-8")
    with (folder / "si.out").open("w") as stream:
        subprocess.run([qe.pw_x, "-in", "si.in"], cwd=folder, stdout=stream, check=True)
    return folder


def test_a_run_by_hand_is_taken_in(bench: Bench, by_hand: Path) -> None:
    result = bench.service.import_results(ImportParams(path=str(by_hand)), _CALL)
    full = finish(bench, result.job.id)
    assert (full.state, full.name) == ("COMPLETED", "silicon by hand"), full.message
    assert full.results["energy_ry"] == pytest.approx(SI_SCF_RY, abs=1e-5)
    assert [event.to_state for event in full.events] == ["CREATED", "FINISHED", "COMPLETED"]
    assert all("import" in event.why for event in full.events[:2])
    assert full.provenance.imported is not None
    assert full.provenance.imported["path"] == str(by_hand)
    names = {file.path for file in full.files}
    assert {"si.in", "si.out", "pseudo/Si.pz-vbc.UPF"} <= names
    assert bench.service.series(SeriesParams(id=full.id)).series["scf_accuracy"].y
    again = bench.service.rerun(RerunParams(id=full.id), _CALL)
    assert again.job is not None
    assert finish(bench, again.job.id).state == "COMPLETED"
