"""``clusters.test``: what is told of a cluster when a part of it does not work."""

from __future__ import annotations

from pathlib import Path

from crystalmath.contract.clusters import ClusterReport
from crystalmath.runners.shells.local import LocalShell
from crystalmath.runners.slurm.examine import Examination
from crystalmath.services.ports_cluster import ClusterRecord


def examine(record: ClusterRecord) -> ClusterReport:
    def reached(_record: ClusterRecord, *, deadline_s: float) -> tuple[ClusterReport, bool]:
        assert deadline_s > 0
        return ClusterReport(reachable=True), True

    def open_shell(record: ClusterRecord, *, by_user: bool) -> LocalShell:
        assert by_user
        return LocalShell(setup_commands=record.setup_commands)

    return Examination(reached, open_shell)(record, deadline_s=60.0)


def test_scratch_is_told_where_a_setup_line_ends_the_shell(tmp_path: Path) -> None:
    record = ClusterRecord(
        name="c",
        kind="slurm",
        hostname="localhost",
        remote_workdir=str(tmp_path / "jobs"),
        setup_commands=("exit 3",),
    )
    report = examine(record)
    assert report.scratch is not None
    assert report.scratch.writable
    assert report.scratch.path == str(tmp_path / "jobs")
    assert "`exit 3`" in report.problems[0].what
    # Nothing is said of SLURM, which could not be asked.
    assert len(report.problems) == 1
    assert report.scheduler is None


def test_a_directory_that_cannot_be_made_is_a_second_problem() -> None:
    record = ClusterRecord(
        name="c", kind="ssh", hostname="localhost", setup_commands=("exit 3",),
        remote_workdir="/proc/nowhere",
    )  # fmt: skip
    whats = [problem.what for problem in examine(record).problems]
    assert len(whats) == 2
    assert "/proc/nowhere" in whats[1]
