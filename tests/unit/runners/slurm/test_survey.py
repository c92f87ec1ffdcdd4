"""What a site's SLURM is like, from its own words."""

from __future__ import annotations

from crystalmath.runners.slurm.survey import parts_of, scheduler_of, survey_script
from support.slurm_cases import load


def test_a_site_tells_its_limits() -> None:
    config = load("scontrol-config").ran.out_text()
    version = load("version").ran.out_text()
    found = scheduler_of(parts_of(f"==version\n{version}==config\n{config}==accounting\nrc 0\n"))
    assert (found.version, found.cluster, found.accounting) == ("22.05.8", "cmtest", True)
    assert (found.max_array_size, found.min_job_age_s) == (1001, 300)


def test_what_is_not_told_is_null() -> None:
    found = scheduler_of(parts_of("==version\nslurm 23.02.1\n==config\n==accounting\nrc 1\n"))
    assert (found.version, found.accounting, found.max_array_size) == ("23.02.1", False, None)
    assert scheduler_of(parts_of("==version\nsinfo: not found\n")).name is None


def test_the_questions_name_the_cluster() -> None:
    assert "scontrol -M maple show config" in survey_script("maple")
