"""Clusters on the real servers: a true report of each, and logging in with real secrets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crystalmath.contract.clusters import ClusterReport
from crystalmath.errors import SetupFailed
from crystalmath.runners.shells.clusters import ClusterShells
from crystalmath.runners.slurm.examine import Examination
from crystalmath.services.ports_cluster import ClusterRecord
from support.daemon import PRODUCTION, Daemon
from support.planted import Listener, places_of

if TYPE_CHECKING:
    from conftest import SshServers

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(300)]

PASSPHRASE = "secret-phrase"
HOME = "~/crystalmath-tests"
CLUSTER = ClusterRecord(name="c", kind="slurm", hostname="cluster", remote_workdir=HOME)
LIMIT_S = 30.0
SLACK_S = 5.0
"""What a loaded machine may add to the limit of a report."""


@pytest.fixture
def shells(
    tmp_path: Path, ssh_servers: SshServers, set_up: Callable[[str], str]
) -> Iterator[ClusterShells]:
    set_up("slurm-up")
    made = ClusterShells(tmp_path / "known", lambda: None, ssh_servers.config(tmp_path))
    yield made
    made.close()


def test_each_server_gets_a_true_report_in_time(
    shells: ClusterShells, ssh_servers: SshServers, tmp_path: Path
) -> None:
    def report(record: ClusterRecord, ways: ClusterShells = shells) -> ClusterReport:
        began = time.monotonic()
        found = Examination(ways.test, ways.open)(record, deadline_s=LIMIT_S)
        assert time.monotonic() - began < LIMIT_S + SLACK_S, record.name
        return found

    for name in ("cluster", "inner", "noisy"):
        found = report(replace(CLUSTER, name=name, hostname=name))
        assert found.reachable, found.problems
        assert found.host_key is not None
        assert found.host_key.known
        assert found.auth["method"] == "publickey"
        assert found.scheduler is not None
        assert found.scheduler.name == "slurm"
        assert {one.name for one in found.partitions} >= {"main", "debug"}
        assert found.scratch is not None
        assert found.scratch.writable, found.problems
        assert any("Welcome" in line for line in found.noise) == (name == "noisy")
    password = report(replace(CLUSTER, name="p", username="cmpass"))
    assert not password.reachable
    assert "password" in password.auth["allowed"]
    assert "clusters.login" in str(password.problems[0].hint)
    stranger = str(ssh_servers.folder / "id_stranger")
    alone = tmp_path / "alone"
    alone.mkdir()
    wrong = ssh_servers.config(alone)
    text = (alone / "ssh_config").read_text().replace("/id_client\n", "/id_stranger\n")
    (alone / "ssh_config").write_text(text)
    others = ClusterShells(alone / "known", lambda: None, wrong)
    refused = report(replace(CLUSTER, name="w", key_file=stranger), others)
    others.close()
    assert not refused.reachable
    assert "refused cmtest" in refused.problems[0].what
    closed = report(replace(CLUSTER, name="x", hostname="127.0.0.1", port=1))
    assert not closed.reachable
    assert "connection refused" in closed.problems[0].what
    absent = report(replace(CLUSTER, name="a", key_file="/nowhere/id"))
    assert "no key file /nowhere/id" in absent.problems[0].what


def test_a_setup_line_that_ends_the_shell_is_named(shells: ClusterShells) -> None:
    for number, line in enumerate(("exit 3", "exec true", ". /nowhere/modules.sh")):
        record = replace(CLUSTER, name=f"s{number}", setup_commands=("export A=1", line))
        with pytest.raises(SetupFailed) as caught:
            shells.open(record).run("echo never", deadline_s=60.0)
        assert f"the setup line 2, `{line}`" in caught.value.message
    report = Examination(shells.test, shells.open)(record, deadline_s=LIMIT_S)
    assert "modules.sh" in report.problems[0].what
    # What can be seen without these lines is told all the same.
    assert report.scratch is not None
    assert report.scratch.writable


def test_a_real_password_and_passphrase_are_found_nowhere(ssh_servers: SshServers) -> None:
    password = (ssh_servers.folder / "cmpass.password").read_text()
    key = str(ssh_servers.folder / "id_encrypted")
    daemon = Daemon(program=PRODUCTION)
    try:
        daemon.start(env={"CRYSTALMATH_START_TIMEOUT": "120"})
        listener = Listener(daemon)
        listener.call("events.subscribe", {"topics": ["clusters"]})
        way = {"hostname": "127.0.0.1", "port": 2222, "kind": "ssh", "remote_workdir": HOME}
        for name, more, prompt, answer in (
            ("byword", {"username": "cmpass"}, "Password of cmpass", password),
            ("bykey", {"username": "cmtest", "key_file": key}, "Passphrase of the key", PASSPHRASE),
        ):
            listener.call("clusters.create", {"name": name, **way, **more})
            shown = listener.call("clusters.test", {"id": name})["host_key"]
            trusted = {"id": name, "fingerprint": shown["fingerprint"]}
            listener.call("clusters.accept_host_key", trusted)
            begun = listener.call("clusters.login", {"id": name})
            assert prompt in begun["prompts"][0]["text"]
            assert listener.answer(name, begun, ["planted-wrong"]) is None
            kind = listener.error["data"]["kind"]
            assert kind == {"byword": "auth_refused", "bykey": "passphrase_needed"}[name]
            begun = listener.call("clusters.login", {"id": name})
            assert listener.answer(name, begun, [answer])["done"]
            # A connection of its own, with what was answered.
            assert listener.call("clusters.test", {"id": name})["reachable"]
        found = places_of([password, PASSPHRASE, "planted-wrong"], daemon, listener)
        assert found == []
        listener.close()
    finally:
        daemon.cleanup()
