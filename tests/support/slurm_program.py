"""A SLURM of one file, for tests: sbatch, squeue, sacct, scancel, scontrol by the name it has.

It runs what is submitted to it, and fails in the ways that are asked of it. It proves the plumbing;
only the testbed proves the truth. Its state is in ``$SCRIPTED_SLURM``: ``jobs/ID.json``, a log of
what was submitted in ``submitted``, and the faults that are on as files ``fault.NAME``.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HOME = Path(os.environ["SCRIPTED_SLURM"])
SEPARATOR = "\x1f"
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED")


@contextmanager
def locked() -> Iterator[None]:
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fault(name: str) -> bool:
    return (HOME / f"fault.{name}").exists()


def jobs() -> list[dict[str, Any]]:
    found = [json.loads(path.read_text()) for path in (HOME / "jobs").glob("*.json")]
    return sorted(found, key=lambda job: int(job["id"]))


def store(job: dict[str, Any]) -> None:
    path = HOME / "jobs" / f"{job['id']}.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(job))
    part.replace(path)


def change(ident: int, **values: Any) -> dict[str, Any]:
    with locked():
        path = HOME / "jobs" / f"{ident}.json"
        job = json.loads(path.read_text()) | values
        store(job)
        return job  # type: ignore[no-any-return]


def sbatch(arguments: list[str]) -> int:
    if fault("noctld"):
        print("sbatch: error: Unable to contact slurm controller", file=sys.stderr)
        return 1
    if fault("limit"):
        print("sbatch: error: AssocMaxSubmitJobLimit", file=sys.stderr)
        return 1
    name = next(a.partition("=")[2] for a in arguments if a.startswith("--job-name="))
    tasks = array_of(Path(arguments[-1]))
    with locked():
        first = 100 + len(list((HOME / "jobs").glob("*.json")))
        idents = range(first, first + len(tasks))
        for ident, task in zip(idents, tasks, strict=True):
            store(
                {
                    "id": ident,
                    "array": None if task is None else first,
                    "task": task,
                    "name": name,
                    "user": getpass.getuser(),
                    "state": "PENDING",
                    "workdir": str(Path.cwd()),
                    "script": arguments[-1],
                    "submit": int(time.time()),
                    "start": None,
                    "end": None,
                    "rc": 0,
                    "restarts": 0,
                }
            )
        with (HOME / "submitted").open("a") as log:
            log.write(f"{name}\n")
    for ident in idents:
        if not fault("pending"):
            start(ident)
    if fault("timeout"):
        print("sbatch: error: Socket timed out on send/recv operation", file=sys.stderr)
        return 1
    print(first)
    return 0


def array_of(script: Path) -> list[int | None]:
    """Tasks that the script asks for, as ranges without step; one that is no task otherwise."""
    asked = re.search(r"^#SBATCH --array=([0-9,-]+)", script.read_text(), re.MULTILINE)
    if asked is None:
        return [None]
    tasks: list[int | None] = []
    for piece in asked[1].split(","):
        first, _, last = piece.partition("-")
        tasks += range(int(first), int(last or first) + 1)
    return tasks


def shown(job: dict[str, Any]) -> str:
    """A job's id as SLURM prints it."""
    return str(job["id"]) if job["task"] is None else f"{job['array']}_{job['task']}"


def start(ident: int) -> None:
    subprocess.Popen(
        [sys.executable, __file__, "run", str(ident)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def run(ident: int) -> int:
    job = change(ident, state="RUNNING", start=int(time.time()), pid=os.getpid())
    environment = {**os.environ, "SLURM_JOB_ID": str(ident), "SLURM_JOB_NODELIST": "n1"}
    environment["SLURM_RESTART_COUNT"] = str(job["restarts"])
    folder = "."
    if job["task"] is not None:
        environment["SLURM_ARRAY_JOB_ID"] = str(job["array"])
        environment["SLURM_ARRAY_TASK_ID"] = str(job["task"])
        folder = f"tasks/{job['task']}"
    with (Path(job["workdir"]) / folder / "scheduler.log").open("ab") as log:
        done = subprocess.run(
            ["bash", job["script"]],
            cwd=job["workdir"],
            env=environment,
            stdout=log,
            stderr=log,
            check=False,
        )
    now = json.loads((HOME / "jobs" / f"{ident}.json").read_text())
    state = "COMPLETED" if done.returncode == 0 else "FAILED"
    if now["state"] in ENDED:
        state = now["state"]
    change(ident, state=state, rc=max(0, done.returncode), end=int(time.time()))
    return 0


def squeue(arguments: list[str]) -> int:
    if fault("squeue"):
        print("slurm_load_jobs error: Socket timed out", file=sys.stderr)
        return 1
    form = arguments[arguments.index("-o") + 1]
    tag = form.partition(SEPARATOR)[0]
    for job in jobs():
        if (job["state"] in ENDED and fault("minjobage")) or fault("forgotten"):
            continue
        fields = (
            *(tag, shown(job), job["state"], "None", "n1", job["user"], job["submit"]),
            *(job["start"] or "N/A", "0:01", "10:00", 1, 1, "main", "a", "q", job["workdir"]),
            job["name"],
        )
        print(SEPARATOR.join(map(str, fields)))
    if fault("cut"):
        sys.stdout.write(f"{tag}{SEPARATOR}9")
    return 0


def sacct(arguments: list[str]) -> int:
    if fault("sacct"):
        print("Slurm accounting storage is disabled", file=sys.stderr)
        return 1
    wanted = None
    if "-j" in arguments:
        wanted = set(arguments[arguments.index("-j") + 1].split(","))
    name = next((a.partition("=")[2] for a in arguments if a.startswith("--name=")), None)
    for job in jobs():
        if wanted is not None and str(job["array"] or job["id"]) not in wanted:
            continue
        if name is not None and job["name"] != name:
            continue
        if fault("forgotten"):
            continue
        if "MaxRSS" in arguments[-1]:
            print(SEPARATOR.join(usage(job)))
            continue
        fields = (
            *(job["id"], shown(job), job["user"], job["state"], f"{job['rc']}:0", job["submit"]),
            *(job["start"] or "Unknown", job["end"] or "Unknown", 1, "main", "n1", "None"),
            *(job["workdir"], job["name"]),
        )
        print(SEPARATOR.join(map(str, fields)))
    return 0


def usage(job: dict[str, Any]) -> list[str]:
    """An allocation of two cores that had them for 90 s."""
    rc = f"{job['rc']}:0"
    return [
        str(job["id"]),
        shown(job),
        job["state"],
        rc,
        "2048K",
        "00:03.500",
        "",
        "1",
        "2",
        "",
        "90",
    ]


def scancel(arguments: list[str]) -> int:
    if fault("noctld"):
        print("scancel: error: Unable to contact slurm controller", file=sys.stderr)
        return 8
    wanted = set(arguments)
    for job in jobs():
        ident = int(job["id"])
        if not wanted & {shown(job), str(job["array"] or ident)} or job["state"] in ENDED:
            continue
        change(ident, state="CANCELLED", end=int(time.time()))
        if job.get("pid"):
            try:
                os.killpg(job["pid"], signal.SIGTERM)
            except ProcessLookupError:
                continue
    return 0


def main() -> int:
    name, arguments = Path(sys.argv[0]).name, sys.argv[1:]
    if arguments[:1] == ["run"]:  # in the background, by `start`
        # A handler, not SIG_IGN: that the job would inherit, and no cancel would end it.
        signal.signal(signal.SIGTERM, lambda *_: None)
        return run(int(arguments[1]))
    commands = {"sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scancel": scancel}
    return commands[name](arguments)


if __name__ == "__main__":
    sys.exit(main())
