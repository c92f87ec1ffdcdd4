"""The thread that moves workflows: woken by the ends of jobs and by requests.

What happens to a workflow is in ``conduct``. Started and stopped by ``api``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
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
        Longest time between two looks at everything, in case a wake-up was lost.
    trouble_s
        Before the next look when something could not be done.
    """

    idle_s: float = 60.0
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
        self._most = computations
        self._awake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._computing: set[int] = set()
        self._asked: set[int] = set()
        self._troubled = False

    def start(self) -> None:
        """Start the thread; it goes on with what an earlier daemon left."""
        self._thread = threading.Thread(target=self._run, name="workflows", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop after what is being done; the next daemon begins computations anew."""
        self._stopping.set()
        self._awake.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def is_needed(self) -> bool:
        """Whether a workflow can move by itself."""
        return bool(self._conductor.store.running())

    def job_ended(self) -> None:
        """A job, perhaps one of a workflow, has ended; never waits."""
        self._awake.set()

    def wake(self, workflow_id: int) -> None:
        """Something is to be done for a workflow; never waits."""
        with self._lock:
            self._asked.add(workflow_id)
        self._awake.set()

    def _run(self) -> None:
        everything = True
        while not self._stopping.is_set():
            self._awake.clear()
            self._troubled = False
            try:
                self.turn(everything=everything)
            except Exception:
                log.exception("the workflows could not be looked at")
                self._troubled = True
            if not self._stopping.is_set():
                wait_s = self._timing.trouble_s if self._troubled else self._timing.idle_s
                everything = not self._awake.wait(wait_s)

    def turn(self, *, everything: bool = False) -> None:
        """Take what jobs gave, and move the workflows that this or somebody's wish concerns.

        Parameters
        ----------
        everything
            Look at all that run.
        """
        store = self._conductor.store
        with self._lock:
            ids, self._asked = self._asked, set()
        for ended in store.ended_jobs():
            if self._stopping.is_set():
                return
            if self._guarded(self._conductor.settle, ended):
                ids.add(ended.workflow_id)
        if everything:
            ids.update(store.running())
        for workflow_id in sorted(ids):
            if self._stopping.is_set():
                return
            if not self._guarded(self._move, workflow_id):
                self._again_soon(workflow_id)

    def _again_soon(self, workflow_id: int) -> None:
        """Look at a workflow again at the next turn, which comes soon."""
        self._troubled = True
        with self._lock:
            self._asked.add(workflow_id)

    def _move(self, workflow_id: int) -> None:
        steps = self._conductor.advance(workflow_id)
        if any(s.state == "RUNNING" and s.kind == "job" for s in steps):
            self._submitted()
        if any(s.state == "PENDING" and s.next_try_at is not None for s in steps):
            self._again_soon(workflow_id)
        for step in steps:
            if step.state == "RUNNING" and step.kind == "computation":
                self._compute(step)

    def _compute(self, step: StepRecord) -> None:
        """Carry out a computation, also one that a killed daemon began."""
        with self._lock:
            if step.id in self._computing or self._stopping.is_set():
                return
            if len(self._computing) >= self._most:
                self._asked.add(step.workflow_id)  # the end of one wakes the thread
                return
            self._computing.add(step.id)
        threading.Thread(
            target=self._computed, args=(step,), name="workflow-computation", daemon=True
        ).start()

    def _computed(self, step: StepRecord) -> None:
        done = False
        try:
            done = self._conductor.finish(step.workflow_id, step.id, self._stopping.is_set)
        except Exception:
            log.exception("a computation could not be stored", extra={"step": step.name})
        finally:
            if not done:
                self._stopping.wait(self._timing.trouble_s)
            with self._lock:
                self._computing.discard(step.id)
                self._asked.add(step.workflow_id)
            self._awake.set()

    def _guarded(self, act: Callable[..., object], what: object) -> bool:
        """Trouble with one workflow does not stop the others; it is looked at again soon."""
        try:
            act(what)
        except CrystalMathError as error:
            log.warning("a workflow could not be moved: %s", error.message)
        except Exception:
            log.exception("a workflow could not be moved")
        else:
            return True
        self._troubled = True
        return False
