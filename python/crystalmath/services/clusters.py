"""``clusters.*``: the machines that jobs can be sent to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Protocol

from pydantic import ValidationError

from crystalmath.contract.cluster_login import LoginParams, LoginResult
from crystalmath.contract.clusters import (
    AcceptHostKeyParams,
    ClusterFields,
    ClusterIdParams,
    ClusterReport,
    ClustersMeta,
    ClusterView,
    ConnectionView,
    CreateClusterParams,
    HostKeyView,
    Removed,
    UpdateClusterParams,
)
from crystalmath.contract.rpc import Call, Listing, NoParams, rpc
from crystalmath.errors import (
    Conflict,
    DatabaseError,
    InvalidParams,
    NotFound,
    NotImplementedYet,
    SshError,
)
from crystalmath.services.cluster_lanes import Lanes
from crystalmath.services.cluster_logins import Dialogues
from crystalmath.services.cluster_view import view
from crystalmath.services.ports_cluster import Cluster, ClusterRecord, ClusterStore
from crystalmath.services.ports_shell import Ask

_CLEARED_TO_DEFAULT: Final = (
    "setup_commands", "codes", "launcher", "shell", "min_poll_s", "max_retrieve_mib",
)  # fmt: skip
"""Fields that null brings back to what they are without a word; elsewhere null is a value."""


class Ways(Protocol):
    """The connections to clusters; implemented in ``runners.shells``."""

    def accept_host_key(self, record: ClusterRecord, fingerprint: str) -> HostKeyView:
        """Store the key that is offered now, if it has this fingerprint."""

    def login(self, record: ClusterRecord, ask: Ask) -> None:
        """Connect, with a person to answer.

        Raises
        ------
        SshError, InvalidParams, NotImplementedYet
        """

    def connection(self, record: ClusterRecord) -> ConnectionView | None:
        """How the connection does; asks the host nothing."""

    def reset(self, record: ClusterRecord) -> None:
        """Forget refusals and back-off: the user has changed something."""

    def changed(self, before: ClusterRecord, after: ClusterRecord | None) -> None:
        """The record is another one, or gone: what was answered on its way is forgotten."""


class Examiner(Protocol):
    """Tries a cluster, part by part; implemented in ``runners``."""

    def __call__(self, record: ClusterRecord, *, deadline_s: float) -> ClusterReport:
        """Never raises for what is wrong with the cluster: that stands in the report."""


@dataclass(frozen=True, slots=True)
class ClustersParts:
    """What the service is made of; put together by ``api``."""

    store: ClusterStore
    lanes: Lanes
    ways: Ways
    examine: Examiner
    clock: Callable[[], float]


class ClustersService:
    """Describe, change, try and forget clusters."""

    def __init__(self, parts: ClustersParts) -> None:
        self._store = parts.store
        self._lanes = parts.lanes
        self._ways = parts.ways
        self._examine = parts.examine
        self._clock = parts.clock
        self._dialogues = Dialogues(parts.ways.login)

    @rpc(errors=(DatabaseError,), read_only=True)
    def list(self, params: NoParams) -> Listing[ClusterView, ClustersMeta]:
        """List the clusters, by name."""
        found = [self._view(cluster) for cluster in self._store.clusters()]
        return Listing(data=found, meta=ClustersMeta(total=len(found)))

    @rpc(errors=(NotFound, DatabaseError), read_only=True)
    def get(self, params: ClusterIdParams) -> ClusterView:
        """Tell everything about one cluster."""
        return self._view(self._store.cluster(params.id))

    @rpc(errors=(Conflict, DatabaseError))
    def create(self, params: CreateClusterParams) -> ClusterView:
        """Describe a cluster. Nothing is tried yet: `clusters.test` does that.

        There is no field for a password: keys, agents and a login that the user makes are what
        gets in.
        """
        record = record_of(params)
        return view(self._store.create_cluster(record, self._clock()), None, warnings_of(record))

    @rpc(errors=(NotFound, Conflict, DatabaseError))
    def update(self, params: UpdateClusterParams) -> ClusterView:
        """Change fields of a cluster; one that is left out is kept, null clears.

        Jobs that are under way keep the directory they have.
        """
        cluster = self._store.cluster(params.id)
        merged = merge(cluster.record, params)
        changed = self._store.change_cluster(cluster.id, merged, self._clock())
        self._ways.changed(cluster.record, merged)
        self._lanes.wake()
        return view(changed, self._ways.connection(merged), warnings_of(merged))

    @rpc(errors=(NotFound, Conflict, DatabaseError))
    def delete(self, params: ClusterIdParams) -> Removed:
        """Forget a cluster; refused while jobs on it have not ended. Ended jobs keep its name."""
        cluster = self._store.cluster(params.id)
        self._store.delete_cluster(cluster.id)
        self._lanes.forget(cluster.id)
        self._dialogues.forget(cluster.id)
        self._ways.changed(cluster.record, None)
        return Removed(id=cluster.id, name=cluster.record.name)

    @rpc(errors=(NotFound, DatabaseError), lane="net", deadline_s=40.0)
    def test(self, params: ClusterIdParams, call: Call) -> ClusterReport:
        """Try a cluster, part by part, and say what was found. It changes nothing there."""
        cluster = self._store.cluster(params.id)
        deadline_s = max(1.0, min(30.0, call.remaining_s() - 1.0))
        report = self._examine(cluster.record, deadline_s=deadline_s)
        probe = report.model_dump(mode="json", exclude={"problems"})
        failed = None if report.reachable or not report.problems else report.problems[0].what
        self._store.set_health(
            cluster.id,
            probe=probe,
            last_error=failed,
            unreachable_since=cluster.unreachable_since if failed else None,
        )
        self._ways.reset(cluster.record)
        self._lanes.lane(cluster.id).wake(by_user=True)
        return report

    @rpc(
        errors=(NotFound, Conflict, InvalidParams, SshError, DatabaseError),
        lane="net",
        deadline_s=75.0,
    )
    def accept_host_key(self, params: AcceptHostKeyParams) -> HostKeyView:
        """Store a host's key, if the one that it offers now has exactly this fingerprint.

        It goes into a file of our own. A key that has changed is never replaced this way.
        """
        cluster = self._store.cluster(params.id)
        accepted = self._ways.accept_host_key(cluster.record, params.fingerprint)
        self._lanes.lane(cluster.id).wake(by_user=True)
        return accepted

    @rpc(
        errors=(NotFound, InvalidParams, NotImplementedYet, SshError, DatabaseError),
        lane="net",
        deadline_s=75.0,
    )
    def login(self, params: LoginParams, call: Call) -> LoginResult:
        """Log in with what only a person knows: a passphrase, a password, the answer to a host.

        A dialogue: what is asked comes back as ``prompts``, and is answered by a call with
        ``dialogue`` and ``answers`` on the same connection within two minutes. Answers stay in the
        memory of this daemon, which connects again with them until it ends or the way to the
        cluster is changed. One that is refused ends the dialogue, and nothing is tried again.
        """
        cluster = self._store.cluster(params.id)
        try:
            if params.dialogue is None:
                said = self._dialogues.begin(cluster, call)
            elif params.give_up:
                return self._dialogues.give_up(params.dialogue, cluster, call)
            else:
                answers = params.answers or []
                said = self._dialogues.answer(params.dialogue, cluster, answers, call)
        except SshError as error:
            self._store.set_health(cluster.id, last_error=error.message)
            raise
        if said.done:
            self._store.set_health(cluster.id, last_error=None, unreachable_since=None)
            self._lanes.lane(cluster.id).wake(by_user=True)
        return said

    def _view(self, cluster: Cluster) -> ClusterView:
        return view(cluster, self._ways.connection(cluster.record))


def warnings_of(record: ClusterRecord) -> Sequence[str]:
    """What looks wrong in a description, and may still be meant."""
    if record.key_file is None or Path(record.key_file).expanduser().is_file():
        return []
    return [f"`key_file`: there is no file {record.key_file} on this machine; ssh does without it"]


def record_of(params: ClusterFields) -> ClusterRecord:
    """The model of the wire → the record of the services."""
    values = params.model_dump()
    values["setup_commands"] = tuple(values["setup_commands"])
    if params.kind == "ssh" and "max_concurrent" not in params.model_fields_set:
        values["max_concurrent"] = 4
    return ClusterRecord(**values)


def merge(record: ClusterRecord, params: UpdateClusterParams) -> ClusterRecord:
    """Lay the given fields over a record; the result is checked as a whole.

    Raises
    ------
    InvalidParams
        With the field at fault.
    """
    given = params.model_dump(include=params.model_fields_set - {"id"})
    before = asdict(record)
    before["setup_commands"] = list(record.setup_commands)
    merged = {**before, **given}
    for name in _CLEARED_TO_DEFAULT:
        if merged[name] is None:
            del merged[name]
    try:
        return record_of(ClusterFields.model_validate(merged))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise InvalidParams(f"{field} cannot be cleared", field=field) from error
