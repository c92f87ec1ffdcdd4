"""What is refused before anything is stored, and what a token does."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from crystalmath.contract.jobs import CancelJobsParams, SubmitParams
from crystalmath.errors import Conflict, CrystalMathError, InvalidParams, NotImplementedYet
from support.service_fakes import Bench

TOKEN = "token-0001"


@pytest.mark.parametrize("name", ["a", "x" * 100, "Cu₂O α-phase", "结构优化", "a.b", "1"])
def test_names_that_are_accepted(bench: Bench, name: str) -> None:
    job = bench.submit(name=name)
    assert bench.store.row(job)["name"] == name


def test_blanks_around_a_name_are_dropped(bench: Bench) -> None:
    assert bench.store.row(bench.submit(name=" x "))["name"] == "x"


@pytest.mark.parametrize("name", ["a/b", "...", "a\x00b", "x" * 101, "  ", "", "a\nb", "a\\b"])
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        SubmitParams(name=name, code="fake")
    assert [error["loc"] for error in caught.value.errors()] == [("name",)]


@pytest.mark.parametrize(
    ("fields", "kind", "field"),
    [
        ({"code": "nothing"}, InvalidParams, "code"),
        ({"runner": "aiida"}, NotImplementedYet, "runner"),
        ({"runner": "slurm"}, InvalidParams, "cluster"),
        ({"cluster": "hpc1"}, InvalidParams, "cluster"),
        ({"template": "x"}, InvalidParams, "template"),
        ({"resources": {"nodes": 2}}, InvalidParams, "resources.nodes"),
        ({"resources": {"ntasks": 2, "cpus_per_task": 2}}, InvalidParams, "resources.ntasks"),
        ({"after": [99]}, InvalidParams, "after.0"),
        ({"inputs": {"reject": 1}}, InvalidParams, "inputs.reject"),
        ({"structure": {"material": "mp:1"}}, InvalidParams, "structure.material"),
        ({"structure": {"job": 99}}, InvalidParams, "structure.job"),
        ({"files": [{"path": "a", "source": "/nonexistent/a"}]}, InvalidParams, "files.0.source"),
        ({"files": [{"path": "a", "source": "/dev"}]}, InvalidParams, "files.0.source"),
        (
            {"files": [{"path": "a", "content": "1"}, {"path": "a", "content": "2"}]},
            InvalidParams,
            "files.1.path",
        ),
        (
            {"files": [{"path": "a", "content": "1"}, {"path": "a/b", "content": "2"}]},
            InvalidParams,
            "files",
        ),
    ],
)
def test_refusals_name_the_field_and_store_nothing(
    bench: Bench, fields: dict[str, Any], kind: type[CrystalMathError], field: str
) -> None:
    with pytest.raises(kind) as caught:
        bench.submit(**fields)
    assert caught.value.field == field
    assert bench.store.counts() == {}


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../b", "a//b", "", ".", ".cm/claim", "a\x00", "x" * 256]
)
def test_paths_that_leave_the_directory_are_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        SubmitParams(name="a", code="fake", files=[{"path": path, "content": ""}])


def test_a_relative_source_is_refused() -> None:
    with pytest.raises(ValidationError, match="absolute path"):
        SubmitParams(name="a", code="fake", files=[{"path": "a", "source": "a"}])


def test_a_job_after_an_ended_parent_that_failed_is_refused(bench: Bench) -> None:
    parent = bench.submit()
    bench.pump.turn()
    bench.runner.end(bench.key(parent), cause="cancel")
    bench.service.cancel(CancelJobsParams(id=parent))
    bench.pump.turn()
    assert bench.state(parent) == "CANCELLED"
    with pytest.raises(InvalidParams, match="would never start"):
        bench.submit(after=[parent])


def test_a_token_returns_the_same_job(bench: Bench) -> None:
    first = bench.submit(client_token=TOKEN)
    assert bench.submit(client_token=TOKEN) == first
    assert bench.store.counts() == {"CREATED": 1}


def test_a_token_of_another_submission_is_a_conflict(bench: Bench) -> None:
    bench.submit(client_token=TOKEN)
    with pytest.raises(Conflict) as caught:
        bench.submit(client_token=TOKEN, name="something else")
    assert caught.value.field == "client_token"


def test_a_dry_run_shows_the_files_and_stores_nothing(bench: Bench) -> None:
    params = SubmitParams(
        name="a", code="fake", files=[{"path": "in.txt", "content": "1"}], dry_run=True
    )
    result = bench.service.submit(params, None)  # type: ignore[arg-type]
    assert result.job is None
    assert result.dry_run is not None
    assert [(f.path, f.content) for f in result.dry_run.files] == [("in.txt", "1")]
    assert bench.store.counts() == {}


def test_a_submission_wakes_the_pump(bench: Bench) -> None:
    bench.woken.clear()
    bench.submit()
    assert bench.woken.is_set()
