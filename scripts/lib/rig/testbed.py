"""The real SLURM and SSH servers of ``tests/testbed``, started and broken by its own scripts.

They are for the whole machine: one run at a time. Used by ``soak cluster``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from rig.place import RigError

WAYS: Final = {
    "through": {"hostname": "127.0.0.2", "port": 2224, "proxy_jump": "cmjump@127.0.0.1:2223"},
    "direct": {"hostname": "127.0.0.1", "port": 2222},
}
"""Two ways to the same SLURM: through the jump host, and to its login node."""
USER = "cmtest"
HOME = Path("/home", USER)
SSH_FILES = Path("/var/lib/cmtestbed/ssh")
SSH_SERVERS = ("cluster", "jump", "inner")
SLURM_DAEMONS = ("ctld", "dbd")
SET_UP_S = 800.0
SCRIPT_S = 120.0
COMMAND_S = 60.0
_LOGS = Path("/var/log/cmtestbed")


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A job as ``squeue`` shows it: its id, state, reason, name and seconds it has run."""

    ident: str
    state: str
    reason: str
    name: str
    ran_s: int


class Testbed:
    """See the module docstring; a context manager that mends at the end what was broken."""

    def __init__(self) -> None:
        root = Path(__file__).resolve().parents[3]
        self._folder = Path(os.environ.get("CRYSTALMATH_TESTBED", root / "tests" / "testbed"))

    def __enter__(self) -> Self:
        if os.geteuid() != 0:
            raise RigError("the testbed's SLURM and SSH servers can be started by root only")
        for name in ("slurm-up", "ssh-up"):
            self.script(name, timeout_s=SET_UP_S)
        return self

    def __exit__(self, *_exception: object) -> None:
        self.mend()

    def mend(self) -> None:
        """Let everything serve again."""
        for server in SSH_SERVERS:
            self.script("ssh-drop", "resume", server)
            self.script("ssh-drop", "accept", server)
        for daemon in reversed(SLURM_DAEMONS):
            self.script("slurm-drop", "start", daemon)

    def script(self, name: str, *arguments: str, timeout_s: float = SCRIPT_S) -> str:
        """Run one of its scripts; returns what it said.

        Raises
        ------
        RigError
            It failed: a fault that has no effect does.
        """
        return _run([str(self._folder / name), *arguments], timeout_s)

    def drop(self, action: str, server: str) -> int:
        """Break the connections of an SSH server; returns how many processes that met."""
        said = self.script("ssh-drop", action, server)
        found = re.search(rf"{action}: (\d+) session", said)
        if found is None:
            raise RigError(f"ssh-drop {action} {server} said {said!r}")
        return int(found[1])

    def queue(self) -> list[QueueLine]:
        """Every job of the testbed's user that has not ended."""
        said = _run(
            ["squeue", "-h", "-r", "-u", USER, "-O", "JobID:|,State:|,Reason:|,Name:|,TimeUsed:|"],
            COMMAND_S,
        )
        found = []
        for line in said.splitlines():
            ident, state, reason, name, used, *_ = line.split("|")
            found.append(QueueLine(ident, state, reason, name, _seconds(used)))
        return found

    def restarts(self, ident: str) -> int:
        """How often the controller has started a job again."""
        found = re.search(r"\bRestarts=(\d+)", self.scontrol("show", "job", ident))
        if found is None:
            raise RigError(f"scontrol tells no restarts of job {ident}")
        return int(found[1])

    def scontrol(self, *arguments: str) -> str:
        """Ask or tell the controller; returns what it said."""
        return _run(["scontrol", *arguments], COMMAND_S)

    def history(self, since: float) -> dict[str, set[str]]:
        """Name → ids of every job of the testbed's user that the accounting knows since then."""
        argv = [
            "sacct", "-n", "-P", "-X", "-D", "-u", USER, "-S", f"uts{int(since)}",
            "-o", "JobID,JobName",
        ]  # fmt: skip
        found: dict[str, set[str]] = {}
        for line in _run(argv, COMMAND_S).splitlines():
            ident, _, name = line.partition("|")
            found.setdefault(name, set()).add(ident)
        return found

    def logins(self, server: str) -> int:
        """How many log-ins an SSH server has let in, ever."""
        log = _LOGS / f"sshd-{server}.log"
        return log.read_bytes().count(b"Accepted publickey") if log.exists() else 0


def let_in(call: Callable[..., Any], cluster: str) -> None:
    """Accept the keys of a cluster's hosts one by one, as a user does, until it can be reached.

    Parameters
    ----------
    call
        Calls a method of the daemon and returns the ``data`` of its answer.
    """
    for _ in range(1 + len(SSH_SERVERS)):
        report = call("clusters.test", {"id": cluster})
        if report["reachable"]:
            return
        key = report["host_key"]
        if key is None or key["known"]:
            break
        call("clusters.accept_host_key", {"id": cluster, "fingerprint": key["fingerprint"]})
    raise RigError(f"no way to {cluster}: {report['problems']}")


def give_key(home: Path) -> None:
    """Give a user the key that the testbed's servers know."""
    ssh = home / ".ssh"
    ssh.mkdir(mode=0o700, exist_ok=True)
    shutil.copyfile(SSH_FILES / "id_client", ssh / "id_ed25519")
    (ssh / "id_ed25519").chmod(0o600)


def _seconds(text: str) -> int:
    """``MM:SS`` or ``H:MM:SS``; what is no such text has run 0 s."""
    parts = text.split(":")
    if not all(part.isdigit() for part in parts):
        return 0
    total = 0
    for part in parts:
        total = total * 60 + int(part)
    return total


def _run(argv: list[str], timeout_s: float) -> str:
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            check=False, timeout=timeout_s,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RigError(f"{' '.join(argv)}: {error}") from error
    if done.returncode != 0:
        raise RigError(f"{' '.join(argv)}: {done.stdout.strip()} {done.stderr.strip()}")
    return done.stdout
