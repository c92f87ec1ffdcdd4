"""Walltime and memory as people write them."""

from __future__ import annotations

import pytest

from crystalmath.domain.resources import parse_memory_mib, parse_walltime_s


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


@pytest.mark.parametrize("text", ["", "1h", "1:2:3:4", "-5", "1-", None, True, float("nan")])
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
