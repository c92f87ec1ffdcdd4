"""The reducer, rule by rule, and random orders of what was seen."""

import random
from dataclasses import replace

import pytest

from crystalmath.domain.evidence import (
    Identity,
    Known,
    Observation,
    PollMark,
    corrects,
    is_ours,
    reduce,
)

OURS = Identity(owner="me", key="cm-00000abcdef1", workdir="/w/cm-00000abcdef1", submit_at=1000.0)


def queue(poll: int, phase: str, **more: object) -> Observation:
    """A row of squeue in poll N, taken at 1000 + 30 N."""
    defaults = {
        "owner": "me",
        "name": "cm-00000abcdef1.x",
        "submit_at": 1000.0,
        "start_at": 1010.0 if phase == "running" else None,
    }
    return Observation("squeue", 1000.0 + 30 * poll, phase, poll=poll, **(defaults | more))  # type: ignore[arg-type]


def account(at: float, phase: str, **more: object) -> Observation:
    """A row of sacct."""
    defaults = {"owner": "me", "name": "cm-00000abcdef1.x", "submit_at": 1000.0, "start_at": 1010.0}
    return Observation("sacct", at, phase, **(defaults | more))  # type: ignore[arg-type]


def receipt(at: float, rc: int = 0, attempt: int = 1) -> Observation:
    """``end.json``."""
    return Observation("end", at, "ended", rc=rc, attempt=attempt)


def polls(*complete: bool, step_s: float = 30.0) -> list[PollMark]:
    return [PollMark(n, 1000.0 + step_s * n, ok) for n, ok in enumerate(complete, start=1)]


def conclude(seen: list[Observation], marks: list[PollMark], known: Known | None = None):
    return reduce(seen, marks, OURS, known or Known("SUBMITTED"))


@pytest.mark.parametrize(
    ("change", "ours"),
    [
        ({}, True),
        ({"owner": "other"}, False),
        ({"name": "relax"}, False),
        ({"name": "allocation"}, True),
        ({"submit_at": 900.0}, False),
        ({"submit_at": 945.0}, True),
        ({"submit_at": 4000.0}, True),
        ({"submit_at": None, "name": None}, True),
    ],
)
def test_e1_a_recycled_id_is_not_ours(change: dict[str, object], ours: bool) -> None:
    assert is_ours(replace(queue(1, "running"), **change), OURS) is ours


def test_e1_an_adopted_job_is_known_by_its_directory() -> None:
    adopted = replace(OURS, key=None)
    assert is_ours(queue(1, "running", workdir=OURS.workdir, name="anything"), adopted)
    assert not is_ours(queue(1, "running", workdir="/elsewhere"), adopted)


def test_e2_a_poll_that_failed_changes_nothing() -> None:
    found = conclude([queue(1, "running")], polls(True, False, False), Known("RUNNING"))
    assert (found.phase, found.rule) == ("running", "E3")
    assert conclude([], polls(False, False)).phase == "unchanged"


def test_e3_a_live_row_outweighs_the_accounting() -> None:
    seen = [queue(2, "waiting"), account(1060.0, "ended", settles=True, reason="node_failure")]
    found = conclude(seen, polls(True, True))
    assert (found.phase, found.rule) == ("waiting", "E3")


def test_e4_an_end_in_the_accounting() -> None:
    seen = [queue(1, "running"), account(1065.0, "ended", reason="walltime")]
    found = conclude(seen, polls(True, True))
    assert (found.phase, found.rule, found.reason) == ("ended", "E4", "walltime")
    assert found.rests_on_words


def test_e4_an_end_in_the_queue_itself() -> None:
    found = conclude([queue(1, "running"), queue(2, "ended")], polls(True, True))
    assert (found.phase, found.rule) == ("ended", "E4")


def test_e4_no_end_that_is_older_than_a_live_row() -> None:
    seen = [account(1020.0, "ended"), queue(1, "running")]
    assert conclude(seen, polls(True, True)).phase == "unchanged"


def test_e4_a_node_failure_settles_only_after_two_polls_a_minute_apart() -> None:
    failed = account(1065.0, "ended", settles=True, reason="node_failure")
    seen = [queue(1, "running"), failed]
    assert conclude(seen, polls(True, True)).phase == "unchanged"
    assert conclude(seen, polls(True, True, True)).phase == "unchanged"  # 30 s apart
    found = conclude(seen, polls(True, True, True, True))
    assert (found.phase, found.reason) == ("ended", "node_failure")


def test_e4_with_a_receipt_it_does_not_rest_on_words() -> None:
    seen = [queue(1, "running"), account(1065.0, "ended"), receipt(1064.0)]
    assert not conclude(seen, polls(True, True)).rests_on_words


def test_e5_a_receipt_and_one_miss() -> None:
    seen = [queue(1, "running"), receipt(1050.0)]
    assert conclude(seen, polls(True)).phase == "running"
    found = conclude(seen, polls(True, True))
    assert (found.phase, found.rule) == ("ended", "E5")


def test_e5_a_receipt_of_an_earlier_attempt_is_no_end() -> None:
    seen = [queue(1, "running", restarts=1, start_at=1040.0), receipt(1035.0, attempt=1)]
    assert conclude(seen, polls(True, True)).phase == "unchanged"


def test_e6_the_accounting_may_be_late() -> None:
    seen = [queue(1, "running"), account(1065.0, "running")]
    assert conclude(seen, polls(True, True)).phase == "unchanged"


def test_e7_lost_after_three_misses_over_five_minutes() -> None:
    seen = [queue(1, "running")]
    assert conclude(seen, polls(True, True, True, True)).phase == "unchanged"
    assert conclude(seen, polls(True, True, True, True, step_s=100.0)).phase == "unchanged"
    found = conclude(seen, polls(True, True, True, True, step_s=160.0))
    assert (found.phase, found.rule) == ("lost", "E7")


def test_e7_incomplete_polls_are_no_misses() -> None:
    marks = polls(True, True, False, False, False, True, step_s=160.0)
    assert conclude([queue(1, "running")], marks).phase == "unchanged"


def test_e8_a_new_start_is_another_attempt() -> None:
    known = Known("RUNNING", attempt=1, start_at=1010.0)
    found = conclude([queue(1, "running", start_at=1200.0)], polls(True), known)
    assert (found.attempt, found.restarted) == (2, True)
    found = conclude([queue(1, "waiting", restarts=1)], polls(True), known)
    assert (found.attempt, found.restarted) == (2, True)


def test_e9_an_unknown_word_is_no_end() -> None:
    found = conclude([queue(1, "unknown", attention="a new word")], polls(True), Known("RUNNING"))
    assert (found.phase, found.rule, found.attention) == ("unchanged", "E9", "a new word")


def test_e10_what_may_be_corrected() -> None:
    seen = [queue(1, "running"), account(1065.0, "ended"), receipt(1064.0)]
    found = conclude(seen, polls(True, True))
    assert corrects(found, Known("LOST"))
    assert corrects(found, Known("FAILED", rests_on_words=True))
    assert corrects(found, Known("CANCELLED", rests_on_words=True))
    assert not corrects(found, Known("FAILED"))
    assert not corrects(found, Known("COMPLETED", rests_on_words=True))
    words = conclude(seen[:2], polls(True, True))
    assert not corrects(words, Known("FAILED", rests_on_words=True))


def test_never_seen_in_the_queue() -> None:
    assert conclude([account(1065.0, "ended")], polls(True)).phase == "ended"
    assert conclude([receipt(1010.0)], polls(True)).phase == "ended"


def test_a_later_attempt_in_the_accounting_counts() -> None:
    old = account(1065.0, "ended", settles=True, reason="preempted", start_at=1010.0)
    new = account(1065.0, "ended", start_at=1040.0)
    marks = polls(True, True, True, True)
    assert conclude([old, new], marks).reason is None
    live = account(1065.0, "running", start_at=1040.0)
    assert conclude([old, live], marks).phase == "unchanged"


@pytest.mark.parametrize("seed", range(50))
def test_the_order_of_what_was_seen_does_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    phases = ["waiting", "running", "ended", "cancelled", "unknown", "unchanged"]
    seen = [queue(n, rng.choice(phases)) for n in range(1, 6) if rng.random() < 0.7]
    seen += [account(1000.0 + rng.randrange(200), rng.choice(phases)) for _ in range(3)]
    seen += [receipt(1100.0)] if rng.random() < 0.5 else []
    marks = [replace(mark, complete=rng.random() < 0.8) for mark in polls(*[True] * 6)]
    first = conclude(seen, marks)
    for _ in range(5):
        rng.shuffle(seen)
        rng.shuffle(marks)
        assert conclude(seen, marks) == first


def test_e3_the_controller_may_know_a_job_that_its_queue_does_not_list() -> None:
    seen = [queue(1, "running"), Observation("scontrol", 1200.0, "running", raw="RUNNING")]
    found = conclude(seen, polls(True, True, True, True, step_s=50.0))
    assert (found.phase, found.rule) == ("running", "E3")
    later = conclude(seen, polls(True, True, True, True, True, step_s=160.0))
    assert later.phase == "lost", "an old word of the controller is no life"
    ended = [queue(1, "running"), Observation("scontrol", 1200.0, "ended", reason="walltime")]
    assert conclude(ended, polls(True, True)).reason == "walltime"
