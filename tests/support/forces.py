"""What tests of force workers share: a plain process host, calls, and the fake worker's engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crystalmath.errors import Cancelled, NotFound
from crystalmath.services.ports_forces import (
    CrashReport,
    EngineDeclaration,
    EnvironmentRow,
    HostedProcess,
    InstallStep,
    ModelDeclaration,
    ModelState,
    ReadyEnvironment,
    Removal,
    ResolvedModel,
)
from crystalmath.services.ports_pool import PlainStructure, Wanted

FAKE_WORKER = Path(__file__).with_name("fake_worker.py")


class PlainProcess:
    """A process of :class:`PlainHost`."""

    def __init__(self, process: subprocess.Popen[bytes], stderr: int) -> None:
        self._process = process
        self._stderr = stderr
        self.pid = process.pid

    def __del__(self) -> None:
        os.close(self._stderr)

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self, timeout_s: float) -> int | None:
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def terminate(self) -> None:
        os.killpg(self.pid, signal.SIGTERM)

    def stop(self, grace_s: float) -> None:
        self.terminate()
        if self.wait(grace_s) is None:
            self.kill()
            self.wait(5)

    def kill(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def stderr_tail(self) -> str:
        start = max(0, os.fstat(self._stderr).st_size - 8192)
        return os.pread(self._stderr, 8192, start).decode(errors="replace")

    def report(self, phase: str) -> CrashReport:
        code = self.poll()
        return CrashReport(
            phase=phase,
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            oom_killed=None,
            stderr_tail=self.stderr_tail(),
        )


@dataclass
class PlainHost:
    """Starts the worker of an environment and nothing else; counts what it started."""

    started: list[PlainProcess] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    def start(
        self,
        environment: ReadyEnvironment,
        arguments: Sequence[str],
        *,
        pass_fds: Sequence[int] = (),
        env: Mapping[str, str] | None = None,
        threads: int = 1,
        name: str = "worker",
    ) -> HostedProcess:
        self.before()
        stderr = os.memfd_create("stderr")
        process = subprocess.Popen(
            [environment.python, "-I", environment.worker, *arguments],
            pass_fds=tuple(pass_fds),
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            process_group=0,
            env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": str(threads), **(env or {})},
        )
        hosted = PlainProcess(process, stderr)
        self.started.append(hosted)
        return hosted

    def running(self) -> int:
        return sum(process.poll() is None for process in self.started)


class WaitingCall:
    """A ``Call`` with a deadline that can be cancelled."""

    trace_id = "t"
    connection: Any = None

    def __init__(self, deadline_s: float = 30.0) -> None:
        self._until = time.monotonic() + deadline_s
        self._cancelled = threading.Event()
        self._closers: list[Callable[[], None]] = []

    def check(self) -> None:
        if self._cancelled.is_set() or time.monotonic() > self._until:
            raise Cancelled("The call was cancelled.")

    def remaining_s(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def wait_cancelled(self, timeout_s: float) -> bool:
        return self._cancelled.wait(timeout_s)

    def on_cancel(self, close: Callable[[], None]) -> None:
        self._closers.append(close)

    def cancel(self) -> None:
        self._cancelled.set()
        for close in self._closers:
            close()


def fake_engine(
    model: str = "m", *, key: str | None = None, device: str = "cpu", **options: Any
) -> Wanted:
    """The fake worker, told how to behave by ``options``."""
    return Wanted(
        environment=ReadyEnvironment(
            id="fake",
            engine="fake",
            python=sys.executable,
            worker=str(FAKE_WORKER),
            declaration="/dev/null",
            versions={"fake": "1.0"},
            python_version="3",
        ),
        model=ResolvedModel(id=model, argument=model, key=key or f"fake:{model}", sha256=None,
                            declaration=None),
        device=device,
        options=options,
    )  # fmt: skip


def atoms(*positions: tuple[float, float, float], symbol: str = "Cu") -> PlainStructure:
    """A molecule of equal atoms."""
    return PlainStructure([symbol] * len(positions), positions, None, (False, False, False))


def until(what: Callable[[], Any], deadline_s: float = 20.0) -> Any:
    """Poll until ``what`` is true; its value."""
    end = time.monotonic() + deadline_s
    while not (value := what()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline_s} s")
        time.sleep(0.01)
    return value


PROPERTIES = ("energy", "forces")


def model(name: str = "m", *, default: bool = True, **more: Any) -> ModelDeclaration:
    """A model of the fake engine."""
    return ModelDeclaration(
        id=name, source="builtin", properties=PROPERTIES, default=default, **more
    )


@dataclass
class FakeProvider:
    """Engines that exist on paper: ``fake`` is installed, ``far`` is not, ``plus`` is additive."""

    engines: dict[str, EngineDeclaration] = field(default_factory=dict)
    installed: set[str] = field(default_factory=lambda: {"fake", "plus"})
    steps: Sequence[InstallStep] = ()
    error: Exception | None = None
    accepted: list[tuple[str, str]] = field(default_factory=list)
    consent: str = "not_needed"
    touched: list[str] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)
    collected: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.go_on.set()
        models = (
            model(elements=("Cu", "Ag"), toy_elements=("H",), dtype="float64"),
            model("other", default=False),
        )
        for name in ("fake", "far", "plus"):
            self.engines.setdefault(
                name,
                EngineDeclaration(
                    name=name,
                    path=Path("/dev/null"),
                    kind="engine",
                    origin="shipped",
                    title=f"the {name} engine",
                    dependencies=(f"{name}==1.0", "numpy==2.0"),
                    additive=name == "plus",
                    models=models,
                ),
            )

    def declarations(self) -> Sequence[EngineDeclaration]:
        return list(self.engines.values())

    def declaration(self, engine: str) -> EngineDeclaration:
        if engine not in self.engines:
            raise NotFound(f"there is no engine {engine!r}", field="engine",
                           hint=f"engines: {', '.join(self.engines)}")  # fmt: skip
        return self.engines[engine]

    def ready(self, engine: str) -> ReadyEnvironment | None:
        if engine not in self.installed:
            return None
        return ReadyEnvironment(
            id=f"env-{engine}",
            engine=engine,
            python=sys.executable,
            worker=str(FAKE_WORKER),
            declaration="/dev/null",
            versions={engine: "1.0", "numpy": "2.0"},
            python_version="3.11.9",
        )

    def expected_bytes(self, engine: str) -> int | None:
        return 0 if engine in self.installed else 3_000_000_000

    def install(
        self,
        engine: str,
        *,
        models: Sequence[str] = (),
        progress: Callable[[InstallStep], None] = lambda _step: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> ReadyEnvironment:
        for step in self.steps:
            progress(step)
        while not self.go_on.wait(0.01):
            if cancelled():
                raise Cancelled("The installation was cancelled.")
        if self.error is not None:
            raise self.error
        self.installed.add(engine)
        ready = self.ready(engine)
        assert ready is not None
        return ready

    def check(self, engine: str) -> Mapping[str, Any]:
        return {"ok": True, "problems": [], "facts": {}}

    def environments(self) -> Sequence[EnvironmentRow]:
        return [
            EnvironmentRow(f"env-{name}", (name,), "ready", 1000, 5000, 1e9, 9e8, "3.11.9")
            for name in sorted(self.installed)
        ]

    def models(self, engine: str) -> Sequence[ModelState]:
        return [
            ModelState(engine, one, present=True, consent=self.consent)  # type: ignore[arg-type]
            for one in self.declaration(engine).models
        ]

    def resolve_model(self, engine: str, model: str | None) -> ResolvedModel:
        known = {one.id: one for one in self.declaration(engine).models}
        if model is None:
            model = "m"
        if model not in known:
            raise NotFound(f"{engine} has no model {model!r}", field="model",
                           hint=f"models: {', '.join(known)}")  # fmt: skip
        return ResolvedModel(model, model, f"{engine} 1.0:{model}", None, known[model])

    def accept_licence(self, engine: str, model: str) -> None:
        self.accepted.append((engine, model))

    def touch(self, environment_id: str) -> None:
        self.touched.append(environment_id)

    def collect_garbage(
        self, *, keep_days: float, apply: bool, in_use: Collection[str]
    ) -> Sequence[Removal]:
        self.collected = {"keep_days": keep_days, "apply": apply, "in_use": set(in_use)}
        return [Removal("environment", "env-old", 10, "no declaration asks for it", apply)]
