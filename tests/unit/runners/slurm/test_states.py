"""SLURM's words, ids, numbers and reasons. Cases 14 to 22, 25, 33 and 94 for clusters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.domain.task_list import parse_tasks
from crystalmath.runners.slurm.advice import advise
from crystalmath.runners.slurm.states import WORDS, read_state
from crystalmath.runners.slurm.tasks import parse_ref
from crystalmath.runners.slurm.values import (
    exit_of_wait_status,
    parse_count,
    parse_duration_s,
    parse_epoch_s,
    parse_exit,
    parse_size_kib,
    text_or_none,
)


@pytest.mark.parametrize(
    ("raw", "phase"),
    [
        ("PD", "waiting"),
        ("CF", "waiting"),
        ("R", "running"),
        ("CG", "running"),
        ("CD", "ended"),
        ("F", "ended"),
        ("CA", "cancelled"),
        ("TO", "ended"),
        ("NF", "ended"),
        ("OOM", "ended"),
        ("PR", "ended"),
        ("BF", "ended"),
        ("DL", "ended"),
        ("RQ", "waiting"),
        ("CANCELLED by 1000", "cancelled"),
        ("RUNNING+", "running"),
        ("CANCELLED+", "cancelled"),
        ("OUT_OF_ME+", "ended"),
        ("COMPLETING", "running"),
        ("STAGE_OUT", "running"),
        ("SIGNALING", "running"),
        ("SPECIAL_EXIT", "waiting"),
        ("SUSPENDED", "running"),
        ("STOPPED", "running"),
        ("REQUEUE_HOLD", "waiting"),
        ("RESIZING", "running"),
        ("REVOKED", "unchanged"),
        ("NEWSTATE99", "unknown"),
        ("", "unknown"),
    ],
)
def test_words(raw: str, phase: str) -> None:
    assert read_state(raw).meaning.phase == phase


def test_every_word_of_the_table_reads_as_itself() -> None:
    for word in WORDS:
        assert read_state(word.name).meaning == word.meaning
        if word.short:
            assert read_state(word.short).name == word.name


def test_who_cancelled() -> None:
    assert read_state("CANCELLED by 54321").by_uid == 54321
    assert read_state("CANCELLED").by_uid is None


@pytest.mark.parametrize(
    ("raw", "phase"),
    [
        (["RUNNING"], "running"),
        (["COMPLETED", "REQUEUED"], "waiting"),
        (["RUNNING", "COMPLETING"], "running"),
        (["COMPLETED", "COMPLETING"], "running"),
        (["PENDING", "NEWFLAG"], "waiting"),
        ([], "unknown"),
    ],
)
def test_lists_of_words(raw: list[str], phase: str) -> None:
    assert read_state(raw).meaning.phase == phase


@given(st.one_of(st.text(max_size=40), st.lists(st.text(max_size=12), max_size=4)))
def test_any_text_has_a_meaning(raw: str | list[str]) -> None:
    assert read_state(raw).meaning.phase


def test_arrays() -> None:
    waiting = parse_ref("8100_[3-4%2]")
    assert waiting is not None
    assert waiting.tasks is not None
    assert (waiting.tasks.count, waiting.tasks.throttle, waiting.tasks.at_least) == (2, 2, False)
    assert 3 in waiting.tasks
    assert 2 not in waiting.tasks
    running = parse_ref("8100_1")
    assert running is not None
    assert (running.job, running.task) == (8100, 1)


@pytest.mark.parametrize(
    ("text", "count", "at_least"),
    [
        ("[60-89,91-94,96-98]", 37, False),
        ("[0-20:5]", 5, False),
        ("[1-400:3%2]", 134, False),
        ("[31-33,71-74,91,96,11...", 9, True),
        ("[1,3,7,9,12,15,18,22,26,29,3", 10, True),
        ("[1,3,7,9,12,15,18,22,26,29,33,37,41,45,49,53,57,61,65,69,73,7...]", 21, True),
    ],
)
def test_task_lists(text: str, count: int, at_least: bool) -> None:
    tasks = parse_tasks(text)
    assert tasks is not None
    assert (tasks.count, tasks.at_least) == (count, at_least)


@pytest.mark.parametrize("text", ["[]", "[x]", "[5-1]", "[1-2:0]", "[1-99999999]"])
def test_what_is_no_task_list(text: str) -> None:
    assert parse_tasks(text) is None


def test_het_jobs_and_steps() -> None:
    part = parse_ref("9000+1")
    assert part is not None
    assert (part.job, part.part) == (9000, 1)
    step = parse_ref("12.batch")
    assert step is not None
    assert (step.job, step.step) == (12, "batch")
    assert parse_ref("12_3.extern") is not None


@given(st.text(max_size=60))
def test_any_text_may_be_no_id(text: str) -> None:
    parse_ref(text)
    parse_tasks(text)
    advise(text)
    for read in (parse_count, parse_duration_s, parse_epoch_s, parse_exit, parse_size_kib):
        read(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1-02:03:04", 93784.0),
        ("02:03", 123.0),
        ("00:05.079", 5.079),
        ("0:00", 0.0),
        ("1:00:00", 3600.0),
        ("UNLIMITED", None),
        ("NOT_SET", None),
        ("INVALID", None),
        ("N/A", None),
        ("", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration_s(text) == seconds


def test_numbers() -> None:
    assert parse_epoch_s("1795821712") == 1795821712.0
    assert parse_epoch_s("N/A") is None
    assert parse_epoch_s("0") is None
    assert parse_count("4-8") == 4
    assert parse_count("2K") == 2048
    assert parse_size_kib("3328K") == 3328.0
    assert parse_size_kib("1.5G") == 1.5 * 1024**2
    assert parse_size_kib("16?") is None
    assert parse_exit("0:53") == (0, 53)
    assert text_or_none("(null)") is None


@pytest.mark.parametrize(
    ("status", "expected"),
    [(768, (3, 0)), (9, (0, 9)), (32512, (127, 0)), (4021, (0, 53)), (0, (0, 0))],
)
def test_wait_statuses(status: int, expected: tuple[int, int]) -> None:
    assert exit_of_wait_status(status) == expected


@pytest.mark.parametrize(
    ("reason", "outlook", "offer"),
    [
        ("Priority", "waiting", None),
        ("Resources", "waiting", None),
        ("(ReqNodeNotAvail, UnavailableNodes:)", "waiting", None),
        ("DependencyNeverSatisfied", "never", "cancel"),
        ("launch failed requeued held", "held", "release"),
        ("job_requeued_in_held_state", "held", "release"),
        ("JobHeldUser", "held", "release"),
        ("JobHeldAdmin", "held", None),
        ("AssocGrpCPUMinutesLimit", "budget", "ask_manager"),
        ("PartitionConfig", "never", "edit"),
        ("PartitionTimeLimit", "never", "edit"),
        ("QOSMaxNodePerJobLimit", "never", "edit"),
        ("PartitionDown", "site", None),
        ("InvalidQOS", "never", "cancel"),
        ("SomethingNew", "waiting", None),
        (None, "waiting", None),
    ],
)
def test_reasons(reason: str | None, outlook: str, offer: str | None) -> None:
    advice = advise(reason)
    assert (advice.outlook, advice.offer) == (outlook, offer)


def test_named_nodes_are_a_warning() -> None:
    assert advise("(ReqNodeNotAvail, UnavailableNodes:)").warning is None
    assert "r34n5" in (advise("(ReqNodeNotAvail, UnavailableNodes:r34n5)").warning or "")
    assert advise("SomethingNew").text == "SomethingNew"
