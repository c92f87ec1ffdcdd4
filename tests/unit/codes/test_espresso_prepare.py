"""What the code ``espresso`` accepts, and what it refuses before anything starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.deck import parse_deck
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import (
    CodeAdapter,
    InputFile,
    JobRequest,
    Prepared,
    StructureData,
)
from support.espresso import deck as deck_of

_ADAPTER: CodeAdapter = EspressoAdapter()
_SCF = deck_of("si.scf")


@pytest.fixture
def request_(tmp_path: Path) -> JobRequest:
    """A good request: a deck, a program that is there, a directory of pseudopotentials."""
    program = tmp_path / "pw.x"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "upf").mkdir()
    for name in ("Si.pz-vbc.UPF", "Si.pbe.upf", "S.pbe.UPF", "notes.txt"):
        (tmp_path / "upf" / name).write_text("<UPF/>")
    return JobRequest(
        name="t",
        task=None,
        engine=None,
        model=None,
        structure=None,
        inputs={"executable": str(program)},
        files=(InputFile("si.in", content=_SCF.replace("/usr/share/espresso/pseudo", "gone")),),
        context={"ESPRESSO_PSEUDO": str(tmp_path / "upf")},
    )


def with_deck(request: JobRequest, text: str, **more: Any) -> JobRequest:
    return replace(request, files=(InputFile("si.in", content=text), *request.files[1:]), **more)


def edited(request: JobRequest, old: str, new: str) -> JobRequest:
    text = request.files[0].content or ""
    assert old in text
    return with_deck(request, text.replace(old, new))


def deck_in(prepared: Prepared) -> Any:
    return parse_deck(prepared.files[0].content or "")


def test_a_deck_is_set_up_for_its_directory(request_: JobRequest, tmp_path: Path) -> None:
    prepared = _ADAPTER.prepare(request_)
    deck = deck_in(prepared)
    assert deck.value("control", "outdir") == "./out"
    assert deck.value("control", "pseudo_dir") == "./pseudo"
    assert (prepared.task, prepared.formula, prepared.n_atoms) == ("scf", "Si", 2)
    assert prepared.argv == (str(tmp_path / "pw.x"), "-in", "si.in")
    assert prepared.output is None
    assert prepared.files[1] == InputFile(
        "pseudo/Si.pz-vbc.UPF", source=str(tmp_path / "upf" / "Si.pz-vbc.UPF")
    )
    assert prepared.warnings == ("pseudo_dir = 'gone' was set to './pseudo', in the job directory",)
    again = _ADAPTER.prepare(replace(request_, files=prepared.files))
    assert again.files[0] == prepared.files[0]
    assert again.warnings == ()


def test_crlf_and_bom_are_repaired(request_: JobRequest) -> None:
    text = "\ufeff" + (request_.files[0].content or "").replace("\n", "\r\n")
    prepared = _ADAPTER.prepare(with_deck(request_, text))
    assert "\r" not in (prepared.files[0].content or "")
    assert any("CRLF" in warning for warning in prepared.warnings)


def test_a_file_is_read_and_its_relative_directories_are_beside_it(
    request_: JobRequest, tmp_path: Path
) -> None:
    path = tmp_path / "upf" / "mine.pwi"
    path.write_bytes(_SCF.replace("/usr/share/espresso/pseudo", ".").encode() + b"! \xe9\n")
    files = (InputFile("notes.md", content=""), InputFile("mine.pwi", source=str(path)))
    prepared = _ADAPTER.prepare(replace(request_, files=files, context={}))
    assert prepared.files[1].source == str(tmp_path / "upf" / "Si.pz-vbc.UPF")
    assert [file.path for file in prepared.files] == [
        "mine.pwi", "pseudo/Si.pz-vbc.UPF", "notes.md",
    ]  # fmt: skip
    assert any("Latin-1" in warning for warning in prepared.warnings)


def test_a_pseudopotential_may_be_among_the_files(request_: JobRequest) -> None:
    files = (*request_.files, InputFile("Si.pz-vbc.UPF", content="<UPF/>"))
    prepared = _ADAPTER.prepare(replace(request_, files=files, context={}))
    assert [file.path for file in prepared.files] == ["si.in", "pseudo/Si.pz-vbc.UPF"]


def test_missing_pseudopotentials_are_all_named_with_what_there_is(request_: JobRequest) -> None:
    text = (request_.files[0].content or "").replace("ntyp = 1", "ntyp = 2")
    text = text.replace("Si.pz-vbc.UPF", "Si.lda.UPF\nGe 72.6 Ge.lda.UPF")
    with pytest.raises(InvalidParams) as caught:
        _ADAPTER.prepare(with_deck(request_, text))
    error = caught.value
    assert error.field == "files"
    assert "Si.lda.UPF (for Si), Ge.lda.UPF (for Ge)" in error.message
    assert request_.context["ESPRESSO_PSEUDO"] in error.message
    assert "for Si there are: Si.pbe.upf, Si.pz-vbc.UPF; for Ge there is none" in (error.hint or "")


def test_several_processes(request_: JobRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/opt/{name}" if name == "mpiexec" else None)
    inputs = {**request_.inputs, "npool": 2}
    prepared = _ADAPTER.prepare(replace(request_, ntasks=4, inputs=inputs))
    assert prepared.argv[:3] == ("/opt/mpiexec", "-n", "4")
    assert prepared.argv[4:] == ("-npool", "2", "-in", "si.in")
    assert prepared.env["OMPI_MCA_hwloc_base_binding_policy"] == "none"
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(InputRejected, match="mpirun") as caught:
        _ADAPTER.prepare(replace(request_, ntasks=4))
    assert caught.value.field == "resources.ntasks"


def test_without_pw_x(request_: JobRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(InputRejected, match="not in PATH") as caught:
        _ADAPTER.prepare(replace(request_, inputs={}))
    assert caught.value.field == "inputs.executable"
    assert caught.value.hint
    facts = _ADAPTER.describe()
    assert facts["problem"] == "pw.x is not in PATH"
    assert facts["executable"] is None


def test_values_of_the_deck_can_be_set(request_: JobRequest) -> None:
    values = {"electrons.mixing_beta": 0.3, "system.nbnd": 8, "control.verbosity": "high"}
    schema = _ADAPTER.describe()["parameters"]
    inputs = {**request_.inputs, "values": values}
    jsonschema.validate(inputs, schema)
    deck = deck_in(_ADAPTER.prepare(replace(request_, inputs=inputs)))
    assert deck.value("electrons", "mixing_beta") == 0.3
    assert deck.value("system", "nbnd") == 8
    assert deck.value("control", "verbosity") == "high"


def test_the_time_limit_becomes_max_seconds(request_: JobRequest) -> None:
    deck = deck_in(_ADAPTER.prepare(replace(request_, walltime_s=1000.0)))
    assert deck.value("control", "max_seconds") == 950
    deck = deck_in(_ADAPTER.prepare(replace(request_, walltime_s=40.0)))
    assert deck.value("control", "max_seconds") == 30
    sooner = edited(request_, "tstress", "max_seconds = 10, tstress")
    deck = deck_in(_ADAPTER.prepare(replace(sooner, walltime_s=1000.0)))
    assert deck.value("control", "max_seconds") == 10


def test_bands_take_a_density_and_no_wave_functions(request_: JobRequest, tmp_path: Path) -> None:
    save = tmp_path / "scf" / "out" / "si.save"
    save.mkdir(parents=True)
    for name in ("charge-density.dat", "data-file-schema.xml", "wfc1.dat"):
        (save / name).write_text("x")
    bands = edited(request_, "'scf'", "'bands'")
    with pytest.raises(InvalidParams, match=r"charge density.*si\.save"):
        _ADAPTER.prepare(bands)
    inputs = {**request_.inputs, "save_from": str(tmp_path / "scf")}
    prepared = _ADAPTER.prepare(replace(bands, inputs=inputs))
    assert [file.path for file in prepared.files[2:]] == [
        "out/si.save/charge-density.dat", "out/si.save/data-file-schema.xml",
    ]  # fmt: skip
    with pytest.raises(InvalidParams) as caught:
        _ADAPTER.prepare(replace(bands, inputs={**request_.inputs, "save_from": "/nowhere"}))
    assert caught.value.field == "inputs.save_from"


_STRUCTURE = StructureData(None, (False, False, False), ("H",), ((0.0, 0.0, 0.0),), "H")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("'scf'", "'nonsense'", "'nonsense' is none of scf"),
        ("&system", "&systen", "&system is missing"),
        ("nat = 2", "nat = 3", "nat = 3, but ATOMIC_POSITIONS has 2 lines"),
        ("ntyp = 1", "ntyp = 2", "ntyp = 2, but ATOMIC_SPECIES has 1 lines"),
        ("nat = 2,", "", "nat is missing"),
        ("Si 0.25", "Ge 0.25", "ATOMIC_POSITIONS names Ge"),
        ("K_POINTS", "K_POINTZ", "K_POINTS is missing"),
        ("ATOMIC_SPECIES", "", "ATOMIC_SPECIES is missing"),
        ("'scf'", "'relax'", "&ions is missing"),
        ("'si'", "'a/b'", "no file name"),
        ("1.0d-8\n/", "1.0d-8\n", "&electrons is not closed"),
    ],
)
def test_decks_that_pw_x_would_refuse(request_: JobRequest, old: str, new: str, words: str) -> None:
    with pytest.raises(InvalidParams, match=words.replace("(", r"\(")) as caught:
        _ADAPTER.prepare(edited(request_, old, new))
    assert caught.value.field == "files.0"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"task": "relax"}, "task"),
        ({"engine": "emt"}, "engine"),
        ({"model": "x"}, "model"),
        ({"structure": _STRUCTURE}, "structure"),
        ({"files": ()}, "files"),
        ({"files": (InputFile("si.txt", content=""),)}, "files"),
        ({"files": (InputFile("a.in", content="\0"),)}, "files.0.path"),
        ({"files": (InputFile("a.in", source="/nowhere/a.in"),)}, "files.0"),
        ({"inputs": {"deck": "other.in"}}, "inputs.deck"),
        ({"inputs": {"deck": "../si.in"}}, "inputs.deck"),
        ({"inputs": {"executable": "/nowhere/pw.x"}}, "inputs.executable"),
        ({"inputs": {"executable": "pw.x"}}, "inputs.executable"),
        ({"inputs": {"npool": 0}}, "inputs.npool"),
        ({"inputs": {"nonsense": 1}}, "inputs.nonsense"),
        ({"inputs": {"values": {"fcp.x": 1}}}, "inputs.values.fcp.x"),
        ({"inputs": {"values": {"mixing_beta": 1}}}, "inputs.values.mixing_beta"),
        ({"context": {"ESPRESSO_PSEUDO": "upf"}}, "context.ESPRESSO_PSEUDO"),
    ],
)
def test_refusals(request_: JobRequest, more: dict[str, Any], field: str) -> None:
    if "inputs" in more:
        more = {"inputs": {**request_.inputs, **more["inputs"]}}
    with pytest.raises(InputRejected) as caught:
        _ADAPTER.prepare(replace(request_, **more))
    assert caught.value.field == field


def test_pools_must_divide_the_processes(request_: JobRequest) -> None:
    with pytest.raises(InvalidParams) as caught:
        _ADAPTER.prepare(replace(request_, inputs={**request_.inputs, "npool": 2}))
    assert caught.value.field == "inputs.npool"


def test_only_the_listed_atoms_of_an_asymmetric_unit_are_known(request_: JobRequest) -> None:
    prepared = _ADAPTER.prepare(
        edited(request_, "ATOMIC_POSITIONS alat", "ATOMIC_POSITIONS crystal_sg")
    )
    assert (prepared.formula, prepared.n_atoms) == (None, None)
