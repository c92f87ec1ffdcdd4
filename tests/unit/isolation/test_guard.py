"""The guard by itself, with small programs under it."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import crystalmath.isolation
from crystalmath.isolation.guard import children, descendants
from crystalmath.isolation.guard_command import guarded
from support.isolated import PATIENCE_S, alive, until

FOLDER = Path(crystalmath.isolation.__file__).parent


def program(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def run(code: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = guarded(program(code), **options)  # type: ignore[arg-type]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
        pass_fds=[fd for name, fd in options.items() if name == "hold_fd"],  # type: ignore[misc]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        ("pass", 0),
        ("raise SystemExit(7)", 7),
        ("import os; os._exit(137)", 137),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    ],
)
def test_it_ends_as_the_program_did(code: str, ends: int) -> None:
    assert run(code).returncode == ends


def test_without_a_log_the_program_writes_where_the_guard_would() -> None:
    done = run("import sys; print('out'); print('err', file=sys.stderr)")
    assert (done.stdout, done.stderr) == ("out\n", "err\n")


def test_the_program_starts_with_the_signals_that_its_starter_was_given() -> None:
    # Python ignores SIGPIPE by itself, and takes SIGINT; what it was given is seen by a C program.
    # Under nohup these tests have SIGHUP ignored themselves.
    look = ["/bin/sh", "-c", "grep -E 'Sig(Ign|Blk)' /proc/self/status"]
    below, beside = (
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
        for command in (guarded(look), look)
    )
    assert below.stdout == beside.stdout
    blocked, ignored = (int(line.split()[1], 16) for line in below.stdout.splitlines())
    assert (blocked, ignored & ~(1 << signal.SIGHUP - 1)) == (0, 0)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = subprocess.run(
        guarded(["/nonexistent/program"], log=log), check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 127
    assert log.read_text() == "/nonexistent/program: No such file or directory\n"


def test_the_end_of_a_flood_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = "import sys\nfor i in range(40000): sys.stderr.write(f'line {i}\\n')"
    assert run(code, log=log).returncode == 0
    kept = log.read_text().splitlines()
    assert log.stat().st_size <= 64 * 1024
    assert kept[-1] == "line 39999"
    numbers = [int(line.split()[1]) for line in kept[1:]]
    assert numbers == list(range(numbers[0], 40000)), "nothing is lost in between"
    assert len(numbers) > 2000


def test_a_held_lock_outlives_the_program_and_is_not_given_to_it(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        code = "import os; print(sorted(os.listdir('/proc/self/fd'))[:-1])"
        done = run(code, hold_fd=lock.fileno())
    assert done.returncode == 0
    assert str(lock.name) not in done.stdout
    assert done.stdout.strip() == "['0', '1', '2']"


def test_a_directory_is_tidied_away(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    code = f"import os; os.mkdir({str(folder / 'x')!r})"
    assert run(code, tidy=folder).returncode == 0
    assert not folder.exists()


def test_grandchildren_in_sessions_of_their_own_go_too() -> None:
    code = (
        "import os, sys, time\n"
        "if os.fork():\n    sys.stdin.read()\n    os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork():\n    os._exit(0)\n"
        "time.sleep(600)\n"
    )
    guard = subprocess.Popen(guarded(program(code)), stdin=subprocess.PIPE)
    until(lambda: len(children(guard.pid)) == 2, "the orphan is handed to the guard")
    below = descendants(guard.pid)
    assert guard.stdin is not None
    guard.stdin.close()
    assert guard.wait(PATIENCE_S) == 0
    assert not any(alive(pid) for pid in below)


def test_term_means_kill_everything() -> None:
    code = (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    )
    guard = subprocess.Popen(guarded(program(code)), stdout=subprocess.PIPE)
    assert guard.stdout is not None
    with guard.stdout:
        guard.stdout.readline()
    (below,) = descendants(guard.pid)
    os.kill(guard.pid, signal.SIGTERM)
    assert guard.wait(PATIENCE_S) == -signal.SIGKILL
    assert not alive(below)


def test_a_parent_that_is_gone_already_starts_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = guarded(program(f"open({str(mark)!r}, 'w')"))
    command[command.index(str(os.getpid()))] = "999999999"
    assert subprocess.run(command, check=False, timeout=PATIENCE_S).returncode == 127
    assert not mark.exists()


@pytest.mark.parametrize("name", ["guard.py", "probe.py"])
def test_what_runs_elsewhere_needs_the_standard_library_alone(name: str) -> None:
    tree = ast.parse((FOLDER / name).read_text())
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    imported |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {one.partition(".")[0] for one in imported} <= set(sys.stdlib_module_names)
