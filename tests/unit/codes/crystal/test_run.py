"""The script of a CRYSTAL job with a stand-in program: staging, collection, scratch, exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from crystalmath.codes.crystal.run.script import threads_per_process
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import EndReceipt, InputFile, JobRequest, Prepared, StructureData
from support.crystal import STAND_IN, crystal, scf_output

DECK = (
    "MgO\nCRYSTAL\n0 0 0\n225\n4.21\n2\n12 0 0 0\n8 .5 .5 .5\n"
    "BASISSET\nPOB-DZVP\nSHRINK\n8 8\nEND\n"
)
EXTERNAL = DECK.replace("CRYSTAL\n0 0 0\n225\n4.21\n2\n12 0 0 0\n8 .5 .5 .5", "EXTERNAL")


class Bench:
    """Directories of an installation, a job, scratch, and of what the stand-in was given."""

    def __init__(self, root: Path) -> None:
        self.programs = root / "programs" / "bin" / "arch" / "version"
        self.job, self.told, self.base = root / "a job", root / "told", root / "base"
        for folder in (self.programs, self.job, self.told, self.base):
            folder.mkdir(parents=True)
        (self.told / "output").write_text(scf_output())
        self.context = {
            "CRY23_ROOT": str(root / "programs"),
            "CRY_ARCH": "arch",
            "CRY_VERSION": "version",
            "CRY_SCRATCH_BASE": str(self.base),
        }

    def program(self, name: str) -> None:
        path = self.programs / name
        path.write_text(STAND_IN)
        path.chmod(0o755)

    def prepare(
        self,
        *files: InputFile,
        inputs: Mapping[str, object] | None = None,
        ntasks: int = 1,
        remote: bool = False,
    ) -> Prepared:
        request = JobRequest(
            name="mgo",
            task=None,
            engine=None,
            model=None,
            structure=None,
            inputs=inputs or {},
            files=files,
            context=self.context,
            ntasks=ntasks,
            remote=remote,
        )
        return crystal().prepare(request)

    def stage(self, prepared: Prepared) -> None:
        for file in prepared.files:
            path = self.job / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            text = file.content if file.content is not None else Path(str(file.source)).read_text()
            path.write_text(text)

    def start(self, prepared: Prepared, **more: str) -> subprocess.Popen[bytes]:
        self.stage(prepared)
        variables = {**os.environ, **prepared.env, "TOLD": str(self.told), **more}
        with (self.job / "stderr.log").open("wb") as stderr:
            return subprocess.Popen(prepared.argv, cwd=self.job, env=variables, stderr=stderr)

    def run(self, prepared: Prepared, **more: str) -> int:
        return self.start(prepared, **more).wait(60)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.program("crystalOMP")
    return bench


def aux(*endings: str) -> tuple[InputFile, ...]:
    return tuple(InputFile(f"mgo{ending}", content=f"old {ending}\n") for ending in endings)


def test_files_are_there_before_the_start_and_fetched_after_a_failure(bench: Bench) -> None:
    endings = (".f9", ".gui", ".f98", ".hessopt", ".born")
    prepared = bench.prepare(InputFile("mgo.d12", content=EXTERNAL), *aux(*endings))
    assert bench.run(prepared, CODE="3") == 3
    told = {path.name: path.read_text() for path in bench.told.iterdir()}
    assert told["stdin"] == told["INPUT"] == EXTERNAL
    assert told["staged.fort.20"] == "old .f9\n"
    assert told["staged.fort.34"] == "old .gui\n"
    assert told["staged.fort.98"] == "old .f98\n"
    assert told["staged.HESSOPT.DAT"] == "old .hessopt\n"
    assert told["staged.BORN.DAT"] == "old .born\n"
    for ending, name in (
        (".f9", "fort.9"),
        (".f98", "fort.98"),
        (".gui", "fort.34"),
        (".f25", "fort.25"),
        (".hessopt", "HESSOPT.DAT"),
        (".optinfo", "OPTINFO.DAT"),
        (".freqinfo", "FREQINFO.DAT"),
        (".SPEC", "SPEC.DAT"),
    ):
        assert (bench.job / f"mgo{ending}").read_text() == f"new {name}\n"
    assert (bench.job / "mgo.optstory" / "optc001").is_file()
    assert (bench.job / "fort.87").is_file()
    assert (bench.job / "mgo.out").read_text() == scf_output()
    assert list(bench.base.iterdir()) == []
    assert not (bench.job / "crystal.scratch").exists()


def test_scratch_is_fresh_and_other_directories_of_its_base_stay(bench: Bench) -> None:
    neighbour = bench.base / "crystalmath.AAAAAAAA"
    neighbour.mkdir()
    prepared = bench.prepare(InputFile("mgo.d12", content=DECK))
    assert bench.run(prepared) == 0
    assert bench.run(prepared) == 0
    assert list(bench.base.iterdir()) == [neighbour]
    # After success the error files are no news; a leftover of CRYSTAL's is not taken for one.
    assert not (bench.job / "fort.87").exists()


def test_a_deck_in_a_directory_keeps_it(bench: Bench) -> None:
    prepared = bench.prepare(InputFile("in/put/mgo.d12", content=DECK))
    assert bench.run(prepared) == 0
    assert prepared.output == "in/put/mgo.out"
    assert (bench.job / "in/put/mgo.f9").is_file()
    verdict = crystal().judge(bench.job, EndReceipt(1, 0, None, "exit", None, 0.0, 1.0))
    assert verdict.completed


def test_properties_start_from_the_wave_function_itself(bench: Bench) -> None:
    bench.program("properties")
    prepared = bench.prepare(InputFile("mgo.d3", content="NEWK\n8 8\n1 0\nEND\n"), *aux(".f9"))
    assert bench.run(prepared) == 0
    assert (bench.told / "staged.fort.9").read_text() == "old .f9\n"
    assert prepared.task == "properties"
    assert (bench.job / "mgo.outp").is_file()


@pytest.mark.parametrize(
    ("number", "reason"), [(signal.SIGUSR1, "walltime"), (signal.SIGTERM, "crashed")]
)
def test_a_warning_or_an_end_ends_the_program_and_collects(
    bench: Bench, number: int, reason: str
) -> None:
    (bench.told / "output").write_text(scf_output(end=None))
    process = bench.start(bench.prepare(InputFile("mgo.d12", content=DECK)), NAP="60")
    deadline = time.monotonic() + 60
    while not (bench.told / "INPUT").exists() or not list(bench.base.glob("*/fort.87")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    code = process.wait(60)
    assert code == 143
    assert (bench.job / "mgo.optinfo").is_file()
    assert list(bench.base.iterdir()) == []
    (bench.job / "fort.87").unlink()
    end = EndReceipt(1, code, None, "exit", None, 0.0, 1.0)
    verdict = crystal().judge(bench.job, end)
    assert verdict.reason == reason


def test_a_killed_program_is_no_success(bench: Bench) -> None:
    (bench.told / "output").write_text(scf_output(end=None))
    code = bench.run(bench.prepare(InputFile("mgo.d12", content=DECK)), CODE="137")
    (bench.job / "fort.87").unlink()
    end = EndReceipt(1, code, None, "exit", None, 0.0, 1.0)
    verdict = crystal().judge(bench.job, end)
    assert (verdict.completed, verdict.reason) == (False, "crashed")
    assert "SIGKILL" in str(verdict.message)


def test_several_processes_have_the_cores_between_them(bench: Bench) -> None:
    assert threads_per_process(cores=2, ntasks=4) == 1
    assert threads_per_process(cores=8, ntasks=2) == 4
    bench.program("PcrystalOMP")
    mpirun = bench.job.parent / "mpirun"
    mpirun.write_text('#!/bin/sh\nprintf "%s " "$@" > "$TOLD/launched"\nshift 2\nexec "$@"\n')
    mpirun.chmod(0o755)
    prepared = bench.prepare(InputFile("mgo.d12", content=DECK), ntasks=4, remote=True)
    assert bench.run(prepared, CRYSTALMATH_LAUNCHER=f"{mpirun} -n 4") == 0
    assert (bench.told / "launched").read_text().startswith("-n 4 ")
    assert "OMP_NUM_THREADS=1" in (bench.told / "environment").read_text()


def test_a_missing_parallel_program_is_a_serial_run_with_a_warning(bench: Bench) -> None:
    prepared = bench.prepare(InputFile("mgo.d12", content=DECK), ntasks=4)
    assert any("PcrystalOMP is not there" in warning for warning in prepared.warnings)
    remote = bench.prepare(InputFile("mgo.d12", content=DECK), ntasks=4, remote=True)
    assert bench.run(remote) == 0
    verdict = crystal().judge(bench.job, EndReceipt(1, 0, None, "exit", None, 0.0, 1.0))
    assert any("one process with 4 threads" in warning for warning in verdict.warnings)
    assert "OMP_NUM_THREADS=4" in (bench.told / "environment").read_text()


def test_what_is_beside_the_deck_is_taken_where_it_asks_for_it(bench: Bench) -> None:
    source = bench.job.parent / "mgo.d12"
    source.write_text(EXTERNAL)
    with pytest.raises(InvalidParams, match=r"mgo\.gui") as refused:
        bench.prepare(InputFile("mgo.d12", source=str(source)))
    assert refused.value.field == "files.0"
    source.with_suffix(".gui").write_text("3 1 1\n")
    prepared = bench.prepare(InputFile("mgo.d12", source=str(source)))
    assert [file.path for file in prepared.files] == ["mgo.d12", "mgo.gui", "crystal.sh"]


@pytest.mark.parametrize(
    ("text", "inputs", "words", "field"),
    [
        (DECK, {"auxiliary": ["/nowhere/mgo.f9"]}, "/nowhere/mgo.f9", "inputs.auxiliary.0"),
        (DECK, {"auxiliary": ["/etc/passwd.txt"]}, "passwd.txt", "inputs.auxiliary.0"),
        (DECK, {"unknown": 1}, "unknown", "inputs.unknown"),
        ("", {}, "empty", "files.0"),
        ("a title\nCELL\nEND\n", {}, "line 2: .CELL. stands where CRYSTAL", "files.0"),
        ('{"basis": "x"}', {}, "does not end with END", "files.0"),
        (DECK[:-4] + "GUESSP\nEND\n", {}, r"mgo\.f9", "files.0"),
        (DECK, {"options": {}}, "no structure", "inputs.options"),
    ],
)
def test_what_would_fail_is_refused_with_its_field(
    bench: Bench, text: str, inputs: Mapping[str, object], words: str, field: str
) -> None:
    with pytest.raises(InvalidParams, match=words) as refused:
        bench.prepare(InputFile("mgo.d12", content=text), inputs=inputs)
    assert refused.value.field == field


def test_what_the_linter_says_is_told(bench: Bench) -> None:
    assert bench.prepare(InputFile("mgo.d12", content=DECK)).warnings == ()
    wrong = InputFile("mgo.d12", content=DECK.replace("SHRINK", "TOLDEE\n7 7\nSHRINK"))
    prepared = bench.prepare(wrong)
    assert any("line 12: error: TOLDEE has one number" in said for said in prepared.warnings)


def test_parameters_alone_are_no_deck(bench: Bench) -> None:
    with pytest.raises(InvalidParams, match="there is no deck"):
        bench.prepare(inputs={})


def test_a_missing_program_is_named(bench: Bench) -> None:
    (bench.programs / "crystalOMP").unlink()
    with pytest.raises(InputRejected, match="crystalOMP is not there"):
        bench.prepare(InputFile("mgo.d12", content=DECK))


def test_line_ends_of_other_systems_are_set_right(bench: Bench) -> None:
    prepared = bench.prepare(InputFile("mgo.d12", content=DECK.replace("\n", "\r\n")))
    assert prepared.files[0].content == DECK
    assert "CRLF" in prepared.warnings[0]


def _submission(options: dict[str, object]) -> JobRequest:
    a = 2.105
    magnesia = StructureData(
        lattice=((0.0, a, a), (a, 0.0, a), (a, a, 0.0)),
        pbc=(True, True, True),
        symbols=("Mg", "O"),
        positions=((0.0, 0.0, 0.0), (a, a, a)),
        formula="MgO",
        source={},
    )
    return JobRequest(
        name="bulk MgO", task=None, engine=None, model=None, structure=magnesia,
        inputs={"options": options}, files=(), context={}, remote=True,
    )  # fmt: skip


def test_a_structure_without_a_deck_gets_one() -> None:
    prepared = crystal().prepare(_submission({"functional": "PBESOL"}))
    deck = next(file for file in prepared.files if file.path == "bulk_MgO.d12").content
    assert deck is not None
    assert deck.splitlines()[1:5] == ["CRYSTAL", "0 0 0", "225", "4.21"]
    assert "PBESOL" in deck
    assert prepared.formula == "MgO"


def test_an_external_deck_comes_with_its_geometry_file() -> None:
    prepared = crystal().prepare(_submission({"dimension": "external"}))
    assert {"bulk_MgO.d12", "bulk_MgO.gui"} <= {file.path for file in prepared.files}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"functional": "nothing"}, "inputs.options.functional"),
        ({"tolerance": 1}, "inputs.options.tolerance"),
        ({"basis": "STO-3G", "charge": 1}, "inputs.options.charge"),
    ],
)
def test_wrong_options_of_a_deck_are_named(options: dict[str, object], field: str) -> None:
    with pytest.raises(InputRejected) as caught:
        crystal().prepare(_submission(options))
    assert caught.value.field == field
