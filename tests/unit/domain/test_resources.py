"""Walltime and memory as people write them."""

from __future__ import annotations

import pytest

from crystalmath.contract.resources import Resources
from crystalmath.domain.resources import check_begin, parse_memory_mib, parse_walltime_s


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 1800),
        ("30:00", 1800),
        ("1:00:00", 3600),
        ("1-12", 129600),
        ("1-12:30", 131400),
        ("1-12:30:15", 131415),
        ("100:00:00", 360000),
        (90, 90),
        (0.5, 0.5),
    ],
)
def test_walltime(text: object, seconds: float) -> None:
    assert parse_walltime_s(text) == seconds


REFUSED = ["", "1h", "1:2:3:4", "-5", "1-", None, True, float("nan"),
           "1:99:99", "1:60:00", "1:00:60", "30:60", "1-24", "1-12:60"]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_walltime_refused(text: object) -> None:
    with pytest.raises(ValueError, match="time limit"):
        parse_walltime_s(text)


@pytest.mark.parametrize(
    ("text", "mib"),
    [
        ("4G", 4096),
        ("4000M", 4000),
        ("1.5G", 1536),
        ("1T", 1048576),
        ("512", 512),
        ("1K", 1),
        (7, 7),
        ("2GiB", 2048),
    ],
)
def test_memory(text: object, mib: int) -> None:
    assert parse_memory_mib(text) == mib


@pytest.mark.parametrize("text", ["", "lots", "-1G", "1X", None, True, 1.5])
def test_memory_refused(text: object) -> None:
    with pytest.raises(ValueError, match="memory"):
        parse_memory_mib(text)


@pytest.mark.parametrize(
    "text",
    ["now", "now+60", "now+1hour", "now+3days", "tomorrow", "16:00", "16:00:30", "2030-01-31",
     "2030-01-31T12:00", "2030-01-31T12:00:05", "013130"],
)  # fmt: skip
def test_begin(text: str) -> None:
    assert check_begin(text) == text


@pytest.mark.parametrize(
    "text", ["garbage", "", "now+1x", "25:00", "2030-02-30", "2030-1-1", "now+", "99:99", "133130"]
)
def test_begin_refused(text: str) -> None:
    with pytest.raises(ValueError, match="start time"):
        check_begin(text)


def test_processes_on_each_node() -> None:
    assert Resources.model_validate({"nodes": 3, "ntasks_per_node": 4}).ntasks == 12
    assert Resources.model_validate({"ntasks": 7, "nodes": 2, "ntasks_per_node": 4}).ntasks == 7
    with pytest.raises(ValueError, match="9 processes do not fit: 2 nodes take 8"):
        Resources.model_validate({"ntasks": 9, "nodes": 2, "ntasks_per_node": 4})
