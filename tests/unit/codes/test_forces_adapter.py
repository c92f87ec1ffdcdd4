"""The code ``forces``, the daemon's side: what it accepts and how it judges what is left."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from crystalmath.codes.forces import task as files
from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.codes.forces.task import parse_task
from crystalmath.errors import EngineNotInstalled, InvalidParams, NotFound
from crystalmath.services.ports import CodeAdapter, EndReceipt, InputFile, JobRequest, StructureData
from support.forces import FakeProvider

_ADAPTER: CodeAdapter = ForcesAdapter()


def _structure(*symbols: str, crystal: bool = True) -> StructureData:
    lattice = ((3.6, 0.0, 0.0), (0.0, 3.6, 0.0), (0.0, 0.0, 3.6)) if crystal else None
    positions = tuple((2.5 * index, 0.0, 0.0) for index in range(len(symbols)))
    return StructureData(lattice, (crystal, crystal, crystal), symbols, positions, "".join(symbols))


def _request(**more: Any) -> JobRequest:
    request = JobRequest("test", "relax", "emt", None, _structure("Cu"), {}, (), {})
    return replace(request, **more)


def test_a_run_that_its_time_limit_ended_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    end = _end(143, cause="walltime")
    assert "`jobs.rerun`" in str(_ADAPTER.judge(tmp_path, end).hint)
    (tmp_path / "checkpoint.json").write_text("{}")
    assert "`jobs.continue`" in str(_ADAPTER.judge(tmp_path, end).hint)


def test_importing_it_loads_nothing_heavy() -> None:
    code = (
        "import sys, crystalmath.codes.forces.adapter as a, crystalmath.codes.command.adapter;"
        "a.ForcesAdapter().describe();"
        "print(sorted({'numpy', 'ase', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_run() -> None:
    prepared = _ADAPTER.prepare(_request(cpus_per_task=3, context={"CRY_ARCH": "x"}))
    assert prepared.argv == (
        *(sys.executable, "-P", "-m", "crystalmath.codes.forces.job", "input.json"),
    )
    assert prepared.env["OMP_NUM_THREADS"] == "3"
    assert prepared.env["CRY_ARCH"] == "x"
    assert (prepared.engine, prepared.formula, prepared.n_atoms) == ("emt", "Cu", 1)
    assert prepared.output == "relax.log"
    (file,) = prepared.files
    assert file.path == "input.json"
    task = parse_task(file.content or "")
    assert task.symbols == ["Cu"]
    assert task.relax.cell == "full"
    assert (task.relax.fmax_ev_per_a, task.relax.smax_gpa, task.relax.max_steps) == (
        0.005,
        0.01,
        500,
    )


@pytest.mark.parametrize(
    ("task", "name", "log"),
    [
        ("energy", "single_point", "single_point.log"),
        ("single_point", "single_point", "single_point.log"),
        ("relax", "relax", "relax.log"),
        ("md", "md", "md.log"),
    ],
)
def test_tasks(task: str, name: str, log: str) -> None:
    prepared = _ADAPTER.prepare(_request(task=task))
    assert (prepared.task, prepared.output) == (name, log)


def test_only_a_crystal_changes_its_cell() -> None:
    molecule = _structure("Cu", "Cu", crystal=False)
    prepared = _ADAPTER.prepare(_request(structure=molecule))
    assert parse_task(prepared.files[0].content or "").relax.cell == "fixed"
    slab = replace(_structure("Cu"), pbc=(True, True, False))
    for structure in (molecule, slab):
        with pytest.raises(InvalidParams) as caught:
            _ADAPTER.prepare(_request(structure=structure, inputs={"cell": "full"}))
        assert caught.value.field == "inputs.cell"


@pytest.mark.parametrize(
    ("more", "field", "word"),
    [
        ({"task": None}, "task", "relax"),
        ({"task": "fly"}, "task", "fly"),
        ({"engine": None}, "engine", "available: emt"),
        ({"engine": "sevenn"}, "engine", "is no engine here"),
        ({"inputs": {"dtype": "float32"}}, "inputs.dtype", "float64"),
        ({"inputs": {"device": "cuda"}}, "inputs.device", "CPU"),
        ({"inputs": {"engine_options": {"a": 1}}}, "inputs.engine_options.a", "no option"),
        (
            {"engine": "lj", "inputs": {"engine_options": {"rc": -1}}},
            "inputs.engine_options.rc",
            "between",
        ),
        (
            {"structure": _structure("Cu", crystal=False), "inputs": {"keep_symmetry": True}},
            "inputs.keep_symmetry",
            "space group",
        ),
        (
            {
                "task": "md",
                "structure": _structure("Cu", crystal=False),
                "inputs": {"ensemble": "npt"},
            },
            "inputs.ensemble",
            "pressure",
        ),
        ({"task": "md", "inputs": {"pressure_gpa": 1}}, "inputs.pressure_gpa", "constant pressure"),
        ({"task": "md", "inputs": {"temperature_k": 0}}, "inputs.temperature_k", "above zero"),
        ({"model": "7net-0"}, "model", "no models"),
        ({"structure": None}, "structure", "structure"),
        ({"structure": _structure("Cu", "Fe", "U")}, "structure", "Fe, U"),
        ({"structure": _structure("Cu", "O")}, "structure", "toy parameters for O"),
        ({"files": (InputFile("a", content=""),)}, "files", "no files"),
        ({"inputs": {"fmax": 1}}, "inputs.fmax", "fmax"),
        ({"inputs": {"fmax_ev_per_a": 0}}, "inputs.fmax_ev_per_a", "greater than 0"),
        ({"inputs": {"fmax_ev_per_a": float("nan")}}, "inputs.fmax_ev_per_a", ""),
        ({"inputs": {"smax_gpa": -1}}, "inputs.smax_gpa", ""),
        ({"inputs": {"max_steps": 0}}, "inputs.max_steps", ""),
        ({"inputs": {"cell": "loose"}}, "inputs.cell", ""),
        ({"inputs": {"optimizer": "magic"}}, "inputs.optimizer", "FIRE"),
        ({"task": "single_point", "inputs": {"max_steps": 5}}, "inputs.max_steps", ""),
    ],
)
def test_refusals(more: dict[str, Any], field: str, word: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        _ADAPTER.prepare(_request(**more))
    assert caught.value.field == field
    assert word in caught.value.message


def test_toy_elements_on_request_with_a_warning() -> None:
    request = _request(structure=_structure("Cu", "O"), inputs={"allow_toy_elements": True})
    assert "mean nothing" in _ADAPTER.prepare(request).warnings[0]


def test_description() -> None:
    description = _ADAPTER.describe()
    schema = description["parameters"]
    jsonschema.validate({"fmax_ev_per_a": 0.01, "cell": "fixed"}, schema)
    point = description["parameters_by_task"]["single_point"]
    assert list(point["properties"]) == ["allow_toy_elements", "dtype", "device", "engine_options"]
    engines = {engine["name"]: engine["available"] for engine in description["engines"]}
    assert engines == {"emt": True, "lj": True}
    assert "problem" not in description


# --- engines with an environment of their own -------------------------------------------------


def _away(**more: Any) -> Any:
    provider = FakeProvider()
    adapter = ForcesAdapter(provider, {"CRYSTALMATH_SOCKET": "/s"})
    return adapter.prepare(_request(**{"engine": "fake", **more}))


def test_another_program_asks_the_daemon_for_them() -> None:
    prepared = _away(model="m")
    assert prepared.argv[-2:] == ("crystalmath.calculators.job", "input.json")
    assert prepared.env["CRYSTALMATH_SOCKET"] == "/s"
    assert (prepared.engine, prepared.model) == ("fake", "m")
    (part,) = parse_task(prepared.files[0].content or "").parts
    assert (part.engine, part.model, part.model_key) == ("fake", "m", "fake 1.0:m")
    assert (part.dtype, part.device, part.options) == ("float64", "cpu", {})


def test_a_sum_has_parts() -> None:
    inputs = {"engine_options": {"plus": {"method": "pbe"}}, "device": "cuda"}
    prepared = _away(engine="fake+plus", inputs=inputs)
    parts = parse_task(prepared.files[0].content or "").parts
    assert [(part.engine, part.options) for part in parts] == [
        ("fake", {}),
        ("plus", {"method": "pbe"}),
    ]
    assert {part.device for part in parts} == {"cuda:0"}


@pytest.mark.parametrize(
    ("more", "field", "kind"),
    [
        ({"engine": "far"}, "engine", EngineNotInstalled),
        ({"engine": "nope"}, "engine", NotFound),
        ({"model": "nope"}, "model", NotFound),
        ({"structure": _structure("Cu", "Fe")}, "structure", InvalidParams),
        ({"structure": _structure("H")}, "structure", InvalidParams),
        ({"engine": "plus+fake"}, "engine", InvalidParams),
        (
            {"engine": "fake+plus", "inputs": {"engine_options": {"method": 1}}},
            "inputs.engine_options.method",
            InvalidParams,
        ),
    ],
)
def test_they_are_refused_like_the_others(more: Any, field: str, kind: Any) -> None:
    with pytest.raises(kind) as caught:
        _away(**more)
    assert caught.value.field == field


def test_the_default_engine_is_asked_for_by_name() -> None:
    with pytest.raises(NotFound, match="sevenn"):
        _away(engine=None)


def test_what_is_missing_is_told_with_its_size() -> None:
    with pytest.raises(EngineNotInstalled) as caught:
        _away(engine="far")
    assert caught.value.hint == "crystalmath engines install far (about 3 GB to fetch)"


def test_description_with_a_provider() -> None:
    engines = {e["name"]: e for e in ForcesAdapter(FakeProvider()).describe()["engines"]}
    assert {name: e["available"] for name, e in engines.items()} == {
        "emt": True,
        "lj": True,
        "fake": True,
        "far": False,
        "plus": True,
    }
    assert engines["fake"]["models"] == ["m", "other"]
    assert engines["fake"]["version"] == "fake 1.0"


# --- verdicts ---------------------------------------------------------------------------------


def _end(rc: int | None, signal: int | None = None, cause: str = "exit") -> EndReceipt:
    return EndReceipt(1, rc, signal, cause, None, 0.0, 9.0)  # type: ignore[arg-type]


def _result(**more: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "status": "ok",
        "task": "relax",
        "n_atoms": 1,
        "energy_ev": -0.5,
        "fmax_ev_per_a": 0.2,
        "smax_gpa": 3.0,
        "n_steps": 7,
        "converged": True,
        "criteria": {"fmax_ev_per_a": 0.005, "smax_gpa": 0.01},
        "forces_ev_per_a": [[0, 0, 0]],
        "warnings": ["w"],
        **more,
    }


def _write(folder: Path, document: dict[str, Any]) -> None:
    (folder / files.RESULT).write_text(json.dumps(document))


def test_completed(tmp_path: Path) -> None:
    _write(tmp_path, _result())
    verdict = _ADAPTER.judge(tmp_path, _end(0))
    assert verdict.completed
    assert (verdict.energy_ev, verdict.converged, verdict.warnings) == (-0.5, True, ("w",))
    assert verdict.results["forces_ev_per_a"] == [[0, 0, 0]]


def test_it_ended_by_itself_before_it_was_stopped(tmp_path: Path) -> None:
    _write(tmp_path, _result())
    assert _ADAPTER.judge(tmp_path, _end(0, cause="walltime")).completed


def test_not_converged(tmp_path: Path) -> None:
    _write(tmp_path, _result(converged=False))
    for rc in (0, 3):
        verdict = _ADAPTER.judge(tmp_path, _end(rc))
        assert (verdict.completed, verdict.reason) == (False, "not_converged")
        assert verdict.converged is False
        assert "fmax 0.2 eV/Å (wanted 0.005), smax 3 GPa" in (verdict.message or "")
        assert verdict.results["energy_ev"] == -0.5


def test_arrays_of_large_systems_stay_in_the_file(tmp_path: Path) -> None:
    _write(tmp_path, _result(n_atoms=257))
    results = _ADAPTER.judge(tmp_path, _end(0)).results
    assert "forces_ev_per_a" not in results
    assert results["arrays_in"] == "result.json"


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "{",
        "[]",
        "{}",
        '{"format": 1, "status": "ok"}',
        json.dumps(_result(energy_ev=None)),
        json.dumps(_result(energy_ev=float("nan"))),
        json.dumps(_result(converged=None)),
        json.dumps(_result(format=2)),
        json.dumps(_result())[:-5],
    ],
)
def test_exit_code_0_without_a_good_result_is_no_success(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / files.RESULT).write_text(text)
    verdict = _ADAPTER.judge(tmp_path, _end(0))
    assert (verdict.completed, verdict.reason) == (False, "crashed")
    assert verdict.hint


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (_end(1), "crashed"),
        (_end(None, 9), "crashed"),
        (_end(143, cause="walltime"), "walltime"),
        (_end(6), "disk_full"),
        (_end(4), "crashed"),
        (None, "crashed"),
    ],
)
def test_a_result_does_not_cover_up_a_bad_end(
    tmp_path: Path, end: EndReceipt | None, reason: str
) -> None:
    _write(tmp_path, _result())
    verdict = _ADAPTER.judge(tmp_path, end)
    assert (verdict.completed, verdict.reason) == (False, reason)


def test_the_program_says_why_it_failed(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {"format": 1, "status": "failed", "reason": "crashed", "message": "bad", "hint": "look"},
    )
    verdict = _ADAPTER.judge(tmp_path, _end(4))
    assert (verdict.reason, verdict.message, verdict.hint) == ("crashed", "bad", "look")


def test_progress_and_series_of_a_file_that_grows(tmp_path: Path) -> None:
    assert _ADAPTER.progress(tmp_path) is None
    assert _ADAPTER.series(tmp_path) == {}
    rows = [
        {"step": n, "energy_ev": -float(n), "fmax_ev_per_a": 0.04 / (n + 1), "smax_gpa": None}
        for n in range(200)
    ]
    text = "\n".join(json.dumps(row) for row in rows) + '\n{"step": 200, "ener'
    (tmp_path / files.STEPS).write_text(text)
    progress = _ADAPTER.progress(tmp_path)
    assert progress is not None
    assert progress.text == "step 199  fmax 0.0002 eV/Å"
    series = _ADAPTER.series(tmp_path)
    assert set(series) == {"energy", "fmax"}
    assert len(series["energy"]["x"]) == len(series["energy"]["y"]) == 200
    assert series["fmax"]["unit"] == "eV/Å"


def test_progress_and_series_of_a_dynamics(tmp_path: Path) -> None:
    prepared = _ADAPTER.prepare(_request(task="md", inputs={"steps": 400, "timestep_fs": 2}))
    (tmp_path / files.INPUT).write_text(prepared.files[0].content or "")
    rows = [
        {"step": n, "time_fs": 2.0 * n, "energy_ev": -1.0, "total_ev": -0.5, "temperature_k": 300.0,
         "fmax_ev_per_a": 0.1}
        for n in range(0, 101, 10)
    ]  # fmt: skip
    (tmp_path / files.STEPS).write_text("\n".join(json.dumps(row) for row in rows))
    progress = _ADAPTER.progress(tmp_path)
    assert progress is not None
    assert progress.text == "step 100  0.200 ps  300 K"
    assert progress.fraction == 0.25
    series = _ADAPTER.series(tmp_path)
    assert set(series) == {"temperature", "energy", "total_energy"}
    assert series["temperature"]["x"][-1] == 200.0
    assert series["temperature"]["x_label"] == "time / fs"
