"""The page of what was measured over i-PI: as recorded, of every program said to run."""

from __future__ import annotations

import json
from typing import Any

import pytest

import conformance
from crystalmath.forces.ipi.quirks import PROGRAMS
from support.ipi import RECORD

ROWS = json.loads(conformance.RECORD.read_text(encoding="utf-8"))


def test_the_page_is_as_recorded() -> None:
    page = conformance.PAGE.read_text(encoding="utf-8")
    assert conformance.fill_in(page, conformance.tables(ROWS)) == page


def test_every_program_that_is_said_to_run_was_run() -> None:
    driven = {name for name, record in PROGRAMS.items() if record.evidence == "run"}
    assert set(ROWS) == driven | {"ase-server", "i-pi-server"}
    for name in driven:
        assert set(ROWS[name]) == {"version", *conformance.COLUMNS}
        assert ROWS[name]["transport"] == "inet, unix"
        assert ROWS[name]["version"].replace(" ", "").startswith(PROGRAMS[name].versions)


@pytest.mark.parametrize("name", ROWS)
def test_what_was_measured_is_within_the_bounds(name: str) -> None:
    row = ROWS[name]
    assert float(row["energy"]) < 1e-6
    assert float(row["forces"]) < 1e-4
    assert float(row["stress"]) < 5e-6
    assert float(row.get("strain", "0")) < 1e-6
    assert row["relax"].startswith("10 steps")


def test_the_records_are_what_was_heard() -> None:
    asked = {"never": "never", "once": "once", "every_step": "before every structure"}
    for name, record in PROGRAMS.items():
        if name in ROWS:
            assert ROWS[name]["init"] == asked[record.needs_init]
            assert (ROWS[name]["consolidated"] == "bit-equal") is record.consolidated


def test_measurements_are_merged_by_the_largest() -> None:
    told: list[dict[str, Any]] = [
        {"program": "pw", "version": "7", "checks": {"energy": "2e-09", "transport": "unix"}},
        {"program": "pw", "version": "7", "checks": {"energy": "1e-08", "transport": "inet"}},
        {"program": "pw", "version": "7", "checks": {"energy": "9e-09", "exit_code": 0}},
    ]
    merged = conformance.merge(told)
    row = {"version": "7", "energy": "1e-08", "transport": "inet, unix", "exit_code": "0"}
    assert merged == {"pw": row}
    with pytest.raises(SystemExit, match="two versions of pw"):
        conformance.merge([*told, {"program": "pw", "version": "8", "checks": {}}])


def test_the_tests_write_where_the_script_reads() -> None:
    assert RECORD == conformance.RECORD_TO


def test_a_page_without_its_places_is_refused() -> None:
    with pytest.raises(SystemExit, match="one place for measured"):
        conformance.fill_in("# nothing\n", {"measured": "| x |"})
