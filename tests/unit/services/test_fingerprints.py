"""Findings of examinations on the disk: found again by identity, replaced whole, never guessed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from crystalmath.errors import ConfigError
from crystalmath.services.forces_fingerprints import Fingerprint, Fingerprints
from crystalmath.services.ports_pool import Learnt
from support.forces import fake_engine

FOUND = Fingerprint(
    at="2026-01-02T03:04:05+00:00",
    identity={"engine": "fake"},
    withheld={"stress": "the sign is the opposite one"},
    reference={"structure": {"symbols": ["Cu"]}, "energy_ev": -1.0},
    checks=[{"name": "stress", "verdict": "failed"}],
)


def test_what_was_kept_is_found_by_everything_that_changes_the_numbers(tmp_path: Path) -> None:
    kept = Fingerprints(tmp_path / "new" / "folder")
    wanted = fake_engine(head="a")
    assert kept.find(wanted) is None
    kept.keep(wanted, FOUND)
    assert Fingerprints(tmp_path / "new" / "folder").find(wanted) == FOUND
    assert kept.find(replace(wanted, afresh=True)) == FOUND
    others = [
        fake_engine(head="b"),
        fake_engine(head="a", key="other weights"),
        replace(wanted, device="cuda:0"),
        replace(wanted, dtype="float32"),
        replace(wanted, environment=replace(wanted.environment, id="newer")),
    ]
    assert [kept.find(other) for other in others] == [None] * len(others)


def test_a_worker_is_told_what_was_learnt(tmp_path: Path) -> None:
    kept, wanted = Fingerprints(tmp_path), fake_engine()
    assert kept.learnt(wanted) == Learnt()
    kept.keep(wanted, FOUND)
    learnt = kept.learnt(wanted)
    assert learnt.withheld == FOUND.withheld
    assert learnt.reference is not None
    assert learnt.reference["at"] == FOUND.at
    assert "--renew" in learnt.reference["hint"]
    assert kept.learnt(replace(wanted, afresh=True)) == Learnt()
    kept.keep(wanted, replace(FOUND, reference=None, withheld={}))
    assert kept.learnt(wanted) == Learnt()


def test_a_file_that_cannot_be_read_is_an_error_and_not_a_clean_record(tmp_path: Path) -> None:
    kept, wanted = Fingerprints(tmp_path), fake_engine()
    kept.keep(wanted, FOUND)
    (path,) = tmp_path.iterdir()  # and no temporary file beside it
    text = path.read_text(encoding="utf-8")
    for wrong in (text[:-30], "[]", '{"format": 1}'):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(ConfigError, match="cannot be read") as caught:
            kept.find(wanted)
        assert "--renew" in str(caught.value.hint)
    path.write_text('{"format": 2}', encoding="utf-8")
    assert kept.find(wanted) is None
