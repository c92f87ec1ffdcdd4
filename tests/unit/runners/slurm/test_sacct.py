"""What sacct, scancel and scontrol say. Cases 24 to 33, 48 and 53 to 61 for clusters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.runners.slurm.control import (
    cancel_commands,
    detail_command,
    read_cancel,
    read_detail,
)
from crystalmath.runners.slurm.history import (
    SEPARATOR,
    history_commands,
    read_history,
    read_usage,
    usage_command,
)
from crystalmath.services.ports_shell import Ran
from support.slurm_cases import load


def line(ident: str = "12", state: str = "COMPLETED", exit_: str = "0:0", name: str = "x") -> str:
    return SEPARATOR.join(
        [ident, ident, "me", state, exit_, "1795821712", "1795821713", "1795821720", "7", "main",
         "cm1", "None", "/home/me", name]
    ) + "\n"  # fmt: skip


def history_of(*rows: str, rc: int | None = 0, err: str = ""):
    return read_history(Ran(rc, "".join(rows).encode(), err.encode()))


def test_the_questions() -> None:
    commands = history_commands(list(range(1, 5001)), 0.0)
    assert len(commands) == 25
    assert commands[0].startswith("sacct -n -P -X -D ")
    assert "-S 1970-01-01T00:00:00" in commands[0]
    assert " -X" not in usage_command([1], None)


def test_a_row() -> None:
    (row,) = history_of(line()).rows
    assert (row.ref.job, row.state.name, row.exit_code, row.signal) == (12, "COMPLETED", 0, 0)
    assert (row.submit_at, row.end_at, row.elapsed_s) == (1795821712.0, 1795821720.0, 7.0)


def test_a_name_with_a_newline_shifts_nothing() -> None:
    rows = history_of(line("1", name="two\nlines"), line("2")).rows
    assert [(row.ref.job, row.name) for row in rows] == [(1, "two\nlines"), (2, "x")]


@pytest.mark.parametrize(
    ("state", "name"),
    [
        ("CANCELLED by 54321", "CANCELLED"),
        ("CANCELLED+", "CANCELLED"),
        ("TIMEOUT", "TIMEOUT"),
        ("OUT_OF_ME+", "OUT_OF_MEMORY"),
    ],
)
def test_states(state: str, name: str) -> None:
    (row,) = history_of(line(state=state)).rows
    assert row.state.name == name


def test_steps_do_not_decide() -> None:
    rows = history_of(line("12", "TIMEOUT"), line("12.batch", "CANCELLED", "0:15")).rows
    assert [row.state.name for row in rows] == ["TIMEOUT"]


@pytest.mark.parametrize(("out", "err"), [("", "x"), ("x", "")])
def test_accounting_that_is_switched_off(out: str, err: str) -> None:
    said = "Slurm accounting storage is disabled\n"
    history = read_history(Ran(1, (said if out else "").encode(), (said if err else "").encode()))
    assert (history.available, history.disabled) == (False, True)


def test_a_window_that_is_too_wide() -> None:
    history = history_of(rc=1, err="sacct: error: Too wide of a date range in query\n")
    assert (history.available, history.too_wide) == (False, True)


def test_accounting_that_does_not_answer() -> None:
    history = read_history(load("sacct-nodbd").ran)
    assert (history.available, history.disabled) == (False, False)
    assert not history_of(line(), rc=None).available
    assert not read_history(Ran(0, line().encode()[:-1])).available


def test_an_unknown_id_is_an_answer_without_rows() -> None:
    history = history_of("")
    assert history.available
    assert history.rows == ()


def test_usage() -> None:
    def usage(ident: str, state: str, rss: str, cpu: str, cpus: str) -> str:
        fields = ["34", ident, state, "0:0", rss, cpu, "", "1", cpus, "256M", "60"]
        return SEPARATOR.join(fields) + "\n"

    text = (
        usage("12", "COMPLETED", "", "00:05.079", "4")
        + usage("12.batch", "COMPLETED", "3328K", "00:01", "4")
        + usage("12.0", "CANCELLED", "12M", "00:04", "4")
    )
    found = read_usage(Ran(0, text.encode()))
    assert found is not None
    used = found[12][None]
    assert (used.max_rss_kib, used.cpu_s, used.n_cpus) == (12288.0, 5.079, 4)
    assert used.failed_steps == ("12.0 CANCELLED 0:0",)
    assert used.elapsed_s == 60.0
    assert read_usage(Ran(1, text.encode())) is None
    tasks = read_usage(Ran(0, usage("28_3", "COMPLETED", "", "00:01", "2").encode()))
    assert tasks is not None
    assert list(tasks[28]) == [3], "tasks have numbers of their own in the accounting"


@given(st.binary(max_size=400), st.binary(max_size=60), st.sampled_from([0, 1, None]))
def test_any_bytes_are_read(out: bytes, err: bytes, rc: int | None) -> None:
    ran = Ran(rc, out, err)
    assert read_history(ran).available or read_history(ran).trouble
    read_usage(ran)
    read_detail(ran)
    read_cancel(ran, ["12", "9000+1"])


def test_cancel_in_portions() -> None:
    assert len(cancel_commands([str(n) for n in range(250)])) == 3
    assert read_cancel(Ran(None), ["1"]) == {"1": "not_done"}


def test_details() -> None:
    assert detail_command("12", "maple") == "scontrol -M maple -o show job 12"
    (job,) = read_detail(load("show-running").ran).jobs
    assert (job["JobState"], job["StdIn"], job["Power"]) == ("RUNNING", "/dev/null", None)
    assert len(read_detail(load("show-array-done").ran).jobs) == 4
    (held,) = read_detail(load("show-requeue-hold").ran).jobs
    assert held["Reason"] == "job_requeued_in_held_state"
    assert not read_detail(load("scontrol-unknownid").ran).known


def test_details_with_odd_values() -> None:
    text = (
        b"JobId=7 JobName=Name with spaces UserId=me(1) "
        b"Comment=** limit (60m) n=1 ** StdIn=StdIn=/dev/null WorkDir=/home/me Power=\n"
    )
    (job,) = read_detail(Ran(0, text)).jobs
    assert job["JobName"] == "Name with spaces"
    assert job["StdIn"] == "/dev/null"
    assert job["WorkDir"] == "/home/me"
    assert job["Power"] is None
