"""Listing, reading, repeating and removing jobs."""

from __future__ import annotations

import pytest

from crystalmath.contract.jobs import (
    CancelJobsParams,
    DeleteParams,
    Job,
    JobIdParams,
    JobSummary,
    ListParams,
    LogParams,
    ReadFileParams,
    RerunParams,
    SeriesParams,
    TagParams,
)
from crystalmath.errors import IllegalTransition, InvalidParams, NotFound
from support.service_fakes import Bench, FakeCall


def finish(bench: Bench, job: int) -> None:
    """Bring a job to its end."""
    bench.pump.turn()
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    bench.pump.turn()


def test_pages_cover_every_job_once_whatever_the_order(bench: Bench) -> None:
    for i in range(7):
        bench.now += 1
        bench.submit(name=f"job {i % 3}")
    for sort in ("-id", "id", "name", "-name", "-created_at", "finished_at", "state"):
        seen: list[int] = []
        after = None
        while True:
            page = bench.service.list(ListParams(limit=3, sort=sort, after=after))  # type: ignore[arg-type]
            seen += [row["id"] for row in page.data]  # type: ignore[index]
            after = page.meta.next
            assert page.meta.total == 7
            if after is None:
                break
        assert sorted(seen) == list(range(1, 8)), sort


def test_rows_have_the_shape_of_the_contract(bench: Bench) -> None:
    bench.submit(tags=["a", "b"])
    for row in bench.service.list(ListParams()).data:
        summary = JobSummary.model_validate(row)
        assert summary.tags == ["a", "b"]


def test_nothing_changed_costs_nothing(bench: Bench) -> None:
    bench.submit()
    rev = bench.service.list(ListParams()).meta.rev
    again = bench.service.list(ListParams(if_rev=rev))
    assert (again.status, again.data, again.meta.rev) == ("unchanged", [], rev)
    bench.submit()
    assert bench.service.list(ListParams(if_rev=rev)).status == "ok"


def test_filters_and_search(bench: Bench) -> None:
    bench.submit(name="alpha_1")
    bench.submit(name="alphaX1", tags=["50% done"])

    def found(**fields: object) -> list[int]:
        return [row["id"] for row in bench.service.list(ListParams(**fields)).data]  # type: ignore[arg-type,index]

    assert found(search="alpha") == [2, 1]
    assert found(search="alpha_") == [1]
    assert found(search="50%") == [2]
    assert found(state="RUNNING") == []
    assert found(state=["CREATED", "RUNNING"]) == [2, 1]
    assert found(code="other") == []


@pytest.mark.parametrize("cursor", ["", "x", "e30", "WyJpZCIsMSwx", "WyJuYW1lIiwiYSIsMV0"])
def test_a_cursor_that_is_none_is_refused(bench: Bench, cursor: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        bench.service.list(ListParams(after=cursor))
    assert caught.value.field == "after"


def test_get_tells_everything(bench: Bench) -> None:
    job = bench.submit(files=[{"path": "in.txt", "content": "hello"}], tags=["t"])
    finish(bench, job)
    full = Job.model_validate(bench.service.get(JobIdParams(id=job)).model_dump())
    assert full.state == "COMPLETED"
    assert full.inputs["files"][0]["content"] == "hello"
    assert [f.path for f in full.files if f.kind == "input"] == ["in.txt"]
    assert set(full.provenance.input_hashes) == {"in.txt"}
    assert full.provenance.environment["crystalmath"] == "test"
    assert [e.to_state for e in full.events][-1] == "COMPLETED"


def test_unknown_ids(bench: Bench) -> None:
    for call in (
        lambda: bench.service.get(JobIdParams(id=99)),
        lambda: bench.service.cancel(CancelJobsParams(id=99)),
        lambda: bench.service.log(LogParams(id=99)),
        lambda: bench.service.files(JobIdParams(id=99)),
        lambda: bench.service.rerun(RerunParams(id=99), FakeCall()),  # type: ignore[arg-type]
    ):
        with pytest.raises(NotFound):
            call()


def test_cancelling_what_has_ended_says_so(bench: Bench) -> None:
    job = bench.submit()
    finish(bench, job)
    with pytest.raises(IllegalTransition, match="it is COMPLETED"):
        bench.service.cancel(CancelJobsParams(id=job))


def test_several_cancels_have_an_outcome_each(bench: Bench) -> None:
    done, live = bench.submit(), bench.submit()
    bench.pump.turn()
    bench.runner.end(bench.key(done))
    bench.pump.turn()
    outcomes = bench.service.cancel(CancelJobsParams(ids=[done, 99, live])).data
    kinds = [(o.id, o.ok, o.kind) for o in outcomes]  # type: ignore[union-attr]
    assert kinds == [
        (done, False, "illegal_transition"),
        (99, False, "not_found"),
        (live, True, None),
    ]


def test_log_of_a_job_that_has_not_written_yet_is_empty(bench: Bench) -> None:
    result = bench.service.log(LogParams(id=bench.submit()))
    assert (result.text, result.size, result.eof) == ("", 0, False)


def test_log_by_offset_and_tail(bench: Bench) -> None:
    job = bench.submit()
    bench.pump.turn()
    log = bench.directories.path(bench.key(job)) / "stdout.log"
    log.write_bytes(b"one\ntwo\nthree\n")
    first = bench.service.log(LogParams(id=job, limit=5))
    assert (first.text, first.offset, first.size, first.eof) == ("one\nt", 5, 14, False)
    rest = bench.service.log(LogParams(id=job, offset=first.offset))
    assert (rest.text, rest.offset) == ("wo\nthree\n", 14)
    assert bench.service.log(LogParams(id=job, offset=99)).text == ""
    tail = bench.service.log(LogParams(id=job, tail=2))
    assert (tail.text, tail.start) == ("two\nthree\n", 4)
    none = bench.service.log(LogParams(id=job, tail=0))
    assert (none.text, none.size, none.offset) == ("", 14, 14)
    assert bench.service.log(LogParams(id=job, tail=100)).text == "one\ntwo\nthree\n"
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    assert bench.service.log(LogParams(id=job, offset=14)).eof


def test_read_file_stays_inside(bench: Bench) -> None:
    job = bench.submit(files=[{"path": "a.txt", "content": "A"}])
    bench.pump.turn()
    directory = bench.directories.path(bench.key(job))
    (directory / "link").symlink_to("/etc/passwd")
    (directory / "sub").mkdir()
    assert bench.service.read_file(ReadFileParams(id=job, path="a.txt")).text == "A"
    for path in ("link", "sub"):
        with pytest.raises(InvalidParams):
            bench.service.read_file(ReadFileParams(id=job, path=path))
    for path in ("none.txt", "a.txt/b"):
        with pytest.raises(NotFound):
            bench.service.read_file(ReadFileParams(id=job, path=path))


def test_rerun_uses_the_input_of_the_first_run(bench: Bench) -> None:
    source = bench.root / "deck.in"
    source.write_text("first")
    job = bench.submit(files=[{"path": "deck.in", "source": str(source)}], inputs={"x": 1, "y": 2})
    finish(bench, job)
    source.write_text("changed")
    changes = {"name": "again", "inputs": {"y": None, "z": 3}}
    result = bench.service.rerun(
        RerunParams.model_validate({"id": job, "changes": changes}),
        FakeCall(),  # type: ignore[arg-type]
    )
    assert result.job is not None
    finish(bench, result.job.id)
    full = bench.service.get(JobIdParams(id=result.job.id))
    assert (full.name, full.rerun_of, full.state) == ("again", job, "COMPLETED")
    assert full.inputs["inputs"] == {"x": 1, "z": 3}
    text = bench.service.read_file(ReadFileParams(id=full.id, path="deck.in")).text
    assert text == "first"


def test_rerun_keeps_the_resources_that_do_not_change(bench: Bench) -> None:
    asked = {"ntasks": 2, "walltime_s": "30:00", "memory_mib": "4G"}
    job = bench.submit(resources=asked)
    finish(bench, job)
    changes = {"resources": {"walltime_s": "1:00:00", "memory_mib": None}}
    params = RerunParams.model_validate({"id": job, "changes": changes})
    result = bench.service.rerun(params, FakeCall())  # type: ignore[arg-type]
    assert result.job is not None
    again = bench.service.get(JobIdParams(id=result.job.id)).resources
    assert (again.ntasks, again.walltime_s, again.memory_mib) == (2, 3600.0, None)


def test_rerun_without_the_first_input_is_refused(bench: Bench) -> None:
    source = bench.root / "deck.in"
    source.write_text("first")
    job = bench.submit(files=[{"path": "deck.in", "source": str(source)}])
    finish(bench, job)
    bench.directories.remove(bench.key(job))
    source.write_text("changed")
    with pytest.raises(InvalidParams, match="has changed") as caught:
        bench.service.rerun(RerunParams(id=job), FakeCall())  # type: ignore[arg-type]
    assert caught.value.field == "files.0.source"


def test_delete_only_what_has_ended(bench: Bench) -> None:
    job, live = bench.submit(), bench.submit()
    bench.pump.turn()
    bench.runner.end(bench.key(job))
    bench.pump.turn()
    directory = bench.directories.path(bench.key(job))
    outcomes = bench.service.delete(DeleteParams(ids=[job, live], files=True)).data
    assert [o.ok for o in outcomes] == [True, False]  # type: ignore[union-attr]
    assert not directory.exists()
    assert bench.store.counts() == {"RUNNING": 1}
    assert bench.submit() > live


def test_a_removal_that_was_cut_off_is_finished_at_the_next_start(bench: Bench) -> None:
    job, kept = bench.submit(), bench.submit()
    for i in (job, kept):
        finish(bench, i)
    key = bench.key(job)
    bench.directories.mark_for_removal(key)
    bench.directories.mark_for_removal(bench.key(kept))
    bench.store.delete(job)
    (bench.directories.root / "abc.part").mkdir()
    (bench.directories.root / ("f" * 32)).mkdir()
    assert bench.directories.sweep(bench.store.is_known) == 2
    names = {p.name for p in bench.directories.root.iterdir()}
    assert names == {bench.key(kept), "f" * 32}


def test_a_directory_that_is_gone_is_said(bench: Bench) -> None:
    job = bench.submit(files=[{"path": "a.txt", "content": "A"}])
    assert not bench.service.get(JobIdParams(id=job)).directory_gone, "it was never there"
    assert bench.service.log(LogParams(id=job)).text == ""
    assert bench.service.files(JobIdParams(id=job)).data == []
    finish(bench, job)
    assert not bench.service.get(JobIdParams(id=job)).directory_gone
    bench.directories.remove(bench.key(job))
    full = bench.service.get(JobIdParams(id=job))
    assert (full.directory_gone, full.state, full.science.energy_ev) == (True, "COMPLETED", -2.0)
    for call in (
        lambda: bench.service.log(LogParams(id=job)),
        lambda: bench.service.log(LogParams(id=job, tail=3)),
        lambda: bench.service.files(JobIdParams(id=job)),
        lambda: bench.service.read_file(ReadFileParams(id=job, path="a.txt")),
        lambda: bench.service.series(SeriesParams(id=job)),
    ):
        with pytest.raises(NotFound, match="deleted or moved by hand") as caught:
            call()
        assert caught.value.field == "id"
    outcome = bench.service.delete(DeleteParams(ids=[job], files=True)).data[0]
    assert outcome.ok  # type: ignore[union-attr]


def test_tags(bench: Bench) -> None:
    job = bench.submit(tags=["a", "b"])
    bench.service.tag(TagParams(ids=[job], add=["c", "a"], remove=["b"]))
    assert bench.service.get(JobIdParams(id=job)).tags == ["a", "c"]


def test_series_that_is_not_there(bench: Bench) -> None:
    job = bench.submit()
    assert bench.service.series(SeriesParams(id=job)).series == {}
    with pytest.raises(NotFound):
        bench.service.series(SeriesParams(id=job, name="energy"))
