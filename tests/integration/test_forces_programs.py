"""The programs beside the daemon's workers: doctor, i-PI servers, workers of a script's own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ase.build import bulk
from ase.calculators.emt import EMT
from ase.calculators.socketio import SocketIOCalculator
from ase.io import write

from crystalmath import calculator
from crystalmath.errors import EngineNotInstalled, InputRejected, NotFound
from support.daemon import PRODUCTION, Daemon, wait_until

LONG_S = 120.0


@pytest.fixture
def started(make_daemon: Any) -> Daemon:
    daemon: Daemon = make_daemon(program=PRODUCTION)
    daemon.start()
    return daemon


def test_a_foreign_server_drives_a_worker(started: Daemon, tmp_path: Path) -> None:
    """ASE as the i-PI server: positions, cell, stress; then it leaves."""
    atoms = bulk("Cu", a=3.6, cubic=True)
    atoms.rattle(0.05, seed=1)
    write(tmp_path / "cu.extxyz", atoms)
    mine = atoms.copy()
    mine.calc = EMT()
    name = f"cm{tmp_path.parent.name[-4:]}{id(started) % 10_000}"
    rows: list[dict[str, Any]] = []

    def serve() -> None:
        params = {
            "engine": "emt",
            "address": f"unix:{name}",
            "template": str(tmp_path / "cu.extxyz"),
        }
        rows.append(started.call("forces.serve", params)["worker"])

    thread = threading.Thread(target=serve)
    with SocketIOCalculator(unixsocket=name, timeout=LONG_S) as server:
        thread.start()
        atoms.calc = server
        for _ in range(2):
            for one in (atoms, mine):
                one.set_cell(one.cell * 1.01, scale_atoms=True)
            assert atoms.get_potential_energy() == pytest.approx(
                mine.get_potential_energy(), rel=1e-6
            )
            assert np.allclose(atoms.get_forces(), mine.get_forces(), atol=1e-6)
            assert np.allclose(atoms.get_stress(), mine.get_stress(), atol=1e-6)
        (row,) = started.call("forces.workers")
        assert row["serves"] == f"unix:{name}"
    thread.join()
    worker = rows[0]["id"]
    gone = {"worker": worker}
    wait_until(
        lambda: started.call("forces.workers", gone)[0]["state"] == "stopped", "it ends", LONG_S
    )


def test_a_server_that_is_not_there_is_told(started: Daemon, tmp_path: Path) -> None:
    write(tmp_path / "cu.extxyz", bulk("Cu", a=3.6))
    params = {"engine": "emt", "address": "nonsense", "template": str(tmp_path / "cu.extxyz")}
    worker = started.call("forces.serve", params)["worker"]["id"]
    wait_until(
        lambda: started.call("forces.workers", {"worker": worker})[0]["state"] == "crashed",
        "it gives up",
        LONG_S,
    )
    (row,) = started.call("forces.workers", {"worker": worker})
    assert "no address of an i-PI server" in row["last_error"]["message"]


def test_a_worker_of_a_script_s_own_needs_no_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    atoms = bulk("Cu", a=3.6, cubic=True)
    mine = atoms.copy()
    mine.calc = EMT()
    with calculator("emt", via="direct", data_dir=tmp_path / "data") as calc:
        atoms.calc = calc
        assert atoms.get_potential_energy() == mine.get_potential_energy()
        assert np.array_equal(atoms.get_stress(), mine.get_stress())
        assert calc.parameters == {"engine": "emt", "device": "cpu", "via": "direct"}
        assert calc.identity[0]["environment"] == "host"


def test_what_cannot_be_made_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with pytest.raises(NotFound, match="nope"):
        calculator("nope", via="direct", data_dir=tmp_path)
    with pytest.raises(InputRejected) as caught:
        calculator("emt", via="pigeon")  # type: ignore[arg-type]
    assert caught.value.field == "via"
    with pytest.raises(InputRejected) as caught:
        calculator("mace+dftd3", method="pbe")
    assert caught.value.field == "options.method"
    engines = tmp_path / "config" / "crystalmath" / "engines"
    engines.mkdir(parents=True)
    (engines / "far.py").write_text(
        '# /// script\n# requires-python = ">=3.11"\n# dependencies = ["nothing-like-it==1.0"]\n'
        '# [tool.crystalmath]\n# kind = "engine"\n# ///\nMODELS = {"m": {"source": "package", '
        '"properties": ["energy"]}}\n\n\ndef setup(model):\n    return None\n',
        encoding="utf-8",
    )
    with pytest.raises(EngineNotInstalled) as missing:
        calculator("far", via="direct", data_dir=tmp_path)
    assert "crystalmath engines install far" in str(missing.value.hint)
