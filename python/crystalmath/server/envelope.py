"""The JSON-RPC envelope: is an element a request, and what does an error reply look like.

Checks what the specification leaves to the server, element by element, so that one bad element
spoils neither its batch nor its own id. Pure; called by ``connection`` and ``dispatch``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from crystalmath.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    CrystalMathError,
)
from crystalmath.server.strict_json import encode

KINDS: Final[Mapping[int, tuple[str, str]]] = {
    PARSE_ERROR: ("parse_error", "Parse error"),
    INVALID_REQUEST: ("invalid_request", "Invalid request"),
    METHOD_NOT_FOUND: ("method_not_found", "Method not found"),
    INVALID_PARAMS: ("invalid_params", "Invalid params"),
    INTERNAL_ERROR: ("internal_error", "Internal error"),
}
"""Reserved code → (``kind``, message)."""

JsonId = str | int | float | None


class Request:
    """One element that is a request or notification.

    Attributes
    ----------
    element
        The element as decoded, for the dispatcher.
    id
        The id to echo; meaningless for a notification.
    """

    __slots__ = ("element", "id", "is_notification", "method")

    def __init__(self, element: dict[str, Any], method: str, request_id: JsonId) -> None:
        self.element = element
        self.method = method
        self.id = request_id
        self.is_notification = request_id is None and "id" not in element


class RefusedElementError(Exception):
    """The element is not a request; carries the reply's code, id and hint."""

    def __init__(self, code: int, hint: str, reply_id: JsonId = None) -> None:
        super().__init__(hint)
        self.code = code
        self.hint = hint
        self.reply_id = reply_id


def check_element(element: Any) -> Request:
    """Check one element of a batch, or a single message.

    Raises
    ------
    RefusedElementError
        With the id, whenever the element has a valid one.
    """
    if type(element) is not dict:
        raise RefusedElementError(INVALID_REQUEST, "A request is an object.")
    request_id = element.get("id")
    kind = type(request_id)
    if not (
        kind is int or kind is str or request_id is None
        or (kind is float and math.isfinite(request_id))
    ):  # fmt: skip
        raise RefusedElementError(INVALID_REQUEST, "An id is a string, a number or null.")
    if element.get("jsonrpc") != "2.0":
        raise RefusedElementError(INVALID_REQUEST, 'The member jsonrpc is not "2.0".', request_id)
    method = element.get("method")
    if type(method) is not str:
        raise RefusedElementError(INVALID_REQUEST, "The member method is not a string.", request_id)
    return Request(element, method, request_id)


def encode_id(reply_id: JsonId) -> bytes:
    """Encode an id, digit for digit."""
    return b"%d" % reply_id if type(reply_id) is int else encode(reply_id)


def error_data(
    kind: str,
    hint: str | None,
    trace_id: str,
    *,
    retryable: bool = False,
    field: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Build ``error.data``."""
    data: dict[str, Any] = {"kind": kind, "hint": hint, "retryable": retryable}
    if field is not None:
        data["field"] = field
    return {**data, **more, "trace_id": trace_id}


def error_reply(reply_id: JsonId, code: int, message: str, data: Mapping[str, Any]) -> bytes:
    """Build an error reply."""
    error = encode({"code": code, "message": message, "data": data})
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}\n' % (encode_id(reply_id), error)


def reserved_error(reply_id: JsonId, code: int, hint: str | None, trace_id: str) -> bytes:
    """Build the reply of one of the reserved codes."""
    kind, message = KINDS[code]
    return error_reply(reply_id, code, message, error_data(kind, hint, trace_id))


def exception_reply(reply_id: JsonId, error: CrystalMathError, trace_id: str) -> bytes:
    """Build the reply of an exception of the tree."""
    data = error_data(
        error.kind, error.hint, trace_id, retryable=error.retryable, field=error.field
    )
    return error_reply(reply_id, error.code, error.message, data)
