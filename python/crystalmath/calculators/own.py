"""The same engines without a daemon: workers of this process's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from crystalmath.calculators.request import Request
from crystalmath.contract.socket_path import PathRefusedError, data_directory, xdg_directory
from crystalmath.errors import ConfigError
from crystalmath.forces.launch import Launch
from crystalmath.forces.shipped import DECLARATIONS, WORKER
from crystalmath.forces.source import DirectSource
from crystalmath.forces.worker import wire
from crystalmath.isolation.places import Places
from crystalmath.isolation.process import Processes
from crystalmath.isolation.provider import Environments, WorkerKit
from crystalmath.services.forces_fingerprints import Fingerprints
from crystalmath.services.forces_resolve import find_wanted


def places(data_dir: str | None, env: Mapping[str, str]) -> Places:
    """Where environments and models lie: by the same rule as the daemon's.

    Raises
    ------
    ConfigError
        There is no place.
    """
    try:
        data = data_directory(data_dir, env)
        config = xdg_directory(env, "XDG_CONFIG_HOME", ".config")
    except PathRefusedError as error:
        raise ConfigError(f"{error}.", hint="Give an absolute path.") from None
    return Places(Path(data), DECLARATIONS, Path(config) / "engines")


def direct_source(
    requests: Sequence[Request],
    parameters: Mapping[str, Any],
    *,
    data_dir: str | None = None,
    threads: int | None = None,
    on_phase: Callable[[str], None] = lambda _text: None,
) -> DirectSource:
    """Find the engines and give what starts their workers.

    Raises
    ------
    NotFound, EngineNotInstalled, LicenceNotAccepted, InputRejected
    """
    where = places(data_dir, os.environ)
    provider = Environments(where, WorkerKit(WORKER, wire.ABI))
    fingerprints = Fingerprints(where.fingerprints)
    launches = []
    for request in requests:
        wanted = find_wanted(
            provider,
            request.engine,
            model=request.model,
            dtype=request.dtype,
            device=request.device,
            options=request.options,
        )
        provider.touch(wanted.environment.id)
        learnt = fingerprints.learnt(wanted)
        launches.append(
            Launch(
                environment=wanted.environment,
                model=wanted.model,
                dtype=wanted.dtype,
                device=wanted.device,
                options=wanted.options,
                import_first=wanted.import_first,
                threads=threads or max(1, (os.cpu_count() or 1) // len(requests)),
                withheld=learnt.withheld,
                reference=learnt.reference,
            )
        )
    return DirectSource(Processes(where), launches, parameters, on_phase)
