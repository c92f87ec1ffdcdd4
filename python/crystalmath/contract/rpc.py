"""What makes a service function an RPC method: the ``@rpc`` marker and the base models.

One definition per method. The dispatcher, validation, ``rpc.discover``, ``docs/openrpc.json``,
the Rust types, the golden vectors and the tests all read the table that :func:`describe` makes
from the marked functions. Called by the services (to mark), by ``api`` and ``server`` (to read).
No I/O here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

from crystalmath.errors import CrystalMathError

Lane = Literal["inline", "db", "net", "proc", "forces"]

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
F = TypeVar("F", bound=Callable[..., Any])


def render_time(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds: ``2026-01-06T12:00:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Timestamp = Annotated[
    datetime,
    PlainSerializer(render_time, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A moment. One form everywhere, so that two answers about one event read the same."""


class Params(BaseModel):
    """Base of every params model: unknown members are refused, nothing is converted.

    Strict, because a lenient reading would take ``true`` for job 1 and ``"no"`` for false.
    """

    # Deferred: building all models at import would be half of the daemon's start.
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", strict=True)


class NoParams(Params):
    """A method without parameters."""


class AnyParams(BaseModel):
    """Params of a method that is not built yet: any object."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="allow")


class Model(BaseModel):
    """Base of every result model and of the parts of params and results."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Listing(Generic[T, M]):
    """A result that is a plain array, with what belongs to the listing itself beside it.

    ``data`` holds models, or mappings that already have the wire shape of ``T`` (the list paths
    skip model construction for speed; a contract test validates them against ``T``), or these as
    JSON already.
    """

    data: Sequence[T | Mapping[str, Any] | bytes]
    meta: M
    status: Literal["ok", "unchanged"] = "ok"


class Connection(Protocol):
    """What a service may know of the connection a call came on."""

    id: int
    deadline_cap_s: float | None
    ssh_auth_sock: str | None


class Call(Protocol):
    """The context of one call. A service function that wants it declares a second parameter."""

    trace_id: str
    connection: Connection

    def check(self) -> None:
        """Raise ``Cancelled`` or ``DeadlinePassed`` if the call should stop here."""

    def remaining_s(self) -> float:
        """Seconds until the call's deadline."""

    def wait_cancelled(self, timeout_s: float) -> bool:
        """Sleep up to ``timeout_s``; True as soon as the call is cancelled or out of time."""

    def on_cancel(self, close: Callable[[], None]) -> None:
        """Register what frees this thread when the call is cancelled or out of time."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What ``@rpc`` declares beside the types."""

    errors: tuple[type[CrystalMathError], ...] = ()
    lane: Lane = "db"
    deadline_s: float = 30.0
    read_only: bool = False
    wire_name: str | None = None
    before_ready: bool = False
    bare_result: bool = False


def rpc(
    *,
    errors: tuple[type[CrystalMathError], ...] = (),
    lane: Lane = "db",
    deadline_s: float = 30.0,
    read_only: bool = False,
    wire_name: str | None = None,
    before_ready: bool = False,
    bare_result: bool = False,
) -> Callable[[F], F]:
    """Mark a service function as an RPC method.

    Parameters
    ----------
    errors
        Branches of the exception tree that the method raises on purpose.
    lane
        The kind of waiting the method does; see ``server.lanes``.
    deadline_s
        Seconds after which the call is answered with -32012.
    read_only
        The method changes nothing: a client may repeat it, a vanished client's call is dropped.
    wire_name
        Full wire name, where it is not ``namespace.function`` (``$/cancel``).
    before_ready
        Answered while the daemon is still starting.
    bare_result
        The result is not wrapped in ``{"status", "data"}`` (``rpc.discover`` alone).
    """
    spec = Spec(errors, lane, deadline_s, read_only, wire_name, before_ready, bare_result)

    def mark(function: F) -> F:
        function.__rpc__ = spec  # type: ignore[attr-defined]
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Method:
    """One row of the method table."""

    name: str
    summary: str
    description: str
    params: type[BaseModel]
    result: Any
    spec: Spec
    attribute: str = field(default="")
    namespace: str = field(default="")
    wants_call: bool = False
    planned: str | None = None

    @property
    def listing(self) -> tuple[Any, type[BaseModel]] | None:
        """Row type and meta type when the result is a :class:`Listing`."""
        if get_origin(self.result) is Listing:
            row, meta = get_args(self.result)
            return row, meta
        return None


def describe(
    namespaces: Mapping[str, type], planned: Mapping[str, str] | None = None
) -> dict[str, Method]:
    """Build the method table from service classes.

    Parameters
    ----------
    namespaces
        Namespace (the attribute name on the controller) → service class.
    planned
        Names of the contract that are not built yet → hint.

    Returns
    -------
    dict
        Wire name → :class:`Method`, sorted by name.
    """
    table: dict[str, Method] = {}
    for namespace, service in namespaces.items():
        for attribute, function in inspect.getmembers(service, inspect.isfunction):
            spec = getattr(function, "__rpc__", None)
            if spec is None:
                continue
            hints = get_type_hints(function)
            names = [n for n in inspect.signature(function).parameters if n != "self"]
            doc = inspect.getdoc(function) or ""
            summary, _, rest = doc.partition("\n")
            name = spec.wire_name or f"{namespace}.{attribute}"
            table[name] = Method(
                name=name,
                summary=summary.strip(),
                description=rest.strip(),
                params=hints[names[0]],
                result=hints["return"],
                spec=spec,
                attribute=attribute,
                namespace=namespace,
                wants_call=len(names) > 1,
            )
    for name, hint in (planned or {}).items():
        if name in table:
            raise ValueError(f"{name} is built; remove it from the planned methods")
        table[name] = Method(
            name=name,
            summary="Part of the contract; not built yet.",
            description=hint,
            params=AnyParams,
            result=None,
            spec=Spec(lane="inline", before_ready=True),
            namespace=name.rpartition(".")[0],
            planned=hint,
        )
    return dict(sorted(table.items()))
