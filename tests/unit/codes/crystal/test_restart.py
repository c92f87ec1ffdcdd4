"""How a CRYSTAL job goes on: from what was collected, with what failed set right."""

from __future__ import annotations

from pathlib import Path

import pytest

from crystalmath.codes.crystal.run import restart
from crystalmath.errors import InputRejected
from crystalmath.services.ports import InputFile, JobRequest
from support.crystal import crystal, scf_output

OPT = (
    "MgO\nEXTERNAL\nOPTGEOM\nMAXCYCLE\n60\nENDOPT\nEND\n99 0\nEND\nMAXCYCLE\n30\nSHRINK\n8 8\nEND\n"
)


def request() -> JobRequest:
    return JobRequest(
        name="mgo",
        task=None,
        engine=None,
        model=None,
        structure=None,
        inputs={},
        files=(InputFile("mgo.d12", content=OPT), InputFile("notes.txt", content="x")),
        context={},
    )


def job(directory: Path, *left: str, output: str = "") -> Path:
    (directory / ".cm").mkdir()
    (directory / "mgo.d12").write_text(OPT)
    (directory / "notes.txt").write_text("x")
    (directory / "crystal.sh").write_text("output=mgo.out\n")
    (directory / "mgo.out").write_text(output)
    for ending in left:
        (directory / f"mgo{ending}").write_text("state")
    return directory


def test_an_optimisation_goes_on_from_its_state(tmp_path: Path) -> None:
    found = crystal().proceed(job(tmp_path, ".optinfo", ".gui"), request(), "walltime")
    text = found.files[0].content
    assert text is not None
    assert "OPTGEOM\nRESTART\nMAXCYCLE\n60\n" in text
    assert {file.path for file in found.files} == {
        "mgo.d12", "mgo.optinfo", "mgo.gui", "notes.txt",
    }  # fmt: skip
    assert "RESTART in OPTGEOM" in found.fix


def test_an_scf_that_failed_gets_more_cycles_and_its_wave_function(tmp_path: Path) -> None:
    output = scf_output().replace("CONVERGENCE ON ENERGY     ", "TOO MANY CYCLES           ")
    directory = job(tmp_path, ".f9", output=output)
    found = crystal().proceed(directory, request(), "not_converged")
    text = found.files[0].content
    assert text is not None
    assert "MAXCYCLE\n60\nENDOPT" in text
    assert text.endswith("MAXCYCLE\n60\nSHRINK\n8 8\nGUESSP\nEND\n")
    assert "MAXCYCLE 30 → 60" in found.fix


def test_an_optimisation_that_ran_out_of_steps_gets_more() -> None:
    text, change = restart.with_more_opt_cycles(OPT)
    assert "MAXCYCLE\n120\nENDOPT" in text
    assert change == "MAXCYCLE of OPTGEOM 60 → 120"
    assert (
        restart.with_restart(restart.with_restart(OPT, "OPTGEOM"), "OPTGEOM").count("RESTART") == 1
    )


def test_without_state_it_starts_again_and_says_so(tmp_path: Path) -> None:
    found = crystal().proceed(job(tmp_path), request(), "crashed")
    assert found.files[0].content == OPT
    assert "starts again" in found.fix


def test_what_never_began_is_not_continued(tmp_path: Path) -> None:
    with pytest.raises(InputRejected, match="never began"):
        crystal().proceed(job(tmp_path), request(), "input_rejected")
