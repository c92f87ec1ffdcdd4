"""The warning before the walltime reaches only programs that can take it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from crystalmath.runners.local import ending, procfs

pytestmark = pytest.mark.skipif(not procfs.available(), reason="needs Linux /proc")

PROGRAM = """
import signal, sys, time
open('/proc/self/comm', 'w').write(sys.argv[1])
if sys.argv[2] == 'handler':
    signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))
print('ready', flush=True)
while True: time.sleep(0.02)
"""


@pytest.mark.parametrize(
    ("name", "handles", "warned", "code"),
    [
        ("pw.x", "handler", True, 7),
        ("pw.x", "default", False, -signal.SIGTERM),
        (
            "mpirun",
            "handler",
            False,
            -signal.SIGTERM,
        ),  # it would hand USR1 on to ranks that die from it
    ],
)
def test_who_is_warned(name: str, handles: str, warned: bool, code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, name, handles], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert ending.warn(process.pid) is warned
        if not warned:
            process.terminate()
    assert process.returncode == code


def test_a_program_that_is_gone_is_not_warned() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert ending.warn(process.pid) is False
