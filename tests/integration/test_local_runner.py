"""The local runner with real supervisors and real programs."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from crystalmath.errors import Conflict
from crystalmath.runners.local import procfs, receipts, runner
from crystalmath.runners.local.runner import Durations, LocalRunner
from crystalmath.services.ports import EndReceipt, Handle, Launch, Observation

pytestmark = pytest.mark.skipif(not procfs.available(), reason="needs Linux /proc")

T = TypeVar("T")
HANG_S = 60.0
QUICK = Durations(grace_s=0.3, linger_s=0.1, kill_patience_s=5.0, claim_s=HANG_S)
PATIENT = Durations(grace_s=HANG_S, kill_patience_s=5.0, claim_s=HANG_S)
# Not signal.pause(): a signal just before it would be handled only after the next one.
PYTHON_WAITS = """
import signal, sys, time; {}
open('ready', 'w').close()
while True: time.sleep(0.02)
"""


def until(look: Callable[[], T], good: Callable[[T], bool]) -> T:
    """Look again and again until it is good; a hang fails."""
    deadline = time.monotonic() + HANG_S
    pause = threading.Event()
    while not good(seen := look()):
        assert time.monotonic() < deadline, f"not within {HANG_S} s; last seen: {seen}"
        pause.wait(0.005)
    return seen


class Job:
    """A job directory with a runner for it."""

    def __init__(self, directory: Path, durations: Durations = PATIENT) -> None:
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.key = uuid.uuid4().hex
        self.runner = LocalRunner(durations)

    def launch(
        self,
        *argv: str,
        attempt: int = 1,
        env: Mapping[str, str] | None = None,
        walltime_s: float | None = None,
        stdout: str = "stdout.log",
        stderr: str = "stderr.log",
    ) -> None:
        self.runner.launch(
            Launch(self.key, attempt, self.directory, argv, env or {}, walltime_s, stdout, stderr)
        )

    def python(self, setup: str, **options: Any) -> int:
        """Launch a Python program that waits; return its pid when it is ready."""
        self.launch(sys.executable, "-c", PYTHON_WAITS.format(setup), **options)
        until((self.directory / "ready").exists, bool)
        return self.program_pid()

    def observe(self) -> Observation:
        return self.runner.observe(self.directory, self.key)

    def cancel(self) -> None:
        self.runner.cancel(self.directory, self.key)

    def until_phase(self, phase: str) -> Observation:
        return until(self.observe, lambda seen: seen.phase == phase)

    def end(self) -> EndReceipt:
        end = self.until_phase("ended").end
        assert end is not None
        return end

    def raw(self, name: str) -> dict[str, Any]:
        document = json.loads((self.directory / ".cm" / name).read_bytes())
        assert isinstance(document, dict)
        return document

    def edit(self, name: str, **changes: Any) -> None:
        (self.directory / ".cm" / name).write_text(json.dumps({**self.raw(name), **changes}))

    def program_pid(self) -> int:
        self.until_phase("running")
        pid = self.raw("start.json")["program_pid"]
        assert isinstance(pid, int)
        return pid

    def supervisor(self) -> Handle:
        handle = self.observe().handle
        assert handle is not None
        return handle

    def kill_supervisor(self) -> None:
        handle = self.supervisor()
        os.kill(handle.pid, signal.SIGKILL)
        until(lambda: procfs.alive(handle.pid, handle.pid_start), lambda alive: not alive)

    def text(self, name: str = "stdout.log") -> str:
        return (self.directory / name).read_text()


def end_processes(job: Job) -> None:
    """End whatever a test left running."""
    for attempt in receipts.attempts(job.directory)[1]:
        owner = receipts.owner_of(job.directory, attempt)
        if owner and owner["pid"] != os.getpid() and procfs.alive(owner["pid"], owner["pid_start"]):
            os.kill(owner["pid"], signal.SIGKILL)
    for pid in procfs.members(job.key):
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    job = Job(tmp_path / "job")
    yield job
    end_processes(job)


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Job]:
    """A job whose programs get little time to end."""
    job = Job(tmp_path / "job", QUICK)
    yield job
    end_processes(job)


# --- how a program ends -------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_code_is_in_the_receipt(job: Job, code: int) -> None:
    job.launch("sh", "-c", f"echo out; echo err >&2; exit {code}")
    end = job.end()
    assert (end.rc, end.signal, end.cause, end.failure) == (code, None, "exit", None)
    assert end.attempt == 1
    assert end.t_start <= end.t_end
    assert end.max_rss_kib is not None
    assert end.max_rss_kib > 0
    assert not end.disk_full
    assert (job.text(), job.text("stderr.log")) == ("out\n", "err\n")
    raw = job.raw("end.json")
    assert (raw["key"], raw["host"], raw["version"]) == (job.key, os.uname().nodename, 1)
    assert job.text(".cm/supervisor.log") == ""


@pytest.mark.parametrize("signum", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
def test_a_signal_that_ended_the_program_is_in_the_receipt(job: Job, signum: int) -> None:
    job.launch("sh", "-c", f"kill -{int(signum)} $$")
    end = job.end()
    assert (end.rc, end.signal, end.cause) == (None, signum, "exit")


def test_cpu_time_counts_the_programs_children(job: Job) -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    job.launch("sh", "-c", f'"{sys.executable}" -c "{burn}"; true')
    cpu_s = job.end().cpu_s
    assert cpu_s is not None
    assert cpu_s >= 0.2


@pytest.mark.parametrize(
    ("name", "content", "mode", "failure"),
    [
        ("no-such-program", None, 0, "no such program: no-such-program"),
        ("./missing", None, 0, "no such program: ./missing"),
        ("./plain", b"#!/bin/sh\n", 0o644, "not executable: ./plain"),
        (".", None, 0, "no such program: ."),
        ("./", None, 0, "not executable: ./"),
        ("./bad", b"#!/no/such/interpreter -x\n", 0o755, "bad interpreter: '/no/such/interpreter'"),
        ("./text", b"hello\n", 0o755, "not a program: ./text"),
    ],
)
def test_a_program_that_cannot_be_started_says_why(
    job: Job, name: str, content: bytes | None, mode: int, failure: str
) -> None:
    if content is not None:
        (job.directory / name).write_bytes(content)
        (job.directory / name).chmod(mode)
    job.launch(name)
    end = job.end()
    assert (end.rc, end.signal, end.cause) == (None, None, "not_started")
    assert end.failure is not None
    assert end.failure.startswith(failure)


def test_an_output_file_that_cannot_be_made_says_so(job: Job) -> None:
    job.launch("true", stdout="no/such/folder/out")
    end = job.end()
    assert end.cause == "not_started"
    assert end.failure == "cannot write no/such/folder/out: No such file or directory"


def test_one_file_may_take_both_outputs(job: Job) -> None:
    job.launch("sh", "-c", "echo 1; echo 2 >&2; echo 3", stdout="log", stderr="log")
    assert job.end().rc == 0
    assert job.text("log") == "1\n2\n3\n"


def test_a_huge_output_is_kept_whole(job: Job) -> None:
    job.launch("sh", "-c", "head -c 30000000 /dev/zero; head -c 30000000 /dev/zero >&2")
    assert job.end().rc == 0
    for name in ("stdout.log", "stderr.log"):
        assert (job.directory / name).stat().st_size == 30_000_000


# --- what a program is given --------------------------------------------------------------------


def test_the_environment_is_the_runners_with_the_launchs_on_top(job: Job) -> None:
    base = {"PATH": os.environ["PATH"], "A": "base", "B": "base", procfs.KEY_VARIABLE: "stale"}
    job.runner = LocalRunner(PATIENT, environment=base)
    job.launch("env", "-0", env={"B": "launch\nü", "EMPTY": ""}, attempt=4)
    assert job.end().rc == 0
    given = dict(line.split("=", 1) for line in job.text().split("\0") if line)
    assert given == {
        "PATH": os.environ["PATH"],
        "A": "base",
        "B": "launch\nü",
        "EMPTY": "",
        "CRYSTALMATH_JOB_KEY": job.key,
        "CRYSTALMATH_JOB_ATTEMPT": "4",
    }
    assert "base" not in job.text(".cm/launch.4.json")


def test_directory_umask_input_and_groups(job: Job) -> None:
    pid = job.python("open('made', 'w').close(); print(sys.stdin.read() == '', flush=True)")
    assert job.text() == "True\n"
    assert (job.directory / "made").stat().st_mode & 0o777 == 0o600
    assert (job.directory / ".cm").stat().st_mode & 0o777 == 0o700
    supervisor = job.supervisor().pid
    assert os.getpgid(pid) == pid
    assert os.getsid(supervisor) != os.getsid(0)
    assert os.getpgid(supervisor) not in (pid, os.getpgid(0))


@pytest.mark.parametrize("ignored", [None, signal.SIGQUIT, signal.SIGTERM])
def test_a_program_gets_its_signals_as_a_shell_would_give_them(
    job: Job, ignored: signal.Signals | None
) -> None:
    before = signal.signal(ignored, signal.SIG_IGN) if ignored else None
    try:
        pid = job.python("pass")
    finally:
        if ignored:
            signal.signal(ignored, before)
    facts = dict(
        line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line
    )
    assert int(facts["SigBlk"], 16) == 0
    # Python itself ignores SIGPIPE (13) and SIGXFSZ (25); the supervisor's own are HUP and INT.
    assert int(facts["SigIgn"], 16) & ~(1 << 12 | 1 << 24) == 0


def descriptors(pid: int) -> set[int]:
    return {int(name) for name in os.listdir(f"/proc/{pid}/fd")}  # noqa: PTH208 -- names


def test_no_descriptor_is_inherited(job: Job, tmp_path: Path) -> None:
    held = os.open(tmp_path / "lock", os.O_CREAT | os.O_RDWR)
    try:
        os.set_inheritable(held, True)
        pid = job.python("pass")
        for process in (pid, job.supervisor().pid):
            # The supervisor may be about to close the receipt it has just put into place.
            until(lambda pid=process: descriptors(pid), lambda open_now: open_now == {0, 1, 2})
            assert Path(f"/proc/{process}/fd/0").readlink() == Path("/dev/null")
    finally:
        os.close(held)


# --- exactly once -------------------------------------------------------------------------------


def test_twenty_supervisors_for_one_attempt_run_the_program_once(job: Job) -> None:
    document = {
        "version": 1, "key": job.key, "attempt": 1, "argv": ["sh", "-c", "echo $$ >> runs"],
        "env": {}, "stdout": "stdout.log", "stderr": "stderr.log", "walltime_s": None,
        "warn_lead_s": 0.0, "grace_s": 1.0, "kill_patience_s": 1.0,
    }  # fmt: skip
    (job.directory / ".cm").mkdir()
    receipts.save(str(job.directory / ".cm" / "launch.1.json"), document)
    script = Path(runner.__file__).with_name("supervisor.py")
    command = [sys.executable, "-I", "-S", str(script), str(job.directory), "1"]
    many = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(20)]
    words = sorted(process.communicate()[0].decode().strip() for process in many)
    assert words == ["claimed"] + ["taken"] * 19
    assert job.end().rc == 0
    assert len(job.text("runs").splitlines()) == 1


def test_launching_again_at_any_time_changes_nothing(job: Job) -> None:
    def go(_: int) -> None:
        job.launch("sh", "-c", "echo run >> runs; until [ -e go ]; do sleep 0.01; done")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(go, range(4)))
    job.until_phase("running")
    go(0)
    (job.directory / "go").touch()
    end = job.end()
    go(0)
    assert job.observe().end == end
    assert job.text("runs") == "run\n"


def test_a_second_attempt_waits_for_the_end_of_the_first_and_replaces_it(job: Job) -> None:
    job.python("print('first', flush=True)")
    with pytest.raises(Conflict, match="attempt 1 still runs"):
        job.launch("true", attempt=2)
    job.cancel()
    assert job.end().attempt == 1
    job.launch("sh", "-c", "echo second; exit 4", attempt=2)
    end = until(job.observe, lambda seen: seen.end is not None).end
    assert end is not None
    assert (end.attempt, end.rc) == (2, 4)
    assert job.text() == "second\n"
    job.launch("sh", "-c", "echo stale", attempt=1)
    assert job.observe().end == end


def test_a_directory_of_another_job_is_refused(job: Job) -> None:
    job.launch("true")
    job.end()
    job.key = uuid.uuid4().hex
    for call in (job.observe, job.cancel, lambda: job.launch("true")):
        with pytest.raises(Conflict, match="belongs to another job"):
            call()


def test_a_directory_that_is_missing_is_an_error(job: Job) -> None:
    job.directory.rmdir()
    with pytest.raises(FileNotFoundError):
        job.launch("true")
    job.directory.mkdir()
    assert job.observe().phase == "unclaimed"


# --- cancel -------------------------------------------------------------------------------------

FAMILY = """
import os, signal, subprocess, sys, time
def wait(name):
    open(name, 'w').write(str(os.getpid()))
    while True: time.sleep(60)
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        wait('grandchild')
    wait('child')
wait('leader')
"""


def family(job: Job) -> list[int]:
    """Launch a program with a child and a grandchild in a session of its own."""
    job.launch(sys.executable, "-c", FAMILY)
    names = ("leader", "child", "grandchild")
    files = [job.directory / name for name in names]
    until(lambda: [file.exists() and file.read_text() for file in files], all)
    pids = [int(file.read_text()) for file in files]
    assert sorted(procfs.members(job.key)) == sorted(pids)
    return pids


def test_cancel_ends_child_and_grandchild_in_its_own_session(job: Job) -> None:
    family(job)
    job.cancel()
    job.cancel()
    end = job.end()
    assert (end.rc, end.signal, end.cause) == (None, signal.SIGTERM, "cancel")
    assert procfs.gone(job.key)
    job.cancel()
    assert job.observe().end == end


def test_a_program_that_ignores_term_is_killed_after_the_grace(quick: Job) -> None:
    quick.python("signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    quick.cancel()
    end = quick.end()
    assert (end.signal, end.cause) == (signal.SIGKILL, "cancel")


def test_a_program_may_end_properly_when_it_is_cancelled(job: Job) -> None:
    job.python("signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))")
    job.cancel()
    end = job.end()
    assert (end.rc, end.cause) == (0, "cancel")


def test_a_stopped_program_and_a_stopped_supervisor_are_cancelled_too(job: Job) -> None:
    pid = job.python("signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))")
    for process in (pid, job.supervisor().pid):
        os.kill(process, signal.SIGSTOP)
    job.cancel()
    end = job.end()
    assert (end.rc, end.cause) == (5, "cancel")


def test_cancel_before_anything_was_launched_does_nothing(job: Job) -> None:
    job.cancel()
    assert list(job.directory.iterdir()) == []


def test_cancel_before_the_claim_keeps_the_program_from_starting(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        # The daemon dies between the launch document and the supervisor.
        patched.setattr(job.runner, "_start_supervisor", lambda _: None)
        job.launch("touch", "ran")
    assert job.observe().phase == "unclaimed"
    job.cancel()
    end = job.end()
    assert (end.rc, end.signal, end.cause) == (None, None, "cancel")
    # A supervisor that comes late, and a repeated launch, find the attempt taken.
    job.runner._start_supervisor(Launch(job.key, 1, job.directory, ("touch", "ran"), {}))
    job.launch("touch", "ran")
    assert job.observe().end == end
    assert not (job.directory / "ran").exists()


def test_a_new_attempt_shuts_out_a_slow_supervisor_of_an_earlier_one(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(job.runner, "_start_supervisor", lambda _: None)
        job.launch("touch", "first")
    job.launch("touch", "second", attempt=2)
    job.runner._start_supervisor(Launch(job.key, 1, job.directory, (), {}))
    assert job.end().attempt == 2
    assert (job.directory / "second").exists()
    assert not (job.directory / "first").exists()


def test_hangup_and_interrupt_do_not_reach_a_run(job: Job) -> None:
    job.launch("sh", "-c", "until [ -e go ]; do sleep 0.01; done; exit 6")
    job.until_phase("running")
    for signum in (signal.SIGHUP, signal.SIGINT):
        os.kill(job.supervisor().pid, signum)
    (job.directory / "go").touch()
    assert job.end().rc == 6


# --- walltime and leftovers ---------------------------------------------------------------------


def test_walltime_warns_then_ends_the_whole_family(quick: Job) -> None:
    script = """
    trap 'echo warned' USR1; trap 'exit 0' TERM
    setsid sleep 600 &
    while :; do wait; done
    """
    quick.launch("sh", "-c", script, walltime_s=1.5)
    end = quick.end()
    assert (end.rc, end.cause) == (0, "walltime")
    assert end.t_end - end.t_start >= 1.5
    assert quick.text() == "warned\n"
    assert quick.raw("end.json")["warned"] is True
    assert procfs.gone(quick.key)


def test_a_program_without_a_handler_is_not_warned_to_death(job: Job) -> None:
    job.launch("sleep", "600", walltime_s=0.4)
    end = job.end()
    assert (end.signal, end.cause) == (signal.SIGTERM, "walltime")
    assert job.raw("end.json")["warned"] is False


def test_walltime_kills_what_ignores_term(quick: Job) -> None:
    quick.launch("sh", "-c", "trap '' TERM; exec sleep 600", walltime_s=1.0)
    end = quick.end()
    assert (end.signal, end.cause) == (signal.SIGKILL, "walltime")


def test_processes_left_behind_are_ended_and_counted(quick: Job) -> None:
    quick.launch("sh", "-c", "sleep 600 & setsid sleep 600 & (trap '' TERM; sleep 600) & exit 7")
    end = quick.end()
    assert (end.rc, end.cause) == (7, "exit")
    assert procfs.gone(quick.key)
    assert end.leftover >= 3
    assert end.unkillable == 0


def test_a_helper_that_ends_just_after_the_program_is_not_left_behind(job: Job) -> None:
    # It ends when it sees that the program, its parent, is gone.
    look = "read -r _ _ _ parent _ </proc/$$/stat"
    helper = f"while {look}; [ $parent = $1 ]; do sleep 0.005; done"
    job.runner = LocalRunner(replace(PATIENT, linger_s=HANG_S))
    job.launch("sh", "-c", f"sh -c '{helper}' helper $$ & exit 0")
    assert (job.end().rc, job.end().leftover) == (0, 0)


def test_a_receipt_that_counts_no_processes_is_read(job: Job) -> None:
    job.launch("true")
    job.end()
    older = {k: v for k, v in job.raw("end.json").items() if k not in ("leftover", "unkillable")}
    (job.directory / ".cm" / "end.json").write_text(json.dumps(older))
    assert (job.end().rc, job.end().leftover) == (0, 0)


# --- no supervisor, no daemon, no disk ----------------------------------------------------------


def test_without_its_supervisor_a_program_runs_until_it_ends(job: Job) -> None:
    job.launch("sh", "-c", "until [ -e go ]; do sleep 0.01; done")
    job.until_phase("running")
    job.kill_supervisor()
    assert job.observe().phase == "running"
    assert job.observe().t_start is not None
    (job.directory / "go").touch()
    assert job.until_phase("vanished").end is None
    job.launch("touch", "again")
    assert not (job.directory / "again").exists()


def test_a_leftover_in_its_own_session_keeps_a_run_alive(job: Job) -> None:
    leader, child, grandchild = family(job)
    job.kill_supervisor()
    os.kill(leader, signal.SIGKILL)
    os.kill(child, signal.SIGKILL)
    until(lambda: procfs.members(job.key), lambda pids: pids == [grandchild])
    assert job.observe().phase == "running"
    os.kill(grandchild, signal.SIGKILL)
    job.until_phase("vanished")


def test_cancel_without_supervisor_sends_term_then_kill(quick: Job) -> None:
    setup = "signal.signal(signal.SIGTERM, lambda *_: open('term', 'a').write('x'))"
    quick.python(setup)
    quick.kill_supervisor()

    def cancelled() -> str:
        quick.cancel()
        return quick.observe().phase

    until(cancelled, lambda phase: phase == "vanished")
    assert quick.text("term") == "x"


def test_a_pid_that_was_given_to_another_program_is_not_ours(job: Job) -> None:
    job.python("pass")
    pid = job.program_pid()
    job.kill_supervisor()
    os.kill(pid, signal.SIGKILL)
    job.until_phase("vanished")
    # This very process has the pids now, but started at another time.
    job.edit("start.json", pid=os.getpid(), program_pid=os.getpid())
    assert job.observe().phase == "vanished"
    job.cancel()


def test_a_claim_of_another_boot_is_never_taken_for_alive(job: Job) -> None:
    job.python("pass")
    job.edit("start.json", boot_id=str(uuid.uuid4()))
    assert job.observe().phase == "other_boot"
    supervisor = job.supervisor()
    job.cancel()
    job.edit("start.json", boot_id=procfs.boot_id())
    assert job.observe().phase == "running"
    assert procfs.alive(supervisor.pid, supervisor.pid_start)


@pytest.mark.parametrize(
    ("changes", "phase"),
    [
        ({}, "claimed"),
        ({"pid_start": 1}, "vanished"),
        ({"boot_id": "another"}, "other_boot"),
    ],
)
def test_a_supervisor_killed_before_the_program_started(
    job: Job, changes: dict[str, Any], phase: str
) -> None:
    pid = os.getpid()
    owner = {
        "key": job.key, "attempt": 1, "pid": pid,
        "pid_start": procfs.start_ticks(pid), "boot_id": procfs.boot_id(),
    }  # fmt: skip
    (job.directory / ".cm").mkdir()
    assert receipts.claim(job.directory, 1, {**owner, **changes})
    assert job.observe().phase == phase


@pytest.mark.parametrize("number", range(12))
def test_a_supervisor_killed_at_any_moment_never_makes_a_second_run(
    job: Job, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    argv = ("sh", "-c", "echo run >> runs; until [ -e go ]; do sleep 0.01; done")
    with monkeypatch.context() as patched:
        patched.setattr(job.runner, "_start_supervisor", lambda _: None)
        job.launch(*argv)
    script = Path(runner.__file__).with_name("supervisor.py")
    command = [sys.executable, "-I", "-S", str(script), str(job.directory), "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0) as first:
        # From before the interpreter is up to after the start of the program.
        moment_s = 0.008 * number
        started = time.monotonic()
        until(lambda: time.monotonic() - started, lambda passed: passed >= moment_s)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(first.pid, signal.SIGKILL)
        assert first.stdout is not None
        first.stdout.read()
    if job.observe().phase == "unclaimed":
        assert not (job.directory / "runs").exists()
        assert procfs.gone(job.key)
    for _ in range(2):
        job.launch(*argv)
    (job.directory / "go").touch()
    until(job.observe, lambda seen: seen.phase in ("ended", "vanished"))
    assert procfs.gone(job.key)
    runs = job.directory / "runs"
    assert (runs.read_text() if runs.exists() else "") in ("", "run\n")


DAEMON = """
import fcntl, os, sys
from pathlib import Path
from crystalmath.runners.local.runner import LocalRunner
from crystalmath.services.ports import Launch
lock = open(sys.argv[1], 'w')
os.set_inheritable(lock.fileno(), True)
fcntl.flock(lock, fcntl.LOCK_EX)
wait = 'until [ -e go ]; do sleep 0.01; done; exit 8'
LocalRunner().launch(Launch(sys.argv[3], 1, Path(sys.argv[2]), ('sh', '-c', wait), {}))
print('launched', flush=True)
sys.stdin.read()
"""


def test_a_run_outlives_a_killed_daemon_and_holds_none_of_its_locks(
    job: Job, tmp_path: Path
) -> None:
    lock = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", DAEMON, lock, job.directory, job.key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == b"launched\n"
        os.killpg(daemon.pid, signal.SIGKILL)
        # Nobody else has the pipe: end of file at once.
        assert daemon.stdout.read() == b""
    with lock.open() as mine:
        fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
    job.until_phase("running")
    (job.directory / "go").touch()
    assert job.end().rc == 8


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    mount = tmp_path / "small"
    mount.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", mount],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small tmpfs: {done.stderr.strip()}")
    yield mount
    subprocess.run(["umount", "--lazy", mount], check=True)


def test_a_disk_filled_by_the_program_does_not_lose_the_receipt(small_disk: Path) -> None:
    job = Job(small_disk / "job")
    job.launch("sh", "-c", "cat /dev/zero > fill; until ! echo x >> more; do :; done; exit 9")
    end = job.end()
    assert (end.rc, end.cause, end.disk_full) == (9, "exit", True)
    end_processes(job)


def test_a_full_disk_refuses_the_launch_and_leaves_it_repeatable(small_disk: Path) -> None:
    job = Job(small_disk / "job")
    fill = small_disk / "fill"
    with fill.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    # From no page free to a few pages: whoever runs out first, daemon or supervisor, says so.
    refusals: set[str | None] = set()
    while job.observe().phase == "unclaimed":
        try:
            job.launch("sh", "-c", "exit 2")
        except OSError as error:
            refusals.add(error.strerror)
            os.truncate(fill, fill.stat().st_size - 4096)
    assert refusals == {"No space left on device"}
    assert job.end().rc == 2
    names = [path.name for path in (job.directory / ".cm").iterdir()]
    assert not [name for name in names if "draft" in name or "tmp" in name]


def test_a_program_that_writes_to_a_full_device_ends_as_it_says(job: Job) -> None:
    job.launch("sh", "-c", "head -c 9 /dev/zero > /dev/full || exit 10")
    end = job.end()
    assert (end.rc, end.disk_full) == (10, False)
    assert "No space left" in job.text("stderr.log")


def test_a_supervisor_that_gives_no_word_is_a_timeout_and_may_be_tried_again(job: Job) -> None:
    job.runner = LocalRunner(Durations(claim_s=0.0))
    with pytest.raises(TimeoutError, match="gave no word"):
        job.launch("sh", "-c", "exit 11")
    job.runner = LocalRunner(PATIENT)
    job.launch("sh", "-c", "exit 11")
    assert job.end().rc == 11
