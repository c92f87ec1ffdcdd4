"""The log: JSON lines, rotation, no secrets, and no failure that stops anything."""

from __future__ import annotations

import json
import logging
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from crystalmath.server.logs import JsonLog, last_lines


def make(path: Path, **options: Any) -> JsonLog:
    options = {"max_bytes": 1000, "files": 3, **options}
    return JsonLog(path / "server.log", "instance-1", **options)


def lines(path: Path) -> list[dict[str, Any]]:
    found = []
    for file in sorted(path.glob("server.log*")):
        found += [json.loads(line) for line in file.read_text("ascii").splitlines()]
    return found


def record(text: str, **extra: Any) -> logging.LogRecord:
    made = logging.LogRecord("a.b", logging.WARNING, "f", 1, text, None, None)
    made.__dict__.update(extra)
    return made


def test_line(tmp_path: Path) -> None:
    log = make(tmp_path)
    log.handle(record("ä\nb\ud800", trace_id="t-1"))
    (line,) = lines(tmp_path)
    assert line["lvl"] == "warning"
    assert line["msg"] == "ä\nb\ud800"
    assert (line["instance"], line["trace_id"]) == ("instance-1", "t-1")
    assert line["ts"].endswith("Z")
    assert stat.S_IMODE((tmp_path / "server.log").stat().st_mode) == 0o600


def test_rotation(tmp_path: Path) -> None:
    log = make(tmp_path)
    for i in range(100):
        log.handle(record(f"line {i} " + "x" * 50))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "server.log", "server.log.1", "server.log.2",
    ]  # fmt: skip
    assert all(p.stat().st_size <= 1000 for p in tmp_path.iterdir())
    assert log.problems == 0
    newest = json.loads(last_lines(tmp_path / "server.log", 1)[0])
    assert newest["msg"].startswith("line 99")


def test_many_threads(tmp_path: Path) -> None:
    log = make(tmp_path, max_bytes=20_000, files=50)

    def work(number: int) -> None:
        for i in range(50):
            log.handle(record(f"{number} {i}"))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({line["msg"] for line in lines(tmp_path)}) == 400


def test_secrets(tmp_path: Path) -> None:
    log = make(tmp_path, max_bytes=100_000, secrets=["planted-key", ""])
    for text in (
        "planted-key", "api_key=abc123", "API-KEY: 'abc123'", '{"password": "abc123"}',
        "token = abc123", "Authorization: Bearer abc123",
    ):  # fmt: skip
        log.handle(record(text))
    text = (tmp_path / "server.log").read_text("ascii")
    assert "planted-key" not in text
    assert "abc123" not in text
    assert len(lines(tmp_path)) == 6


def test_unwritable_log_counts_and_goes_on(tmp_path: Path) -> None:
    log = make(tmp_path / "missing")
    for _ in range(3):
        log.handle(record("lost"))
    assert log.problems >= 3
    (tmp_path / "missing").mkdir()
    log.reopen()
    log.handle(record("found"))
    assert [line["msg"] for line in lines(tmp_path / "missing")] == ["found"]


def test_full_disk(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    log = make(tmp_path)
    (tmp_path / "server.log").unlink()
    import os

    full = os.open("/dev/full", os.O_WRONLY)
    log._fd = full
    log.handle(record("lost"))
    assert log.problems == 1
    log.reopen()
    log.handle(record("found"))
    assert [line["msg"] for line in lines(tmp_path)] == ["found"]


def test_reopen_follows_a_moved_file(tmp_path: Path) -> None:
    log = make(tmp_path)
    log.handle(record("one"))
    (tmp_path / "server.log").rename(tmp_path / "away")
    log.handle(record("two"))
    log.reopen()
    log.handle(record("three"))
    assert [line["msg"] for line in lines(tmp_path)] == ["three"]


def test_last_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    assert last_lines(path, 3) == []
    path.write_text("\n".join(str(i) for i in range(100_000)), encoding="ascii")
    assert last_lines(path, 2) == ["99998", "99999"]
