"""The moments of a structure in the inputs of each code: the same for a job as without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.crystal.run.writer import WorkerDecks as CrystalDecks
from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.deck import Deck, parse_deck
from crystalmath.codes.espresso.generate.deck import generate_inputs
from crystalmath.codes.espresso.writer import WorkerDecks
from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.codes.forces.finished import recognise
from crystalmath.codes.vasp.deck.incar import parse_incar
from crystalmath.codes.vasp.generate.inputs import generate_inputs as vasp_inputs
from crystalmath.codes.vasp.run.writer import WorkerInputs
from crystalmath.errors import InvalidParams
from crystalmath.services.ports import JobRequest, Prepared
from support.espresso import upf
from support.magnets import iron, iron_data
from support.workers import run_here

_OUTWEIGHED = "is given: the magnetic moments of the structure are not used"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = upf("Fe", kind="US", valence=8, wfc_ry=39.2, rho_ry=400)
    (tmp_path / "Fe.pbe-us.UPF").write_text(text)
    return tmp_path


def deck(folder: Path, *moments: float, **options: Any) -> tuple[Deck, Mapping[str, Any]]:
    given = {"text": iron(*moments), "format": "extxyz"}
    made = generate_inputs(given, options, "scf", {"ESPRESSO_PSEUDO": str(folder)})
    return parse_deck(made["files"][0]["content"]), made["report"]


def test_pw_x_starts_from_the_moments_of_the_structure(folder: Path) -> None:
    made, report = deck(folder, 2.0, -2.0)
    assert made.labels == ("Fe1", "Fe2")
    assert made.value("system", "nspin") == 2
    assert made.value("system", "starting_magnetization(1)") == pytest.approx(0.25)
    assert made.value("system", "starting_magnetization(2)") == pytest.approx(-0.25)
    told = {"value": "Fe1 2, Fe2 -2", "from": "the structure"}
    assert report["settings"]["moments_mu_b"] == told
    assert not [one for one in report["warnings"] if "moments" in one]


def test_the_cell_of_an_antiferromagnet_is_not_called_too_large(folder: Path) -> None:
    def said(*moments: float) -> bool:
        _, report = deck(folder, *moments)
        return any("times the primitive one" in one for one in report["warnings"])

    assert said(2.0, 2.0)
    assert not said(2.0, -2.0)


def test_a_job_has_the_deck_that_is_written_without_one(folder: Path) -> None:
    context = {"ESPRESSO_PSEUDO": str(folder)}
    request = JobRequest("t", "scf", None, None, iron_data(2.0, -2.0), {}, (), context)
    prepared = EspressoAdapter(WorkerDecks(run_here, 60.0)).prepare(request)
    made, _ = deck(folder, 2.0, -2.0)
    assert (
        parse_deck(prepared.files[0].content or "").namelists["system"]
        == (made.namelists["system"])
    )


def test_an_option_outweighs_the_structure_and_is_told(folder: Path) -> None:
    made, report = deck(folder, 2.0, -2.0, moments_mu_b={"Fe": 1.0})
    assert made.labels == ("Fe", "Fe")
    assert f"`options.moments_mu_b` {_OUTWEIGHED}" in report["warnings"]
    without, _ = deck(folder, 2.0, -2.0, moments_mu_b={})
    assert without.value("system", "nspin") is None
    assert deck(folder, 0.0, 0.0)[0].value("system", "nspin") is None


def test_moments_need_occupations_that_can_change(folder: Path) -> None:
    with pytest.raises(InvalidParams, match="cannot change freely") as refused:
        deck(folder, 2.0, 2.0, smearing="none")
    assert "moments_mu_b: {}" in str(refused.value.hint)
    made, _ = deck(folder, 2.0, 2.0, smearing="none", total_magnetization_mu_b=4.0)
    assert made.value("system", "tot_magnetization") == 4.0
    assert made.value("system", "starting_magnetization(1)") == pytest.approx(0.25)


def test_vasp_has_them_in_a_job_too() -> None:
    written = WorkerInputs(run_here, 60.0).write(iron_data(2.0, -2.0), {}, "static", None)
    tags = parse_incar(written["files"][0]["content"])[0]
    assert [float(one) for one in tags["MAGMOM"].split()] == [2.0, -2.0]


@pytest.mark.parametrize("incar", [{"MAGMOM": [1.0, 1.0]}, {"ISPIN": 1}])
def test_a_tag_outweighs_them_and_is_told(incar: dict[str, Any]) -> None:
    given = {"text": iron(2.0, -2.0), "format": "extxyz"}
    made = vasp_inputs(given, {"incar": incar}, "static")
    assert f"`incar.{next(iter(incar))}` {_OUTWEIGHED}" in made["report"]["warnings"]


def test_crystal_starts_from_their_directions() -> None:
    written = CrystalDecks(run_here, 60.0).write(iron_data(2.0, -2.0), {"metal": True})
    lines = written.text.splitlines()
    at = lines.index("ATOMSPIN")
    assert lines[at + 1] == "2"
    assert {line.split()[1] for line in lines[at + 2 : at + 4]} == {"1", "-1"}
    assert "SPIN" in lines
    assert [one for one in written.notes if "open shell, because the structure has" in one]
    closed = CrystalDecks(run_here, 60.0).write(
        iron_data(2.0, 2.0), {"metal": True, "spin": "closed"}
    )
    assert "ATOMSPIN" not in closed.text
    assert f"`options.spin` {_OUTWEIGHED}" in closed.notes


def test_a_force_engine_says_that_it_does_not_use_them(tmp_path: Path) -> None:
    def prepared(*moments: float) -> Prepared:
        copper = replace(iron_data(*moments), symbols=("Cu", "Cu"), formula="Cu")
        return ForcesAdapter().prepare(JobRequest("t", "relax", "emt", None, copper, {}, (), {}))

    magnetic, plain = prepared(2.0, -2.0), prepared(0.0, 0.0)
    assert "emt does not use magnetic moments" in " ".join(magnetic.warnings)
    (tmp_path / "input.json").write_text(magnetic.files[0].content or "")
    (tmp_path / "relax.log").write_text("")
    again = recognise(tmp_path)
    assert again is not None
    assert again.structure is not None
    assert again.structure.moments == (2.0, -2.0)
    assert "moments" not in (plain.files[0].content or "")
    assert not [one for one in plain.warnings if "moments" in one]
