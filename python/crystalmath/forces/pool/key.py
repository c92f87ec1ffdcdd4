"""Which worker a request belongs to.

Everything that changes the numbers is part of the key: environment, weights, precision, device and
the options that the engine was made with.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from crystalmath.errors import InvalidParams
from crystalmath.services.ports_pool import Wanted

MAX_OPTIONS_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class WorkerKey:
    """Identity of a worker; requests with equal keys share one."""

    environment: str
    engine: str
    model: str
    dtype: str | None
    device: str
    options: str
    afresh: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """What a worker is for, whatever version of it: a newer key of the same place replaces it."""

    engine: str
    argument: str
    dtype: str | None
    device: str
    options: str
    afresh: bool = False


def key_of(wanted: Wanted) -> WorkerKey:
    """Return the key; raises ``InvalidParams`` for options that are no small JSON."""
    return WorkerKey(
        environment=wanted.environment.id,
        engine=wanted.environment.engine,
        model=wanted.model.key,
        dtype=wanted.dtype,
        device=wanted.device,
        options=_canonical(wanted),
        afresh=wanted.afresh,
    )


def place_of(wanted: Wanted) -> Place:
    """Return the place."""
    return Place(
        engine=wanted.environment.engine,
        argument=wanted.model.argument,
        dtype=wanted.dtype,
        device=wanted.device,
        options=_canonical(wanted),
        afresh=wanted.afresh,
    )


def _canonical(wanted: Wanted) -> str:
    try:
        text = json.dumps(dict(wanted.options), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidParams("the options must be plain JSON", field="options") from error
    if len(text) > MAX_OPTIONS_BYTES:
        raise InvalidParams("the options are limited to 64 kB", field="options")
    return text
