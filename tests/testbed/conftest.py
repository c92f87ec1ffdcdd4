"""What the tests of this folder need of the testbed: set up once, by its own scripts.

``qe``
    Quantum ESPRESSO and its pseudopotentials (``qe-up``): a :class:`QuantumEspresso`.
``set_up``
    Runs another of its scripts, once: ``set_up("lammps-up")`` gives what it printed.
``ssh_servers``, ``shells``
    The SSH servers (``ssh-up``): an :class:`SshServers`, and shells that reach them.
``bench``
    The job services with the code ``espresso`` and the real local runner.

The tests are skipped unless ``scripts/test`` runs them with ``--testbed``, or ``CI=true``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.runners.local.runner import LocalRunner
from crystalmath.runners.shells.ssh import SshShells
from crystalmath.runners.shells.ssh_config import SshConfig
from suite.groups import NO_TESTBED, RUN_TESTBED
from support.service_fakes import Bench

_SET_UP_S = 800


@dataclass(frozen=True, slots=True)
class QuantumEspresso:
    """What ``qe-up`` has installed."""

    pw_x: Path
    pseudo: Path
    decks: Path

    def deck(self, name: str) -> str:
        """The text of one of the testbed's decks."""
        return (self.decks / f"{name}.in").read_text(encoding="utf-8")


def testbed_folder() -> Path:
    """The folder of the scripts; skips the test where it must not be set up."""
    if os.environ.get("CI") != "true" and RUN_TESTBED not in os.environ:
        pytest.skip(NO_TESTBED)
    return Path(os.environ.get("CRYSTALMATH_TESTBED", Path(__file__).parent))


@pytest.fixture(scope="session")
def set_up() -> Callable[[str], str]:
    folder = testbed_folder()

    @cache
    def run(script: str) -> str:
        done = subprocess.run(
            [folder / script], capture_output=True, text=True, check=False, timeout=_SET_UP_S
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def qe(set_up: Callable[[str], str]) -> QuantumEspresso:
    folder, printed = testbed_folder(), set_up("qe-up")
    place = re.search(r"pseudopotentials in (\S+) for", printed)
    program = shutil.which("pw.x")
    assert place is not None, printed
    assert program is not None, os.environ.get("PATH")
    return QuantumEspresso(Path(program), Path(place[1]), folder / "qe")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, runner=LocalRunner(), code=EspressoAdapter())
    yield made
    made.close()


@dataclass(frozen=True, slots=True)
class SshServers:
    """What ``ssh-up`` has started.

    Attributes
    ----------
    folder
        Keys, ``known_hosts``, ``known_hosts.wrong`` and a ``config`` with the hosts ``cluster``,
        ``noisy``, ``jump`` and ``inner``.
    """

    folder: Path
    scripts: Path

    def drop(self, action: str, server: str = "cluster") -> None:
        """Break connections: kill, stall, resume, refuse, accept; fails when that breaks none."""
        done = subprocess.run(
            [self.scripts / "ssh-drop", action, server],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def config(self, into: Path, *, known_hosts: Path | None = None, more: str = "") -> SshConfig:
        """The configuration, with another file of known hosts, or with more in front of it."""
        text = (self.folder / "config").read_text(encoding="utf-8")
        if known_hosts is not None:
            text = text.replace(f"{self.folder}/known_hosts\n", f"{known_hosts}\n")
        place = into / "ssh_config"
        place.write_text(more + text, encoding="utf-8")
        return SshConfig(config_file=place)


@pytest.fixture(scope="session")
def ssh_servers(set_up: Callable[[str], str]) -> SshServers:
    found = re.search(r"ssh -F (\S+)/config", set_up("ssh-up"))
    assert found is not None
    return SshServers(Path(found[1]), testbed_folder())


@pytest.fixture
def shells(ssh_servers: SshServers, tmp_path: Path) -> Iterator[SshShells]:
    made = SshShells(
        known_hosts=tmp_path / "own_known_hosts",
        ssh_config=ssh_servers.config(tmp_path),
        environment=dict,
    )
    yield made
    made.close()
