"""``materials.*`` of the real daemon: the work is done by worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.daemon import PRODUCTION, Daemon, RawSocket, RpcFailure
from support.espresso import upf
from support.magnets import iron

_EXAMPLES = Path(__file__).parents[2] / "examples"
_SILICON = {"path": str(_EXAMPLES / "silicon.cif")}
_COPPER = {"path": str(_EXAMPLES / "copper.cif")}


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    made = Daemon(program=PRODUCTION, env={"CRYSTALMATH_START_TIMEOUT": "60"})
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


def _call(served: Daemon, method: str, params: dict[str, Any]) -> Any:
    """Wait long: the first call starts a worker and loads its libraries."""
    with RawSocket(served.socket, 90.0) as raw:
        return raw.data(method, params)


def test_inspect_and_convert(served: Daemon) -> None:
    found = _call(served, "materials.inspect", {"structure": _SILICON})
    assert found["symmetry"]["number"] == 227
    assert found["symmetry"]["choice"] == "2"
    assert found["sites"][0]["neighbours"][0]["count"] == 4
    wanted = {"structure": _SILICON, "format": "poscar", "cell": "primitive"}
    written = _call(served, "materials.convert", wanted)
    assert written["n_atoms"] == 2
    text = {"text": written["text"], "format": "poscar"}
    again = _call(served, "materials.inspect", {"structure": text})
    assert again["symmetry"]["number"] == 227


_DECK = """MgO
CRYSTAL
0 0 0
225
4.21
2
12 0 0 0
8 .5 .5 .5
BASISSET
STO-3G
SHRINK
8 8
END
"""


def test_a_deck_is_a_structure_and_has_properties(served: Daemon) -> None:
    deck = {"text": _DECK, "format": "d12"}
    assert _call(served, "materials.inspect", {"structure": deck})["symmetry"]["number"] == 225
    again = _call(served, "materials.generate_d12", {"structure": deck})
    assert again["d12"].splitlines()[3:5] == ["225", "4.21"]
    asked = {"band": {"bands": [1, 14], "path": "GX"}, "dos": {"bands": [1, 14]}}
    made = _call(served, "materials.generate_d3", {"deck": {"text": _DECK}, "options": asked})
    assert made["report"]["properties"] == ["BAND", "NEWK", "DOSS"]
    assert _call(served, "codes.lint", {"text": made["d3"], "code": "crystal"}) == []
    wrong = {"deck": {"text": _DECK}, "options": {"band": {}}}
    with pytest.raises(RpcFailure, match="how many bands") as caught:
        _call(served, "materials.generate_d3", wrong)
    assert caught.value.code == -32602


def test_magnetic_moments_reach_what_a_job_is_given(served: Daemon, tmp_path: Path) -> None:
    (tmp_path / "Fe.UPF").write_text(upf("Fe", valence=8, wfc_ry=30))
    (tmp_path / "fe.extxyz").write_text(iron(2.0, -2.0))
    kept = _call(served, "materials.import", {"path": str(tmp_path / "fe.extxyz")})["material"]
    job: dict[str, Any] = {
        "name": "iron",
        "code": "espresso",
        "task": "scf",
        "context": {"ESPRESSO_PSEUDO": str(tmp_path)},
        "dry_run": True,
    }
    for structure in ({"path": str(tmp_path / "fe.extxyz")}, {"material": kept["material"]}):
        seen = _call(served, "jobs.submit", {**job, "structure": structure})["dry_run"]
        assert "starting_magnetization(2) = -0.25" in seen["files"][0]["content"]
    plain = _call(served, "jobs.submit", {
        **job, "structure": structure, "inputs": {"moments_mu_b": {}},
    })["dry_run"]  # fmt: skip
    assert "nspin" not in plain["files"][0]["content"]
    assert [one for one in plain["warnings"] if "`inputs.moments_mu_b` is given" in one]


def test_input_files_of_a_code_are_written_for_a_structure(served: Daemon, tmp_path: Path) -> None:
    (tmp_path / "Cu.UPF").write_text(upf("Cu", valence=11, wfc_ry=30))
    asked: dict[str, Any] = {
        "code": "espresso",
        "structure": _COPPER,
        "context": {"ESPRESSO_PSEUDO": str(tmp_path)},
    }
    made = _call(served, "materials.generate_inputs", asked)
    assert [file["path"] for file in made["files"]] == ["Cu.scf.in", "pseudo/Cu.UPF"]
    assert made["files"][1]["source"] == str(tmp_path / "Cu.UPF")
    assert made["report"]["settings"]["ecutwfc_ry"]["value"] == 30.0
    assert made["report"]["space_group"]["number"] == 225
    job = {**asked, "name": "copper", "task": "scf", "dry_run": True}
    with pytest.raises(RpcFailure) as caught:
        _call(served, "jobs.submit", {**job, "inputs": {"degauss_ry": 2.0}})
    assert caught.value.data["field"] == "inputs.degauss_ry"
    for wrong, field in (({"code": "crystal"}, "code"), ({"options": {"x": 1}}, "options.x")):
        with pytest.raises(RpcFailure) as caught:
            _call(served, "materials.generate_inputs", {**asked, **wrong})
        assert caught.value.data["field"] == field


def test_a_structure_is_kept_once_and_used(served: Daemon) -> None:
    kept = _call(served, "materials.import", _COPPER)
    again = _call(served, "materials.import", _COPPER)
    assert (kept["known"], again["known"]) == (False, True)
    name = kept["material"]["material"]
    assert again["material"]["material"] == name
    material = {"material": name}
    assert _call(served, "materials.inspect", {"structure": material})["formula"] == "Cu"
    job = {"name": "cu", "code": "forces", "task": "single_point", "engine": "emt"}
    tried = _call(served, "jobs.submit", {**job, "structure": material, "dry_run": True})
    assert tried["dry_run"]["formula"] == "Cu"
    with pytest.raises(RpcFailure, match="no structure local:77"):
        _call(served, "materials.inspect", {"structure": {"material": "local:77"}})
    with pytest.raises(RpcFailure, match="_atom_site_fract_x"):
        _call(served, "materials.import", {"text": "data_x\n", "format": "cif"})
