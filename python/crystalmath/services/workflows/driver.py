"""The thread that moves workflows: woken by the ends of jobs and by requests, never by a clock
alone. What happens to a workflow is in ``conduct``. Started and stopped by ``api``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from crystalmath.errors import CrystalMathError
from crystalmath.services.ports_workflows import StepRecord
from crystalmath.services.workflows.conduct import Conductor

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DriverTiming:
    """Durations of the driver; tests set them small.

    Attributes
    ----------
    idle_s
        Longest time between two looks, in case a wake-up was lost.
    trouble_s
        Before the next look when something could not be done.
    """

    idle_s: float = 30.0
    trouble_s: float = 2.0


class Driver:
    """See the module docstring.

    Parameters
    ----------
    submitted
        Called when there may be new jobs.
    computations
        How many computations run at a time.
    """

    def __init__(
        self,
        conductor: Conductor,
        submitted: Callable[[], None],
        timing: DriverTiming | None = None,
        computations: int = 2,
    ) -> None:
        self._conductor = conductor
        self._submitted = submitted
        self._timing = timing or DriverTiming()
        self._awake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._threads = ThreadPoolExecutor(computations, thread_name_prefix="workflow")
        self._computing: set[int] = set()
        self._lock = threading.Lock()
        self._troubled = False

    def start(self) -> None:
        """Start the thread; it goes on with what an earlier daemon left."""
        self._thread = threading.Thread(target=self._run, name="workflows", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop after what is being done; computations are begun anew by the next daemon."""
        self._stopping.set()
        self._awake.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._thread is not None:
            self._thread.join(timeout_s)

    def wake(self) -> None:
        """A job has ended, or somebody asked for something; never waits."""
        self._awake.set()

    def is_busy(self) -> bool:
        """Whether a computation is under way."""
        with self._lock:
            return bool(self._computing)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._awake.clear()
            self._troubled = False
            try:
                self.turn()
            except Exception:
                log.exception("the workflows could not be looked at")
                self._troubled = True
            if not self._stopping.is_set():
                self._awake.wait(self._timing.trouble_s if self._troubled else self._timing.idle_s)

    def turn(self) -> None:
        """Take what jobs gave, then move every workflow that runs."""
        store = self._conductor.store
        for ended in store.ended_jobs():
            if self._stopping.is_set():
                return
            self._guarded(lambda ended=ended: self._conductor.settle(ended))  # type: ignore[misc]
        for workflow_id in store.running():
            if self._stopping.is_set():
                return
            self._guarded(lambda i=workflow_id: self._move(i))  # type: ignore[misc]

    def _move(self, workflow_id: int) -> None:
        self._conductor.advance(workflow_id)
        steps = self._conductor.store.steps(workflow_id)
        if any(s.state == "RUNNING" and s.kind == "job" for s in steps):
            self._submitted()
        if any(s.state == "PENDING" and s.next_try_at is not None for s in steps):
            self._troubled = True
        for step in steps:
            if step.state == "RUNNING" and step.kind == "computation":
                self._compute(step)

    def _compute(self, step: StepRecord) -> None:
        """Carry out a computation, also one that a killed daemon began."""
        with self._lock:
            if step.id in self._computing or self._stopping.is_set():
                return
            self._computing.add(step.id)
        self._threads.submit(self._computed, step)

    def _computed(self, step: StepRecord) -> None:
        done = False
        try:
            done = self._conductor.finish(step.workflow_id, step.id)
        except Exception:
            log.exception("a computation could not be stored", extra={"step": step.name})
        finally:
            if not done:
                self._stopping.wait(self._timing.trouble_s)
            with self._lock:
                self._computing.discard(step.id)
            self._awake.set()

    def _guarded(self, act: Callable[[], object]) -> None:
        """Trouble with one workflow does not stop the others; it is looked at again soon."""
        try:
            act()
        except CrystalMathError as error:
            log.warning("a workflow could not be moved: %s", error.message)
            self._troubled = True
        except Exception:
            log.exception("a workflow could not be moved")
            self._troubled = True
