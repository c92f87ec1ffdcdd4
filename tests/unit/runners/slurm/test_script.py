"""The job script: its options, and what it does under bash. Clusters, cases 62, 70, 71 and 95."""

import json
import subprocess
from pathlib import Path

import pytest

from crystalmath.domain.resources import parse_walltime_s
from crystalmath.errors import InvalidParams
from crystalmath.runners.slurm.script import Request, Work, options, render_script, render_walltime

UUID = "0193f2ab-7c41-7000-8000-00000abcdef1"


def work(directory: Path | str, *argv: str, **more: object) -> Work:
    return Work(UUID, "a name\nwith Δ", str(directory), argv or ("true",), **more)  # type: ignore[arg-type]


def run(directory: Path, text: str, job: str = "77", **env: str) -> subprocess.CompletedProcess:
    script = directory / "job.sh"
    script.write_text(text)
    return subprocess.run(
        ["bash", script],
        env={"PATH": "/usr/bin:/bin", "SLURM_JOB_ID": job, "SLURM_JOB_NODELIST": "cm1", **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def end_of(directory: Path, attempt: int = 1) -> dict:
    return json.loads((directory / ".cm" / f"end.{attempt}.json").read_text())


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(60, "0-00:01:00"), (61, "0-00:02:00"), (1, "0-00:01:00"), (129_600, "1-12:00:00"),
     (360_000, "4-04:00:00")],
)  # fmt: skip
def test_walltimes_are_rounded_up_and_read_back(seconds: float, text: str) -> None:
    assert render_walltime(seconds) == text
    assert parse_walltime_s(text) == -(-seconds // 60) * 60


def test_options() -> None:
    found = options(
        Request(ntasks=4, cpus_per_task=2, memory_mib=4000, walltime_s=100, gpus="a100:2",
                partition="main", array="1-10%2", extra=("--mail-type=END",)),
        "/w",
    )  # fmt: skip
    assert "--mem=4000M" in found
    assert "--signal=B:USR1@25" in found
    assert "--gres=gpu:a100:2" in found
    assert found[-1] == "--mail-type=END"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (Request(partition="a b"), "resources.partition"),
        (Request(account="x\n#SBATCH --uid=0"), "resources.account"),
        (Request(gpus="0"), "resources.gpus"),
        (Request(array="1-"), "resources.array"),
        (Request(begin="$(id)"), "resources.begin"),
        (Request(memory_mib=1, memory_per_cpu_mib=1), "resources.memory_per_cpu_mib"),
        (Request(extra=("mail",)), "resources.extra.0"),
        (Request(extra=("--job-name=x",)), "resources.extra.0"),
        (Request(extra=("--job=x",)), "resources.extra.0"),
        (Request(extra=("--requeue",)), "resources.extra.0"),
        (Request(extra=("--a\n--b",)), "resources.extra.0"),
    ],
)
def test_values_that_may_not_be(request_: Request, field: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        options(request_, "/w")
    assert caught.value.field == field


def test_it_runs_and_leaves_receipts(tmp_path: Path) -> None:
    text = render_script(Request(), work(tmp_path, "sh", "-c", "echo $OMP_NUM_THREADS; exit 3"))
    ended = run(tmp_path, text)
    assert ended.returncode == 3
    assert (tmp_path / "stdout.log").read_text() == "1\n"
    end = end_of(tmp_path)
    assert (end["rc"], end["signal"], end["warned"], end["job"]) == (3, None, False, 77)
    start = json.loads((tmp_path / ".cm" / "start.1.json").read_text())
    assert start["nodes"] == "cm1"
    assert end["t_start"] == start["t_start"] <= end["t_end"]


def test_a_second_job_in_the_directory_touches_nothing(tmp_path: Path) -> None:
    text = render_script(Request(), work(tmp_path, "sh", "-c", "echo x >> runs"))
    assert run(tmp_path, text, "77").returncode == 0
    second = run(tmp_path, text, "78")
    assert second.returncode == 73
    assert (tmp_path / "runs").read_text() == "x\n"
    assert end_of(tmp_path)["job"] == 77


def test_a_requeued_job_goes_on_as_the_next_attempt(tmp_path: Path) -> None:
    text = render_script(Request(), work(tmp_path, "true"))
    run(tmp_path, text)
    assert run(tmp_path, text, SLURM_RESTART_COUNT="1").returncode == 0
    assert end_of(tmp_path, 2)["attempt"] == 2


def test_a_warning_writes_the_stop_file_and_waits_on(tmp_path: Path) -> None:
    program = "kill -USR1 $PPID; while [ ! -e si.EXIT ]; do sleep 0.02; done; echo ended; exit 0"
    text = render_script(
        Request(), work(tmp_path, "sh", "-c", program, stop_files=(("si.EXIT", "stop"),))
    )
    assert run(tmp_path, text).returncode == 0
    end = end_of(tmp_path)
    assert (end["rc"], end["warned"]) == (0, True)
    assert (tmp_path / "stdout.log").read_text() == "ended\n"


def test_term_is_passed_on_and_the_signal_is_told(tmp_path: Path) -> None:
    text = render_script(Request(), work(tmp_path, "sh", "-c", "kill -TERM $PPID; exec sleep 60"))
    assert run(tmp_path, text).returncode == 143
    end = end_of(tmp_path)
    assert (end["rc"], end["signal"]) == (None, 15)


def test_odd_directories_and_values_are_quoted(tmp_path: Path) -> None:
    odd = tmp_path / "a b $(touch x) 'q'"
    odd.mkdir()
    text = render_script(
        Request(), work(odd, "printenv", "ODD", env={"ODD": "$(id) \"'\n", "bad name": "x"})
    )
    assert run(tmp_path, text).returncode == 0
    assert (odd / "stdout.log").read_text() == "$(id) \"'\n\n"
    assert not (tmp_path / "x").exists()


def test_several_processes_need_the_launcher() -> None:
    four = Request(ntasks=4)
    assert "srun --ntasks=4 --cpus-per-task=1 pw.x -in 'a b'" in render_script(
        four, work("/w", "pw.x", "-in", "a b")
    )
    assert "mpirun -n 4 pw.x" in render_script(four, work("/w", "pw.x", launcher="mpirun"))
    custom = work("/w", "pw.x", launcher="mpiexec.hydra -np {n}")
    assert "mpiexec.hydra -np 4 pw.x" in render_script(four, custom)


def test_a_task_works_in_its_own_folder_and_no_second_array_touches_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("hello")
    command = ("/bin/sh", "-c", "cat in/a.txt; echo x > in/a.txt; echo run >> runs")
    text = render_script(Request(array="3-4", ntasks_per_node=1), work(tmp_path, *command))
    assert f"#SBATCH --output={tmp_path}/tasks/%a/scheduler.log" in text
    assert "#SBATCH --array=3-4\n" in text
    assert "#SBATCH --ntasks-per-node=1\n" in text
    folder = tmp_path / "tasks" / "3"
    assert run(tmp_path, text, "77", SLURM_ARRAY_TASK_ID="3").returncode == 0
    assert (folder / "stdout.log").read_text() == "hello"
    assert (tmp_path / "in" / "a.txt").read_text() == "hello"
    assert end_of(folder)["rc"] == 0
    assert run(tmp_path, text, "78", SLURM_ARRAY_TASK_ID="3").returncode == 73
    assert (folder / "runs").read_text() == "run\n"
    again = run(tmp_path, text, "77", SLURM_ARRAY_TASK_ID="3", SLURM_RESTART_COUNT="1")
    assert again.returncode == 0
    assert (folder / "stdout.log").read_text() == "x\n", "its inputs are copied once"
    assert run(tmp_path, text, "79").returncode == 74, "SLURM has given it no task"
