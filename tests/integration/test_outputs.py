"""Large outputs with the real daemon: a worker process reads them, and the daemon goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crystalmath.codes.large import SMALL_BYTES
from support.crystal import scf_output
from support.daemon import PRODUCTION, Daemon, RawSocket, RpcFailure, wait_until

ROW = "    1   4  0.000  0.000  0.000  1.000  0.000  0.000\n"
PATIENCE_S = 90.0


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    made = Daemon(program=PRODUCTION, env={"CRYSTALMATH_START_TIMEOUT": "60"})
    try:
        made.start()
        yield made
    finally:
        made.cleanup()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output of some megabytes."""
    path = tmp_path_factory.mktemp("outputs") / "mgo.out"
    rows = ROW * (8 * 1024**2 // len(ROW))
    path.write_text(scf_output().replace(" CYC   1", rows + " CYC   1", 1))
    assert path.stat().st_size > SMALL_BYTES
    return path


def call(served: Daemon, method: str, params: dict[str, Any]) -> Any:
    with RawSocket(served.socket, PATIENCE_S) as raw:
        return raw.data(method, params)


def test_a_large_output_is_read_while_others_are_answered(served: Daemon, large: Path) -> None:
    found: list[Any] = []
    reading = threading.Thread(
        target=lambda: found.append(call(served, "codes.read_output", {"path": str(large)}))
    )
    reading.start()
    answered = 0
    with RawSocket(served.socket, PATIENCE_S) as raw:
        while reading.is_alive():
            raw.data("system.ping", {})
            answered += 1
    reading.join()
    assert answered > 0
    (read,) = found
    assert read["completed"]
    assert read["results"]["final_energy_hartree"] == -271.21814374931


def test_a_large_calculation_is_taken_in_and_judged(served: Daemon, large: Path) -> None:
    job = call(served, "jobs.import_results", {"path": str(large)})["job"]["id"]

    def ended() -> bool:
        return bool(call(served, "jobs.get", {"id": job})["state"] in ("COMPLETED", "FAILED"))

    wait_until(ended, "the job is judged", PATIENCE_S)
    full = call(served, "jobs.get", {"id": job})
    assert full["state"] == "COMPLETED", full["message"]
    assert full["results"]["final_energy_hartree"] == -271.21814374931
    curves = call(served, "jobs.series", {"id": job})["series"]
    assert len(curves["scf_energy"]["x"]) == 2


def test_what_is_no_output_is_refused(served: Daemon, tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_text(ROW * 10_000)
    with pytest.raises(RpcFailure, match="is no output"):
        call(served, "codes.read_output", {"path": str(path)})
