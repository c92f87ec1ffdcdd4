"""What squeue says. Cases 11 to 23 of the acceptance list for clusters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.runners.slurm.queue import SEPARATOR, missing, queue_command, read_queue
from crystalmath.runners.slurm.tasks import parse_ref
from crystalmath.services.ports_shell import Ran
from support.slurm_cases import load

TAG = "R7f3a"


def row(ident: str = "12", state: str = "RUNNING", reason: str = "None", name: str = "x") -> str:
    fields = [
        TAG, ident, state, reason, "cm1", "me", "1795821712", "1795821712", "0:03", "1:00", "1",
        "1", "main", "test", "normal", "/home/me", name,
    ]  # fmt: skip
    return SEPARATOR.join(fields) + "\n"


def poll_of(*rows: str, rc: int | None = 0, err: str = "", complete: bool = True):
    out = "".join(rows).encode()
    return read_queue(Ran(rc, out, err.encode(), complete), TAG)


def test_the_question() -> None:
    command = queue_command("me", TAG, "maple")
    assert command.startswith("squeue -M maple -h -t all -u me -o ")
    assert "%R" not in command
    assert command.rstrip("'").endswith("%j")


def test_a_row() -> None:
    (seen,) = poll_of(row()).rows
    assert (seen.ref.job, seen.state.name, seen.user, seen.nodes) == (12, "RUNNING", "me", "cm1")
    assert (seen.submit_at, seen.used_s, seen.limit_s) == (1795821712.0, 3.0, 60.0)
    assert seen.reason is None


@pytest.mark.parametrize(
    "name",
    ['relax | step 2  "x=1"', "ΔE_β-Fe₂O₃", "a\ttab", "two\nlines", "-dash", "", "x\x1fy", "\n"],
)
def test_names_are_exact_and_shift_nothing(name: str) -> None:
    poll = poll_of(row("1", name=name), row("2"))
    assert [seen.name for seen in poll.rows] == [name, "x"]
    assert poll.rows[1].user == "me"


@pytest.mark.parametrize(
    ("rc", "err", "complete"),
    [
        (1, "slurm_load_jobs error: Socket timed out on send/recv operation", True),
        (None, "", True),
        (0, "", False),
        (0, "squeue: error: Unable to contact slurm controller", True),
    ],
)
def test_an_answer_that_failed_says_nothing(rc: int | None, err: str, complete: bool) -> None:
    poll = poll_of(row(), rc=rc, err=err, complete=complete)
    assert not poll.complete
    assert poll.trouble
    assert missing(poll, [12, 13]) == frozenset()


def test_an_answer_that_was_cut_says_nothing() -> None:
    poll = read_queue(Ran(0, row().encode()[:-1]), TAG)
    assert not poll.complete


def test_only_a_complete_poll_makes_a_miss() -> None:
    assert missing(poll_of(row("12")), [12, 13]) == {13}


def test_a_row_that_cannot_be_read_is_no_miss() -> None:
    short = SEPARATOR.join([TAG, "13", "RUNNING"]) + "\n"
    poll = poll_of(row("12"), short)
    assert len(poll.rejects) == 1
    assert missing(poll, [12, 13, 14]) == {14}


def test_columns_that_ran_together_are_rejected() -> None:
    poll = poll_of(row("13", state="COMPLETININVALID"))
    assert (len(poll.rows), len(poll.rejects)) == (0, 1)
    assert missing(poll, [13]) == frozenset()


def test_noise_before_the_rows_is_dropped() -> None:
    assert len(poll_of("Welcome!\n  --> ok\n", row()).rows) == 1


def test_the_tagged_capture() -> None:
    ran = load("squeue-tagged").ran
    # taken with an abbreviated format: its fields stand for the full one
    order = ["i", "T", "r", "N", "u", "V", "S", "M", "l", "D", "C", "P", "k", "Z", "j"]
    lines = ran.out.decode().split(TAG + SEPARATOR)[1:]
    text = "".join(
        TAG + SEPARATOR + SEPARATOR.join(_full(dict(zip(order, r.split(SEPARATOR), strict=True))))
        for r in lines
    )
    poll = read_queue(Ran(0, text.encode()), TAG)
    assert len(poll.rows) == 16
    assert not poll.rejects
    names = {seen.id_text: seen.name for seen in poll.rows}
    assert names["76"] == 'relax | step 2  "x=1"'
    assert names["77"] == "two\nlines"
    assert names["78"] == "ΔE_β-Fe₂O₃\ttab"
    assert names["79"] == "-dash"
    assert parse_ref("69+1") is not None


def _full(fields: dict[str, str]) -> list[str]:
    return [
        *(fields[letter] for letter in list("iTrNuVSMlDCP")), "", "", fields["Z"], fields["j"]
    ]  # fmt: skip


@given(st.binary(max_size=400), st.binary(max_size=80), st.sampled_from([0, 1, None]))
def test_any_bytes_are_read(out: bytes, err: bytes, rc: int | None) -> None:
    poll = read_queue(Ran(rc, out, err), TAG)
    assert poll.complete or poll.trouble


@given(st.lists(st.text(max_size=30), max_size=18))
def test_any_fields_are_read(fields: list[str]) -> None:
    read_queue(Ran(0, (SEPARATOR.join([TAG, *fields]) + "\n").encode()), TAG)
