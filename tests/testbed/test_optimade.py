"""Searches at the reference OPTIMADE server, with our entries in it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from support.daemon import wait_until
from support.material_bench import SearchBench
from support.optimade_entries import MANY, write_jsonl

pytestmark = pytest.mark.testbed

HANG_S = 120.0


@pytest.fixture(scope="module")
def reference(
    set_up: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Base URL of the server."""
    printed = set_up("optimade-up")
    program = re.search(r"(\S+/uvicorn)$", printed.strip())
    assert program is not None, printed
    folder = tmp_path_factory.mktemp("optimade")
    write_jsonl(folder / "entries.jsonl")
    (folder / "config.json").write_text("{}", encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = os.environ | {
        "OPTIMADE_CONFIG_FILE": str(folder / "config.json"),
        "OPTIMADE_DATABASE_BACKEND": "mongomock",
        "OPTIMADE_INSERT_TEST_DATA": "false",
        "OPTIMADE_INSERT_FROM_JSONL": str(folder / "entries.jsonl"),
    }
    words = [program[1], "optimade.server.main:app", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(words, env=env, cwd=folder, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        assert server.poll() is None, (folder / "log").read_text(encoding="utf-8")
        try:
            return httpx.get(f"{url}/v1/info", timeout=5, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    try:
        wait_until(answers, "the reference server", HANG_S, every_s=0.2)
        yield url
    finally:
        server.terminate()
        server.wait(HANG_S)


@pytest.fixture
def bench(reference: str, tmp_path: Path) -> SearchBench:
    return SearchBench(tmp_path, optimade={"reference": reference})


def found(bench: SearchBench, query: str | None = None, **fields: object) -> list[str]:
    rows, meta = bench.search(query, providers=["reference"], **fields)
    [answer] = meta.providers
    assert answer.status == "ok", answer
    return sorted(row.id for row in rows)


def test_every_form_of_a_query_finds_what_is_there(bench: SearchBench) -> None:
    assert found(bench, "MgO") == ["1000053"]
    assert found(bench, "TiO2") == ["2000001"]
    assert found(bench, "Ti-O") == ["2000001"]
    assert found(bench, "reference:2000001") == ["2000001"]
    assert found(bench, elements_all=["O"], elements_none=["Ca", "Sr", "Ti"]) == ["1000053"]
    assert found(bench, elements_any=["Mg", "Ti"], n_atoms_max=5) == ["1000053"]


def test_pages_are_followed_to_the_last(bench: SearchBench) -> None:
    rows, meta = bench.search("OSr", providers=["reference"], limit=1000)
    [answer] = meta.providers
    assert (answer.n_found, answer.more) == (MANY, False)
    assert {one for row in rows for one in row.ids} == {f"reference:sro-{n}" for n in range(MANY)}


def test_a_structure_comes_whole_and_a_disordered_one_is_told(bench: SearchBench) -> None:
    rows, _ = bench.search("Fe-Ni", providers=["reference"])
    assert [(row.generatable, bool(row.reason)) for row in rows] == [(False, True)]
    detail = bench.get("reference", "1000053")
    assert detail.structure.symbols == ["Mg", "O"]
