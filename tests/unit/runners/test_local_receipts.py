"""The files of ``.cm``: whole claims, held space, and documents that are there or not."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crystalmath.runners.local import receipts


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / ".cm").mkdir()
    return tmp_path


def test_of_many_that_claim_one_gets_it_and_the_others_leave_nothing(job: Path) -> None:
    def take(number: int) -> bool:
        return receipts.claim(job, 1, {"attempt": 1, "pid": number})

    with ThreadPoolExecutor(16) as pool:
        won = [number for number, got in enumerate(pool.map(take, range(64))) if got]
    assert len(won) == 1
    assert receipts.owner_of(job, 1) == {"attempt": 1, "pid": won[0]}
    assert list((job / ".cm").iterdir()) == [job / ".cm" / "claim.1"]


def test_attempts_are_read_from_the_names_alone(job: Path) -> None:
    for name in ("launch.1.json", "launch.12.json", "launch.3.json.ab.tmp", "launch.x.json"):
        (job / ".cm" / name).touch()
    receipts.claim(job, 12, {})
    (job / ".cm" / "draft.13.abcd").mkdir()
    assert receipts.attempts(job) == ({1, 12}, {12})
    assert receipts.attempts(job / "nowhere") == (set(), set())


def test_reserved_space_is_no_receipt_until_it_is_published(job: Path) -> None:
    receipts.claim(job, 2, {})
    reserved = job / ".cm" / "claim.2" / "end.json"
    assert reserved.stat().st_size == receipts.RESERVED_BYTES
    assert receipts.receipt(job, 2, "end.json", unpublished=True) is None
    inode = reserved.stat().st_ino
    receipts.publish(job, 2, "end.json", {"attempt": 2, "rc": 0})
    published = job / ".cm" / "end.json"
    assert (published.stat().st_ino, published.stat().st_size) == (inode, receipts.RESERVED_BYTES)
    assert receipts.receipt(job, 2, "end.json") == {"attempt": 2, "rc": 0}
    assert receipts.receipt(job, 1, "end.json") is None


def test_a_complete_receipt_whose_writer_died_before_the_rename_counts(job: Path) -> None:
    receipts.claim(job, 1, {})
    reserved = job / ".cm" / "claim.1" / "end.json"
    reserved.write_text('{"attempt": 1, "rc": 0')
    assert receipts.receipt(job, 1, "end.json", unpublished=True) is None
    reserved.write_text('{"attempt": 1, "rc": 0}   ')
    assert receipts.receipt(job, 1, "end.json") is None
    assert receipts.receipt(job, 1, "end.json", unpublished=True) == {"attempt": 1, "rc": 0}


@pytest.mark.parametrize("content", [b"", b"   ", b"{", b"[1]", b"\xff\xfe"])
def test_what_is_no_document_reads_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert receipts.load(str(tmp_path / "x")) is None


def test_a_claim_without_space_leaves_no_trace(job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        receipts.claim(job, 1, {})
    with pytest.raises(OSError, match="No space left"):
        receipts.save(str(job / ".cm" / "launch.1.json"), {})
    assert list((job / ".cm").iterdir()) == []
