"""``forces.doctor``: lets a program check an engine over a data channel, and reads what it found.

The checks need numpy and a structure library, so they run in a process of their own; the engine is
the daemon's warm worker, as every client meets it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, Final

from crystalmath.contract.forces import EngineCheck, EngineDoctorParams, EngineDoctorResult
from crystalmath.errors import (
    CrystalMathError,
    DeadlinePassed,
    ForcesError,
    InputRejected,
    LicenceNotAccepted,
    NotFound,
    Overloaded,
)
from crystalmath.services import forces_rows
from crystalmath.services.forces_fingerprints import Fingerprint, Fingerprints
from crystalmath.services.forces_resolve import find_engine, find_wanted
from crystalmath.services.ports_forces import EnvironmentProvider
from crystalmath.services.ports_pool import Attached, ForcePool, Waiter, Wanted

PROGRAM: Final = (sys.executable, "-P", "-m", "crystalmath.calculators.examine")


class Doctor:
    """Carries out ``forces.doctor``, and looks at what has just been installed.

    Parameters
    ----------
    fingerprints
        Where findings are kept.
    clock
        Seconds since the epoch.
    program
        What makes the checks of the numbers.
    """

    def __init__(
        self,
        provider: EnvironmentProvider,
        pool: ForcePool,
        fingerprints: Fingerprints,
        clock: Callable[[], float],
        program: Sequence[str] = PROGRAM,
    ) -> None:
        self._provider = provider
        self._pool = pool
        self._fingerprints = fingerprints
        self._clock = clock
        self._program = program

    def examine(self, params: EngineDoctorParams, call: Waiter) -> EngineDoctorResult:
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
        known = None if params.renew else self._fingerprints.find(wanted)
        # Without what was switched off, or it could never be switched on again.
        afresh = replace(wanted, afresh=params.renew or bool(known and known.withheld))
        identity, at = None, datetime.fromtimestamp(self._clock(), UTC)
        withheld: dict[str, str] = {}
        try:
            way = self._pool.attach(afresh, call)
        except ForcesError as error:
            checks.append(_failed("load", error))
        else:
            identity = forces_rows.identity(declaration, wanted, way.capabilities)
            checks.append(_loaded(way.capabilities))
            try:
                found, reference = self._run(way, identity.model_dump(mode="json"), call)
            finally:
                if afresh.afresh:
                    self._pool.stop(way.worker, "drain")
            checks += found
            withheld = _withheld(checks)
            mark = Fingerprint(
                at=at.isoformat(timespec="seconds"),
                identity=identity.model_dump(mode="json"),
                withheld=withheld,
                reference=reference,
                checks=[check.model_dump(mode="json") for check in checks],
            )
            checks += self._remember(wanted, known, mark)
        return EngineDoctorResult(
            ok=all(check.verdict != "failed" for check in checks),
            identity=identity,
            usable=_usable(
                checks, [] if identity is None else list(way.capabilities["properties"])
            ),
            withheld=withheld,
            checks=checks,
            elapsed_s=time.monotonic() - began,
            at=at,
        )

    def examine_installed(self, engine: str, models: Sequence[str], call: Waiter) -> list[str]:
        """Examine what has just been installed.

        Parameters
        ----------
        models
            Those that came with it; none: its default.

        Returns
        -------
        list of str
            What people should know of it; nothing when all is well.

        Raises
        ------
        ForcesError
            It cannot be loaded.
        """
        notes: list[str] = []
        for model in models or (None,):
            params = EngineDoctorParams(engine=engine, model=model)
            try:
                notes += self._examine_once(params, call)
            except (
                DeadlinePassed,
                InputRejected,
                LicenceNotAccepted,
                NotFound,
                Overloaded,
            ) as error:
                notes.append(f"not examined: {error.message}")
        return notes

    def _examine_once(self, params: EngineDoctorParams, call: Waiter) -> list[str]:
        """Examine what was not before: an installation may be asked for again."""
        known = self._fingerprints.find(
            find_wanted(self._provider, params.engine, model=params.model)
        )
        if known is not None:
            return [switched_off(name, why) for name, why in known.withheld.items()]
        found = self.examine(params, call)
        failed = [check for check in found.checks if check.verdict == "failed"]
        loading = [check for check in failed if check.name == "load"]
        if loading:
            raise ForcesError(
                f"{params.engine} is installed, but cannot be loaded: {loading[0].detail}",
                hint=f"crystalmath engines doctor {params.engine}",
            )
        notes = [switched_off(name, why) for name, why in found.withheld.items()]
        others = sorted({c.name for c in failed if c.name.split()[0] != "stress"})
        return [*notes, *([f"checks that failed: {', '.join(others)}"] if others else [])]

    def withheld(self, engine: str) -> list[str]:
        """What is switched off of an engine's default model, for people."""
        try:
            found = self._fingerprints.find(find_wanted(self._provider, engine))
        except CrystalMathError:
            return []  # not installed, a licence, no default: told elsewhere
        named = {} if found is None else found.withheld
        return [switched_off(name, why) for name, why in named.items()]

    def _environment(self, engine: str) -> EngineCheck:
        found = self._provider.check(engine)
        problems = "; ".join(str(one) for one in found["problems"])
        return EngineCheck(
            name="environment",
            verdict="passed" if found["ok"] else "failed",
            detail=problems or "everything that it loads is its own, in the locked versions",
        )

    def _remember(
        self, wanted: Wanted, known: Fingerprint | None, found: Fingerprint
    ) -> list[EngineCheck]:
        """Keep the findings, unless the numbers are others than before."""
        changed = None if known is None else _difference(known, found)
        checks = [] if changed is None else [changed]
        if changed is not None and changed.verdict == "failed":
            return checks
        self._fingerprints.keep(wanted, found)
        before = {} if known is None else dict(known.withheld)
        if before != dict(found.withheld):
            self._replace_workers(wanted)
        return checks

    def _replace_workers(self, wanted: Wanted) -> None:
        """End the workers that were told something else; who uses them gets new ones."""
        for row in self._pool.workers():
            if row.state in ("starting", "idle", "busy") and row.wanted == wanted:
                self._pool.stop(row.id, "drain")

    def _run(
        self, way: Attached, identity: Mapping[str, Any], call: Waiter
    ) -> tuple[list[EngineCheck], dict[str, Any] | None]:
        """Run the program; raises ``ForcesError`` when it says nothing."""
        question = json.dumps({"way": asdict(way), "identity": identity})
        process = subprocess.Popen(
            self._program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
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
        document = json.loads(answer)
        checks = [EngineCheck.model_validate(one) for one in document["checks"]]
        return checks, document["reference"]


def switched_off(name: str, why: str) -> str:
    """Say what is withheld."""
    what = "the stress of slabs and wires" if name == "partial_stress" else name
    return f"{what} is switched off: {why}"


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


def _withheld(checks: Sequence[EngineCheck]) -> dict[str, str]:
    """What is switched off, and why.

    A relaxation of the cell with a wrong stress goes wrong without a word. Where only slabs have a
    wrong one, as with engines that put vacuum around them, crystals keep theirs.
    """
    wrong = [c for c in checks if c.verdict == "failed" and c.name.split()[0] == "stress"]
    if not wrong:
        return {}
    names = ("partial_stress",) if _only_slabs(wrong) else ("stress", "stresses")
    why = wrong[0].detail
    if wrong[0].structure:
        why += f" (examined on {wrong[0].structure})"
    return dict.fromkeys(names, why)


def _only_slabs(checks: Sequence[EngineCheck]) -> bool:
    return all(check.structure == "slab" for check in checks)


def _difference(known: Fingerprint, found: Fingerprint) -> EngineCheck | None:
    """Compare the energy of the reference with that of the examination before."""
    before, now = known.reference, found.reference
    if before is None or now is None or before["structure"] != now["structure"]:
        return None
    off, allowed = abs(now["energy_ev"] - before["energy_ev"]), before["energy_tolerance_ev"]
    return EngineCheck(
        name="fingerprint",
        verdict="passed" if off <= allowed else "failed",
        value=off,
        tolerance=allowed,
        unit="eV",
        detail=f"energy of one structure against that of {known.at}",
    )


def _usable(checks: list[EngineCheck], properties: list[Any]) -> list[Any]:
    """What passed: a property is left out when a check that is named after it failed."""
    failed: dict[str, list[EngineCheck]] = {}
    for check in checks:
        if check.verdict == "failed":
            failed.setdefault(check.name.split()[0], []).append(check)
    if "stress" in failed and _only_slabs(failed["stress"]):
        del failed["stress"]
    return [name for name in properties if name not in failed]
