"""Decks that are written for structures: what stands in them, and what is refused by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.espresso.generate.deck import generate_inputs
from crystalmath.codes.espresso.writer import WorkerDecks
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import InputFile, JobRequest, StructureData
from support.espresso import crystal, fcc, upf
from support.workers import run_here

_BOHR = 0.529177210903
_SI = fcc("Si Si", 5.43)
_FE = crystal("Fe Fe", [[2.87, 0, 0], [0, 2.87, 0], [0, 0, 2.87]], [[0, 0, 0], [0.5, 0.5, 0.5]])
_WATER = StructureData(
    lattice=None,
    pbc=(False, False, False),
    symbols=("O", "H", "H"),
    positions=((0.0, 0.0, 0.0), (0.76, 0.59, 0.0), (-0.76, 0.59, 0.0)),
    formula="H2O",
)
_FILES = {
    "Si.pz-vbc.UPF": upf("Si", functional="PZ"),
    "Si.pbe.UPF": upf("Si"),
    "Fe.pbe-us.UPF": upf("Fe", kind="US", valence=8, wfc_ry=39.2, rho_ry=400),
    "O.pbe.UPF": upf("O", kind="PAW", valence=6, wfc_ry=46.0, rho_ry=185),
    "H.pbe.UPF": upf("H", valence=1, wfc_ry=30),
    "Al.pbe.UPF": upf("Al", valence=3, wfc_ry=20),
    "Ge.UPF": upf("Si"),
    "C.UPF": "<UPF/>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory of pseudopotentials."""
    made = tmp_path / "upf"
    made.mkdir()
    for name, text in _FILES.items():
        (made / name).write_text(text)
    return made


def generate(
    folder: Path, structure: StructureData, task: str | None = None, **options: Any
) -> tuple[Deck, dict[str, Any]]:
    made = generate_inputs(
        {"document": asdict(structure)}, options, task, {"ESPRESSO_PSEUDO": str(folder)}
    )
    return parse_deck(made["files"][0]["content"]), made["report"]


def refusal(folder: Path, structure: StructureData, task: str = "scf", **options: Any) -> Any:
    with pytest.raises(InputRejected) as caught:
        generate(folder, structure, task, **options)
    return caught.value


def system(deck: Deck) -> Mapping[str, Any]:
    return {key: entry.value for key, entry in deck.namelists["system"].entries.items()}


def test_a_deck_of_silicon(folder: Path) -> None:
    deck, report = generate(folder, _SI, pseudo_family="pz-vbc", ecutwfc_ry=18.0)
    assert "\r" not in deck.text
    assert deck.calculation == "scf"
    assert (deck.prefix, deck.value("control", "outdir")) == ("Si", "./out")
    assert deck.value("control", "pseudo_dir") == "./pseudo"
    assert deck.value("control", "tprnfor") is True
    assert deck.value("control", "tstress") is True
    assert system(deck) == {
        "ibrav": 0, "nat": 2, "ntyp": 1, "ecutwfc": 18.0, "ecutrho": 72.0,
        "occupations": "fixed", "nbnd": 8,
    }  # fmt: skip
    assert deck.value("electrons", "conv_thr") == pytest.approx(2e-10)
    assert deck.cards["ATOMIC_SPECIES"].lines == ("Si 28.0850 Si.pz-vbc.UPF",)
    assert deck.cards["CELL_PARAMETERS"].option == "angstrom"
    assert deck.cards["ATOMIC_POSITIONS"].option == "crystal"
    assert deck.labels == ("Si", "Si")
    assert deck.cards["K_POINTS"].lines == ("7 7 7 0 0 0",)
    assert report["space_group"] == {"number": 227, "symbol": "Fd-3m"}
    assert report["settings"]["ecutrho_ry"]["from"] == "4 × ecutwfc, norm-conserving"
    (one,) = report["pseudopotentials"]
    raw = _FILES["Si.pz-vbc.UPF"].encode()
    assert one["md5"] == hashlib.md5(raw, usedforsecurity=False).hexdigest()
    assert one["sha256"] == hashlib.sha256(raw).hexdigest()
    assert (one["functional"], one["kind"], one["z_valence"]) == ("PZ", "NC", 4.0)
    assert report["warnings"] == []


def test_a_relaxation_has_the_criteria_in_the_units_of_pw_x(folder: Path) -> None:
    deck, _ = generate(
        folder, _SI, "vc-relax", pseudo_family="pbe", ecutwfc_ry=30, fmax_ev_per_a=0.02,
        smax_gpa=0.1, max_steps=7, pressure_gpa=2.0, cell="constant_volume",
    )  # fmt: skip
    largest = 0.02 / 3**0.5 / (13.605693122994 / _BOHR)
    assert deck.value("control", "forc_conv_thr") == pytest.approx(largest, rel=1e-5)
    assert deck.value("control", "nstep") == 7
    assert deck.value("cell", "cell_dofree") == "shape"
    assert deck.value("cell", "press") == pytest.approx(20.0)
    assert deck.value("cell", "press_conv_thr") == pytest.approx(1.0)
    deck, _ = generate(folder, _SI, "relax", pseudo_family="pbe", ecutwfc_ry=30, cell="fixed")
    assert deck.calculation == "relax"
    assert {"ions"} <= set(deck.namelists)
    assert "cell" not in deck.namelists
    deck, _ = generate(
        folder, _SI, "vc-relax", pseudo_family="pbe", ecutwfc_ry=30, cell="isotropic"
    )
    assert deck.value("cell", "cell_dofree") == "all"


def test_cutoffs_are_the_largest_that_a_file_suggests(folder: Path) -> None:
    deck, report = generate(folder, _WATER)
    assert (system(deck)["ecutwfc"], system(deck)["ecutrho"]) == (46.0, 368.0)
    assert report["settings"]["ecutwfc_ry"]["from"] == "suggested by O.pbe.UPF"
    assert report["settings"]["ecutrho_ry"]["from"] == "8 × ecutwfc, PAW"
    deck, _ = generate(folder, _FE, moments_mu_b={"Fe": 2.0})
    assert (system(deck)["ecutwfc"], system(deck)["ecutrho"]) == (40.0, 400.0)


def test_a_table_gives_files_and_cutoffs(folder: Path) -> None:
    md5 = hashlib.md5(_FILES["Si.pbe.UPF"].encode(), usedforsecurity=False).hexdigest()
    row = {"filename": "Si.pbe.UPF", "md5": md5, "cutoff_wfc": 30.0, "cutoff_rho": 150.0}
    table = folder / "mine.json"
    table.write_text(json.dumps({"Si": row}))
    for options in ({}, {"pseudo_family": "mine"}, {"pseudo_family": "mine.json"}):
        deck, report = generate(folder, _SI, **options)
        assert (system(deck)["ecutwfc"], system(deck)["ecutrho"]) == (30.0, 150.0)
        assert report["settings"]["ecutwfc_ry"]["from"] == "of Si.pbe.UPF in the table"
    deck, _ = generate(folder, _SI, ecutwfc_ry=20.0)
    assert system(deck)["ecutrho"] == 100.0
    table.write_text(json.dumps({"Si": {**row, "md5": "0" * 32}}))
    error = refusal(folder, _SI)
    assert error.field == "options.pseudos.Si"
    assert md5 in error.message


def test_a_family_may_be_a_directory(folder: Path) -> None:
    (folder / "soft").mkdir()
    (folder / "soft" / "silicon.upf").write_text("")
    (folder / "soft" / "Si.upf").write_text(upf("Si", wfc_ry=12))
    deck, _ = generate(folder, _SI, pseudo_family="soft")
    assert deck.species[0].file == "Si.upf"
    assert system(deck)["ecutwfc"] == 12.0


def test_metals_are_smeared(folder: Path) -> None:
    deck, report = generate(folder, fcc("Al", 4.05))
    assert system(deck)["smearing"] == "marzari-vanderbilt"
    assert system(deck)["degauss"] == 0.02
    assert "nbnd" not in system(deck)
    assert report["k_mesh"] == [14, 14, 14]
    deck, _ = generate(folder, fcc("Al", 4.05), smearing="gaussian", degauss_ry=0.01)
    assert (system(deck)["smearing"], system(deck)["degauss"]) == ("gaussian", 0.01)


def test_moments_are_parts_of_the_valence_electrons(folder: Path) -> None:
    deck, _ = generate(folder, _FE, moments_mu_b={"Fe": 2.0})
    assert system(deck)["nspin"] == 2
    assert system(deck)["starting_magnetization(1)"] == 0.25
    deck, _ = generate(folder, _FE, moments_mu_b=[2.0, -2.0])
    assert deck.labels == ("Fe1", "Fe2")
    assert [one.element for one in deck.species] == ["Fe", "Fe"]
    assert system(deck)["starting_magnetization(1)"] == 0.25
    assert system(deck)["starting_magnetization(2)"] == -0.25
    deck, _ = generate(folder, _FE, total_magnetization_mu_b=4.0, smearing="none")
    assert system(deck)["tot_magnetization"] == 4.0
    assert system(deck)["occupations"] == "fixed"
    assert system(deck)["nbnd"] == 14


def test_a_molecule_gets_a_box_and_gamma(folder: Path) -> None:
    deck, report = generate(folder, _WATER, "relax", vacuum_angstrom=6.0)
    assert deck.cards["K_POINTS"].option == "gamma"
    assert deck.value("control", "tstress") is None
    sides = [float(line.split()[i]) for i, line in enumerate(deck.cards["CELL_PARAMETERS"].lines)]
    assert sides == pytest.approx([13.52, 12.59, 12.0])
    assert report["repeats"] == [False, False, False]
    assert report["space_group"] is None


def test_there_is_one_point_along_empty_space(folder: Path) -> None:
    sheet = crystal("Al", [[2.86, 0, 0], [0, 20.0, 0], [0, 0, 2.86]], [[0, 0.5, 0]])
    deck, report = generate(folder, sheet)
    assert deck.cards["K_POINTS"].lines == ("11 1 11 0 0 0",)
    assert report["repeats"] == [True, False, True]


def test_points_of_a_path_and_of_a_mesh(folder: Path) -> None:
    chosen: dict[str, Any] = {"pseudo_family": "pbe", "ecutwfc_ry": 20}
    deck, _ = generate(folder, _SI, "bands", k_points=[[0, 0, 0], [0.5, 0, 0.5]], **chosen)
    card = deck.cards["K_POINTS"]
    assert (card.option, card.lines[0]) == ("crystal", "2")
    assert card.lines[2] == "0.5000000000 0.0000000000 0.5000000000 1.0"
    assert deck.value("control", "tprnfor") is None
    deck, _ = generate(folder, _SI, "nscf", k_mesh=[8, 8, 8], smearing="tetrahedra", **chosen)
    assert system(deck)["occupations"] == "tetrahedra"
    deck, report = generate(folder, _SI, k_mesh=[4, 4, 3], **chosen)
    assert deck.cards["K_POINTS"].lines == ("4 4 3 0 0 0",)
    assert any("symmetry" in warning for warning in report["warnings"])


def test_dynamics_have_the_units_of_pw_x(folder: Path) -> None:
    chosen: dict[str, Any] = {"pseudo_family": "pbe", "ecutwfc_ry": 20, "timestep_fs": 2.0}
    deck, _ = generate(folder, _SI, "md", steps=7, temperature_k=500, thermostat_fs=50, **chosen)
    assert deck.value("control", "nstep") == 7
    assert deck.value("control", "dt") == pytest.approx(2.0 / 0.0483776865, rel=1e-5)
    assert system(deck)["nosym"] is True
    assert deck.value("ions", "ion_temperature") == "svr"
    assert deck.value("ions", "nraise") == 25
    deck, _ = generate(folder, _SI, "md", ensemble="nve", **chosen)
    assert deck.value("ions", "ion_temperature") == "initial"
    assert deck.value("ions", "tempw") == 300.0


def test_single_values_and_a_supercell(folder: Path) -> None:
    double = crystal("Al Al", [[2.86, 0, 0], [0, 2.86, 0], [0, 0, 5.72]], [[0, 0, 0], [0, 0, 0.5]])
    deck, report = generate(folder, double, values={"electrons.mixing_beta": 0.3, "system.nr1": 24})
    assert deck.value("electrons", "mixing_beta") == 0.3
    assert deck.value("system", "nr1") == 24
    said = next(one for one in report["warnings"] if "2 times the primitive" in one)
    assert "`materials.convert.cell: primitive`" in said


@pytest.mark.parametrize(
    ("task", "options", "field", "words"),
    [
        ("scf", {}, "options.pseudos.Si", "Si.pz-vbc.UPF"),
        ("scf", {"pseudo_family": "soft"}, "options.pseudos.Si", "soft"),
        ("scf", {"pseudos": {"Si": "Si.UPF"}}, "options.pseudos.Si", "Si.UPF"),
        ("scf", {"pseudos": {"Si": "C.UPF"}}, "options.pseudos.Si", "UPF"),
        ("scf", {"pseudos": {"Si": "O.pbe.UPF"}}, "options.pseudos.Si", "of O"),
        ("scf", {"pseudo_family": "pbe"}, "options.ecutwfc_ry", "Si.pbe.UPF"),
        ("scf", {"ecutwfc_ry": 20, "ecutrho_ry": 40}, "options.ecutrho_ry", "80"),
        ("scf", {"max_steps": 5}, "options.max_steps", "relaxation"),
        ("md", {"max_steps": 5}, "options.max_steps", "relaxation"),
        ("relax", {"steps": 5}, "options.steps", "dynamics"),
        ("scf", {"charge": 8}, "options.charge", "no electrons"),
        ("scf", {"charge": 1}, "options.smearing", "pairs"),
        ("scf", {"n_bands": 3}, "options.n_bands", "4 are"),
        ("scf", {"smearing": "tetrahedra"}, "options.smearing", "nscf"),
        ("scf", {"smearing": "none", "degauss_ry": 0.1}, "options.degauss_ry", "width"),
        ("scf", {"moments_mu_b": {"Fe": 1.0}}, "options.moments_mu_b.Fe", "no Fe"),
        ("scf", {"moments_mu_b": [1.0]}, "options.moments_mu_b", "2 atoms"),
        ("scf", {"moments_mu_b": {"Si": 9.0}}, "options.moments_mu_b", "9"),
        (
            "scf",
            {"moments_mu_b": {"Si": 1.0}, "smearing": "none"},
            "options.total_magnetization_mu_b",
            "freely",
        ),
        (
            "scf",
            {"total_magnetization_mu_b": 1.0},
            "options.total_magnetization_mu_b",
            "8 electrons",
        ),
        ("scf", {"k_points": [[0, 0, 0]]}, "options.k_points", "mesh"),
        ("scf", {"k_mesh": [1, 1, 1], "k_spacing_inv_angstrom": 0.2}, "options.k_mesh", "exclude"),
        ("bands", {"k_mesh": [4, 4, 4]}, "options.k_mesh", "path"),
        ("bands", {"k_shift": [1, 1, 1]}, "options.k_shift", "path"),
        ("relax", {"cell": "full"}, "options.cell", "keeps the cell"),
        ("relax", {"pressure_gpa": 1.0}, "options.pressure_gpa", "pressure"),
        ("vc-relax", {"cell": "fixed"}, "options.cell", "changes"),
        ("vc-md", {}, "task", "vc-md"),
        ("scf", {"values": {"ions.ion_dynamics": "bfgs"}}, "options.values.ions.ion_dynamics", "&"),
        ("scf", {"values": {"system.nat": 3}}, "options.values.system.nat", "settled"),
        (
            "scf",
            {"values": {"system.ecutwfc": 60}},
            "options.values.system.ecutwfc",
            "`options.ecutwfc_ry`",
        ),
        (
            "scf",
            {"values": {"control.calculation": "nscf"}},
            "options.values.control.calculation",
            "task",
        ),
        ("scf", {"values": {"control.prefix": "a/b"}}, "options.values", "prefix"),
        ("scf", {"cutoff": 3}, "options.cutoff", "cutoff"),
    ],
)
def test_refusals_name_the_option(
    folder: Path, task: str, options: dict[str, Any], field: str, words: str
) -> None:
    chosen: dict[str, Any] = {"pseudo_family": "pbe", "ecutwfc_ry": 20}
    if field.startswith("options.pseudos"):
        chosen = {}
    elif field == "options.ecutwfc_ry":
        chosen.pop("ecutwfc_ry")
    error = refusal(folder, _SI, task, **{**chosen, **options})
    assert error.field == field
    assert words in f"{error.message} {error.hint}"


def test_what_the_structure_does_not_allow(folder: Path) -> None:
    assert refusal(folder, _WATER, "vc-relax").field == "task"
    assert refusal(folder, _WATER, k_mesh=[2, 2, 2]).field == "options.k_mesh"
    stretched = crystal("Al", [[2.86, 0, 0], [0, 2.86, 0], [0, 0, 3.0]], [[0, 0, 0]])
    assert refusal(folder, stretched, "vc-relax", cell="isotropic").field == "options.cell"
    wrong = crystal("Ge", [[3, 0, 0], [0, 3, 0], [0, 0, 3]], [[0, 0, 0]])
    assert "Si, not of Ge" in refusal(folder, wrong).message
    mixed = crystal("Si H", [[9, 0, 0], [0, 9, 0], [0, 0, 9]], [[0, 0, 0], [0.5, 0.5, 0.5]])
    error = refusal(folder, mixed, pseudos={"Si": "Si.pz-vbc.UPF"}, ecutwfc_ry=20)
    assert "different functionals" in error.message
    with pytest.raises(InvalidParams) as caught:
        generate_inputs({"document": asdict(_SI)}, {}, None, {"ESPRESSO_PSEUDO": "upf"})
    assert caught.value.field == "context.ESPRESSO_PSEUDO"


def test_functionals_that_cannot_be_compared_are_told(folder: Path) -> None:
    (folder / "O.pbe.UPF").write_text(upf("O", functional="", valence=6, wfc_ry=40))
    _, report = generate(folder, _WATER)
    assert any("not certain" in warning for warning in report["warnings"])


def job(folder: Path, **more: Any) -> JobRequest:
    program = folder.parent / "pw.x"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    inputs = {"executable": str(program), **more.pop("inputs", {})}
    request = JobRequest(
        name="t", task="scf", engine=None, model=None, structure=_SI, inputs=inputs, files=(),
        context={"ESPRESSO_PSEUDO": str(folder)},
    )  # fmt: skip
    return replace(request, **more)


def test_a_job_is_made_of_a_structure(folder: Path) -> None:
    adapter = EspressoAdapter(WorkerDecks(run_here, 60.0))
    prepared = adapter.prepare(
        job(folder, inputs={"pseudo_family": "pz-vbc", "ecutwfc_ry": 18}, walltime_s=600)
    )
    assert [file.path for file in prepared.files] == ["Si.scf.in", "pseudo/Si.pz-vbc.UPF"]
    assert prepared.files[1].source == str(folder / "Si.pz-vbc.UPF")
    deck = parse_deck(prepared.files[0].content or "")
    assert deck.value("control", "max_seconds") == 570
    assert prepared.argv[1:] == ("-in", "Si.scf.in")
    assert (prepared.task, prepared.formula, prepared.n_atoms) == ("scf", "Si", 2)


def test_a_pseudopotential_of_the_job_is_taken(folder: Path) -> None:
    own = InputFile("mine.UPF", content=upf("Si", wfc_ry=14))
    prepared = EspressoAdapter().prepare(
        job(folder, files=(own,), inputs={"pseudos": {"Si": "mine.UPF"}}, context={})
    )
    assert [file.path for file in prepared.files] == ["Si.scf.in", "pseudo/mine.UPF"]
    assert parse_deck(prepared.files[0].content or "").value("system", "ecutwfc") == 14.0


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"inputs": {"pseudo_family": "pbe"}}, "inputs.ecutwfc_ry"),
        ({"inputs": {}}, "inputs.pseudos.Si"),
        ({"inputs": {}, "context": {}}, "inputs.pseudos.Si"),
        ({"files": (InputFile("si.in", content="&control\n/\n"),)}, "structure"),
        ({"task": "vc-md"}, "task"),
        ({"engine": "emt"}, "engine"),
    ],
)
def test_refusals_of_a_job_name_its_inputs(folder: Path, more: dict[str, Any], field: str) -> None:
    with pytest.raises(InputRejected) as caught:
        EspressoAdapter().prepare(job(folder, **more))
    assert caught.value.field == field
    assert "`options." not in f"{caught.value.message} {caught.value.hint}"


def test_an_option_beside_a_deck_is_refused(folder: Path) -> None:
    request = job(folder, structure=None, inputs={"ecutwfc_ry": 20})
    with pytest.raises(InvalidParams) as caught:
        EspressoAdapter().prepare(request)
    assert caught.value.field == "inputs.ecutwfc_ry"


def test_a_written_deck_is_continued(folder: Path, tmp_path: Path) -> None:
    request = job(folder, inputs={"pseudo_family": "pbe", "ecutwfc_ry": 18})
    adapter = EspressoAdapter()
    directory = tmp_path / "job"
    (directory / "pseudo").mkdir(parents=True)
    for file in adapter.prepare(request).files:
        text = file.content or Path(str(file.source)).read_text()
        (directory / file.path).write_text(text)
    (directory / "stdout.log").write_text("     Program PWSCF v.6.7 starts\n")
    (directory / "stderr.log").write_text("")
    found = adapter.proceed(directory, request, "walltime")
    assert found.structure is None
    assert [file.path for file in found.files] == ["Si.scf.in", "pseudo/Si.pbe.UPF"]
    assert set(found.inputs) == {"executable", "deck"}
    again = adapter.prepare(
        replace(request, structure=None, inputs=found.inputs, files=found.files)
    )
    assert again.argv[1:] == ("-in", "Si.scf.in")
