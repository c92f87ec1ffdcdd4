"""The client's own errors, and how an error reply becomes an exception. Called by ``wire``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crystalmath.errors import INVALID_PARAMS, CrystalMathError, InvalidParams, TransportError


class Down(TransportError):
    """No daemon runs, and none may be started."""

    kind = "down"
    retryable = True


class Busy(TransportError):
    """Somebody listens, but does not answer in time."""

    kind = "busy"
    retryable = True


class StartFailed(TransportError):
    """The daemon could not be started; the message says why."""

    kind = "start_failed"


class Disconnected(TransportError):
    """The connection broke; whether the call was carried out is not known."""

    kind = "disconnected"
    retryable = True


class ServerError(CrystalMathError):
    """An error that has no class of its own, e.g. an internal one.

    Attributes
    ----------
    rpc_code
        The JSON-RPC code.
    """

    kind = "server"

    def __init__(
        self, message: str, *, rpc_code: int, hint: str | None = None, field: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, field=field)
        self.rpc_code = rpc_code


def to_exception(error: Mapping[str, Any]) -> CrystalMathError:
    """Make the exception of an ``error`` object: the class of its kind, else ``ServerError``."""
    data = error.get("data") or {}
    code, message = int(error["code"]), str(error["message"])
    hint, field = data.get("hint"), data.get("field")
    kind = _kinds(CrystalMathError).get(data.get("kind", ""))
    made: CrystalMathError
    if code == INVALID_PARAMS:
        made = InvalidParams(message, hint=hint, field=field)
    elif kind is not None and kind is not ServerError and kind.code == code:
        made = kind(message, hint=hint, field=field)
    else:
        made = ServerError(message, rpc_code=code, hint=hint, field=field)
    if hint:
        made.add_note(str(hint))
    if data.get("trace_id"):
        made.add_note(f"trace id {data['trace_id']}")
    return made


def _kinds(root: type[CrystalMathError]) -> dict[str, type[CrystalMathError]]:
    found = {root.kind: root}
    for child in root.__subclasses__():
        found |= _kinds(child)
    return found
