"""Has the engines of a job loaded while its program is still starting.

Stands before the runner of this machine: when it is told to launch a program of the code
``forces``, the pool is told which workers that program will ask for. Built by ``api``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from crystalmath.codes.forces import task as files
from crystalmath.codes.forces.adapter import WITH_DAEMON
from crystalmath.errors import CrystalMathError
from crystalmath.services.forces_resolve import find_wanted
from crystalmath.services.ports import Launch, Observation, Runner
from crystalmath.services.ports_forces import EnvironmentProvider
from crystalmath.services.ports_pool import Wanted

log = logging.getLogger(__name__)


class EnginesAhead:
    """Implements ``services.ports.Runner`` with another one.

    Parameters
    ----------
    expect
        Tells the pool that a worker will be wanted; never waits.
    """

    def __init__(
        self, runner: Runner, provider: EnvironmentProvider, expect: Callable[[Wanted], None]
    ) -> None:
        self.name = runner.name
        self._runner = runner
        self._provider = provider
        self._expect = expect

    def launch(self, launch: Launch) -> None:
        """See ``Runner.launch``. What is wrong with an engine is told to the program itself."""
        if WITH_DAEMON in launch.argv:
            try:
                self._announce(launch.directory)
            except (CrystalMathError, OSError, ValueError, KeyError, TypeError):
                log.debug("no engine is loaded ahead", exc_info=True, extra={"job": launch.key})
        self._runner.launch(launch)

    def _announce(self, directory: Path) -> None:
        task = files.parse_task((directory / files.INPUT).read_text(encoding="utf-8"))
        for part in task.parts:
            self._expect(
                find_wanted(
                    self._provider,
                    part.engine,
                    model=part.model,
                    dtype=part.dtype,
                    device=part.device,
                    options=part.options,
                )
            )

    def observe(self, directory: Path, key: str) -> Observation:
        """See ``Runner.observe``."""
        return self._runner.observe(directory, key)

    def cancel(self, directory: Path, key: str) -> None:
        """See ``Runner.cancel``."""
        self._runner.cancel(directory, key)
