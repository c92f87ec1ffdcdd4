"""What ``/proc`` says, against real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crystalmath.runners.local import procfs

pytestmark = pytest.mark.skipif(not procfs.available(), reason="needs Linux /proc")


@contextmanager
def child(code: str = "", env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python program that says when it is ready, then waits to be killed."""
    text = f"import signal, sys\n{code}\nprint('ready', flush=True)\nsignal.pause()"
    with subprocess.Popen(
        [sys.executable, "-c", text],
        stdout=subprocess.PIPE,
        env={**os.environ, **(env or {})},
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_process_is_known_by_pid_and_start() -> None:
    with child() as process:
        start = procfs.start_ticks(process.pid)
        assert start is not None
        assert procfs.alive(process.pid, start)
        assert not procfs.alive(process.pid, start - 1)
        process.kill()
        # Dead but not reaped: a zombie.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert procfs.start_ticks(process.pid) is None
    assert procfs.start_ticks(process.pid) is None


def test_a_name_with_parentheses_does_not_shift_the_fields() -> None:
    code = "open('/proc/self/comm', 'w').write('x) Z 1 (2')"
    with child(code) as process:
        assert procfs.name(process.pid) == "x) Z 1 (2"
        assert procfs.start_ticks(process.pid) is not None
        assert procfs.members(None, process.pid) == [process.pid]


def test_members_carry_exactly_this_key_or_are_in_the_group() -> None:
    key = uuid.uuid4().hex
    with (
        child(env={procfs.KEY_VARIABLE: key}) as ours,
        child(env={procfs.KEY_VARIABLE: key + "b"}) as longer,
        child(env={"X": f"{procfs.KEY_VARIABLE}={key}"}) as quoted,
    ):
        assert procfs.members(key) == [ours.pid]
        assert sorted(procfs.members(key, longer.pid)) == sorted([ours.pid, longer.pid])
        assert not procfs.gone(key)
        assert procfs.members(None, quoted.pid) == [quoted.pid]
    assert procfs.gone(key)


def test_a_handler_is_seen_and_a_default_or_ignored_signal_is_none() -> None:
    with child("signal.signal(signal.SIGUSR1, lambda *_: None)") as process:
        assert procfs.catches(process.pid, signal.SIGUSR1)
        assert not procfs.catches(process.pid, signal.SIGUSR2)
    with child("signal.signal(signal.SIGUSR1, signal.SIG_IGN)") as process:
        assert not procfs.catches(process.pid, signal.SIGUSR1)
    assert not procfs.catches(process.pid, signal.SIGUSR1)
