"""Wiring: builds the services from the adapters and hands them to the dispatcher. No rules here.

Imported by ``server`` after the socket answers, because it loads the database layer.
"""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from crystalmath import __version__
from crystalmath.codes.command.adapter import CommandAdapter
from crystalmath.codes.crystal import large as crystal_large
from crystalmath.codes.crystal.adapter import CrystalAdapter
from crystalmath.codes.crystal.run.writer import GENERATE, GENERATE_PROPERTIES, LINT, WorkerDecks
from crystalmath.codes.espresso import large as espresso_large
from crystalmath.codes.espresso.adapter import EspressoAdapter
from crystalmath.codes.espresso.writer import GENERATE as GENERATE_ESPRESSO
from crystalmath.codes.espresso.writer import WorkerDecks as EspressoDecks
from crystalmath.codes.forces.adapter import ForcesAdapter
from crystalmath.codes.forces.ahead import EnginesAhead
from crystalmath.codes.vasp import large as vasp_large
from crystalmath.contract.planned import PLANNED
from crystalmath.contract.rpc import Method, describe
from crystalmath.contract.system import Check
from crystalmath.domain.states import TERMINAL
from crystalmath.errors import DatabaseError
from crystalmath.forces.pool.door import door_path
from crystalmath.forces.pool.pool import Pool
from crystalmath.forces.shipped import DECLARATIONS, WORKER
from crystalmath.forces.worker.wire import ABI
from crystalmath.isolation.places import Places
from crystalmath.isolation.process import Processes
from crystalmath.isolation.provider import Environments, WorkerKit
from crystalmath.materials.registry import build_providers
from crystalmath.runners.host.runner import HostRunner
from crystalmath.runners.local.ends import Ends
from crystalmath.runners.local.runner import LocalRunner
from crystalmath.runners.shells.clusters import ClusterShells
from crystalmath.runners.slurm.by_hand import batch_words
from crystalmath.runners.slurm.examine import Examination
from crystalmath.runners.slurm.runner import SlurmRunner
from crystalmath.services.cluster_desk import ClusterDesk
from crystalmath.services.cluster_lane import LaneParts
from crystalmath.services.cluster_lanes import Lanes, RunnerRegistry
from crystalmath.services.cluster_view import ClusterEvents, check, status_row
from crystalmath.services.clusters import ClustersParts, ClustersService
from crystalmath.services.codes import CodesService, Linter
from crystalmath.services.diagnosis import DiagnosisService
from crystalmath.services.forces import ForcesParts, ForcesService
from crystalmath.services.forces_fingerprints import Fingerprints
from crystalmath.services.job_directory import JobDirectories
from crystalmath.services.job_ending import Ending
from crystalmath.services.job_events import JobEvents
from crystalmath.services.jobs import JobsParts, JobsService
from crystalmath.services.log_watch import LogWatch
from crystalmath.services.material_search import MaterialSearch
from crystalmath.services.materials import MaterialsService
from crystalmath.services.ports import CodeAdapter
from crystalmath.services.ports_cluster import ClusterRecord
from crystalmath.services.ports_forces import ReadyEnvironment
from crystalmath.services.ports_server import ControllerSettings, ServerPort
from crystalmath.services.pump import Pump, PumpTiming
from crystalmath.services.slurm import SlurmParts, SlurmService
from crystalmath.services.steps import Steps
from crystalmath.services.submission import Desk
from crystalmath.services.subscriptions import EventsService
from crystalmath.services.system import SystemService
from crystalmath.services.template_inputs import SubmittedTemplates
from crystalmath.services.template_makers import makers
from crystalmath.services.template_rendering import Rendering
from crystalmath.services.templates import TemplatesService
from crystalmath.services.workflows.assembly import Workplace, assemble
from crystalmath.services.workflows.service import WorkflowsService
from crystalmath.services.workflows.view import WorkflowEvents
from crystalmath.storage.clusters import SqliteClusterStore
from crystalmath.storage.materials import SqliteMaterialStore
from crystalmath.storage.migrate import migrate
from crystalmath.storage.search_cache import SqliteSearchCache
from crystalmath.storage.store import open_store
from crystalmath.storage.workflows import SqliteWorkflowStore
from crystalmath.structures.reader import WorkerStructureReader

DATABASE: Final = "crystalmath.db"
READ_STRUCTURE_S: Final = 50.0
"""Seconds for reading one structure, below the deadline of the methods that need one."""

NAMESPACES: Final[Mapping[str, type]] = {
    "system": SystemService,
    "diagnosis": DiagnosisService,
    "events": EventsService,
    "jobs": JobsService,
    "codes": CodesService,
    "clusters": ClustersService,
    "slurm": SlurmService,
    "forces": ForcesService,
    "materials": MaterialsService,
    "templates": TemplatesService,
    "workflows": WorkflowsService,
}
"""Attribute of the controller → service class; the wire name is ``attribute.function``."""

LINTERS: Final = {"crystal": Linter((".d12", ".d3"), LINT), "vasp": vasp_large.LINTER}
GENERATORS: Final = {"espresso": GENERATE_ESPRESSO, "vasp": vasp_large.GENERATE}
"""What runs in worker processes; ``server.proc`` allows it."""


def method_table() -> dict[str, Method]:
    """Every method of the contract, built or planned."""
    return describe(NAMESPACES, PLANNED)


class CrystalController:
    """One attribute per namespace, and the pump that moves the jobs.

    Parameters
    ----------
    settings
        Paths and limits.
    server
        The running server, for ``system`` and for the worker processes.
    """

    def __init__(self, settings: ControllerSettings, server: ServerPort) -> None:
        data_dir = settings.data_dir
        cores = os.cpu_count() or 1
        self._places = Places(data_dir, DECLARATIONS, settings.engines_dir)
        provider = Environments(self._places, WorkerKit(WORKER, ABI))
        adapters: tuple[CodeAdapter, ...] = (
            CommandAdapter(),
            crystal_large.with_workers(
                CrystalAdapter(WorkerDecks(server.run_worker, READ_STRUCTURE_S)), server.run_worker
            ),
            espresso_large.with_workers(
                EspressoAdapter(EspressoDecks(server.run_worker, READ_STRUCTURE_S)),
                server.run_worker,
            ),
            vasp_large.in_daemon(server.run_worker, READ_STRUCTURE_S),
            ForcesAdapter(
                provider,
                {
                    "CRYSTALMATH_SOCKET": settings.socket_path,
                    "CRYSTALMATH_DATA_DIR": str(data_dir),
                },
            ),
        )
        codes = {adapter.name: adapter for adapter in adapters}
        self._server = server
        self._database = data_dir / DATABASE
        self._directories = JobDirectories(data_dir / "jobs")
        try:
            self._directories.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DatabaseError(
                f"the data directory cannot be used: {error.strerror}",
                hint="check its permissions and free space, or give another with --data-dir",
            ) from error
        changes = JobEvents(server.hub, time.time)
        self._store = open_store(self._database, changes)
        self._logs = LogWatch(server.hub, self._store, self._directories, settings.log_watch_s)
        changes.on_ended = self._job_ended
        self._shells = ClusterShells(data_dir / "known_hosts", lambda: server.ssh_auth_sock)
        self._clusters = SqliteClusterStore(
            self._store, ClusterEvents(server.hub, self._shells.connection)
        )
        self._runners = RunnerRegistry(self._cluster_runner)
        self._lanes = Lanes(
            LaneParts(
                jobs=self._store,
                store=self._clusters,
                runner_of=self._runners.of,
                codes=codes,
                directories=self._directories,
                clock=time.time,
                version=__version__,
                watched_logs=lambda: server.hub.watched("log:"),
            )
        )
        fingerprints = Fingerprints(self._places.fingerprints)
        self._pool = Pool(
            Processes(self._places),
            settings.forces_limits,
            door_path(settings.socket_path),
            driver=_driver(),
            recall=fingerprints.learnt,
        )
        self._ends = Ends(lambda: self._pump.wake())  # noqa: PLW0108 - it is made below
        steps = Steps(
            store=self._store,
            codes=codes,
            runner=EnginesAhead(LocalRunner(watch=self._ends.watch), provider, self._pool.expect),
            directories=self._directories,
            clock=time.time,
            version=__version__,
        )
        self._pump = Pump(
            steps,
            slots=settings.max_concurrent_jobs or cores,
            timing=PumpTiming(poll_s=settings.pump_poll_s),
            clock=time.time,
        )
        self.system = SystemService(server)
        self.events = EventsService(server.hub, on_subscribed=self._logs.wake)
        self.codes = CodesService(codes, LINTERS, server.run_worker)
        self.diagnosis = DiagnosisService(
            server, self._store, codes, self._directories, self._database, cores, self._checks
        )
        materials = SqliteMaterialStore(self._store)
        search = MaterialSearch(
            build_providers(settings.materials, server.run_worker, materials, materials),
            SqliteSearchCache(self._store),
            server.run_worker,
            time.time,
        )
        desk = Desk(
            self._store,
            codes,
            WorkerStructureReader(server.run_worker, READ_STRUCTURE_S),
            cores,
            ClusterDesk(self._clusters, self._runners.of),
            materials,
            find_material=search.document,
        )
        self.materials = MaterialsService(
            desk.structures,
            materials,
            server.run_worker,
            time.time,
            GENERATE,
            GENERATE_PROPERTIES,
            search=search,
            generators=GENERATORS,
        )
        rendering = Rendering(
            server.run_worker,
            str(settings.templates_dir),
            makers(self.materials, self._clusters, batch_words),
            {**LINTERS, "bash": Linter((".sh",), "crystalmath.templates.shell:lint_script")},
        )
        self.templates = TemplatesService(server.run_worker, rendering, settings.templates_dir)
        self.jobs = JobsService(
            JobsParts(
                store=self._store,
                desk=replace(desk, templates=SubmittedTemplates(rendering)),
                codes=codes,
                directories=self._directories,
                clock=time.time,
                wake=self._wake,
                end_unrecorded=self._pump.end_unrecorded,
                encode=server.encode,
            )
        )
        self.clusters = ClustersService(
            ClustersParts(
                store=self._clusters,
                lanes=self._lanes,
                ways=self._shells,
                examine=Examination(self._shells.test, self._shells.open),
                clock=time.time,
            )
        )
        ending = Ending(self._store, self._directories, time.time, self._pump.end_unrecorded)
        self.slurm = SlurmService(
            SlurmParts(
                jobs=self._store,
                store=self._clusters,
                lanes=self._lanes,
                runner_of=self._runners.of,
                ending=ending,
                codes=codes,
                directories=self._directories,
                clock=time.time,
            )
        )
        self.workflows, self._driver = assemble(
            Workplace(
                store=SqliteWorkflowStore(self._store, WorkflowEvents(server.hub)),
                jobs=self._store,
                desk=desk,
                codes=codes,
                directories=self._directories,
                ending=ending,
                run_worker=server.run_worker,
                clock=time.time,
                submitted=self._wake,
            )
        )
        self.forces = ForcesService(
            ForcesParts(
                provider=provider,
                pool=self._pool,
                hub=server.hub,
                read=desk.structures.read,
                submit=self.jobs.submit,
                results=data_dir / "forces" / "results",
                fingerprints=fingerprints,
            )
        )

    def namespaces(self) -> dict[str, Any]:
        """Attribute → service."""
        return {name: getattr(self, name) for name in NAMESPACES}

    def start(self) -> None:
        """Migrate the database, finish what a killed daemon began, start the pump.

        Raises
        ------
        DatabaseError
            The database cannot be opened or was written by a newer version.
        """
        migrate(self._store.engine, self._database, self._server.progress)
        self._directories.sweep(self._store.is_known)
        self._logs.start()
        self._pump.start()
        self._lanes.start()
        self._driver.start()
        # Nobody who has just started the daemon shall wait for this.
        threading.Thread(target=self._store.hold_space, name="reserve", daemon=True).start()

    def close(self) -> None:
        """Stop the pump and the force workers, close the database. Local jobs go on."""
        self._driver.stop()
        self.forces.close()
        self._pool.close()
        self._pump.stop()
        self._ends.close()
        self._lanes.stop()
        self._runners.close()
        self._shells.close()
        self._logs.stop()
        self._store.close()

    def _cluster_runner(self, record: ClusterRecord) -> SlurmRunner | HostRunner:
        made = SlurmRunner if record.kind == "slurm" else HostRunner
        return made(record, lambda: self._shells.open(record), time.time)

    def _wake(self) -> None:
        self._pump.wake()
        self._lanes.wake()

    def _job_ended(self, job_id: int) -> None:
        self._logs.job_ended(job_id)
        self._pump.wake()  # another may have waited for it
        self._driver.job_ended()

    def _checks(self) -> list[Check]:
        known = self._clusters.clusters()
        return [check(one, self._shells.connection(one.record)) for one in known]

    def cluster_rows(self) -> list[dict[str, Any]]:
        """How each cluster does."""
        known = self._clusters.clusters()
        return [status_row(one, self._shells.connection(one.record)) for one in known]

    def job_counts(self) -> dict[str, int]:
        """Number of jobs by state."""
        return self._store.counts()

    def live_local_jobs(self) -> int:
        """Jobs on this machine that have not ended: while there are any, the daemon stays."""
        return sum(n for state, n in self._store.counts().items() if state not in TERMINAL)

    def is_needed(self) -> bool:
        """Whether an idle daemon must stay: jobs, workflows, data channels, an installation."""
        return (
            self.live_local_jobs() > 0
            or self._pool.clients() > 0
            or self.forces.is_busy()
            or self._driver.is_needed()
        )


def _driver() -> ReadyEnvironment:
    """The program that stands between an i-PI server and a worker, run by this interpreter."""
    return ReadyEnvironment(
        id="host",
        engine="ipi",
        python=sys.executable,
        worker=str(Path(__file__).parent / "calculators" / "drive.py"),
        declaration="",
        versions={},
        python_version=platform.python_version(),
    )


def build(settings: ControllerSettings, server: ServerPort) -> CrystalController:
    """Build the controller; :meth:`CrystalController.start` opens it for work."""
    return CrystalController(settings, server)
