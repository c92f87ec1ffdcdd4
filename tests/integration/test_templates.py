"""``templates.*`` of the real daemon: what it ships, what the user has, what leads out of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.daemon import PRODUCTION, Daemon, RawSocket, RpcFailure
from support.templates import pseudopotentials, put, template
from support.vasp import potentials

_SILICON = {"path": str(Path(__file__).parents[2] / "examples" / "silicon.cif")}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    config = tmp_path_factory.mktemp("config")
    put(config / "crystalmath" / "templates", "broken", "---\nid: [\n---\n")
    made = Daemon(
        program=PRODUCTION,
        env={"CRYSTALMATH_START_TIMEOUT": "60", "XDG_CONFIG_HOME": str(config)},
    )
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


def _call(served: Daemon, method: str, params: dict[str, Any]) -> Any:
    """Wait long: the first call starts a worker and loads its libraries."""
    with RawSocket(served.socket, 90.0) as raw:
        return raw.data(method, params)


def test_every_default_of_the_program_renders(served: Daemon) -> None:
    rows = _call(served, "templates.list", {})
    shipped = [row["id"] for row in rows if row["origin"] == "shipped"]
    assert len(shipped) == 25
    assert [row["id"] for row in rows if row["problem"]] == ["broken"]
    assert {row["id"] for row in _call(served, "templates.list", {"code": "crystal"})} == {
        *(name for name in shipped if name.startswith("crystal/")),
        "broken",
    }
    for name in ("crystal/scf", "crystal/dos_bands", "job/slurm_mpi"):
        made = _call(served, "templates.render", {"id": name})
        assert made["findings"] == []
        assert made["template"]["id"] == name


def test_a_structure_becomes_a_deck_and_a_job(served: Daemon) -> None:
    given = {"structure": _SILICON, "functional": "PBE0", "name": "si"}
    made = _call(served, "templates.render", {"id": "crystal/opt", "parameters": given})
    (file,) = made["files"]
    assert file["path"] == "si.d12"
    assert file["content"].splitlines()[3] == "227"
    assert made["warnings"] == []
    job = {"name": "si", "code": "crystal", "inputs": {"executable": "/bin/true"}}
    wanted = {**job, "template": "crystal/opt", "template_parameters": given, "dry_run": True}
    tried = _call(served, "jobs.submit", wanted)["dry_run"]
    assert file in [{"path": f["path"], "content": f["content"]} for f in tried["files"]]
    with pytest.raises(RpcFailure, match=r"template_parameters.structure: is missing") as caught:
        _call(served, "jobs.submit", {**wanted, "template_parameters": {}})
    assert caught.value.data["field"] == "template_parameters.structure"


def test_inputs_of_other_codes_become_jobs(served: Daemon, tmp_path: Path) -> None:
    context = pseudopotentials(tmp_path)
    silicon = {"structure": _SILICON}
    asked = {"id": "espresso/relax", "parameters": silicon, "context": context}
    (deck,) = _call(served, "templates.render", asked)["files"]
    assert f"pseudo_dir = '{tmp_path}'" in deck["content"]
    fields = {"name": "si", "template_parameters": silicon, "dry_run": True}
    wanted = {**fields, "code": "espresso", "template": "espresso/ph", "context": context}
    wanted["inputs"] = {"executable": "/bin/true", "ph_executable": "/bin/true"}
    tried = _call(served, "jobs.submit", wanted)["dry_run"]
    assert {"scf.in", "ph.in", "phonons.sh", "pseudo/Si.upf"} <= {f["path"] for f in tried["files"]}
    context = {"PMG_VASP_PSP_DIR": str(potentials(tmp_path / "psp", ["Si"]))}
    wanted = {**fields, "code": "vasp", "template": "vasp/relax", "context": context}
    wanted["inputs"] = {"executable": "/bin/true"}
    files = {f["path"]: f for f in _call(served, "jobs.submit", wanted)["dry_run"]["files"]}
    assert {"INCAR", "KPOINTS", "POSCAR", "POTCAR.spec", "vasp.sh", "potcar.json"} == set(files)
    assert "ISIF = 3\n" in files["INCAR"]["content"]


def test_ones_own_is_saved_used_and_never_replaced_unasked(served: Daemon) -> None:
    text = template("  x:\n    type: int\n    help: An x.\n", "x = {{ x }}\n")
    saved = _call(served, "templates.save", {"id": "mine/one", "text": text})
    assert Path(saved["path"]).read_text() == text
    given = {"id": "mine/one", "parameters": {"x": 3}}
    assert _call(served, "templates.render", given)["files"][0]["content"] == "x = 3\n"
    assert _call(served, "templates.get", {"id": "mine/one"})["text"] == text
    with pytest.raises(RpcFailure, match="of that name"):
        _call(served, "templates.save", {"id": "mine/one", "text": text})
    with pytest.raises(RpcFailure, match="mine/one"):
        _call(served, "templates.save", {"id": "mine/two", "text": text})
    for name in ("../one", "/tmp/one", "mine/../../one", "mine/", "One"):
        with pytest.raises(RpcFailure) as caught:
            _call(served, "templates.save", {"id": name, "text": text})
        assert caught.value.code == -32602


def test_what_is_given_wrongly_and_what_leads_out(served: Daemon) -> None:
    for given, field in (
        ({"toldee": "8"}, "parameters.toldee"),
        ({"toldee": 99}, "parameters.toldee"),
        ({"nothing": 1}, "parameters.nothing"),
    ):
        with pytest.raises(RpcFailure) as caught:
            _call(served, "templates.render", {"id": "crystal/scf", "parameters": given})
        assert (caught.value.code, caught.value.data["field"]) == (-32602, field)
    bad = template("", "a\n{{ crystal_deck.__globals__ }}\n").replace("mine/one", "bad")
    _call(served, "templates.save", {"id": "bad", "text": bad})
    with pytest.raises(RpcFailure, match=r"line 10 of the template: .*unsafe"):
        _call(served, "templates.render", {"id": "bad"})
    heavy = template("", "{{ 'x'.center(3000000000) }}\n").replace("mine/one", "heavy")
    _call(served, "templates.save", {"id": "heavy", "text": heavy})
    with pytest.raises(RpcFailure, match="too much memory"):
        _call(served, "templates.render", {"id": "heavy"})
    assert _call(served, "templates.render", {"id": "job/local"})["files"]
