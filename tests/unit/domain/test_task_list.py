"""Tasks of job arrays as people write them; SLURM's own lists are in the tests of its ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crystalmath.domain.task_list import MAX_OWN_TASKS, parse_array, render_tasks


@pytest.mark.parametrize(
    ("text", "tasks", "throttle"),
    [
        ("1-4", [1, 2, 3, 4], None),
        ("1-20%4", list(range(1, 21)), 4),
        ("0-20:5", [0, 5, 10, 15, 20], None),
        ("7", [7], None),
        ("1,3,9-11%2", [1, 3, 9, 10, 11], 2),
    ],
)
def test_what_is_asked_for(text: str, tasks: list[int], throttle: int | None) -> None:
    found = parse_array(text)
    assert (list(found), found.throttle, found.last) == (tasks, throttle, tasks[-1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "tasks are needed"),
        ("a", "tasks are needed"),
        ("5-1", "tasks are needed"),
        ("1-4:0", "tasks are needed"),
        ("1,2...", "tasks are needed"),
        ("[1-4]", "tasks are needed"),
        ("1 2", "tasks are needed"),
        ("1-4%0", "behind %"),
        ("1-4%", "behind %"),
        ("1-3,2", "twice"),
        (f"1-{MAX_OWN_TASKS + 1}", "more than"),
        ("4000001", "above 4000000"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_array(text)


@given(st.sets(st.integers(0, 3000), min_size=1, max_size=60))
def test_what_is_written_is_read_back(tasks: set[int]) -> None:
    assert set(parse_array(render_tasks(tasks))) == tasks


@given(st.text(max_size=30))
def test_any_text_is_a_list_or_refused(text: str) -> None:
    try:
        assert list(parse_array(text))
    except ValueError as error:
        assert str(error)  # noqa: PT017 - any text may be either
