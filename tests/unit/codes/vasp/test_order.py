"""Atoms keep the order of the structure, though POSCAR has them by element."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.vasp.adapter import VaspAdapter
from crystalmath.codes.vasp.order import RECORD, parse_order, render_order
from crystalmath.codes.vasp.run.writer import WorkerInputs
from crystalmath.errors import InputRejected, InvalidParams
from crystalmath.services.ports import JobRequest, Prepared, StructureData, Verdict
from support import vasp_model as model
from support.vasp import potentials, stand_in
from support.workers import run_here

ADAPTER = VaspAdapter(WorkerInputs(run_here, 60.0))
A = model.A0
MIXED = StructureData(
    lattice=((A, 0.0, 0.0), (0.0, A, 0.0), (0.0, 0.0, A)),
    pbc=(True, True, True),
    symbols=("O", "Mg", "O", "Mg", "Mg", "O", "Mg", "O"),
    positions=tuple(
        (x * A / 2, y * A / 2, z * A / 2)
        for x, y, z in (
            (1, 0, 0), (0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 1), (0, 0, 1), (0, 1, 1), (1, 1, 1),
        )
    ),
    formula="MgO",
)  # fmt: skip
MOVED = replace(MIXED, positions=((A / 2 + 0.01, 0.0, 0.0), *MIXED.positions[1:]))
ORDER = [0, 2, 5, 7, 1, 3, 4, 6]


@pytest.fixture
def request_(tmp_path: Path) -> JobRequest:
    """A static calculation whose first atom is moved, with ``MIXED``'s order of atoms."""
    return JobRequest(
        name="t",
        task="static",
        engine=None,
        model=None,
        structure=MOVED,
        inputs={"executable": str(stand_in(tmp_path / "vasp_std")), "kpoints": [2, 2, 2]},
        files=(),
        context={"PMG_VASP_PSP_DIR": str(potentials(tmp_path / "psp"))},
    )


def laid_out(prepared: Prepared, place: Path) -> dict[str, str]:
    place.mkdir()
    texts = {file.path: file.content or "" for file in prepared.files}
    for path, text in texts.items():
        (place / path).write_text(text)
    (place / "vasprun.xml").write_text(
        model.vasprun(texts["INCAR"], texts["KPOINTS"], texts["POSCAR"])
    )
    return texts


def check(verdict: Verdict) -> dict[str, Any]:
    """Each atom has its own force, and stands where it was."""
    found = dict(verdict.results)
    assert tuple(found["structure"]["symbols"]) == MIXED.symbols
    for place, wanted in zip(found["structure"]["positions"], MOVED.positions, strict=True):
        assert place == pytest.approx(wanted, abs=1e-8)
    pulled = [i for i, f in enumerate(found["forces_ev_per_a"]) if max(map(abs, f)) > 1e-6]
    neighbours = {
        i
        for i, at in enumerate(MIXED.positions)
        if sum(abs(x - y) % A > 1 for x, y in zip(at, MIXED.positions[0], strict=True)) == 1
    }
    assert set(pulled) == {0, *neighbours}
    assert found["forces_ev_per_a"][0] == pytest.approx([-6 * model.SPRING * 0.01, 0, 0])
    assert {MIXED.symbols[i] for i in neighbours} == {"Mg"}
    return found


def test_forces_and_positions_are_those_of_the_structures_atoms(
    request_: JobRequest, tmp_path: Path
) -> None:
    texts = laid_out(ADAPTER.prepare(request_), tmp_path / "job")
    assert texts["POSCAR"].splitlines()[5:7] == ["O Mg", "4 4"]
    assert json.loads(texts[RECORD]) == {"poscar_has": ORDER}
    found = check(ADAPTER.judge(tmp_path / "job", None))
    assert found["settings"]["k_points"] == "2 2 2 0 0 0"
    assert found["settings"]["encut_ev"] == 520.0


def test_a_job_that_goes_on_keeps_the_order(request_: JobRequest, tmp_path: Path) -> None:
    first = tmp_path / "first"
    laid_out(ADAPTER.prepare(request_), first)
    goes_on = ADAPTER.proceed(first, request_, "crashed")
    assert goes_on.inputs["atom_order"] == ORDER
    request = replace(request_, structure=None, inputs=goes_on.inputs, files=goes_on.files)
    laid_out(ADAPTER.prepare(_texts(request)), tmp_path / "second")
    check(ADAPTER.judge(tmp_path / "second", None))


def _texts(request: JobRequest) -> JobRequest:
    """Files by their content, as ``laid_out`` takes them."""
    return replace(
        request,
        files=tuple(
            file
            if file.content is not None
            else replace(file, content=Path(str(file.source)).read_text(), source=None)
            for file in request.files
        ),
    )


def test_an_order_that_is_lost_leaves_forces_out(request_: JobRequest, tmp_path: Path) -> None:
    place = tmp_path / "job"
    laid_out(ADAPTER.prepare(request_), place)
    for text in ('{"poscar_has": [0, 1]}', "{", '{"poscar_has": [0, 0, 1, 2, 3, 4, 5, 6]}'):
        (place / RECORD).write_text(text)
        verdict = ADAPTER.judge(place, None)
        assert not {"structure", "forces_ev_per_a"} & verdict.results.keys()
        assert any("atoms.json" in one for one in verdict.warnings)
    with pytest.raises(InputRejected, match=r"atoms\.json"):
        ADAPTER.proceed(place, request_, "crashed")


def test_an_order_is_refused_where_it_does_not_belong(request_: JobRequest, tmp_path: Path) -> None:
    with pytest.raises(InvalidParams, match="there is a structure") as refused:
        ADAPTER.prepare(replace(request_, inputs={**request_.inputs, "atom_order": ORDER}))
    assert refused.value.field == "inputs.atom_order"
    laid_out(ADAPTER.prepare(request_), tmp_path / "job")
    goes_on = ADAPTER.proceed(tmp_path / "job", request_, "crashed")
    for wrong in ([0, 1], [0] * 8):
        inputs = {**goes_on.inputs, "atom_order": wrong}
        with pytest.raises(InvalidParams, match="no order of 8 atoms"):
            ADAPTER.prepare(
                _texts(replace(request_, structure=None, inputs=inputs, files=goes_on.files))
            )


def test_no_record_where_poscar_has_the_order_of_the_structure() -> None:
    assert render_order([0, 1, 2]) == ""
    assert parse_order(render_order([1, 0])) == [1, 0]
    for text in ("", "[]", '{"poscar_has": [true, 0.5]}', '{"poscar_has": [2, 0]}'):
        assert parse_order(text) == []
