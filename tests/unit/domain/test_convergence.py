from __future__ import annotations

from math import nan

import pytest

from crystalmath.domain.convergence import (
    TOLERANCES,
    Point,
    converge,
    first_converged,
    mesh_series,
)


def _points(values: list[float | None], series: str = "") -> list[Point]:
    return [
        Point(str(i), None if value is None else (value,), series, None if value else "crashed")
        for i, value in enumerate(values)
    ]


def test_the_first_value_from_which_all_finer_ones_stay() -> None:
    (choice,) = converge(_points([10.0, 10.9, 10.1, 10.11, 10.105]), 0.02).choices
    assert choice.index == 2
    assert choice.setting == "2"
    assert not choice.warnings


def test_a_value_that_is_near_by_chance_does_not_count() -> None:
    (choice,) = converge(_points([1.0, 2.0, 1.001, 1.0]), 0.01).choices
    assert choice.index == 2


def test_nothing_is_converged_when_only_the_finest_point_agrees_with_itself() -> None:
    (choice,) = converge(_points([3.0, 2.0, 1.0]), 0.1).choices
    assert choice.index is None
    assert choice.setting is None
    assert any("last two points still differ by 1" in warning for warning in choice.warnings)


@pytest.mark.parametrize("values", [[], [5.0], [5.0, 5.0]])
def test_short_series_say_so(values: list[float]) -> None:
    choices = converge(_points(list(values)), 0.1).choices
    assert all(any("fewer than three" in text for text in c.warnings) for c in choices)
    assert len(choices) == (1 if values else 0)


def test_failed_points_are_left_out_and_listed() -> None:
    found = converge(_points([10.0, None, 10.1, nan, 10.1]), 0.02)
    assert [point.setting for point in found.failed] == ["1", "3"]
    (choice,) = found.choices
    assert choice.setting == "2"


def test_series_are_kept_apart() -> None:
    odd, even = _points([1.0, 1.3, 1.3], "odd"), _points([2.0, 1.31, 1.305], "even")
    mixed = [point for pair in zip(odd, even, strict=True) for point in pair]
    found = converge(mixed, 0.01)
    assert [(choice.series, choice.setting) for choice in found.choices] == [
        ("odd", "1"),
        ("even", "1"),
    ]


def test_the_largest_component_decides() -> None:
    points = [
        Point("a", (0.0, 0.5)),
        Point("b", (0.0, 0.2)),
        Point("c", (0.0, 0.2)),
        Point("d", (0.001, 0.2)),
    ]
    (choice,) = converge(points, 0.01).choices
    assert choice.index == 1
    assert choice.differences == pytest.approx((0.3, 0.001, 0.001, 0.0))


def test_points_with_another_number_of_values_are_left_out_aloud() -> None:
    points = [Point("a", (1.0,)), Point("b", (1.0, 2.0)), Point("c", (1.0, 2.0))]
    (choice,) = converge(points, 0.01).choices
    assert [point.setting for point in choice.points] == ["b", "c"]
    assert any("another number of values" in text for text in choice.warnings)


@pytest.mark.parametrize(
    ("mesh", "shifted", "name"),
    [
        ((1, 1, 1), False, "gamma"),
        ((5, 5, 3), False, "odd"),
        ((6, 6, 1), False, "even"),
        ((6, 6, 3), False, "mixed"),
        ((4, 4, 4), True, "even shifted"),
    ],
)
def test_meshes_belong_to_series(mesh: tuple[int, ...], shifted: bool, name: str) -> None:
    assert mesh_series(mesh, shifted=shifted) == name


def test_the_tolerances_of_the_quantities() -> None:
    assert TOLERANCES == {
        "energy_per_atom_ev": 0.001,
        "force_ev_per_angstrom": 0.01,
        "stress_gpa": 0.1,
        "gap_ev": 0.02,
    }
    assert first_converged([], 0.1) is None
