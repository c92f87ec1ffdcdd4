"""From an exception in an engine to what is said about it.

A fault has a ``kind`` out of the host's error tree; what is not recognised is ``forces``, with the
exception's own text. A declaration may say which kind an exception of its own is: by an attribute
``fault_kind``, and beside it ``hint`` and ``field``.
"""

from __future__ import annotations

import traceback
from typing import Any

MAX_MESSAGE = 2_000
MAX_TRACEBACK = 16_000

_OWN_KINDS = frozenset({"input_rejected", "unsupported_species", "out_of_memory", "forces"})
_MEMORY_CLASSES = frozenset({"OutOfMemoryError", "MemoryError"})
_MEMORY_TEXTS = (
    "out of memory",
    "failed to allocate",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "cublas_status_alloc_failed",
)


class Fault(Exception):
    """Something to be told to whoever asked.

    Parameters
    ----------
    kind
        ``input_rejected``, ``unsupported_species``, ``bad_result``, ``out_of_memory``, ``forces``.
    field
        Of the request, where it is at fault: ``properties``, ``info.charge``, ``dtype`` …
    details
        More members of the fault: ``property``, ``atom``.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        hint: str | None = None,
        field: str | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.hint = hint
        self.field = field
        self.details = details

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        text = str(self)[:MAX_MESSAGE]
        document = {"kind": self.kind, "message": text, "retryable": False, **self.details}
        for name in ("hint", "field"):
            value = getattr(self, name)
            if value is not None:
                document[name] = value
        return document


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception means lack of memory: by its class, else by its text."""
    if isinstance(error, MemoryError) or type(error).__name__ in _MEMORY_CLASSES:
        return True
    text = str(error).lower()
    return isinstance(error, (RuntimeError, OSError)) and any(t in text for t in _MEMORY_TEXTS)


def describe(error: BaseException) -> Fault:
    """Turn any exception of an engine into a fault."""
    if isinstance(error, Fault):
        return error
    text = str(error).strip() or "it gave no reason"
    name = type(error).__name__
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    trace = trace[-MAX_TRACEBACK:]
    if is_out_of_memory(error):
        return Fault(
            "out_of_memory",
            f"there is not enough memory: {text}",
            hint="ask for fewer atoms",
            traceback=trace,
        )
    kind = getattr(error, "fault_kind", None)
    if kind in _OWN_KINDS:
        hint, field = getattr(error, "hint", None), getattr(error, "field", None)
        return Fault(str(kind), text, hint=hint, field=field)
    if isinstance(error, NotImplementedError):
        return Fault(
            "input_rejected",
            f"the engine cannot do this: {text}",
            field="properties" if "PropertyNotImplemented" in name else "structure",
            traceback=trace,
        )
    if isinstance(error, SystemExit):
        return Fault("forces", f"the engine called sys.exit({error.code!r})", traceback=trace)
    return Fault("forces", f"{name}: {text}", traceback=trace)


def release_memory() -> None:
    """Give back what a failed attempt has left in the caches of torch, if that is in use."""
    import gc
    import sys

    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
