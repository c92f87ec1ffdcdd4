"""What the code ``vasp`` accepts, what it makes of it, and that potentials stay where they are."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from crystalmath.codes.vasp.adapter import VaspAdapter
from crystalmath.codes.vasp.run.writer import WorkerInputs
from crystalmath.errors import ConfigError, InputRejected, InvalidParams
from crystalmath.services.ports import (
    CodeAdapter,
    InputFile,
    JobRequest,
    Prepared,
    StructureData,
)
from support.vasp import INCAR, KPOINTS, MGO, POSCAR, potential, potentials, stand_in, vasprun
from support.workers import run_here

_ADAPTER: CodeAdapter = VaspAdapter(WorkerInputs(run_here, 60.0))
_DECKS = (
    InputFile("INCAR", content=INCAR),
    InputFile("POSCAR", content=POSCAR),
    InputFile("KPOINTS", content=KPOINTS),
)
_LABELS = {"Mg": "Mg_pv", "O": "O"}


@pytest.fixture
def request_(tmp_path: Path) -> JobRequest:
    """A good request: inputs, a program that is there, a directory of potentials."""
    return JobRequest(
        name="t",
        task=None,
        engine=None,
        model=None,
        structure=None,
        inputs={"executable": str(stand_in(tmp_path / "vasp_std")), "potcars": _LABELS},
        files=_DECKS,
        context={"PMG_VASP_PSP_DIR": str(potentials(tmp_path / "psp"))},
    )


def with_inputs(request: JobRequest, **inputs: Any) -> JobRequest:
    merged = {**request.inputs, **inputs}
    return replace(request, inputs={k: v for k, v in merged.items() if v is not None})


def with_file(request: JobRequest, path: str, text: str) -> JobRequest:
    kept = tuple(file for file in request.files if file.path != path)
    return replace(request, files=(*kept, InputFile(path, content=text)))


def text_of(prepared: Prepared, path: str) -> str:
    return next(file.content or "" for file in prepared.files if file.path == path)


def run(prepared: Prepared, place: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What the supervisor would do with it."""
    place.mkdir()
    for file in prepared.files:
        target = place / file.path
        target.parent.mkdir(exist_ok=True)
        if file.content is None:
            target.write_bytes(Path(str(file.source)).read_bytes())
        else:
            target.write_text(file.content)
    variables = {"PATH": os.environ["PATH"], **prepared.env, **environment}
    return subprocess.run(
        prepared.argv, cwd=place, env=variables, capture_output=True, text=True, check=False
    )


def test_decks_become_a_job_that_puts_its_potcar_together(
    request_: JobRequest, tmp_path: Path
) -> None:
    prepared = _ADAPTER.prepare(request_)
    assert (prepared.task, prepared.formula, prepared.n_atoms) == ("static", "MgO", 2)
    assert text_of(prepared, "POTCAR.spec") == "# PBE\nMg_pv\nO\n"
    rows = json.loads(text_of(prepared, "potcar.json"))["potentials"]
    assert [row["title"] for row in rows] == ["PAW_PBE Mg_pv 01Jan2000", "PAW_PBE O 01Jan2000"]
    assert all(len(row["sha256"]) == 64 for row in rows)
    done = run(prepared, tmp_path / "job")
    assert (done.returncode, done.stderr) == (0, "")
    titles = (tmp_path / "job" / "titles.txt").read_text().split()
    assert (titles[3], titles[8]) == ("Mg_pv", "O")  # in the order of POSCAR
    assert not list((tmp_path / "job").glob("POTCAR")), "it goes when the run has ended"
    verdict = _ADAPTER.judge(tmp_path / "job", None)
    assert verdict.completed
    assert verdict.results["potentials"] == rows


def test_no_text_of_a_potential_is_in_what_is_stored_or_sent(request_: JobRequest) -> None:
    for request in (request_, replace(request_, remote=True)):
        assert "stand-in" not in json.dumps(asdict(_ADAPTER.prepare(request)))


def test_a_packed_potential_and_the_other_layout_are_found(
    request_: JobRequest, tmp_path: Path
) -> None:
    folder = tmp_path / "packed" / "POT_GGA_PAW_PBE_54"
    folder.mkdir(parents=True)
    for label in _LABELS.values():
        (folder / f"POTCAR.{label}.gz").write_bytes(gzip.compress(potential(label).encode()))
    request = replace(
        with_inputs(request_, potcar_functional="PBE_54"),
        context={"VASP_PP_PATH": str(tmp_path / "packed")},
    )
    done = run(_ADAPTER.prepare(request), tmp_path / "job")
    assert (done.returncode, done.stderr) == (0, "")
    with pytest.raises(ConfigError, match="no potentials of PBE_64"):
        _ADAPTER.prepare(with_inputs(request, potcar_functional="PBE_64"))


def test_a_potential_that_changed_after_the_submission_ends_the_run(
    request_: JobRequest, tmp_path: Path
) -> None:
    prepared = _ADAPTER.prepare(request_)
    path = tmp_path / "psp" / "potpaw_PBE" / "O" / "POTCAR"
    path.write_text(path.read_text() + "\n")
    done = run(prepared, tmp_path / "job")
    assert (done.returncode, "has changed since" in done.stderr) == (66, True)
    assert not (tmp_path / "job" / "POTCAR").exists()


def test_on_a_cluster_potentials_are_sent_along_or_searched_there(
    request_: JobRequest, tmp_path: Path
) -> None:
    program = str(request_.inputs["executable"])
    here = replace(with_inputs(request_, executable=None), remote=True, executable=program)
    sent = _ADAPTER.prepare(here)
    assert [f.path for f in sent.files if f.source] == ["potcar/1-Mg_pv", "potcar/2-O"]
    assert "PMG_VASP_PSP_DIR" not in sent.env
    assert run(sent, tmp_path / "sent").returncode == 0
    there = _ADAPTER.prepare(replace(here, context={}))
    assert not [file for file in there.files if file.source]
    assert any("looked for on the cluster" in one for one in there.warnings)
    found = run(there, tmp_path / "found", PMG_VASP_PSP_DIR=str(tmp_path / "psp"))
    assert (found.returncode, found.stderr) == (0, "")
    lost = run(there, tmp_path / "lost", PMG_VASP_PSP_DIR=str(tmp_path / "nothing"))
    assert lost.returncode == 66
    (tmp_path / "lost" / "stderr.log").write_text(lost.stderr)
    verdict = _ADAPTER.judge(tmp_path / "lost", None)
    assert verdict.reason == "input_rejected"
    assert "Mg_pv: looked in" in str(verdict.message)


@pytest.mark.parametrize("call", ["is_dir", "is_file", "iterdir"])
def test_potentials_that_may_not_be_looked_at_are_named(
    request_: JobRequest, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Of permissions that root does not feel."""
    right = getattr(Path, call)

    def refused(self: Path, *args: Any, **more: Any) -> Any:
        if "psp" in self.parts:
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return right(self, *args, **more)

    monkeypatch.setattr(Path, call, refused)
    request = with_inputs(request_, potcars={"Mg": "Mg_sv", "O": "O"})
    with pytest.raises(ConfigError, match=r"cannot be looked for: .*psp.*: Permission") as caught:
        _ADAPTER.prepare(request)
    assert caught.value.field == "context.PMG_VASP_PSP_DIR"
    assert "permissions" in str(caught.value.hint)


def test_what_is_missing_is_named_with_where_it_was_looked_for(
    request_: JobRequest, tmp_path: Path
) -> None:
    cases: list[tuple[JobRequest, type[Exception], str]] = [
        (replace(request_, context={}), ConfigError, "Mg_pv O of PBE are needed"),
        (
            with_inputs(request_, potcars={"Mg": "Mg_sv", "O": "O"}),
            ConfigError,
            "no potential Mg_sv",
        ),
        (with_inputs(request_, potcars={"Mg": "Mg_pv"}), InvalidParams, "which potential O shall"),
        (with_inputs(request_, potcars=None), InvalidParams, "which potential Mg and O"),
        (with_inputs(request_, potcars={**_LABELS, "Si": "Si"}), InvalidParams, "has no Si"),
        (with_inputs(request_, potcars={"Mg": "O", "O": "Mg"}), InputRejected, "take them for"),
        (with_file(request_, "POTCAR.spec", "O\nMg_pv\n"), InputRejected, "take them for"),
        (with_file(request_, "POTCAR", potential("Mg_pv")), InvalidParams, "not taken in"),
        (with_inputs(request_, executable="/nowhere/vasp"), InputRejected, "no program"),
        (with_inputs(request_, executable=None), InputRejected, "vasp_std is not in PATH"),
    ]
    for request, kind, message in cases:
        with pytest.raises(kind, match=message) as caught:
            _ADAPTER.prepare(request)
        assert caught.value.field  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="Mg_sv") as caught_one:
        _ADAPTER.prepare(with_inputs(request_, potcars={"Mg": "Mg_sv", "O": "O"}))
    assert str(tmp_path / "psp" / "potpaw_PBE") in caught_one.value.message
    assert "Mg_pv" in str(caught_one.value.hint)


def test_a_potcar_of_the_user_is_copied_when_it_fits(request_: JobRequest, tmp_path: Path) -> None:
    own = tmp_path / "POTCAR.own"
    own.write_text(potential("Mg_pv") + potential("O"))
    request = with_inputs(request_, potcars=None)
    request = replace(request, context={}, files=(*_DECKS, InputFile("POTCAR", source=str(own))))
    prepared = _ADAPTER.prepare(request)
    assert run(prepared, tmp_path / "job").returncode == 0
    assert (tmp_path / "job" / "POTCAR").is_file(), "the user's own stays"
    own.write_text(potential("O") + potential("Mg_pv"))
    with pytest.raises(InputRejected, match="for O Mg, POSCAR has Mg O"):
        _ADAPTER.prepare(request)


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("POSCAR", POSCAR.replace("Mg O\n", ""), "line 6 of POSCAR does not name"),
        ("POSCAR", POSCAR.replace("1 1", "2"), "line 7 of POSCAR"),
        ("POSCAR", "MgO\n1.0\n", "ends before its positions"),
        ("KPOINTS", "mesh\n", "neither a mesh nor"),
    ],
)
def test_decks_that_cannot_run_are_refused(
    request_: JobRequest, path: str, text: str, message: str
) -> None:
    with pytest.raises(InputRejected, match=message):
        _ADAPTER.prepare(with_file(request_, path, text))


def test_what_would_be_ignored_is_refused(request_: JobRequest) -> None:
    for request, message in (
        (replace(request_, engine="emt"), "takes no engine"),
        (replace(request_, task="relax"), "ask for 'static'"),
        (replace(request_, task="phonon"), "has no task 'phonon'"),
        (replace(request_, files=_DECKS[1:]), "no INCAR"),
        (with_inputs(request_, kpoints=[2, 2, 2]), "`kpoints` is for inputs"),
        (with_inputs(request_, colour=1), "colour"),
        (with_inputs(request_, incar={"encut": 1}), "upper case"),
        (with_file(request_, "vasp.sh", "x"), "written by CrystalMath"),
        (with_file(request_, "POTCAR.one", "x"), "written by CrystalMath"),
        (with_file(request_, "potcar/1-Mg", "x"), "written by CrystalMath"),
    ):
        with pytest.raises(InvalidParams, match=message):
            _ADAPTER.prepare(request)


def test_tags_can_be_set_and_the_linter_and_the_cutoff_speak(request_: JobRequest) -> None:
    prepared = _ADAPTER.prepare(with_inputs(request_, incar={"ENCUT": 300, "MAGMOM": [0.6]}))
    assert "ENCUT = 300\n" in text_of(prepared, "INCAR")
    said = "\n".join(prepared.warnings)
    assert "INCAR had 520, this job 300" in said
    assert "below the 400 eV of the potentials" in said
    assert "MAGMOM has 1 values, and 2 atoms need 2" in said
    for tag, value in (("ENCUT", "abc"), ("ENCUT", -5), ("NSW", "many"), ("EDIFF", "")):
        with pytest.raises(InvalidParams, match="must be") as refused:
            _ADAPTER.prepare(with_inputs(request_, incar={tag: value}))
        assert refused.value.field == f"inputs.incar.{tag}"
    crlf = _ADAPTER.prepare(with_file(request_, "INCAR", INCAR.replace("\n", "\r\n")))
    assert "\r" not in text_of(crlf, "INCAR")


def test_inputs_of_the_user_fit_the_density_that_they_start_from(
    request_: JobRequest, tmp_path: Path
) -> None:
    (tmp_path / "CHGCAR").write_text(POSCAR)
    own = "ENCUT = 520\nISMEAR = -5\nICHARG = 11\nLASPH = T\nLREAL = Auto\n"
    dos = with_inputs(with_file(request_, "INCAR", own), density_from=str(tmp_path))

    def notes(before: str) -> str:
        (tmp_path / "INCAR").write_text(before)
        return " | ".join(_ADAPTER.prepare(dos).warnings)

    same = "ENCUT = 520.0; LASPH = .TRUE.; LREAL = A; ISPIN = 1; LDAUU = 0 0; METAGGA = --\n"
    assert "differs" not in notes(same.replace("LREAL = A;", "LREAL = AUTO;").replace("--", "None"))
    assert "LREAL (.FALSE. there, Auto here)" in notes("ENCUT = 520\nLASPH = T\nLREAL = .FALSE.\n")
    for before, tag in (
        ("ENCUT = 600\nLASPH = T\n", "ENCUT"),
        ("ENCUT = 520\n", "LASPH"),
        ("ENCUT = 520\nLASPH = T\nISPIN = 2\n", "ISPIN"),
        ("ENCUT = 520\nLASPH = T\nLDAU = T\nLDAUU = 4 0\n", "LDAU"),
        ("ENCUT = 520\nLASPH = T\nMETAGGA = SCAN\n", "a meta-GGA"),
    ):
        with pytest.raises(InvalidParams, match=tag):
            notes(before)
    (tmp_path / "INCAR").unlink()
    assert any("is not known" in note for note in _ADAPTER.prepare(dos).warnings)


def test_a_structure_is_written_by_the_set_and_bands_need_their_density(
    request_: JobRequest, tmp_path: Path
) -> None:
    lattice: Any = MGO["lattice"]
    structure = StructureData(
        lattice,
        (True, True, True),
        ("O", "Mg", "O", "Mg")[:2],
        ((2.1, 2.1, 2.1), (0.0, 0.0, 0.0)),
        "MgO",
    )
    request = replace(
        with_inputs(request_, potcars={"Mg": "Mg_pv"}, incar={"ENCUT": 600}),
        files=(),
        structure=structure,
        task="relax",
    )
    prepared = _ADAPTER.prepare(request)
    assert "ENCUT = 600\n" in text_of(prepared, "INCAR")
    assert text_of(prepared, "POSCAR").splitlines()[5] == "O Mg"
    assert text_of(prepared, "POTCAR.spec") == "# PBE\nO\nMg_pv\n"
    assert any("ENCUT: 600, by `incar`; MPRelaxSet has 520" in one for one in prepared.warnings)
    assert run(prepared, tmp_path / "job").returncode == 0
    with pytest.raises(InvalidParams, match="starts from the charge density"):
        _ADAPTER.prepare(replace(request, task="bands"))
    with pytest.raises(InputRejected, match="does not divide the 1 processes") as caught:
        _ADAPTER.prepare(with_inputs(request, incar={"NCORE": 4}))
    assert caught.value.field == "inputs.incar.NCORE"
    (tmp_path / "CHGCAR").write_text(text_of(prepared, "POSCAR"))
    (tmp_path / "INCAR").write_text("ENCUT = 640\nNSW = 9\n")
    bands = with_inputs(replace(request, task="bands"), density_from=str(tmp_path), incar=None)
    made = _ADAPTER.prepare(bands)
    assert "ENCUT = 640\n" in text_of(made, "INCAR")
    assert "\\Gamma" in text_of(made, "KPOINTS")
    assert any(file.path == "CHGCAR" and file.source for file in made.files)
    (tmp_path / "KPOINTS").write_text("k\n0\nGamma\n4 4 4\n")
    dos = with_inputs(replace(request, task="dos"), density_from=str(tmp_path), incar=None)
    coarse = _ADAPTER.prepare(with_inputs(dos, kpoints=[6, 8, 8])).warnings
    assert any("the mesh 6 8 8 is not twice" in one and "8 8 8" in one for one in coarse)
    assert not any("not twice" in one for one in _ADAPTER.prepare(dos).warnings)
    (tmp_path / "INCAR").write_text("METAGGA = R2SCAN\n")
    with pytest.raises(InvalidParams, match="a meta-GGA"):
        _ADAPTER.prepare(bands)
    (tmp_path / "INCAR").write_text("LHFCALC = .TRUE.\n")
    with pytest.raises(InvalidParams, match="exact exchange"):
        _ADAPTER.prepare(bands)
    (tmp_path / "INCAR").write_text("ENCUT = 640\n")
    record = text_of(made, "potcar.json")
    (tmp_path / "potcar.json").write_text(record)
    _ADAPTER.prepare(bands)
    (tmp_path / "potcar.json").write_text(record.replace("Mg_pv", "Mg"))
    with pytest.raises(InvalidParams, match="other potentials: O, Mg; this job has O, Mg_pv"):
        _ADAPTER.prepare(bands)
    (tmp_path / "potcar.json").unlink()
    (tmp_path / "CHGCAR").write_text(text_of(prepared, "POSCAR").replace("2.1", "2.2"))
    with pytest.raises(InvalidParams, match="of another cell"):
        _ADAPTER.prepare(bands)


def test_a_run_goes_on_from_its_last_geometry(request_: JobRequest, tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.mkdir()
    relax = INCAR.replace("NSW = 0", "NSW = 1 \nIBRION = 2")
    for name, text in {"INCAR": relax, "POSCAR": POSCAR, "KPOINTS": KPOINTS}.items():
        (job / name).write_text(text)
    (job / "CONTCAR").write_text(POSCAR.replace("0.5 0.5 0.5", "0.49 0.5 0.5"))
    (job / "vasprun.xml").write_text(vasprun(NELM=3))
    request = with_inputs(request_, incar={"NSW": 1})
    onward = _ADAPTER.proceed(job, request, "not_converged")
    texts = {file.path: file.content for file in onward.files}
    assert "0.49" in str(texts["POSCAR"])
    assert "NELM = 6\n" in str(texts["INCAR"])
    assert "CONTCAR" in onward.fix
    assert "NELM by default → 6" in onward.fix
    assert "incar" not in onward.inputs
    with pytest.raises(InputRejected, match="never began"):
        _ADAPTER.proceed(job, request, "input_rejected")
    (job / "CONTCAR").write_text("")
    assert "no later geometry" in _ADAPTER.proceed(job, request, "crashed").fix


def test_the_schema_of_the_inputs_holds_for_a_request(request_: JobRequest) -> None:
    described = _ADAPTER.describe()
    jsonschema.validate(dict(request_.inputs), described["parameters"])
    assert set(described["parameters_by_task"]) == {"static", "relax", "bands", "dos", "md"}
