"""The user's own structures: files in folders, what was taken in, what jobs ended with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from crystalmath.errors import InvalidParams, NotFound
from crystalmath.materials import embedded
from crystalmath.storage.tables import job_documents, jobs
from support.material_bench import SearchBench

Bench = Callable[..., SearchBench]
_EXAMPLES = Path(__file__).parents[3] / "examples"
_MAGNESIA = """MgO
4.21
0 0.5 0.5
0.5 0 0.5
0.5 0.5 0
Mg O
1 1
direct
0 0 0
0.5 0.5 0.5
"""


def test_files_of_the_folders_are_found(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "magnesia.vasp").write_text(_MAGNESIA)
    (folder / "POSCAR_b").write_text(_MAGNESIA.replace("4.21", "4.5"))
    (folder / "broken.cif").write_text("data_x\n")
    (folder / "notes.txt").write_text("MgO")
    (folder / ".hidden.cif").write_text("data_x\n")
    made = bench(folders=[str(folder)])
    rows, meta = made.search("MgO", providers=["files"])
    assert {row.name for row in rows} == {"magnesia.vasp", "POSCAR_b"}
    assert meta.notices == ["1 files could not be read as structures"]
    (row,), _ = made.search(text="MAGNESIA", providers=["files"])
    assert row.material == f"files:{folder}/deep/er/magnesia.vasp"
    assert made.service.document(row.material)["formula"] == "MgO"
    (folder / "POSCAR_b").write_text(_MAGNESIA.replace("Mg O", "Ca O"))
    rows, _ = made.search("CaO", providers=["files"])
    assert [row.name for row in rows] == ["POSCAR_b"]


def test_only_files_of_the_folders_are_read(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "outside.vasp").write_text(_MAGNESIA)
    made = bench(folders=[str(folder)])
    for key in (f"{tmp_path}/outside.vasp", f"{folder}/../outside.vasp", f"{folder}/none.vasp"):
        with pytest.raises(NotFound):
            made.get("files", key)


def test_a_folder_that_is_not_there_is_told(bench: Bench, tmp_path: Path) -> None:
    made = bench(folders=[str(tmp_path / "nowhere")])
    _, meta = made.search("MgO", providers=["files"])
    assert meta.providers[0].status == "failed"
    assert "nowhere" in meta.providers[0].error


def test_structures_taken_in_and_of_jobs_are_found(bench: Bench) -> None:
    made = bench()
    silicon = embedded.one("delta-Si")["structure"]
    kept = made.keep("my silicon", silicon)
    larger = {**silicon, "lattice": [[x * 1.1 for x in row] for row in silicon["lattice"]]}
    larger["positions"] = [[x * 1.1 for x in row] for row in silicon["positions"]]
    _add_job(made, 7, "relaxed", "COMPLETED", larger)
    _add_job(made, 8, "failed", "FAILED", larger)
    rows, _ = made.search("Si", providers=["project"])
    assert {row.material: row.name for row in rows} == {kept: "my silicon", "job:7": "relaxed"}
    rows, _ = made.search(text="RELAX", providers=["project"])
    assert [row.material for row in rows] == ["job:7"]
    assert made.search("Ge", providers=["project"])[0] == []
    found = made.service.document("job:7")
    assert found["source"]["material"] == "job:7"
    (row,), _ = made.search("job:7")
    assert row.id == "job:7"
    assert made.get("project", kept).material.material == kept
    for name in ("job:9", "local:77", "local:x", "project:zzz"):
        with pytest.raises(InvalidParams):
            made.service.document(name)


def _add_job(made: SearchBench, number: int, name: str, state: str, structure: Any) -> None:
    import json

    results = json.dumps({"formula": "Si", "structure": structure})
    with made.store.writing() as (connection, _):
        connection.execute(
            insert(jobs).values(
                id=number,
                uuid=f"u{number}",
                name=name,
                code="forces",
                state=state,
                runner="local",
                formula="Si",
                created_at=1.0,
                rev=1,
            )
        )
        connection.execute(
            insert(job_documents).values(
                job_id=number,
                submission_json="{}",
                prepared_json="{}",
                resources_json="{}",
                results_json=results,
            )
        )
