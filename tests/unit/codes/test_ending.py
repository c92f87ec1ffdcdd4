"""The rules that judge an ended program: each reason only on evidence, each with a hint."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from crystalmath.codes.ending import judge_end, signal_name
from crystalmath.codes.tail import last_line, read_tail
from crystalmath.domain.states import REASONS
from crystalmath.services.ports import EndReceipt, Verdict


def _end(
    rc: int | None = None,
    signal_number: int | None = None,
    cause: str = "exit",
    failure: str | None = None,
    **more: object,
) -> EndReceipt:
    return EndReceipt(1, rc, signal_number, cause, failure, 100.0, 160.0, **more)  # type: ignore[arg-type]


def _judge(folder: Path, end: EndReceipt | None, stderr: str = "") -> Verdict | None:
    (folder / "stderr.log").write_text(stderr, encoding="utf-8")
    verdict = judge_end(folder, end)
    if verdict is not None:
        assert not verdict.completed
        assert verdict.reason in REASONS
        assert verdict.message
        assert verdict.hint
    return verdict


def test_exit_code_0_is_left_to_the_code(tmp_path: Path) -> None:
    assert _judge(tmp_path, _end(0), "MemoryError handled\n") is None
    assert _judge(tmp_path, _end(0, disk_full=True)) is None


_CASES = [
    (_end(1), "Traceback\nValueError: no k points\n", "crashed", "exit code 1: ValueError: no k"),
    (_end(2), "", "crashed", "exit code 2, without a word"),
    (_end(None, 11), "", "crashed", "SIGSEGV"),
    (_end(None, 9), "", "crashed", "SIGKILL"),
    (_end(None, 40), "", "crashed", "40"),
    (_end(137), "run.sh: line 3: 77 Killed  ./x\n", "crashed", "SIGKILL (exit code 137)"),
    (_end(139), "", "crashed", "SIGSEGV (exit code 139)"),
    (_end(200), "x\n", "crashed", "exit code 200: x"),
    (_end(None, 9, max_rss_kib=2 * 1024**2), "", "crashed", "2.00 GiB"),
    (_end(1), "  File x\nMemoryError\n", "out_of_memory", "MemoryError"),
    (_end(None, 6), "what():  std::bad_alloc\n", "out_of_memory", "bad_alloc"),
    (_end(None, 9), "slurmstepd: error: Detected 1 oom_kill event\n", "out_of_memory", "oom_kill"),
    (_end(1), "cp: write error: No space left on device\n", "disk_full", "No space left"),
    (_end(1, disk_full=True), "", "disk_full", "disk"),
    (_end(0, disk_full=True), "echo: No space left on device\n", "disk_full", "No space left"),
    (_end(None, 25), "", "disk_full", "disk"),
    (_end(127), "run.sh: line 2: vasp: command not found\n", "did_not_start", "command not found"),
    (_end(126), "sh: ./x: Permission denied\n", "did_not_start", "Permission denied"),
    (_end(127), "my own words\n", "crashed", "exit code 127: my own words"),
    (_end(143, cause="walltime"), "", "walltime", "0:01:00"),
    (_end(None, 9, cause="walltime"), "MemoryError\n", "walltime", "time limit"),
    (_end(None, 15), "", "crashed", "SIGTERM"),
    (None, "", "crashed", "nothing is left"),
]


@pytest.mark.parametrize(("end", "stderr", "reason", "words"), _CASES)
def test_reasons(
    tmp_path: Path, end: EndReceipt | None, stderr: str, reason: str, words: str
) -> None:
    verdict = _judge(tmp_path, end, stderr)
    assert verdict is not None
    assert verdict.reason == reason
    assert words in (verdict.message or "")


@pytest.mark.parametrize(
    ("failure", "hint"),
    [
        ("No such file or directory: pw.x", "installed"),
        ("Permission denied: run.sh", "chmod +x"),
        ("Exec format error", "#!/bin/sh"),
        ("Argument list too long", "in a file"),
        (None, "arguments"),
    ],
)
def test_not_started(tmp_path: Path, failure: str | None, hint: str) -> None:
    verdict = _judge(tmp_path, _end(None, cause="not_started", failure=failure))
    assert verdict is not None
    assert verdict.reason == "did_not_start"
    assert hint in (verdict.hint or "")
    assert failure is None or failure in (verdict.message or "")


def test_the_last_words_may_be_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "stdout.log").write_text("step 1\nSCF failed\n\n")
    verdict = judge_end(tmp_path, _end(3))
    assert verdict is not None
    assert verdict.message == "exit code 3: SCF failed"


@pytest.mark.parametrize(
    "script",
    ["no-such-program-here", "./data.txt", "/", "kill -SEGV $$", "sh -c 'kill -KILL $$'; exit $?"],
)
def test_what_a_real_shell_says(tmp_path: Path, script: str) -> None:
    (tmp_path / "data.txt").write_text("x")
    with (tmp_path / "stderr.log").open("w") as stream:
        done = subprocess.run(["sh", "-c", script], cwd=tmp_path, stderr=stream, check=False)
    end = _end(done.returncode) if done.returncode >= 0 else _end(None, -done.returncode)
    verdict = judge_end(tmp_path, end)
    assert verdict is not None
    wanted = "crashed" if "kill" in script else "did_not_start"
    assert verdict.reason == wanted


def test_tail_takes_only_regular_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "link", "folder", "missing"):
        assert read_tail(tmp_path / name) == ""
    (tmp_path / "file").write_bytes(b"0123456789\xff")
    assert read_tail(tmp_path / "file", 4) == "789\ufffd"


def test_last_line_is_clean_and_short() -> None:
    assert last_line("a\n\x1b[31mred\x1b[0m \x07\n \n") == "red"
    assert last_line("progress 1\rprogress 2\r\n") == "progress 2"
    assert len(last_line("x" * 1000)) == 300
    assert last_line("") == ""


def test_signal_names() -> None:
    assert signal_name(signal.SIGBUS) == "SIGBUS"
    assert signal_name(99) == "signal 99"
