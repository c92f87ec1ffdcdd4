"""From a checked request to the bytes of its reply, through jsonrpcserver.

The library finds and calls the function; everything it leaves open or gets wrong is settled in the
wrapper around each function: every exception becomes a JSON-RPC error here, the library never sees
one, and results are encoded here, so that an unencodable one is an error of that call. Called by
``router``.
"""

from __future__ import annotations

import inspect
import logging
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from crystalmath.contract.refusals import faults
from crystalmath.contract.rpc import Listing, Method, Spec
from crystalmath.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CrystalMathError,
    NotImplementedYet,
    TooLarge,
)
from crystalmath.server import envelope
from crystalmath.server.calls import InlineCall
from crystalmath.server.strict_json import UnencodableError, encode, encode_model

with warnings.catch_warnings():
    # 5.0.9 reads its schema with importlib.resources.read_text, deprecated in Python 3.11 and 3.12
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    from jsonrpcserver import dispatch_to_response
    from jsonrpcserver.result import ErrorResult, SuccessResult
    from oslash.either import Left, Right

_log = logging.getLogger(__name__)

Handler = Callable[..., Any]
"""``handler(call, *args, **params)`` → the value of ``result``: bytes, a model or plain values."""


class _AnyArguments(inspect.Signature):
    """Preset on our wrappers: they take anything, so binding has nothing to find out."""

    def bind(self, /, *_args: Any, **_kwargs: Any) -> inspect.BoundArguments:
        return _NO_ARGUMENTS


_ANY = _AnyArguments()
_NO_PARAMS: Final[dict[str, Any]] = {}
_NO_ARGUMENTS = inspect.BoundArguments(_ANY, OrderedDict())


def _nothing(_request: Any) -> Any:
    """Validate nothing: ``envelope`` has done it, element by element."""


def _identity(request: Any) -> Any:
    """Deserialise nothing: ``strict_json`` has done it."""
    return request


class Entry:
    """One method as the router needs it.

    Parameters
    ----------
    function
        A handler wrapped by :func:`bind` or :func:`guarded`.
    """

    __slots__ = ("function", "lane", "name", "spec")

    def __init__(self, name: str, function: Handler, spec: Spec) -> None:
        self.name = name
        self.spec = spec
        self.lane = spec.lane
        self.function = function


def bind(method: Method, service: object | None) -> Entry:
    """Make the entry of a described method, answered by ``service``."""
    if method.planned is not None:
        return Entry(method.name, guarded(_planned(method)), method.spec)
    function = getattr(service, method.attribute)
    validate = method.params.__pydantic_validator__.validate_python
    wants_call, bare = method.wants_call, method.spec.bare_result
    # a frozen model without fields has one value only
    nothing = None if method.params.model_fields else method.params()

    def wrapper(call: InlineCall, /, *args: Any, **params: Any) -> Any:
        try:
            if args:
                return Left(_error_result(_no_arrays(), call))
            if not params and nothing is not None:
                checked = nothing
            else:
                try:
                    checked = validate(params)
                except ValidationError as error:
                    return Left(_error_result(ParamsRefusedError(faults(error, params)), call))
            result = function(checked, call) if wants_call else function(checked)
            return Right(SuccessResult(_encode_result(result, bare=bare)))
        except BaseException as error:  # noqa: BLE001 - SystemExit and CancelledError included
            return Left(_error_result(error, call))

    wrapper.__signature__ = _ANY  # type: ignore[attr-defined]
    return Entry(method.name, wrapper, method.spec)


def guarded(handler: Handler) -> Handler:
    """Wrap a plain handler as :func:`bind` wraps a method: the library only ever sees a result."""

    def wrapper(call: InlineCall, /, *args: Any, **params: Any) -> Any:
        try:
            result = handler(call, *args, **params)
            return Right(SuccessResult(result if type(result) is bytes else encode(result)))
        except BaseException as error:  # noqa: BLE001 - SystemExit and CancelledError included
            return Left(_error_result(error, call))

    wrapper.__signature__ = _ANY  # type: ignore[attr-defined]
    return wrapper


def reply_to(call: InlineCall, functions: Mapping[str, Handler], max_bytes: int) -> bytes | None:
    """Run a call; return the reply with its newline, or None for a notification."""
    request = call.request
    if request.method not in functions:
        call.code = METHOD_NOT_FOUND
        reply = envelope.reserved_error(
            request.id, METHOD_NOT_FOUND, "See rpc.discover for the methods.", call.trace_id
        )
        return None if request.is_notification else reply
    params = request.element.get("params", _NO_PARAMS)
    # An array with elements is refused by the method; an empty one would pass as no params at all.
    if type(params) is not dict and not (type(params) is list and params):
        error = _params_error([("", "params must be a JSON object")], call)
        call.code = INVALID_PARAMS
        reply = envelope.error_reply(request.id, error.code, error.message, error.data)
        return None if request.is_notification else reply
    response: Any = dispatch_to_response(
        request.element,  # type: ignore[arg-type]
        functions,  # type: ignore[arg-type]
        context=call,
        validator=_nothing,
        deserializer=_identity,
    )
    if response is None:
        return None
    if type(response) is Right:
        reply = b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (
            b"%d" % request.id if type(request.id) is int else encode(request.id),
            response._value.result,  # noqa: SLF001 - the library has no other way
        )
        return reply if len(reply) - 1 <= max_bytes else too_large(call, max_bytes)
    failure = response._error  # noqa: SLF001 - the library has no other way
    call.code = failure.code
    return envelope.error_reply(request.id, failure.code, failure.message, failure.data)


def too_large(call: InlineCall, max_bytes: int) -> bytes:
    """Build the reply that stands for one beyond the limit."""
    call.code = TooLarge.code
    error = TooLarge(
        f"The result is longer than {max_bytes} bytes.", hint="Ask for less, page by page."
    )
    return envelope.exception_reply(call.request.id, error, call.trace_id)


class ParamsRefusedError(Exception):
    """The params do not fit their model; ``fields`` holds (path, what is wrong) pairs."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        super().__init__("invalid params")
        self.fields = fields


def _no_arrays() -> ParamsRefusedError:
    return ParamsRefusedError([("", "params must be a JSON object, not an array")])


def _encode_result(result: Any, *, bare: bool) -> bytes:
    if type(result) is Listing:
        rows = [encode_model(r) if isinstance(r, BaseModel) else r for r in result.data]
        data = (
            b"[" + b",".join(rows) + b"]"  # type: ignore[arg-type]
            if rows and type(rows[0]) is bytes
            else encode(rows)
        )
        meta = encode_model(result.meta)
        return b'{"status":"%b","data":%b,"meta":%b}' % (result.status.encode(), data, meta)
    data = encode_model(result) if isinstance(result, BaseModel) else encode(result)
    return data if bare else b'{"status":"ok","data":%b}' % data


def _planned(method: Method) -> Handler:
    hint = method.planned

    def handler(_call: InlineCall, /, *args: Any, **_params: Any) -> bytes:
        if args:
            raise _no_arrays()
        raise NotImplementedYet(f"{method.name} is not built yet.", hint=hint)

    return handler


def _error_result(error: BaseException, call: InlineCall) -> Any:
    if isinstance(error, CrystalMathError):
        data = envelope.error_data(
            error.kind, error.hint, call.trace_id, retryable=error.retryable, field=error.field
        )
        if error.__cause__ is not None:
            _log.info("%s", error.kind, exc_info=error, extra={"trace_id": call.trace_id})
        return ErrorResult(error.code, error.message, data)
    if isinstance(error, ParamsRefusedError):
        return _params_error(error.fields, call)
    hint = "The server's log tells more under this trace id."
    if isinstance(error, UnencodableError):
        hint = "The result has no form in JSON; the server's log tells more under this trace id."
    _log.error(
        "%s failed", call.request.method[:100], exc_info=error, extra={"trace_id": call.trace_id}
    )
    kind, message = envelope.KINDS[INTERNAL_ERROR]
    return ErrorResult(INTERNAL_ERROR, message, envelope.error_data(kind, hint, call.trace_id))


def _params_error(fields: list[tuple[str, str]], call: InlineCall) -> Any:
    kind, _ = envelope.KINDS[INVALID_PARAMS]
    told = [f"{path}: {what}" if path else what for path, what in fields]
    listed = [{"field": path, "message": what} for path, what in fields]
    data = envelope.error_data(
        kind,
        f"also wrong: {'; '.join(told[1:])}" if told[1:] else None,
        call.trace_id,
        field=fields[0][0] or None,
        fields=listed,
    )
    return ErrorResult(INVALID_PARAMS, told[0], data)
