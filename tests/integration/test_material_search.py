"""Searches of the real daemon: from a query to a deck, with the database on loopback or without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.daemon import PRODUCTION, Daemon, RawSocket, RpcFailure
from support.material_bench import KEY
from support.optimade_server import OptimadeServer, optimade_server

_PATIENCE = {"timeout_s": 60.0}


@pytest.fixture(scope="module")
def database() -> Iterator[OptimadeServer]:
    with optimade_server() as server:
        yield server


@pytest.fixture(scope="module")
def served(database: OptimadeServer) -> Iterator[Daemon]:
    env = {
        "CRYSTALMATH_START_TIMEOUT": "60",
        "CRYSTALMATH_MATERIALS_OPTIMADE": f"base={database.url('good')}",
        "CRYSTALMATH_MATERIALS_MP_URL": database.url("mp403"),
        "MP_API_KEY": KEY,
    }
    made = Daemon(program=PRODUCTION, env=env)
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


def _result(served: Daemon, method: str, params: dict[str, Any]) -> Any:
    """Wait long: the first call starts a worker and loads its libraries."""
    with RawSocket(served.socket, 90.0) as raw:
        return raw.call(method, params)


def test_from_a_query_to_a_deck(served: Daemon) -> None:
    found = _result(served, "materials.search", {"query": "MgO", "providers": ["embedded"]})
    (row,) = found["data"]
    assert [one["status"] for one in found["meta"]["providers"]] == ["ok"]
    structure = {"material": row["material"]}
    made = _result(served, "materials.generate_d12", {"structure": structure})["data"]
    assert made["report"]["verified"]
    assert "4.217" in made["d12"]
    linted = _result(served, "codes.lint", {"text": made["d12"], "code": "crystal"})
    assert not [one for one in linted["data"] if one["severity"] == "error"]


def test_what_was_found_once_needs_no_database_again(
    served: Daemon, database: OptimadeServer
) -> None:
    asked = {"query": "TiO2", "providers": ["base", "materials_project"], **_PATIENCE}
    found = _result(served, "materials.search", asked)
    status = {one["name"]: one["status"] for one in found["meta"]["providers"]}
    assert status == {"base": "ok", "materials_project": "http_error"}
    (row,) = found["data"]
    before = database.asked_of("good")
    structure = {"material": row["material"]}
    made = _result(served, "materials.generate_d12", {"structure": structure})["data"]
    assert made["report"]["space_group"]["number"] == 136
    detail = _result(served, "materials.get", {"provider": "base", "id": row["id"]})["data"]
    assert detail["cached"]
    assert len(detail["structure"]["symbols"]) == 6
    assert database.asked_of("good") == before


def test_a_job_takes_what_was_found(served: Daemon) -> None:
    job = {"name": "cu", "code": "forces", "task": "relax", "engine": "emt", "dry_run": True}
    structure = {"material": "embedded:delta-Cu"}
    tried = _result(served, "jobs.submit", {**job, "structure": structure})
    assert tried["data"]["dry_run"]["formula"] == "Cu"


def test_refusals_name_the_field(served: Daemon) -> None:
    with pytest.raises(RpcFailure, match="'Xx' is no element"):
        _result(served, "materials.search", {"query": "Xx"})
    with pytest.raises(RpcFailure, match="there is no embedded:nothing"):
        _result(served, "materials.inspect", {"structure": {"material": "embedded:nothing"}})
    with pytest.raises(RpcFailure, match="no provider 'nobody'"):
        _result(served, "materials.inspect", {"structure": {"material": "nobody:1"}})
    with pytest.raises(RpcFailure, match="give what to look for"):
        _result(served, "materials.search", {"limit": 3})


def test_the_key_is_nowhere(served: Daemon) -> None:
    _result(served, "materials.search", {"query": "mp-149", **_PATIENCE})
    config = _result(served, "system.config", {})
    shown = {one["key"]: one for one in config["data"]["entries"]}
    assert shown["materials.mp_api_key"]["value"] == "set"
    assert shown["materials.mp_api_key"]["origin"] == "environment"
    with RawSocket(served.socket, 90.0) as raw:
        raw.send({"jsonrpc": "2.0", "id": 1, "method": "system.config"})
        assert KEY.encode() not in raw.line()
    assert KEY not in served.log_path.read_text(encoding="utf-8")
    assert KEY.encode() not in (served.data / "crystalmath.db").read_bytes()
