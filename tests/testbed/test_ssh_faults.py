"""Connections that break, over the real sshd: killed, stalled, refused, slept through."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from crystalmath.errors import DiskFull, TransferFailed, Unreachable
from crystalmath.runners.shells.hosts import Clock, ClusterHost
from crystalmath.runners.shells.paramiko_shell import ParamikoShell
from crystalmath.runners.shells.ssh import SshShells
from crystalmath.services.ports_shell import Get, Put, Ran, TailFrom

if TYPE_CHECKING:
    from conftest import SshServers

pytestmark = [pytest.mark.testbed, pytest.mark.timeout(300)]

CLUSTER = ClusterHost("cluster", "cluster")
_S = 60.0
_BIG = 48 * 1024 * 1024


def until(true: Callable[[], object], seconds: float = _S) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


@pytest.fixture
def servers(ssh_servers: SshServers) -> Iterator[SshServers]:
    yield ssh_servers
    ssh_servers.drop("resume")
    ssh_servers.drop("accept")


@pytest.fixture
def there(shells: SshShells) -> Iterator[PurePosixPath]:
    """A fresh directory on the host."""
    name = "cm-" + os.urandom(6).hex()
    yield PurePosixPath("/home/cmtest", name)
    shells.shell(CLUSTER, by_user=True).run(f"rm -rf {name}", deadline_s=_S)


def in_background(shell: ParamikoShell, script: str, mark: Path, deadline_s: float = _S) -> object:
    """Start a command and wait until it runs."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(shell.run, f"echo begun; touch {mark}; {script}", deadline_s=deadline_s)
    until(mark.exists)
    pool.shutdown(wait=False)
    return future


class TestFaultsThemselves:
    """A fault without effect would make every test below pass."""

    @pytest.mark.parametrize("server", ["cluster", "jump", "inner"])
    def test_what_breaks_nothing_is_an_error(self, servers: SshServers, server: str) -> None:
        with pytest.raises(AssertionError, match="nothing to freeze, it has no sessions"):
            servers.drop("stall", server)
        servers.drop("refuse", server)
        try:
            for action in ("kill", "stall", "refuse"):
                with pytest.raises(AssertionError, match="nothing to break, no such server runs"):
                    servers.drop(action, server)
        finally:
            servers.drop("accept", server)
        servers.drop("kill", server)

    def test_a_lost_pid_file_is_found_again(
        self, servers: SshServers, shells: SshShells, open_folder: Path
    ) -> None:
        shell = shells.shell(ClusterHost("inner", "inner"))
        future = in_background(shell, "sleep 100", open_folder / "mark")
        Path("/run/cmtestbed/ssh/jump.pid").unlink()
        servers.drop("kill", "jump")
        ran: Ran = future.result(timeout=_S)  # type: ignore[attr-defined]
        assert ran.rc is None


class TestCommands:
    def test_killed_with_a_command_running(
        self, shells: SshShells, servers: SshServers, open_folder: Path
    ) -> None:
        shell = shells.shell(CLUSTER)
        future = in_background(shell, "sleep 100", open_folder / "mark")
        servers.drop("kill")
        ran: Ran = future.result(timeout=_S)  # type: ignore[attr-defined]
        assert (ran.rc, ran.complete) == (None, False)
        assert shell.run("echo again", deadline_s=_S).out == b"again\n"
        assert shells.health(CLUSTER).state == "ok"

    def test_killed_while_idle_costs_nothing(self, shells: SshShells, servers: SshServers) -> None:
        shell = shells.shell(CLUSTER)
        for _ in range(3):
            assert shell.run("echo in", deadline_s=_S).rc == 0
            servers.drop("kill")

    def test_stalled_then_the_deadline_then_it_works_again(
        self, shells: SshShells, servers: SshServers
    ) -> None:
        shell = shells.shell(CLUSTER)
        shell.run(":", deadline_s=_S)
        servers.drop("stall")
        began = time.monotonic()
        # Nothing has said that the connection is dead: it is noticed, and a new one is made.
        assert shell.run("echo new", deadline_s=_S).out == b"new\n"
        assert time.monotonic() - began < 50

    def test_stalled_during_a_command(
        self, shells: SshShells, servers: SshServers, open_folder: Path
    ) -> None:
        shell = shells.shell(CLUSTER)
        future = in_background(shell, "sleep 2; echo end", open_folder / "mark", deadline_s=4.0)
        servers.drop("stall")
        ran: Ran = future.result(timeout=_S)  # type: ignore[attr-defined]
        assert (ran.rc, ran.out) == (None, b"begun\n")
        servers.drop("resume")
        assert shell.run("echo again", deadline_s=_S).out == b"again\n"

    def test_refused_while_open_ones_live_on(
        self, shells: SshShells, servers: SshServers, tmp_path: Path
    ) -> None:
        shell = shells.shell(CLUSTER)
        shell.run(":", deadline_s=_S)
        servers.drop("refuse")
        assert shell.run("echo still", deadline_s=_S).out == b"still\n"
        servers.drop("kill")
        with pytest.raises(Unreachable, match="connection refused"):
            shell.run(":", deadline_s=_S)
        with pytest.raises(Unreachable, match="tried 1 times, again in"):
            shell.run(":", deadline_s=_S)
        health = shells.health(CLUSTER)
        assert (health.state, health.failures) == ("backing_off", 1)
        assert health.unreachable_since is not None
        servers.drop("accept")
        until(lambda: (shells.health(CLUSTER).next_try_in_s or 0) <= 0)
        assert shell.run("echo back", deadline_s=_S).out == b"back\n"
        assert shells.health(CLUSTER).unreachable_since is None

    def test_a_jump_host_that_is_killed(self, shells: SshShells, servers: SshServers) -> None:
        shell = shells.shell(ClusterHost("inner", "inner"))
        shell.run(":", deadline_s=_S)
        servers.drop("kill", "jump")
        assert shell.run("echo again", deadline_s=_S).out == b"again\n"

    def test_after_sleep_every_connection_is_made_anew_once(
        self, servers: SshServers, tmp_path: Path
    ) -> None:
        class Slept(Clock):
            ahead_s = 0.0

            def wall(self) -> float:
                return super().wall() + self.ahead_s

        clock = Slept()
        shells = SshShells(
            known_hosts=tmp_path / "own", ssh_config=servers.config(tmp_path),
            environment=dict, clock=clock,
        )  # fmt: skip
        try:
            shell = shells.shell(CLUSTER)
            shell.run(":", deadline_s=_S)
            first = shell.pool._connections["commands"]
            servers.drop("stall")  # as a network that forgot us: nobody answers
            clock.ahead_s = 8 * 3600
            began = time.monotonic()
            with ThreadPoolExecutor(3) as pool:
                rans = list(pool.map(lambda _: shell.run("echo up", deadline_s=_S), range(3)))
            assert [ran.out for ran in rans] == [b"up\n"] * 3
            assert time.monotonic() - began < 9  # nobody has waited for the dead one
            assert shell.pool._connections["commands"] is not first
            assert len(shell.pool._breaker._logins) == 2
        finally:
            shells.close()

    def test_idle_connections_are_closed_unless_jobs_live(
        self, servers: SshServers, tmp_path: Path
    ) -> None:
        for keep in (False, True):
            shells = SshShells(
                known_hosts=tmp_path / "own", ssh_config=servers.config(tmp_path),
                environment=dict, keep_open=lambda _name, keep=keep: keep, idle_s=0.0,
            )  # fmt: skip
            try:
                shell = shells.shell(CLUSTER)
                shell.run(":", deadline_s=_S)
                shell.pool.tend(idle_s=0.0, keep=keep, overdue_s=5.0)
                assert shell.pool.connected is keep
            finally:
                shells.close()

    def test_no_thread_is_left_behind(self, servers: SshServers, tmp_path: Path) -> None:
        before = set(threading.enumerate())
        shells = SshShells(
            known_hosts=tmp_path / "own", ssh_config=servers.config(tmp_path), environment=dict
        )
        for name in ("cluster", "inner"):
            shells.shell(ClusterHost(name, name)).run(":", deadline_s=_S)
        shells.close()
        until(lambda: set(threading.enumerate()) <= before)


class TestTransfers:
    @pytest.mark.parametrize("name", ["cluster", "noisy", "inner"])
    def test_there_and_back(self, shells: SshShells, name: str, tmp_path: Path) -> None:
        shell = shells.shell(ClusterHost(name, name))
        folder = "cm-" + os.urandom(6).hex()
        data = [os.urandom(n) for n in (0, 1, 3000, 2_000_000)]
        names = ["empty", "a 'b'", "sub/Δ\n", "big"]
        puts = [Put(PurePosixPath(n), d) for n, d in zip(names, data, strict=True)]
        home = shell.probe(deadline_s=_S).home
        shell.put(puts, PurePosixPath("$HOME", folder), deadline_s=_S)
        gets = [Get(PurePosixPath(home, folder, n), str(i)) for i, n in enumerate(names)]
        gots = shell.get(gets, tmp_path, deadline_s=_S)
        assert [got.sha256 for got in gots] == [hashlib.sha256(d).hexdigest() for d in data]
        assert [(tmp_path / str(i)).read_bytes() for i in range(4)] == data
        tails = shell.tail([TailFrom(PurePosixPath(home, folder, "big"), 1_999_990)], deadline_s=_S)
        assert tails[0].data == data[3][-10:]
        shell.run(f"rm -rf {folder}", deadline_s=_S)
        assert shell._ways(shell, "commands").broken == {}

    def test_a_hundred_files_at_once(
        self, shells: SshShells, there: PurePosixPath, tmp_path: Path
    ) -> None:
        shell = shells.shell(CLUSTER)
        data = {f"d{n % 7}/f{n}": os.urandom(n * 37) for n in range(100)}
        shell.put([Put(PurePosixPath(n), d) for n, d in data.items()], there, deadline_s=_S)
        assert len(shell.pool._connections) == 2  # it had a connection of its own
        gots = shell.get([Get(there / n, n) for n in data], tmp_path / "back", deadline_s=_S)
        assert {got.outcome for got in gots} == {"fetched"}
        assert {n: (tmp_path / "back" / n).read_bytes() for n in data} == data

    def test_garbled_sftp_is_named_and_files_go_anyway(
        self, shells: SshShells, servers: SshServers, tmp_path: Path
    ) -> None:
        flag = Path("/home/cmnoisy/.garble-sftp")
        flag.touch()
        try:
            host = ClusterHost("noisy", "noisy")
            shell = shells.shell(host)
            assert not shell.probe(deadline_s=_S).sftp
            shell.put([Put(PurePosixPath("x"), b"abc")], PurePosixPath("~/cm-g"), deadline_s=_S)
            got = shell.get([Get(PurePosixPath("~/cm-g/x"), "x")], tmp_path, deadline_s=_S)
            assert got[0].sha256 == hashlib.sha256(b"abc").hexdigest()
            report = shells.test_connection(host)
            assert "start-up files write into it" in report.problems[0].message
        finally:
            flag.unlink()
            shells.shell(ClusterHost("noisy", "noisy")).run("rm -rf cm-g", deadline_s=_S)

    @pytest.mark.parametrize("size", [_BIG, 2 * _BIG])  # by SFTP, and as a stream
    def test_an_upload_that_is_cut_goes_on_where_it_was(
        self,
        shells: SshShells,
        servers: SshServers,
        there: PurePosixPath,
        tmp_path: Path,
        size: int,
    ) -> None:
        source = tmp_path / "source"
        source.write_bytes(os.urandom(size))
        put, moved = Put(PurePosixPath("x"), source=source), 0

        def cut(n: int) -> None:
            nonlocal moved
            moved += n
            if size // 3 <= moved < size // 3 + n:
                servers.drop("kill")

        shell = shells.shell(CLUSTER)
        with pytest.raises(TransferFailed, match="what arrived is kept") as caught:
            shell.put([put], there, deadline_s=_S, on_bytes=cut)
        assert caught.value.retryable
        there_now = sorted(p.name for p in Path(there).iterdir())
        assert there_now == ["x.part"]
        kept = (Path(there) / "x.part").stat().st_size
        assert kept > 0
        counts: list[int] = []
        shell.put([put], there, deadline_s=_S, on_bytes=counts.append)
        assert counts[0] >= kept  # that much was not sent again
        assert (Path(there) / "x").read_bytes() == source.read_bytes()
        assert sorted(p.name for p in Path(there).iterdir()) == ["x"]

    def test_a_download_that_is_cut_goes_on_where_it_was(
        self, shells: SshShells, servers: SshServers, there: PurePosixPath, tmp_path: Path
    ) -> None:
        shell = shells.shell(CLUSTER)
        script = f"mkdir -p {there}; head -c {_BIG} /dev/urandom >{there}/x"
        assert shell.run(script, deadline_s=_S).rc == 0
        moved = 0

        def cut(n: int) -> None:
            nonlocal moved
            moved += n
            if _BIG // 3 <= moved < _BIG // 3 + n:
                servers.drop("kill")

        get = Get(there / "x", "x")
        with pytest.raises(TransferFailed, match="what arrived is kept"):
            shell.get([get], tmp_path, deadline_s=_S, on_bytes=cut)
        kept = (tmp_path / "x.part").stat().st_size
        assert _BIG // 3 <= kept < _BIG
        assert not (tmp_path / "x").exists()
        counts: list[int] = []
        got = shell.get([get], tmp_path, deadline_s=_S, on_bytes=counts.append)[0]
        assert counts[0] == kept
        wanted = shell.run(f"sha256sum <{there}/x", deadline_s=_S).out_text().split()[0]
        assert (got.sha256, got.size_bytes) == (wanted, _BIG)

    def test_a_link_that_stalls_during_a_transfer(
        self, shells: SshShells, servers: SshServers, there: PurePosixPath, tmp_path: Path
    ) -> None:
        shell, moved = shells.shell(CLUSTER), 0

        def stall(n: int) -> None:
            nonlocal moved
            moved += n
            if _BIG // 3 <= moved < _BIG // 3 + n:
                servers.drop("stall")

        put = Put(PurePosixPath("x"), os.urandom(_BIG))
        began = time.monotonic()
        with pytest.raises(TransferFailed):
            shell.put([put], there, deadline_s=8.0, on_bytes=stall)
        assert time.monotonic() - began < 60
        shell.put([put], there, deadline_s=_S)
        assert (Path(there) / "x").stat().st_size == _BIG

    def test_a_full_disk_is_said_and_no_part_is_left(
        self, shells: SshShells, there: PurePosixPath
    ) -> None:
        shell = shells.shell(CLUSTER)
        shell.run(f"mkdir -p {there}", deadline_s=_S)
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0777", "tmpfs", str(there)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            pytest.skip("a small file system cannot be mounted here")
        try:
            big = Put(PurePosixPath("x"), os.urandom(3_000_000))
            with pytest.raises(
                DiskFull, match=r"quota or disk full at .*: 3000000 bytes are needed"
            ):
                shell.put([big], there, deadline_s=_S)
            # What `df` says is not the whole truth: quotas, or somebody else who writes.
            for broken in ({}, {"sftp": "off"}):
                upload = shells._known["cluster"].broken
                upload.clear()
                upload.update(broken)
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(
                        "crystalmath.runners.shells.transfer.put.Upload._check_room",
                        lambda *_: None,
                    )
                    with pytest.raises(DiskFull, match="quota or disk full at") as caught:
                        shell.put([big], there, deadline_s=_S)
                assert not caught.value.retryable
                assert list(Path(there).iterdir()) == []
        finally:
            subprocess.run(["umount", str(there)], check=True)


@pytest.fixture
def open_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of this machine that the user of the cluster may write in too."""
    place = Path("/tmp") / ("cm-" + os.urandom(6).hex())
    place.mkdir()
    place.chmod(0o777)
    yield place
    for file in place.iterdir():
        file.unlink()
    place.rmdir()
