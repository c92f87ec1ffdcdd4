"""What a local job used, from its receipt, and the sum by cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from crystalmath.contract.jobs import JobIdParams
from crystalmath.services.ports import EndReceipt, Observation
from crystalmath.services.ports_tasks import Used
from crystalmath.services.verdicts import used_by
from support.service_fakes import Bench

END = EndReceipt(1, 0, None, "exit", None, 100.0, 110.0, max_rss_kib=2048, cpu_s=3.5)


def test_a_receipt_tells_what_it_tells() -> None:
    used = used_by(END, {"ntasks": 2, "cpus_per_task": 2})
    assert used == Used(3.5, 2048, 10.0, 4, 40.0, source="receipt")
    assert used_by(replace(END, cpu_s=None), {}) is None
    assert used_by(None, {}) is None


def test_a_job_of_this_machine_shows_what_it_used(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    job = bench.submit(resources={"ntasks": 2})
    bench.pump.turn()
    bench.runner.seen[bench.key(job)] = Observation("ended", t_start=100.0, end=END)
    for _ in range(5):
        bench.pump.turn()
    usage = bench.service.get(JobIdParams(id=job)).usage
    assert usage is not None
    assert (usage.source, usage.n_cpus, usage.max_rss_mib) == ("receipt", 2, 2.0)
    assert usage.core_hours == pytest.approx(20 / 3600)
    assert bench.store.core_seconds() == {None: pytest.approx(20.0)}
    bench.close()
