"""Installations: one at a time, in the background, told as they go on.

An installation may be asked for again: one that waits or runs is joined, and what is there is
kept. The network is used here and nowhere else.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from crystalmath.contract.force_rows import InstallState, InstallTask
from crystalmath.errors import (
    Cancelled,
    CrystalMathError,
    DeadlinePassed,
    LicenceNotAccepted,
    NotFound,
    ShuttingDown,
)
from crystalmath.services.forces_rows import moment
from crystalmath.services.ports_forces import EnvironmentProvider, InstallStep
from crystalmath.services.ports_pool import Waiter

Examine = Callable[[str, Sequence[str], Waiter], list[str]]

_log = logging.getLogger(__name__)

_TOLD_EVERY_S: Final = 0.2
_KEPT: Final = 32
_CLOSE_S: Final = 2.0


_WAITING: Final = InstallStep("waiting", "waits for its turn")
_EXAMINE_S: Final = 3600.0


class _TaskWaiter:
    """An installation as one who waits: cancelled with its task."""

    def __init__(self, task: _Task) -> None:
        self._task = task
        self._until = time.monotonic() + _EXAMINE_S

    def check(self) -> None:
        if self._task.cancelled.is_set():
            raise Cancelled("The installation was cancelled.")
        if self.remaining_s() <= 0:
            raise DeadlinePassed("The examination took too long.")

    def remaining_s(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def on_cancel(self, close: Callable[[], None]) -> None:
        self._task.on_cancel.append(close)
        if self._task.cancelled.is_set():
            close()


@dataclass(slots=True, eq=False)
class _Task:
    """One installation; changed under the lock of the installer."""

    id: str
    engine: str
    models: tuple[str, ...]
    asked_at: float
    state: InstallState = "waiting"
    step: InstallStep = _WAITING
    error: CrystalMathError | None = None
    ended_at: float | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    on_cancel: list[Callable[[], None]] = field(default_factory=list)
    told_at: float = 0.0

    def cancel(self) -> None:
        """Ask it to stop, and free its thread."""
        self.cancelled.set()
        for close in list(self.on_cancel):
            close()

    @property
    def unfinished(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("waiting", "running")

    def row(self) -> InstallTask:
        """As it is now."""
        error, asked_at = self.error, moment(self.asked_at)
        assert asked_at is not None
        return InstallTask(
            id=self.id,
            engine=self.engine,
            models=list(self.models),
            state=self.state,
            phase=self.step.phase,
            text=self.step.text,
            fraction=self.step.fraction,
            done_bytes=self.step.done_bytes,
            total_bytes=self.step.total_bytes,
            kind=None if error is None else error.kind,
            message=None if error is None else error.message,
            hint=None if error is None else error.hint,
            started_at=asked_at,
            finished_at=moment(self.ended_at),
        )


class Installer:
    """See the module docstring.

    Parameters
    ----------
    on_progress
        Told of each step.
    on_installed
        Told of each engine whose installation has ended, well or not.
    examine
        Checks the numbers of what was installed; returns what people should know of it.
    clock
        Seconds since the epoch.
    """

    def __init__(
        self,
        provider: EnvironmentProvider,
        on_progress: Callable[[InstallTask], None],
        on_installed: Callable[[str], None],
        examine: Examine,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._provider = provider
        self._on_progress = on_progress
        self._on_installed = on_installed
        self._examine = examine
        self._clock = clock
        self._changed = threading.Condition()
        self._tasks: dict[str, _Task] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    def request(self, engine: str, models: Sequence[str], *, accept_license: bool) -> InstallTask:
        """Install soon; join the installation that waits or runs.

        Raises
        ------
        NotFound, LicenceNotAccepted, ShuttingDown
        """
        self._check_licences(engine, models, accept=accept_license)
        wanted = tuple(dict.fromkeys(models))
        with self._changed:
            if self._closed:
                raise ShuttingDown("The daemon is stopping.", hint="Try again in a moment.")
            for task in self._tasks.values():
                if task.unfinished and task.engine == engine and set(wanted) <= set(task.models):
                    return task.row()
            task = _Task(uuid.uuid4().hex[:12], engine, wanted, self._clock())
            self._tasks[task.id] = task
            self._forget_old()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="install", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            row = task.row()
        self._on_progress(row)
        return row

    def cancel(self, task_id: str) -> InstallTask:
        """Ask an installation to stop; raises ``NotFound``."""
        with self._changed:
            task = self._tasks.get(task_id)
            if task is None:
                raise NotFound(f"there is no installation {task_id[:64]!r}", field="task",
                               hint="`forces.environments` lists them")  # fmt: skip
            task.cancel()
            if task.state == "waiting":
                self._end(task, "cancelled", None)
            row = task.row()
        self._on_progress(row)
        return row

    def tasks(self) -> list[InstallTask]:
        """Those that wait or run, and how the last of each other engine ended."""
        with self._changed:
            last = {task.engine: task for task in self._tasks.values()}
            return [t.row() for t in self._tasks.values() if t.unfinished or last[t.engine] is t]

    def of_engine(self, engine: str) -> InstallTask | None:
        """The installation of an engine that goes on, or failed last."""
        with self._changed:
            mine = [task for task in self._tasks.values() if task.engine == engine]
            if mine and mine[-1].state in ("waiting", "running", "failed"):
                return mine[-1].row()
            return None

    def close(self) -> None:
        """Cancel what goes on; what is half done stays for the next time."""
        with self._changed:
            self._closed = True
            for task in self._tasks.values():
                task.cancel()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(_CLOSE_S)

    # --- inside ---------------------------------------------------------------------------------

    def _check_licences(self, engine: str, models: Sequence[str], *, accept: bool) -> None:
        states = self._provider.models(engine)
        known = {state.declaration.id: state for state in states}
        for model in models:
            if model not in known:
                raise NotFound(
                    f"the engine {engine} has no model {model[:60]!r}",
                    hint=f"models: {', '.join(known) or 'none'}",
                    field="models",
                )
        wanted = models or [s.declaration.id for s in states if s.declaration.default]
        for model in wanted:
            if known[model].consent != "needed":
                continue
            if not accept:
                name = known[model].declaration.license_id or "named in its declaration"
                raise LicenceNotAccepted(
                    f"the model {model} of {engine} has the licence {name}, which must be accepted",
                    hint=f"read it (`crystalmath engines models {engine}`), then: crystalmath "
                    f"engines install {engine} --model {model} --accept-license",
                    field="accept_license",
                )
            self._provider.accept_licence(engine, model)

    def _run(self) -> None:
        while True:
            with self._changed:
                while (task := self._next()) is None and not self._closed:
                    self._changed.wait()
                if task is None or self._closed:
                    return
                task.state = "running"
            self._install(task)

    def _next(self) -> _Task | None:
        return next((task for task in self._tasks.values() if task.state == "waiting"), None)

    def _install(self, task: _Task) -> None:
        notes: list[str] = []
        try:
            self._provider.install(
                task.engine,
                models=task.models,
                progress=lambda step: self._progress(task, step),
                cancelled=task.cancelled.is_set,
            )
            self._on_installed(task.engine)  # it can be used from here on
            self._progress(task, InstallStep("checking", "compares its numbers with each other"))
            notes = self._examine(task.engine, task.models, _TaskWaiter(task))
        except Cancelled:
            self._end(task, "cancelled", None)
        except CrystalMathError as error:
            self._end(task, "failed", error)
        except Exception:  # noqa: BLE001 - the thread must go on; the log has the text
            _log.exception("the installation of %s failed", task.engine)
            self._end(task, "failed", CrystalMathError(
                f"the installation of {task.engine} failed", hint="the daemon's log says why"
            ))  # fmt: skip
        else:
            self._end(task, "done", None, "; ".join(["installed", *notes]))
        self._on_progress(task.row())
        self._on_installed(task.engine)

    def _progress(self, task: _Task, step: InstallStep) -> None:
        now = time.monotonic()
        with self._changed:
            again = step.phase == task.step.phase and now - task.told_at < _TOLD_EVERY_S
            task.step = step
            if again:
                return
            task.told_at = now
            row = task.row()
        self._on_progress(row)

    def _end(
        self, task: _Task, state: InstallState, error: CrystalMathError | None, text: str = ""
    ) -> None:
        with self._changed:
            task.state, task.error, task.ended_at = state, error, self._clock()
            if state == "done":
                task.step = InstallStep("done", text, 1.0)

    def _forget_old(self) -> None:
        ended = [task for task in self._tasks.values() if not task.unfinished]
        for task in ended[: max(0, len(ended) - _KEPT)]:
            del self._tasks[task.id]
