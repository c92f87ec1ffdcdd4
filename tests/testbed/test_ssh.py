"""Shells over the real sshd: commands, the way to a host, host keys, logging in."""

from __future__ import annotations

import base64
import logging
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crystalmath.errors import (
    AuthRefused,
    Conflict,
    HostKeyChanged,
    HostKeyUnknown,
    NotImplementedYet,
    PassphraseNeeded,
    Unreachable,
)
from crystalmath.runners.shells.hosts import ClusterHost
from crystalmath.runners.shells.ssh import SshShells
from crystalmath.runners.shells.ssh_config import SshConfig
from crystalmath.services.ports_shell import Question

if TYPE_CHECKING:
    from conftest import SshServers

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(300)]

CLUSTER = ClusterHost("cluster", "cluster")
_S = 60.0


@contextmanager
def reached(tmp_path: Path, config: SshConfig, **settings: object) -> Iterator[SshShells]:
    made = SshShells(
        known_hosts=tmp_path / "own_known_hosts",
        ssh_config=config,
        **{"environment": dict, **settings},  # type: ignore[arg-type]
    )
    try:
        yield made
    finally:
        made.close()


class TestCommands:
    def test_both_streams_the_code_and_no_noise(self, shells: SshShells) -> None:
        for name in ("cluster", "noisy", "inner"):
            shell = shells.shell(ClusterHost(name, name))
            ran = shell.run("cat; echo out; echo err >&2; exit 3", deadline_s=_S)
            assert (ran.out, ran.err, ran.rc, ran.complete) == (b"out\n", b"err\n", 3, True)
            assert (b"Welcome" in ran.noise) == (name == "noisy")

    @pytest.mark.parametrize("login_shell", ["csh", "fish", "dash"])
    def test_other_login_shells(self, shells: SshShells, login_shell: str) -> None:
        place = _installed(login_shell)
        _change_login_shell("cmtest", place)
        try:
            shell = shells.shell(CLUSTER)
            facts = shell.probe(deadline_s=_S)
            ran = shell.run("""x='a b'; echo "$x" "$(echo '!$x')"; exit 4""", deadline_s=_S)
            assert (facts.shell, facts.sftp) == (place, True)
            assert (ran.out, ran.rc) == (b"a b !$x\n", 4)
        finally:
            _change_login_shell("cmtest", "/bin/bash")

    def test_ten_mebibytes_on_both_streams_at_once(self, shells: SshShells) -> None:
        script = (
            "dd if=/dev/zero bs=65536 count=160 2>/dev/null & "
            "dd if=/dev/zero bs=65536 count=160 >&2 2>/dev/null & wait"
        )
        shell, size = shells.shell(CLUSTER), 160 * 65536
        whole = shell.run(script, deadline_s=_S, cap_bytes=size)
        assert (len(whole.out), len(whole.err), whole.rc, whole.complete) == (size, size, 0, True)
        capped = shell.run(script, deadline_s=_S, cap_bytes=1000)
        assert (len(capped.out), len(capped.err), capped.rc) == (1000, 1000, 0)
        assert not capped.complete

    def test_fourteen_at_once_on_one_connection(self, shells: SshShells) -> None:
        shell = shells.shell(CLUSTER)
        with ThreadPoolExecutor(14) as pool:
            rans = list(
                pool.map(lambda n: shell.run(f"sleep 0.3; echo {n}", deadline_s=_S), range(14))
            )
        assert [ran.out for ran in rans] == [b"%d\n" % n for n in range(14)]
        assert len(shell.pool._connections) == 1

    def test_a_deadline_ends_it_as_unknown_and_the_next_one_works(self, shells: SshShells) -> None:
        shell = shells.shell(CLUSTER)
        shell.run(":", deadline_s=_S)
        began = time.monotonic()
        ran = shell.run("echo begun; sleep 100", deadline_s=1.0)
        assert (ran.rc, ran.complete, ran.out) == (None, False, b"begun\n")
        assert time.monotonic() - began < 20
        assert shell.run("echo again", deadline_s=_S).out == b"again\n"

    def test_nothing_shows_in_the_process_list(self, shells: SshShells) -> None:
        secret = "planted-" + os.urandom(8).hex()
        ran = shells.shell(CLUSTER).run(f": {secret}; ps axww -o args", deadline_s=_S)
        assert ran.rc == 0
        assert secret not in ran.out_text()

    def test_what_a_host_is_like(self, shells: SshShells) -> None:
        facts = shells.shell(ClusterHost("noisy", "noisy")).probe(deadline_s=_S)
        assert (facts.home, facts.user, facts.sftp) == ("/home/cmnoisy", "cmnoisy", True)
        assert abs(facts.clock_offset_s) < 5
        assert any("Maintenance" in line for line in facts.noise)

    def test_setup_commands_run_before_and_are_not_heard(self, shells: SshShells) -> None:
        host = replace(CLUSTER, setup_commands=("echo loud; echo louder >&2", "export MODULE=on"))
        ran = shells.shell(host).run("echo $MODULE", deadline_s=_S)
        assert (ran.out, ran.err) == (b"on\n", b"")


class TestTheWay:
    def test_a_jump_host_of_the_record(self, tmp_path: Path, ssh_servers: SshServers) -> None:
        folder = ssh_servers.folder
        config = tmp_path / "config"
        config.write_text(
            f"Host *\n IdentityFile {folder}/id_client\n UserKnownHostsFile {folder}/known_hosts\n"
        )
        host = ClusterHost("i", "127.0.0.2", 2224, "cmtest", proxy_jump="cmjump@127.0.0.1:2223")
        with reached(tmp_path, SshConfig(config_file=config)) as shells:
            assert shells.shell(host).run("id -un", deadline_s=_S).out == b"cmtest\n"
            bare = shells.test_connection(replace(host, proxy_jump="none"))
            assert isinstance(bare.error, Unreachable)
            assert not bare.reachable

    def test_a_jump_to_another_port_is_not_allowed(self, shells: SshShells) -> None:
        host = ClusterHost("i", "127.0.0.2", 2225, "cmtest", proxy_jump="jump")
        with pytest.raises(
            Unreachable, match=r"jump host jump .* does not allow .* 127.0.0.2:2225"
        ):
            shells.shell(host).run(":", deadline_s=_S)

    def test_a_proxy_command_and_its_child_is_reaped(
        self, tmp_path: Path, ssh_servers: SshServers
    ) -> None:
        relay = tmp_path / "relay.py"
        relay.write_text(_RELAY)
        more = (
            f"Host proxied\n ProxyCommand python3 {relay} %h %p\n"
            " User cmtest\n HostName 127.0.0.1\n Port 2222\n"
        )
        with reached(tmp_path, ssh_servers.config(tmp_path, more=more)) as shells:
            shell = shells.shell(ClusterHost("p", "proxied"))
            assert shell.run("echo there", deadline_s=_S).out == b"there\n"
        left = subprocess.run(["pgrep", "-f", str(relay)], capture_output=True, check=False)
        assert left.stdout == b""

    def test_a_closed_port_and_an_unknown_name(self, shells: SshShells) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        with pytest.raises(Unreachable, match="connection refused") as caught:
            shells.shell(ClusterHost("x", "127.0.0.1", port)).run(":", deadline_s=_S)
        assert caught.value.stage == "connect"
        with pytest.raises(Unreachable, match="cannot be resolved") as caught:
            shells.shell(ClusterHost("y", "no-such-host.invalid")).run(":", deadline_s=_S)
        assert caught.value.stage == "resolve"

    def test_a_host_that_accepts_and_stays_silent(self, shells: SshShells) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            host = ClusterHost("silent", "127.0.0.1", server.getsockname()[1])
            began, threads = time.monotonic(), threading.active_count()
            for _ in range(3):
                with pytest.raises(Unreachable, match="does not speak SSH") as caught:
                    shells.shell(host, by_user=True).run(":", deadline_s=1.0)
            assert caught.value.stage == "connect"
            assert time.monotonic() - began < 30
            deadline = time.monotonic() + 30
            while threading.active_count() > threads and time.monotonic() < deadline:
                time.sleep(0.05)
            assert threading.active_count() <= threads

    def test_openssh_is_not_built_yet(self, shells: SshShells) -> None:
        with pytest.raises(NotImplementedYet):
            shells.shell(replace(CLUSTER, shell="openssh"))
        report = shells.test_connection(replace(CLUSTER, shell="openssh"))
        assert "not built yet" in report.problems[0].message
        assert report.error is None


class TestHostKeys:
    def test_unknown_is_asked_for_and_stored_only_as_seen(
        self, tmp_path: Path, ssh_servers: SshServers
    ) -> None:
        empty = tmp_path / "empty"
        with reached(tmp_path, ssh_servers.config(tmp_path, known_hosts=empty)) as shells:
            shell = shells.shell(CLUSTER)
            with pytest.raises(HostKeyUnknown) as caught:
                shell.run(":", deadline_s=_S)
            sha256 = _sha256(ssh_servers.folder / "host_cluster.pub")
            assert caught.value.facts["sha256"] == sha256
            assert sha256 in caught.value.message
            assert "ssh-ed25519" in caught.value.message
            assert shells.health(CLUSTER).state == "needs_user"
            with pytest.raises(Conflict):
                shells.accept_host_key(CLUSTER, "SHA256:" + "A" * 43)
            assert not (tmp_path / "own_known_hosts").exists()
            assert not shells.host_key(CLUSTER).known
            assert shells.accept_host_key(CLUSTER, sha256).known
            assert (tmp_path / "own_known_hosts").stat().st_mode & 0o777 == 0o600
            assert shell.run("echo in", deadline_s=_S).out == b"in\n"
        assert not empty.exists()

    def test_each_hop_is_asked_for(self, tmp_path: Path, ssh_servers: SshServers) -> None:
        host = ClusterHost("inner", "inner")
        with reached(tmp_path, ssh_servers.config(tmp_path, known_hosts=tmp_path / "e")) as shells:
            first = shells.host_key(host)
            assert first.name == "[127.0.0.1]:2223"
            shells.accept_host_key(host, first.sha256)
            second = shells.host_key(host)
            assert second.name == "[127.0.0.2]:2224"
            shells.accept_host_key(host, second.sha256)
            assert shells.shell(host).run("echo in", deadline_s=_S).out == b"in\n"

    def test_changed_stops_everything(self, tmp_path: Path, ssh_servers: SshServers) -> None:
        wrong = ssh_servers.folder / "known_hosts.wrong"
        before = wrong.read_bytes()
        with reached(tmp_path, ssh_servers.config(tmp_path, known_hosts=wrong)) as shells:
            shell = shells.shell(CLUSTER)
            with pytest.raises(HostKeyChanged) as caught:
                shell.run(":", deadline_s=_S)
            said = caught.value.message + (caught.value.hint or "")
            assert _sha256(ssh_servers.folder / "host_cluster.pub") in said
            assert _sha256(ssh_servers.folder / "host_wrong.pub") in said
            assert f"{wrong}:1" in said
            assert f"ssh-keygen -R '[127.0.0.1]:2222' -f '{wrong}'" in said
            with pytest.raises(HostKeyChanged):
                shell.probe(deadline_s=_S)
            with pytest.raises(HostKeyChanged):
                shells.accept_host_key(CLUSTER, caught.value.facts["sha256"])
        assert wrong.read_bytes() == before

    def test_marker_lines_garbage_and_hashes(self, tmp_path: Path, ssh_servers: SshServers) -> None:
        pub = (ssh_servers.folder / "host_wrong.pub").read_text().split()
        known = tmp_path / "known"
        shutil.copy(ssh_servers.folder / "known_hosts", known)
        subprocess.run(["ssh-keygen", "-q", "-H", "-f", known], check=True, capture_output=True)
        known.write_text(
            f"@cert-authority *.ex.org {pub[0]} {pub[1]}\ngarbage\n"
            f"@revoked * {pub[0]} {pub[1]}\n" + known.read_text()
        )
        with reached(tmp_path, ssh_servers.config(tmp_path, known_hosts=known)) as shells:
            assert shells.shell(CLUSTER).run("echo in", deadline_s=_S).out == b"in\n"
        pub = (ssh_servers.folder / "host_cluster.pub").read_text().split()
        known.write_text(f"@revoked * {pub[0]} {pub[1]}\n" + known.read_text())
        with (
            reached(tmp_path, ssh_servers.config(tmp_path, known_hosts=known)) as shells,
            pytest.raises(HostKeyChanged, match="revoked"),
        ):
            shells.shell(CLUSTER).run(":", deadline_s=_S)

    def test_the_type_on_file_is_asked_for(self, tmp_path: Path, ssh_servers: SshServers) -> None:
        known = tmp_path / "known"
        lines = (ssh_servers.folder / "known_hosts").read_text().splitlines(keepends=True)
        known.write_text("".join(line for line in lines if "ssh-rsa" in line))
        with reached(tmp_path, ssh_servers.config(tmp_path, known_hosts=known)) as shells:
            assert shells.shell(CLUSTER).run("echo in", deadline_s=_S).out == b"in\n"


class TestLoggingIn:
    def test_a_strangers_key(self, tmp_path: Path, ssh_servers: SshServers) -> None:
        config = _with_key(ssh_servers, tmp_path, "id_stranger")
        with reached(tmp_path, config) as shells:
            shell = shells.shell(CLUSTER)
            with pytest.raises(AuthRefused, match=r"refused cmtest .*id_stranger.*publickey"):
                shell.run(":", deadline_s=_S)
            before = _attempts()
            with pytest.raises(AuthRefused):
                shell.run(":", deadline_s=_S)
            assert _attempts() == before  # nobody has knocked again

    def test_only_a_password(
        self, tmp_path: Path, ssh_servers: SshServers, shells: SshShells
    ) -> None:
        host = ClusterHost("p", "cluster", username="cmpass")
        with pytest.raises(AuthRefused, match=r"allows .*password") as caught:
            shells.shell(host).run(":", deadline_s=_S)
        assert "clusters.login" in (caught.value.hint or "")
        asked: list[Question] = []
        password = (ssh_servers.folder / "cmpass.password").read_text()

        def ask(answer: str) -> object:
            return lambda questions: asked.extend(questions) or [answer]

        with pytest.raises(AuthRefused) as refused:
            shells.login(host, ask("wrong-" + password))  # type: ignore[arg-type]
        assert password not in str(refused.value) + repr(refused.value.facts)
        assert shells.login(host, ask(password)).method == "password"  # type: ignore[arg-type]
        assert asked[-1].secret
        assert shells.shell(host).run("id -un", deadline_s=_S).out == b"cmpass\n"

    def test_an_encrypted_key(
        self, tmp_path: Path, ssh_servers: SshServers, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        with reached(tmp_path, _with_key(ssh_servers, tmp_path, "id_encrypted")) as shells:
            shell = shells.shell(CLUSTER)
            with pytest.raises(PassphraseNeeded, match=r"id_encrypted .* needs its passphrase"):
                shell.run(":", deadline_s=_S)
            with pytest.raises(PassphraseNeeded, match="not opened by this passphrase") as caught:
                shells.login(CLUSTER, lambda _q: ["not-it-planted"])
            assert "planted" not in str(caught.value) + repr(caught.value.facts)
            assert shells.login(CLUSTER, lambda _q: ["secret-phrase"]).method == "publickey"
            assert "secret-phrase" not in repr(vars(shells))
            shell.close()
            # It is still known for the next connection.
            assert shell.run("echo in", deadline_s=_S).out == b"in\n"
        assert "secret-phrase" not in caplog.text
        assert "planted" not in caplog.text

    def test_an_agent_with_nine_keys(
        self, tmp_path: Path, ssh_servers: SshServers, agent: dict[str, str]
    ) -> None:
        for n in range(9):
            _add(agent, _new_key(tmp_path / f"k{n}"))
        text = (
            f"Host cluster\n HostName 127.0.0.1\n Port 2222\n User cmtest\n"
            f" UserKnownHostsFile {ssh_servers.folder}/known_hosts\n"
        )
        config = tmp_path / "config"
        config.write_text(text + f" IdentityFile {ssh_servers.folder}/id_client\n")
        with reached(tmp_path, SshConfig(config_file=config), environment=lambda: agent) as shells:
            assert shells.shell(CLUSTER).run("echo in", deadline_s=_S).out == b"in\n"
        config.write_text(text + f" IdentityFile {tmp_path}/k0\n")
        with (
            reached(tmp_path, SshConfig(config_file=config), environment=lambda: agent) as shells,
            pytest.raises(AuthRefused, match=r"k0 \(agent\), .*SHA256:.* \(agent\)") as caught,
        ):
            shells.shell(CLUSTER).run(":", deadline_s=_S)
        assert caught.value.facts["tried"].count("(agent)") == 5

    def test_an_encrypted_key_in_the_agent(
        self, tmp_path: Path, ssh_servers: SshServers, agent: dict[str, str]
    ) -> None:
        plain = tmp_path / "plain"
        shutil.copy(ssh_servers.folder / "id_encrypted", plain)
        plain.chmod(0o600)
        subprocess.run(
            ["ssh-keygen", "-q", "-p", "-P", "secret-phrase", "-N", "", "-f", plain],
            check=True, capture_output=True,
        )  # fmt: skip
        _add(agent, plain)
        config = _with_key(ssh_servers, tmp_path, "id_encrypted")
        with reached(tmp_path, config, environment=lambda: agent) as shells:
            assert shells.shell(CLUSTER).run("echo in", deadline_s=_S).out == b"in\n"


class TestReport:
    def test_each_host_truly(
        self, tmp_path: Path, ssh_servers: SshServers, shells: SshShells
    ) -> None:
        began = time.monotonic()
        good = shells.test_connection(ClusterHost("inner", "inner"), scratch="~/cm-scratch-$USER")
        assert (good.error, good.problems) == (None, [])
        assert [one.known for one in good.host_keys] == [True, True]
        assert good.logged_in[-1].method == "publickey"
        assert good.scratch is not None
        assert (good.scratch.path, good.scratch.writable) == (
            "/home/cmtest/cm-scratch-cmtest",
            True,
        )
        assert not Path(good.scratch.path).exists()
        noisy = shells.test_connection(ClusterHost("n", "noisy"), scratch="/proc/no")
        assert noisy.facts is not None
        assert any("Welcome" in line for line in noisy.facts.noise)
        assert noisy.problems[0].message.startswith("/proc/no cannot be written")
        restricted = shells.test_connection(ClusterHost("jump", "jump"))
        assert restricted.reachable
        assert (
            "runs no commands; it says: jump host: no shell here" in restricted.problems[0].message
        )
        password = shells.test_connection(ClusterHost("p", "cluster", username="cmpass"))
        assert isinstance(password.error, AuthRefused)
        assert (password.reachable, password.host_keys[0].known) == (True, True)
        assert "password" in password.logged_in[0].allowed
        closed = shells.test_connection(ClusterHost("c", "127.0.0.1", 1))
        assert (closed.reachable, closed.problems[0].kind) == (False, "unreachable")
        config = ssh_servers.config(tmp_path, known_hosts=ssh_servers.folder / "known_hosts.wrong")
        with reached(tmp_path, config) as others:
            changed = others.test_connection(CLUSTER)
        assert (changed.reachable, changed.problems[0].kind) == (True, "host_key_changed")
        assert time.monotonic() - began < 7 * 30


_RELAY = """
import os, socket, sys, threading
peer = socket.create_connection((sys.argv[1], int(sys.argv[2])))
def up():
    while data := os.read(0, 65536):
        peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
while data := peer.recv(65536):
    os.write(1, data)
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[dict[str, str]]:
    place = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + _S
    while not place.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    yield {"SSH_AUTH_SOCK": str(place)}
    process.terminate()
    process.wait()


def _add(agent: dict[str, str], key: Path) -> None:
    subprocess.run(["ssh-add", "-q", key], env={**os.environ, **agent}, check=True, timeout=60)


def _new_key(place: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place], check=True)
    return place


def _with_key(servers: SshServers, into: Path, name: str) -> SshConfig:
    config = servers.config(into)
    assert config._config_file is not None
    text = config._config_file.read_text().replace("/id_client\n", f"/{name}\n")
    config._config_file.write_text(text)
    return config


def _sha256(public: Path) -> str:
    import hashlib

    blob = base64.b64decode(public.read_text().split()[1])
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _attempts() -> int:
    log = Path(os.environ.get("TB_LOG", "/var/log/cmtestbed")) / "sshd-cluster.log"
    return log.read_text().count("Connection from")


def _installed(login_shell: str) -> str:
    package = {"csh": "tcsh"}.get(login_shell, login_shell)
    if shutil.which(login_shell) is None:
        done = subprocess.run(
            ["apt-get", "install", "-y", "--no-install-recommends", package],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            pytest.skip(f"{package} cannot be installed here")
    place = shutil.which(login_shell)
    assert place is not None
    return place


def _change_login_shell(user: str, place: str) -> None:
    subprocess.run(["usermod", "-s", place, user], check=True, capture_output=True)
