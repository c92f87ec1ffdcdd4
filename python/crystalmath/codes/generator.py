"""Inputs for structures, made in a worker process: the daemon loads no numerical library.

Used by the codes that write inputs; each has a class of its own with what it asks for and takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crystalmath.errors import InputRejected
from crystalmath.services.ports import RunWorker

Words = Callable[[str], str]


def as_written(text: str) -> str:
    """Words of a generator that fit a job as they are."""
    return text


def options_at(path: str) -> Words:
    """From a generator's name of an option to the field of a job that holds its options there."""

    def field(name: str) -> str:
        first, _, rest = name.partition(".")
        if first != "options":
            return name
        return f"{path}.{rest}" if rest else "inputs.options"

    return field


def generate(
    run: RunWorker,
    function: str,
    given: Mapping[str, Any],
    deadline_s: float,
    *,
    field: Words,
    words: Words = as_written,
) -> Any:
    """Run a generator; what it refuses is told in the words of a job.

    Parameters
    ----------
    function
        ``module:function``; ``server.proc`` allows it.
    field
        The field of a submission for one of the generator's.
    words
        The same within messages and hints.

    Raises
    ------
    InputRejected, InvalidParams
        With the field of the submission at fault.
    """
    try:
        return run(function, given, deadline_s)
    except InputRejected as error:
        raise type(error)(
            words(error.message),
            hint=None if error.hint is None else words(error.hint),
            field=field(error.field or "structure"),
        ) from None
