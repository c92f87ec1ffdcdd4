"""``forces.doctor`` of the real daemon: findings are kept, and act on every later worker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ase.build import bulk
from ase.calculators.calculator import PropertyNotImplementedError

from crystalmath import calculator
from crystalmath.errors import EngineChanged
from support.daemon import PRODUCTION, ROOT, Daemon, RawSocket, RpcFailure, wait_until

STRUCTURE = {"path": str(ROOT / "examples" / "copper.cif")}
MOVED = {
    "symbols": ["Cu"],
    "positions_angstrom": [[0.0, 0.0, 0.0]],
    "cell_angstrom": [[0.0, 1.8, 1.8], [1.8, 0.0, 1.8], [1.8, 1.8, 0.0]],
}


@pytest.fixture
def started(make_daemon: Any, monkeypatch: pytest.MonkeyPatch) -> Daemon:
    """The daemon of this process, with the engine ``wrong`` of a user."""
    daemon: Daemon = make_daemon(program=PRODUCTION)
    engines = daemon.config / "crystalmath" / "engines"
    engines.mkdir(parents=True)
    for name in ("wrong", "dying"):
        text = (ROOT / f"tests/support/engines/{name}.py").read_text(encoding="utf-8")
        (engines / f"{name}.py").write_text(text, encoding="utf-8")
    daemon.start()
    for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CRYSTALMATH_SERVER",
                 "CRYSTALMATH_DATA_DIR", "HOME"):  # fmt: skip
        monkeypatch.setenv(name, daemon.env[name])
    monkeypatch.delenv("CRYSTALMATH_SOCKET", raising=False)
    return daemon


def doctor(daemon: Daemon, engine: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = daemon.call("forces.doctor", {"engine": engine, **more})
    return found


def fingerprints(daemon: Daemon) -> list[dict[str, Any]]:
    paths = (daemon.data / "forces" / "fingerprints").glob("*.json")
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def failed(found: dict[str, Any]) -> set[str]:
    return {check["name"] for check in found["checks"] if check["verdict"] == "failed"}


def test_an_engine_that_is_right_is_found_right_and_remembered(started: Daemon) -> None:
    found = doctor(started, "emt")
    assert found["ok"], failed(found)
    names = [check["name"] for check in found["checks"]]
    assert names[:2] == ["environment", "load"]
    assert {"forces", "stress", "rotation", "supercell", "batch", "nan input"} <= set(names)
    for check in found["checks"]:
        if check["tolerance"] is not None:
            assert check["value"] <= check["tolerance"], check
    assert found["withheld"] == {}
    assert set(found["usable"]) >= {"energy", "forces", "stress"}
    (kept,) = fingerprints(started)
    assert kept["identity"]["engine"] == "emt"
    assert kept["reference"]["structure"]["symbols"] == ["Cu"] * 4
    again = doctor(started, "emt")
    (compared,) = [check for check in again["checks"] if check["name"] == "fingerprint"]
    assert (compared["verdict"], compared["value"]) == ("passed", 0.0)


def test_a_wrong_stress_is_switched_off_until_it_is_right(started: Daemon, tmp_path: Path) -> None:
    options = {"mistake": "stress sign"}
    ask = {"engine": "wrong", "options": options, "structures": [MOVED]}
    assert started.call("forces.evaluate", {**ask, "properties": ["stress"]})["failed"] == 0
    found = doctor(started, "wrong", options=options)
    assert failed(found) == {"stress"}
    assert not found["ok"]
    assert "stress" not in found["usable"]
    assert "the sign is the opposite one" in found["withheld"]["stress"]
    # The worker that gave it is replaced; energy and forces go on.
    with pytest.raises(RpcFailure, match="the sign is the opposite one") as caught:
        started.call("forces.evaluate", {**ask, "properties": ["stress"]})
    assert caught.value.data["field"] == "properties"
    assert started.call("forces.evaluate", ask)["failed"] == 0
    atoms = bulk("Cu")
    for via in ("daemon", "direct"):
        with calculator("wrong", via=via, **options) as calc:  # type: ignore[arg-type]
            atoms.calc = calc
            atoms.get_potential_energy()
            with pytest.raises(PropertyNotImplementedError, match="the sign is the opposite one"):
                atoms.get_stress()
    # A second look examines the engine as it is, so that it can be switched on again.
    assert failed(doctor(started, "wrong", options=options)) == {"stress"}
    (kept,) = (started.data / "forces" / "fingerprints").glob("*.json")
    assert len(fingerprints(started)) == 1
    path = started.config / "crystalmath" / "engines" / "wrong.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("atoms: -stress,", "atoms: stress,"), "utf-8")
    mended = doctor(started, "wrong", options=options)
    assert mended["ok"], failed(mended)
    assert mended["withheld"] == {}
    assert kept.is_file()
    assert started.call("forces.evaluate", {**ask, "properties": ["stress"]})["failed"] == 0


def test_where_only_slabs_have_a_wrong_stress_crystals_keep_theirs(started: Daemon) -> None:
    options = {"mistake": "stress of slabs"}
    found = doctor(started, "wrong", options=options)
    assert failed(found) == {"stress"}
    assert list(found["withheld"]) == ["partial_stress"]
    assert "stress" in found["usable"]
    crystal, slab = bulk("Cu"), bulk("Cu")
    slab.pbc = [True, True, False]
    for via in ("daemon", "direct"):
        with calculator("wrong", via=via, **options) as calc:  # type: ignore[arg-type]
            assert calc.get_stress(crystal).any()
            assert calc.get_potential_energy(slab) != 0  # although a stress was asked for before
            with pytest.raises(PropertyNotImplementedError, match="of slabs and wires"):
                calc.get_stress(slab)
            refused = calc.evaluate([crystal, slab], ["stress"], errors="return")
            assert refused[0]["stress"].any()
            assert "of slabs and wires" in str(refused[1])
    again = doctor(started, "wrong", options=options)
    assert list(again["withheld"]) == ["partial_stress"]


def test_other_numbers_than_before_are_an_error_at_the_next_start(
    started: Daemon, tmp_path: Path
) -> None:
    marker = tmp_path / "changed"
    options = {"marker": str(marker)}
    ask = {"engine": "wrong", "options": options, "structures": [MOVED]}
    assert doctor(started, "wrong", options=options)["ok"]
    (worker,) = started.call("forces.workers")
    marker.touch()
    assert started.call("forces.evaluate", ask)["failed"] == 0  # one that runs is not looked at
    started.call("forces.stop", {"worker": worker["id"]})
    gone = {"worker": worker["id"]}
    wait_until(
        lambda: started.call("forces.workers", gone)[0]["state"] == "stopped", "it has ended"
    )
    for _ in range(4):  # nothing that crashed: it is not paused for it
        with pytest.raises(RpcFailure, match=r"its energy is off by 0\.001 eV") as caught:
            started.call("forces.evaluate", ask)
        assert caught.value.data["kind"] == "engine_changed"
        assert "--renew" in caught.value.data["hint"]
    with (
        calculator("wrong", via="direct", **options) as calc,
        pytest.raises(EngineChanged, match=r"off by 0\.001 eV"),
    ):
        calc.get_potential_energy(bulk("Cu"))
    refused = doctor(started, "wrong", options=options)
    assert failed(refused) == {"load"}
    assert doctor(started, "wrong", options=options, renew=True)["ok"]
    assert started.call("forces.evaluate", ask)["failed"] == 0


def test_a_worker_that_dies_is_a_finding(started: Daemon) -> None:
    found = doctor(started, "dying", options={"after": 30})
    assert "worker" in failed(found)
    (check,) = [c for c in found["checks"] if c["name"] == "worker"]
    assert "died" in check["detail"]
    with pytest.raises(RpcFailure) as caught:
        doctor(started, "nope")
    assert caught.value.data["kind"] == "not_found"


def test_the_engines_list_says_what_is_switched_off(started: Daemon) -> None:
    path = started.config / "crystalmath" / "engines" / "wrong.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('mistake="none"', 'mistake="stress zero"'), encoding="utf-8")
    doctor(started, "wrong")
    (row,) = [row for row in started.call("forces.engines") if row["name"] == "wrong"]
    assert any("stress is switched off" in warning for warning in row["warnings"])


def installed(daemon: Daemon, engine: str) -> str:
    """Install an engine; return what is said at the end."""
    task = daemon.call("forces.install", {"engine": engine})["task"]["id"]

    def ended() -> dict[str, Any] | None:
        with RawSocket(daemon.socket) as raw:
            rows = raw.call("forces.environments")["meta"]["installs"]
        return next((t for t in rows if t["id"] == task and t["finished_at"]), None)

    wait_until(lambda: ended() is not None, "the installation ends", 60)
    found = ended()
    assert found is not None
    assert found["state"] == "done", found
    return str(found["text"])


def test_an_installation_ends_with_an_examination(started: Daemon) -> None:
    path = started.config / "crystalmath" / "engines" / "wrong.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('mistake="none"', 'mistake="stress zero"'), encoding="utf-8")
    assert "stress is switched off: the stress is not" in installed(started, "wrong")
    first = fingerprints(started)
    assert "stress is switched off: the stress is not" in installed(started, "wrong")
    assert fingerprints(started) == first  # once is enough
    assert installed(started, "emt") == "installed"
    assert len(fingerprints(started)) == 2
