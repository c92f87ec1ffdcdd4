"""``forces.doctor``: lets a program check an engine over a data channel, and reads what it found.

The checks need numpy and a structure library, so they run in a process of their own; the engine is
the daemon's warm worker, as every client meets it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from crystalmath.contract.forces import EngineCheck, EngineDoctorParams, EngineDoctorResult
from crystalmath.contract.rpc import Call
from crystalmath.errors import CrystalMathError, ForcesError
from crystalmath.services import forces_rows
from crystalmath.services.forces_resolve import find_engine, find_wanted
from crystalmath.services.ports_forces import EnvironmentProvider
from crystalmath.services.ports_pool import Attached, ForcePool

PROGRAM: Final = (sys.executable, "-P", "-m", "crystalmath.calculators.examine")


class Doctor:
    """Carries out ``forces.doctor``.

    Parameters
    ----------
    clock
        Seconds since the epoch.
    """

    def __init__(
        self, provider: EnvironmentProvider, pool: ForcePool, clock: Callable[[], float]
    ) -> None:
        self._provider = provider
        self._pool = pool
        self._clock = clock

    def examine(self, params: EngineDoctorParams, call: Call) -> EngineDoctorResult:
        """See ``ForcesService.doctor``."""
        began = time.monotonic()
        declaration = find_engine(self._provider, params.engine)
        checks = [self._environment(params.engine)]
        wanted = find_wanted(
            self._provider,
            params.engine,
            model=params.model,
            dtype=params.dtype,
            device=params.device,
            options=params.options,
        )
        identity = None
        try:
            way = self._pool.attach(wanted, call)
        except ForcesError as error:
            checks.append(_failed("load", error))
        else:
            identity = forces_rows.identity(declaration, wanted, way.capabilities)
            checks.append(_loaded(way.capabilities))
            checks += _run(way, identity.model_dump(mode="json"), call)
        ok = all(check.verdict != "failed" for check in checks)
        return EngineDoctorResult(
            ok=ok,
            identity=identity,
            usable=_usable(
                checks, [] if identity is None else list(way.capabilities["properties"])
            ),
            checks=checks,
            elapsed_s=time.monotonic() - began,
            at=datetime.fromtimestamp(self._clock(), UTC),
        )

    def _environment(self, engine: str) -> EngineCheck:
        found = self._provider.check(engine)
        problems = "; ".join(str(one) for one in found["problems"])
        return EngineCheck(
            name="environment",
            verdict="passed" if found["ok"] else "failed",
            detail=problems or "everything that it loads is its own, in the locked versions",
        )


def _failed(name: str, error: CrystalMathError) -> EngineCheck:
    return EngineCheck(name=name, verdict="failed", detail=error.message)


def _loaded(capabilities: Mapping[str, Any]) -> EngineCheck:
    return EngineCheck(
        name="load",
        verdict="passed",
        value=float(capabilities.get("load_s", 0.0)),
        unit="s",
        detail=f"{capabilities.get('dtype')} on {capabilities.get('device')}",
    )


def _run(way: Attached, identity: Mapping[str, Any], call: Call) -> list[EngineCheck]:
    """Run the program; raises ``ForcesError`` when it says nothing."""
    question = json.dumps({"way": asdict(way), "identity": identity})
    process = subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    call.on_cancel(process.kill)
    with process:
        answer, errors = process.communicate(question)
    call.check()
    if process.returncode != 0:
        lines = errors.strip().splitlines()
        raise ForcesError(
            f"the checks came to no end: exit code {process.returncode}",
            hint=lines[-1][:300] if lines else "the daemon's log may say more",
        )
    return [EngineCheck.model_validate(one) for one in json.loads(answer)]


def _usable(checks: list[EngineCheck], properties: list[Any]) -> list[Any]:
    """What passed: a property is left out when a check that is named after it failed."""
    failed = {check.name.split()[0] for check in checks if check.verdict == "failed"}
    return [name for name in properties if name not in failed]
