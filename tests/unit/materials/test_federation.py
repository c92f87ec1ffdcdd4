"""Several providers together: who is asked, what is joined, what is kept, what is said offline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from crystalmath.contract.material_search import SearchParams
from crystalmath.errors import Cancelled, InvalidParams, MaterialsError
from crystalmath.materials import embedded, http
from crystalmath.services.material_asking import FRESH_S
from support.material_bench import KEY, SearchBench
from support.optimade_server import OptimadeServer
from support.service_fakes import FakeCall

Bench = Callable[..., SearchBench]


def test_the_same_crystal_of_two_providers_is_one_row(
    bench: Bench, database: OptimadeServer
) -> None:
    """The primitive cell of one, the conventional one of the other; the shipped one is larger."""
    made = bench(optimade={"a": database.url("good"), "b": database.url("foreign")})
    magnesia = embedded.one("periclase-MgO")["structure"]
    scale = 4.212 / 4.217
    own = {
        **magnesia,
        "lattice": [[x * scale for x in row] for row in magnesia["lattice"]],
        "positions": [[x * scale for x in row] for row in magnesia["positions"]],
    }
    kept = made.keep("mine", own)
    rows, meta = made.search("MgO", n_atoms_max=8)
    usable = [row for row in rows if row.generatable]
    assert [row.material for row in usable] == ["embedded:periclase-MgO"]
    assert usable[0].ids == ["embedded:periclase-MgO", kept, "a:1000053", "b:1000053"]
    assert {one.name: one.n_found for one in meta.providers}["a"] == 3


def test_different_volumes_stay_apart(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"a": database.url("good"), "b": database.url("good")})
    rows, _ = made.search("CaO", providers=["optimade"])
    assert len(rows) == 7
    assert all(len(row.ids) == 2 for row in rows)


def test_who_is_asked(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"a": database.url("good"), "off": ""})
    assert list(made.status("MgO")) == ["embedded", "project", "materials_project", "a"]
    assert list(made.status("MgO", providers=["a", "embedded"])) == ["embedded", "a"]
    assert list(made.status("embedded:delta-Si")) == ["embedded"]
    assert list(made.status("mp-2657")) == ["materials_project"]
    with pytest.raises(InvalidParams, match="no provider 'x'") as caught:
        made.search("MgO", providers=["x"])
    assert caught.value.field == "providers"
    with pytest.raises(InvalidParams, match="no OPTIMADE database"):
        bench().search("MgO", providers=["optimade"])
    rows = {row.name: row for row in made.service.providers().data}
    assert rows["a"].network
    assert rows["a"].usable
    assert rows["materials_project"].reason == "the Materials Project needs a key"


def test_what_cannot_be_meant_is_refused_by_field(bench: Bench) -> None:
    made = bench()
    for fields, field in (
        ({"query": "Xx"}, "query"),
        ({"formula": "(Mg,Fe)O"}, "formula"),
        ({"chemsys": "Ti-Xx"}, "chemsys"),
        ({"elements_all": ["Mg", "Q"]}, "elements_all"),
        ({"query": "MgO", "formula": "CaO"}, "formula"),
        ({"query": "embedded:delta-Si", "spacegroup": 1}, "query"),
        ({"text": " "}, "text"),
        ({"query": ""}, "query"),
    ):
        with pytest.raises(InvalidParams) as caught:
            made.search(**fields)
        assert caught.value.field == field, fields


def test_an_answer_is_kept_for_a_day_and_then_for_bad_times(
    bench: Bench, database: OptimadeServer
) -> None:
    made = bench(optimade={"base": database.url("good")})
    first, _ = made.search("TiO2", providers=["base"])
    asked = database.asked_of("good")
    made.now += FRESH_S / 2
    again, meta = made.search("TiO2", providers=["base"])
    assert database.asked_of("good") == asked
    assert meta.providers[0].cached_at.timestamp() == 1_000_000
    assert [row.material for row in again] == [row.material for row in first]
    assert again[0].retrieved_at == first[0].retrieved_at
    made.search("TiO2", providers=["base"], refresh=True)
    assert database.asked_of("good") == asked + 1
    made.now += FRESH_S + 1
    made.search("TiO2", providers=["base"])
    assert database.asked_of("good") == asked + 2


def test_without_a_network_what_is_kept_serves(
    bench: Bench, database: OptimadeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench(optimade={"base": database.url("good")}, key=KEY)
    made.search("TiO2", providers=["base"])
    made.now += 2 * FRESH_S
    asked = database.asked_of("good")
    monkeypatch.setattr(http, "is_offline", lambda _: True)
    rows, meta = made.search("TiO2")
    assert database.asked_of("good") == asked
    status = {one.name: one.status for one in meta.providers}
    assert status == {
        "embedded": "ok",
        "project": "ok",
        "materials_project": "offline",
        "base": "offline",
    }
    assert "base:2000001" in [material for row in rows for material in row.ids]
    assert made.service.document("base:2000001")["symbols"] == ["Ti", "Ti", "O", "O", "O", "O"]
    with pytest.raises(MaterialsError, match="offline"):
        made.service.document("base:1000053")


def test_a_machine_that_is_set_offline_asks_nobody(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"base": database.url("good")}, key=KEY, offline=True)
    asked = database.asked_of("good")
    began = time.monotonic()
    status = made.status("MgO")
    assert time.monotonic() - began < 10
    assert (status["embedded"], status["base"]) == ("ok", "offline")
    assert database.asked_of("good") == asked
    assert made.service.document("embedded:periclase-MgO")["formula"] == "MgO"


def test_routes_tell_whether_there_is_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    four, six = tmp_path / "route", tmp_path / "ipv6_route"
    head = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
    local = "eth0 0000FEA9 00000000 0001 0 0 0 0000FFFF 0 0 0\n"
    default = "eth0 00000000 0102A8C0 0003 0 0 0 00000000 0 0 0\n"
    none6 = f"{'0' * 32} 00 {'0' * 32} 00 {'0' * 32} ffffffff 1 0 00200200 lo\n"
    monkeypatch.setattr(http, "_ROUTES", (four, six))
    assert not http.is_offline("example.org")  # a system that does not tell
    four.write_text(head + local)
    six.write_text(none6)
    assert http.is_offline("example.org")
    assert not http.is_offline("127.0.0.1")
    assert not http.is_offline("localhost")
    four.write_text(head + local + default)
    assert not http.is_offline("example.org")
    four.write_text(head)
    six.write_text(none6.replace(" lo", " eth0"))
    assert not http.is_offline("example.org")
    six.write_text("")
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    assert not http.is_offline("example.org")


class _Leaving(FakeCall):
    """A call whose client goes away."""

    def __init__(self) -> None:
        self.gone = False
        self.close: Callable[[], None] = lambda: None

    def check(self) -> None:
        if self.gone:
            raise Cancelled("the client is gone")

    def on_cancel(self, close: Callable[[], None]) -> None:
        self.close = close

    def leave(self) -> None:
        self.gone = True
        self.close()


def test_a_search_that_is_cancelled_ends_at_once(bench: Bench, database: OptimadeServer) -> None:
    made = bench(optimade={"slow": database.url("slow")})
    call = _Leaving()
    timer = threading.Timer(0.1, call.leave)
    timer.start()
    began = time.monotonic()
    params = SearchParams(query="MgO", providers=["slow"], timeout_s=30.0)
    with pytest.raises(Cancelled):
        made.service.search(params, call)  # type: ignore[arg-type]
    assert time.monotonic() - began < 10
    timer.join()
