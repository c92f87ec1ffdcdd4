"""L6 to L8: which directory is chosen depends on ``/tmp`` and ``/run/user``, which are everybody's.

The checks are in ``private_tmp_checks.py``; here they are run in a mount namespace of their own,
in which both are empty, so that they neither see nor disturb a daemon of this machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# keeps what lies in /tmp reachable (the checkout may be there), but for the directories of daemons
ENTER = """
set -e
new=$(mktemp -d)
mount -t tmpfs -o mode=1777 tmpfs "$new"
for entry in /tmp/*; do
    name=${entry#/tmp/}
    case $name in crystalmath-[0-9]*) continue ;; esac
    if [ -d "$entry" ] && [ "$entry" != "$new" ]; then
        mkdir "$new/$name"
        mount --rbind "$entry" "$new/$name"
    fi
done
mount --move "$new" /tmp
mkdir -p /run/user
mount -t tmpfs -o mode=755 tmpfs /run/user
exec "$@"
"""


def unshare() -> list[str]:
    """Return the command that makes a mount namespace here, or skip."""
    program = shutil.which("unshare")
    if program is None:
        pytest.skip("unshare is not installed")
    for options in (["-m"], ["-rm"]):
        command = [program, *options, "--propagation", "private"]
        probe = [*command, "mount", "-t", "tmpfs", "tmpfs", "/run"]
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return command
    pytest.skip("this user may not make mount namespaces")


@pytest.mark.timeout(600)
def test_in_a_private_tmp() -> None:
    command = [
        *unshare(), "/bin/sh", "-c", ENTER, "sh",
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        str(HERE / "private_tmp_checks.py"),
    ]  # fmt: skip
    env = {**os.environ, "CRYSTALMATH_PRIVATE_TMP": "yes"}
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=590
    )
    print(done.stdout[-10_000:], done.stderr[-2000:])
    assert done.returncode == 0
