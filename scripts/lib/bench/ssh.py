"""What our shell adds to the round trip of a command on an SSH host: on request only.

Sets up the SSH servers of ``tests/testbed`` (root is needed) and compares, over loopback, a command
through ``runners.shells`` with the same command on a channel of the bare library.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import paramiko

from bench.measure import Ledger, Target, timed, undisturbed
from crystalmath.runners.shells.hosts import ClusterHost
from crystalmath.runners.shells.ssh import SshShells
from crystalmath.runners.shells.ssh_config import SshConfig
from rig.place import RigError

BARE = "bare channel: /bin/sh, its output, its exit status"
OURS = "Shell.run of the same"
PER_ROUND = 30
ADDED_US = 3000.0
_DEADLINE_S = 30.0
_TESTBED = Path(__file__).resolve().parents[3] / "tests" / "testbed"


def run(ledger: Ledger, rounds: int) -> list[Target]:
    """Measure; returns the target."""
    folder = _servers()
    with tempfile.TemporaryDirectory() as place, _bare(folder) as transport:
        shells = SshShells(
            known_hosts=Path(place, "known_hosts"),
            ssh_config=SshConfig(config_file=folder / "config"),
        )
        try:
            shell = shells.shell(ClusterHost("cluster", "cluster"))
            shell.run(":", deadline_s=_DEADLINE_S)
            for _ in range(rounds):
                with undisturbed():
                    base_us = ledger.add(BARE, timed(lambda: _command(transport), PER_ROUND))
                    ours = timed(lambda: shell.run("echo x", deadline_s=_DEADLINE_S), PER_ROUND)
                ledger.add(OURS, ours, base_us)
        finally:
            shells.close()
    added = ledger.row(OURS).p50_us - ledger.row(BARE).p50_us
    return [Target("a command through the shell, added, p50 µs", ADDED_US, added)]


def _command(transport: Any) -> None:
    channel = transport.open_session()
    channel.exec_command("/bin/sh")
    channel.sendall(b"echo x\n")
    channel.shutdown_write()
    out = channel.recv(100)
    code = channel.recv_exit_status()
    channel.close()
    if (out, code) != (b"x\n", 0):
        raise RigError(f"the bare command gave {code}: {out!r}")


@contextmanager
def _bare(folder: Path) -> Iterator[Any]:
    transport = paramiko.Transport(("127.0.0.1", 2222))
    transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        transport.connect(
            username="cmtest",
            pkey=paramiko.Ed25519Key.from_private_key_file(str(folder / "id_client")),
        )
        yield transport
    finally:
        transport.close()


def _servers() -> Path:
    done = subprocess.run([_TESTBED / "ssh-up"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RigError(f"ssh-up failed: {(done.stdout + done.stderr)[-500:]}")
    return Path(done.stdout.split("ssh -F ", 1)[1].split("/config", 1)[0])
