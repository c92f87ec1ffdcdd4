"""Every real output of a SLURM command that there is, and what it is read as.

Each capture is named once, in one of the tables; one that is new and in none of them is a failure.
"""

from __future__ import annotations

import json

import pytest

from crystalmath.domain.task_list import parse_tasks
from crystalmath.runners.slurm.advice import advise
from crystalmath.runners.slurm.control import read_cancel, read_detail
from crystalmath.runners.slurm.history import read_history
from crystalmath.runners.slurm.observe import by_job, of_queue, reason_of
from crystalmath.runners.slurm.queue import read_queue
from crystalmath.runners.slurm.states import read_state
from crystalmath.runners.slurm.submission import read_sbatch
from crystalmath.runners.slurm.survey import scheduler_of
from crystalmath.runners.slurm.values import exit_of_wait_status, parse_exit
from crystalmath.services.ports_cluster import Accepted, Rejected, Wait
from crystalmath.services.remote_verdict import is_memory_kill
from support.slurm_cases import CASES, load, names
from support.slurm_tables import accounted, queued, rows

SBATCH = {
    "sbatch-ok": Accepted(3),
    "sbatch-parsable": Accepted(4),
    "sbatch-toomanynodes": Accepted(6),
    "sbatch-baddep": Accepted(7),
    "sbatch-badpartition": Rejected,
    "sbatch-badtime": Rejected,
    "sbatch-badoption": Rejected,
    "sbatch-nofile": Rejected,
    "sbatch-noshebang": Rejected,
    "sbatch-toomuchmem": Rejected,
    "sbatch-noctld": Wait,
}

MIXED = {
    6: ("waiting", "PartitionConfig"),
    8: ("running", None),
    9: ("running", None),
    19: ("waiting", "JobHeldUser"),
    20: ("waiting", "BeginTime"),
    21: ("waiting", "PartitionDown"),
    22: ("waiting", "PartitionTimeLimit"),
    23: ("waiting", "DependencyNeverSatisfied"),
    25: ("waiting", "Dependency"),
    26: ("waiting", "Resources"),
    27: ("waiting", "Priority"),
    28: ("waiting", "Priority"),
}
"""The same moment in several formats."""

SQUEUE = {
    "squeue-mixed": MIXED,
    "squeue-long": MIXED,
    "squeue-mixed-array": MIXED,
    "squeue-mixed-fmt": MIXED,
    "squeue-aiida": MIXED,
    "squeue-completing": {30: ("running", None)},
    "squeue-suspended": {33: ("running", None)},
    "squeue-requeued": {32: ("waiting", "BeginTime")},
    "squeue-het": {84: ("running", None), 85: ("running", None)},
    "squeue-array-step": {82: ("waiting", None)},
    "squeue-bitstr": {83: ("waiting", None)},
    "squeue-bitstr-full": {83: ("waiting", None)},
    "squeue-empty": {},
}

NO_ANSWER = ("squeue-noctld", "squeue-badcluster")

SACCT = {
    "sacct-completed": {11: ("ended", None, 0, None)},
    "sacct-completed-P": {11: ("ended", None, 0, None)},
    "sacct-steps": {12: ("ended", None, 0, None)},
    "sacct-failed": {13: ("ended", "crashed", 3, None)},
    "sacct-failed-signal": {14: ("ended", "crashed", 0, 9)},
    "sacct-failed-127": {15: ("ended", "did_not_start", 127, None)},
    "sacct-timeout": {8: ("ended", "walltime", 0, None)},
    "sacct-usr1": {9: ("ended", None, 0, None)},
    "sacct-oom": {18: ("ended", "crashed", 0, 9)},
    "sacct-oom-cgroup": {41: ("ended", "out_of_memory", 0, 125)},
    "sacct-boot-fail": {42: ("ended", "node_failure", 1, None)},
    "sacct-deadline": {10: ("ended", "did_not_start", 1, None)},
    "sacct-cancelled-pending": {20: ("cancelled", None, 0, None)},
    "sacct-cancelled-running": {30: ("cancelled", None, 0, None)},
    "sacct-dependency-kill": {24: ("cancelled", None, 0, None)},
    "sacct-array": {28: ("ended", "crashed", 1, None)},
    "sacct-array-cancelled": {83: ("cancelled", None, 0, None)},
    "sacct-het": {84: ("cancelled", None, 0, None)},
    "sacct-incomplete": {35: ("ended", "preempted", 0, None)},
    "sacct-preempted": {35: ("ended", "preempted", 0, None)},
    "sacct-requeued": {32: ("waiting", None, 0, None)},
    "sacct-node-fail-requeue": {38: ("ended", "node_failure", 0, None)},
    "sacct-node-fail": {37: ("ended", "node_failure", 0, None)},
    "sacct-pending": {19: ("waiting", None, 0, None), 26: ("waiting", None, 0, None)},
    "sacct-running": {8: ("running", None, 0, None)},
    "sacct-released": {19: ("ended", None, 0, None)},
    "sacct-byname": {80: ("waiting", None, 0, None)},
    "sacct-ineligible-byid": {81: ("cancelled", None, 0, None)},
    "sacct-unknownid": {},
}
"""Job → phase, reason, exit code and signal of what the reducer is told, the worst task first."""

SHOW = {
    "show-completed": ("ended", None),
    "show-steps": ("ended", None),
    "show-array-done": ("ended", None),
    "show-failed": ("ended", "crashed"),
    "show-failed-127": ("ended", "did_not_start"),
    "show-failed-signal": ("ended", "crashed"),
    "show-baddir": ("ended", "did_not_start"),
    "show-badout": ("ended", "did_not_start"),
    "show-timeout": ("ended", "walltime"),
    "show-oom": ("ended", "crashed"),
    "show-deadline": ("ended", "did_not_start"),
    "show-preempted": ("ended", "preempted"),
    "show-node-fail": ("ended", "node_failure"),
    "show-cancelled-pending": ("cancelled", None),
    "show-cancelled-running": ("cancelled", None),
    "show-running": ("running", None),
    "show-completing": ("running", None),
    "show-suspended": ("running", None),
    "show-requeued": ("waiting", "waiting"),
    "show-node-fail-requeue": ("waiting", "waiting"),
    "show-array": ("waiting", "waiting"),
    "show-requeue-hold": ("waiting", "held"),
    "show-held": ("waiting", "held"),
    "show-begin": ("waiting", "waiting"),
    "show-dependency-wait": ("waiting", "waiting"),
    "show-pending-resources": ("waiting", "waiting"),
    "show-partition-down": ("waiting", "site"),
    "show-partition-limit": ("waiting", "never"),
    "show-dependency-never": ("waiting", "never"),
}
"""Phase, and why: the reason of an end, the outlook of what waits."""

SCANCEL = {
    "scancel-done": ("11", "asked"),
    "scancel-done-v": ("80", "already_ending"),
    "scancel-unknownid": ("999999", "asked"),
    "scancel-held": ("20", "asked"),
    "scancel-noctld": ("11", "not_done"),
}

OUTPUT = {
    "oom-stderr": True,
    "timeout-output": False,
    "output-127": False,
    "requeue-output": False,
    "baddir-output": False,
}
"""What stands in a job's own output, and whether it tells of a memory kill."""

ALONE = (
    "sacct-all", "sacct-ineligible-window", "sacct-names", "sacct-nodbd", "scontrol-unknownid",
    "squeue-json", "squeue-tagged", "squeue-unknownid", "version",
)  # fmt: skip
"""Each has a test of its own; ``squeue-tagged`` in ``test_squeue.py``."""

NEVER_ASKED = (
    "requeue-pending", "scontrol-config", "scontrol-node", "scontrol-node-down",
    "scontrol-partition", "sinfo-N", "sinfo-R", "sinfo-busy", "sinfo-down", "sinfo-drain",
    "sinfo-fmt", "sinfo-idle", "squeue-start", "sstat-running",
)  # fmt: skip
"""Output of commands, or of forms of them, that CrystalMath does not run."""

TABLES = (SBATCH, SQUEUE, NO_ANSWER, SACCT, SHOW, SCANCEL, OUTPUT, ALONE, NEVER_ASKED)


def test_every_capture_is_in_one_table() -> None:
    if not names():
        pytest.skip(f"no cases in {CASES / 'slurm'} (set CRYSTALMATH_CASES)")
    listed = [name for table in TABLES for name in table]
    assert len(listed) == len(set(listed))
    assert sorted(listed) == names()


@pytest.mark.parametrize("name", SBATCH)
def test_submissions(name: str) -> None:
    ran, wanted = load(name).ran, SBATCH[name]
    found = read_sbatch(ran.rc, ran.out_text(), ran.err_text())
    if isinstance(wanted, Accepted):
        assert found == wanted
    else:
        assert isinstance(found, wanted)
        said = ran.err_text().splitlines()[-1].strip()
        assert said.removeprefix("sbatch: ").removeprefix("error: ") in found.text


@pytest.mark.parametrize("name", SQUEUE)
def test_queues(name: str) -> None:
    poll = queued(load(name))
    assert poll.complete
    assert not poll.rejects
    seen = of_queue(by_job(poll.rows), 1, 0.0)
    wanted = SQUEUE[name]
    if name == "squeue-het":
        wanted = {84: wanted[84]}  # one job of two parts
    assert {job: one.phase for job, one in seen.items()} == {j: p for j, (p, _) in wanted.items()}
    for job, (_, why) in wanted.items():
        if why is not None:
            assert seen[job].details["why"] == why


@pytest.mark.parametrize(
    ("name", "count", "at_least"),
    [
        ("squeue-array-step", 134, False),
        ("squeue-bitstr", 10, True),
        ("squeue-bitstr-full", 24, False),
        ("squeue-mixed", 4, False),
    ],
)
def test_tasks_of_arrays(name: str, count: int, at_least: bool) -> None:
    found = [row.ref.tasks for row in queued(load(name)).rows if row.ref.tasks is not None]
    assert [(tasks.count, tasks.at_least) for tasks in found] == [(count, at_least)]


@pytest.mark.parametrize("name", NO_ANSWER)
def test_queues_that_say_nothing(name: str) -> None:
    poll = read_queue(load(name).ran, "R")
    assert not poll.complete
    assert poll.trouble


def test_one_id_that_is_unknown() -> None:
    """We never ask for one: the answer would look like that of a scheduler in trouble."""
    assert not read_queue(load("squeue-unknownid").ran, "R").complete


def test_the_queue_as_json_says_the_same() -> None:
    jobs = {job["job_id"]: job for job in json.loads(load("squeue-json").ran.out)["jobs"]}
    seen = {ident: read_state(job["job_state"]).meaning.phase for ident, job in jobs.items()}
    live = {ident: phase for ident, phase in seen.items() if phase in ("waiting", "running")}
    assert live == {ident: phase for ident, (phase, _) in MIXED.items()}
    assert {seen[ident] for ident in set(seen) - set(live)} == {"ended", "cancelled"}
    assert exit_of_wait_status(jobs[13]["exit_code"]) == (3, 0)
    assert exit_of_wait_status(jobs[15]["exit_code"]) == (127, 0)
    assert exit_of_wait_status(jobs[16]["exit_code"]) == (0, 53)


@pytest.mark.parametrize("name", SACCT)
def test_histories(name: str) -> None:
    found = {}
    for job, observations in accounted(load(name)).items():
        one = observations[-1]
        found[job] = (one.phase, one.reason, one.rc, one.signal)
    if name == "sacct-het":
        found = {84: found[84]}
    assert found == SACCT[name]


def test_a_requeue_may_follow_some_ends() -> None:
    for name, job in (("sacct-node-fail", 37), ("sacct-preempted", 35), ("sacct-boot-fail", 42)):
        assert accounted(load(name))[job][-1].settles
    assert not accounted(load("sacct-timeout"))[8][-1].settles


def test_a_half_row_says_the_same_as_the_whole_one() -> None:
    half, whole = (accounted(load(f"sacct-{n}"))[35][-1] for n in ("incomplete", "preempted"))
    assert (half.phase, half.reason, half.rc) == (whole.phase, whole.reason, whole.rc)
    assert (half.name, half.workdir) != (whole.name, whole.workdir)


def test_the_last_listing_of_all() -> None:
    seen = {job: found[-1] for job, found in accounted(load("sacct-all")).items()}
    assert (seen[8].reason, seen[8].signal) == ("walltime", 15)
    assert (seen[5].phase, seen[5].rc) == ("ended", 1)  # a submission that was refused
    assert {20, 23, 24}.isdisjoint(seen)
    assert (seen[41].raw, seen[42].raw) == ("FAILED", "FAILED")
    assert (seen[28].phase, seen[28].rc) == ("ended", 1)


def test_names_in_the_accounting_are_altered() -> None:
    text = load("sacct-names").ran.out.decode()
    assert "relax | step 2  `x=1`" in text
    assert "?E_?-Fe?O?" in text
    assert text.count("RUNNING") == 4
    assert "two\nlines" in text


def test_a_listing_by_time_lacks_what_was_never_eligible() -> None:
    assert load("sacct-ineligible-window").ran.out == b""
    cut = rows(load("sacct-array-cancelled"))[0]["JOBID"]
    tasks = parse_tasks(cut.partition("_")[2])
    assert tasks is not None
    assert (tasks.count, tasks.at_least) == (21, True)


def test_accounting_out_of_reach() -> None:
    past = read_history(load("sacct-nodbd").ran)
    assert (past.available, past.disabled) == (False, False)


@pytest.mark.parametrize("name", SHOW)
def test_details(name: str) -> None:
    found = read_detail(load(name).ran)
    assert found.known
    assert found.trouble is None
    job = found.jobs[0]
    state = read_state(str(job["JobState"]))
    phase, why = SHOW[name]
    assert state.meaning.phase == phase
    if phase == "waiting":
        assert advise(job["Reason"]).outlook == why
    else:
        rc, signal = parse_exit(str(job["ExitCode"])) or (None, None)
        began = None if job["RunTime"] == "00:00:00" else 1.0
        assert reason_of(state, rc, signal, began) == why


def test_an_unknown_id() -> None:
    assert not read_detail(load("scontrol-unknownid").ran).known


@pytest.mark.parametrize("name", SCANCEL)
def test_cancels(name: str) -> None:
    ident, outcome = SCANCEL[name]
    assert read_cancel(load(name).ran, [ident]) == {ident: outcome}


@pytest.mark.parametrize("name", OUTPUT)
def test_what_stands_in_the_output_of_a_job(name: str) -> None:
    capture = load(name)
    assert is_memory_kill(capture.ran.out_text() + capture.ran.err_text()) is OUTPUT[name]


def test_the_version() -> None:
    text = load("version").ran.out_text().splitlines()
    found = scheduler_of({"version": text, "accounting": ["rc 0"]})
    assert (found.version, found.accounting) == ("22.05.8", True)
