"""``clusters.*`` on a real database; the connection is not part of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from crystalmath.contract.clusters import (
    ClusterIdParams,
    ClusterReport,
    ConnectionView,
    CreateClusterParams,
    HostKeyView,
    Problem,
    UpdateClusterParams,
)
from crystalmath.contract.rpc import NoParams
from crystalmath.errors import Conflict, InvalidParams, NotFound
from crystalmath.services.cluster_lanes import Lanes
from crystalmath.services.cluster_view import ClusterEvents, check, status_row
from crystalmath.services.clusters import ClustersParts, ClustersService
from crystalmath.services.events import EventHub
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.services.ports_shell import Ask
from crystalmath.storage.clusters import SqliteClusterStore
from support.cluster_bench import ClusterBench
from support.service_fakes import FakeCall

FIRST = {"name": "maple", "hostname": "login.example.org", "remote_workdir": "$SCRATCH/cm"}


class NoWays:
    """Connects to nothing."""

    def accept_host_key(self, record: ClusterRecord, fingerprint: str) -> HostKeyView:
        raise AssertionError(record, fingerprint)

    def login(self, record: ClusterRecord, ask: Ask) -> None:
        raise AssertionError(record, ask)

    def connection(self, record: ClusterRecord) -> None:
        return None

    def reset(self, record: ClusterRecord) -> None:
        return None

    def changed(self, before: ClusterRecord, after: ClusterRecord | None) -> None:
        return None


class StillLanes(Lanes):
    """Lanes that do nothing."""

    def __init__(self, bench: ClusterBench) -> None:
        self._bench = bench

    def wake(self) -> None:
        return None

    def lane(self, cluster_id: int) -> Any:
        return self._bench.lane

    def forget(self, cluster_id: int) -> None:
        return None


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[ClusterBench]:
    made = ClusterBench(tmp_path)
    yield made
    made.close()


@pytest.fixture
def service(bench: ClusterBench) -> ClustersService:
    def examine(record: ClusterRecord, *, deadline_s: float) -> ClusterReport:
        assert deadline_s <= 30
        return ClusterReport(reachable=False, problems=[Problem(what=f"no {record.hostname}")])

    parts = ClustersParts(bench.clusters, StillLanes(bench), NoWays(), examine, lambda: bench.now)
    return ClustersService(parts)


def create(service: ClustersService, **fields: Any) -> Any:
    return service.create(CreateClusterParams.model_validate({**FIRST, **fields}))


def update(service: ClustersService, **fields: Any) -> Any:
    return service.update(UpdateClusterParams.model_validate({"id": "maple", **fields}))


def test_create_get_list(service: ClustersService) -> None:
    made = create(service, codes={"espresso": "/opt/qe/pw.x"}, setup_commands=["module load qe"])
    assert (made.kind, made.status, made.max_concurrent) == ("slurm", "inactive", None)
    assert (made.min_poll_s, made.max_retrieve_mib, made.launcher) == (10.0, 1024, "srun")
    assert made.query_budget == {"size": 30, "refill_per_min": 10}
    for wanted in (made.id, "maple"):
        assert service.get(ClusterIdParams(id=wanted)) == made
    assert [one.name for one in service.list(NoParams()).data] == ["c", "maple"]  # type: ignore[union-attr]
    assert create(service, name="host", kind="ssh").max_concurrent == 4


def test_a_second_of_the_same_name_is_refused(service: ClustersService) -> None:
    create(service)
    with pytest.raises(Conflict):
        create(service)
    create(service, name="oak")
    with pytest.raises(Conflict):
        update(service, name="oak")


def test_update_keeps_what_is_left_out_and_null_clears(service: ClustersService) -> None:
    create(service, key_file="~/.ssh/id", max_concurrent=3, queue_name="short", codes={"a": "/a"})
    changed = update(service, queue_name="long")
    assert (changed.queue_name, changed.key_file, changed.max_concurrent) == (
        *("long", "~/.ssh/id", 3),
    )
    cleared = update(service, queue_name=None, max_concurrent=None, codes=None, query_budget=None)
    assert (cleared.queue_name, cleared.max_concurrent, cleared.codes) == (None, None, {})
    assert cleared.query_budget is None
    assert cleared.key_file == "~/.ssh/id"
    for required in ("hostname", "remote_workdir", "name"):
        with pytest.raises(InvalidParams) as caught:
            update(service, **{required: None})
        assert caught.value.field == required


@pytest.mark.parametrize(
    ("fields", "at"),
    [
        ({"hostname": "-oProxyCommand=x"}, "hostname"),
        ({"hostname": "a b"}, "hostname"),
        ({"hostname": "me@host"}, "hostname"),
        ({"hostname": ""}, "hostname"),
        ({"port": 0}, "port"),
        ({"port": 99999}, "port"),
        ({"username": ""}, "username"),
        ({"username": "-l"}, "username"),
        ({"proxy_jump": "good,-bad"}, "proxy_jump"),
        ({"remote_workdir": "here"}, "remote_workdir"),
        ({"remote_workdir": "/a\nb"}, "remote_workdir"),
        ({"remote_workdir": "/$(id)"}, "remote_workdir"),
        ({"min_poll_s": 1.0}, "min_poll_s"),
        ({"launcher": "mpiexec -n 4"}, "launcher"),
        ({"setup_commands": ["a\nb"]}, "setup_commands"),
        ({"password": "secret"}, "password"),
        ({"name": "7"}, "name"),
        ({"name": " Local "}, "name"),
    ],
)
def test_what_is_wrong_is_refused_at_its_field(fields: dict[str, Any], at: str) -> None:
    for model, base in ((CreateClusterParams, FIRST), (UpdateClusterParams, {"id": "maple"})):
        with pytest.raises(ValidationError) as caught:
            model.model_validate({**base, **fields})
        assert {error["loc"][0] for error in caught.value.errors()} == {at}


def test_delete_is_refused_while_jobs_are_under_way(
    service: ClustersService, bench: ClusterBench
) -> None:
    job = bench.send("exit 0")
    for refused in (
        lambda: service.delete(ClusterIdParams(id="c")),
        lambda: service.update(UpdateClusterParams(id="c", name="other")),
    ):
        with pytest.raises(Conflict, match=f": {job}$"):
            refused()
    create(service)
    assert service.delete(ClusterIdParams(id="maple")).name == "maple"
    with pytest.raises(NotFound):
        service.get(ClusterIdParams(id="maple"))


def test_what_a_test_finds_is_kept(service: ClustersService) -> None:
    create(service)
    report = service.test(ClusterIdParams(id="maple"), FakeCall())  # type: ignore[arg-type]
    assert not report.reachable
    kept = service.get(ClusterIdParams(id="maple"))
    assert (kept.status, kept.last_error) == ("error", "no login.example.org")
    assert kept.probe["reachable"] is False


def test_the_kind_stays_while_jobs_are_under_way(
    bench: ClusterBench, service: ClustersService
) -> None:
    job = bench.send("true")
    params = UpdateClusterParams.model_validate({"id": "c", "kind": "ssh"})
    with pytest.raises(Conflict, match=f"cannot be made another kind: .* {job}"):
        service.update(params)
    create(service)
    assert update(service, kind="ssh").kind == "ssh"


def test_a_key_file_that_is_not_there_is_warned_about(
    service: ClustersService, tmp_path: Path
) -> None:
    made = create(service, key_file=str(tmp_path / "id"))
    assert str(tmp_path / "id") in made.warnings[0]
    assert service.get(ClusterIdParams(id="maple")).warnings == []
    (tmp_path / "id").touch()
    assert update(service, account="x1").warnings == []


def test_every_change_is_told_with_the_health(bench: ClusterBench) -> None:
    hub = EventHub("i")
    feed = hub.open(1)
    hub.subscribe(1, ["clusters"])
    hub.release(feed)
    broken = ConnectionView(state="backing_off", failures=2)
    store = SqliteClusterStore(bench.store, ClusterEvents(hub, lambda _record: broken))
    record = ClusterRecord("oak", "slurm", "h", "~/w")

    def told() -> list[dict[str, Any]]:
        return [dict(one.content()) for take in hub.take(feed) for _, one in take.events]

    made = store.create_cluster(record, 1.0)
    assert [(one["kind"], one["cluster"]["status"]) for one in told()] == [("cluster", "inactive")]
    store.set_health(made.id, last_error="no route", unreachable_since=5.0)
    (seen,) = told()
    assert seen["cluster"]["last_error"] == "no route"
    assert seen["cluster"]["connection"]["failures"] == 2
    row = status_row(store.cluster(made.id), broken)
    assert (row["status"], row["connection"]["state"]) == ("error", "backing_off")
    checked = check(store.cluster(made.id), ConnectionView(state="needs_user", failures=1))
    assert not checked.ok
    assert "no route" in checked.detail
    assert "without you" in str(checked.hint)
    store.delete_cluster(made.id)
    assert told() == [{"kind": "cluster_removed", "id": made.id, "name": "oak"}]
