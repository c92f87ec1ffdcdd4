"""``workflows.*``: what clients can do with workflows.

These functions check, store a wish and return; ``driver`` carries it out.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from crystalmath.contract.jobs import StructureIn, SubmitParams
from crystalmath.contract.rpc import Call, Listing, NoParams, rpc
from crystalmath.contract.workflow_files import (
    ExportResult,
    ExportWorkflowParams,
    PlotParams,
    WorkflowPlot,
)
from crystalmath.contract.workflows import (
    CreateBandsParams,
    CreateConvergenceParams,
    CreateElasticParams,
    CreateEosParams,
    CreateMdParams,
    CreateParams,
    CreatePhononParams,
    CreateRelaxParams,
    CreateResult,
    KindInfo,
    KindsMeta,
    ListWorkflowsParams,
    RetryParams,
    Workflow,
    WorkflowIdParams,
    WorkflowResult,
    WorkflowsMeta,
    WorkflowSummary,
)
from crystalmath.domain.isotopes import natural_masses
from crystalmath.domain.workflow_states import STOPPED
from crystalmath.errors import (
    AnalysisRefused,
    ConfigError,
    Conflict,
    DatabaseError,
    IllegalTransition,
    InputRejected,
    InvalidParams,
    NotFound,
    NotImplementedYet,
)
from crystalmath.services.ports import CodeAdapter, StructureData
from crystalmath.services.ports_store import Store
from crystalmath.services.ports_workflows import NewWorkflow, StepRecord, WorkflowStore
from crystalmath.services.submission import Desk, fingerprint
from crystalmath.services.workflows import calculations, kinds_here, view
from crystalmath.services.workflows.computations import CHECKS
from crystalmath.services.workflows.conduct import Compute
from crystalmath.services.workflows.content import bare_structure, hash_of, text_of
from crystalmath.services.workflows.moments import settled_moments
from crystalmath.services.workflows.plan import Plan, Procedure, Standardised, Tried
from crystalmath.services.workflows.results import Results

CREATE_ERRORS = (InputRejected, ConfigError, NotImplementedYet, Conflict, DatabaseError)
_MOVING = frozenset({"phonon", "md"})
"""Kinds whose results depend on masses."""
CHECK_S = 60.0
"""Seconds for a first look at what is asked for."""
CHANGE_ERRORS = (NotFound, IllegalTransition, DatabaseError)
RESULT_ERRORS = (NotFound, IllegalTransition, InputRejected, DatabaseError)


@dataclass(frozen=True, slots=True)
class WorkflowsParts:
    """What the service is made of; put together by ``api``."""

    store: WorkflowStore
    jobs: Store
    desk: Desk
    codes: Mapping[str, CodeAdapter]
    procedures: Mapping[str, Procedure]
    clock: Callable[[], float]
    wake: Callable[[int], None]
    compute: Compute


class WorkflowsService:
    """Start, watch, cancel and resume workflows."""

    def __init__(self, parts: WorkflowsParts) -> None:
        self._parts = parts
        self._store = parts.store
        self._results = Results(parts.store, parts.compute)

    @rpc(errors=(DatabaseError,), read_only=True)
    def available(self, params: NoParams) -> Listing[KindInfo, KindsMeta]:
        """Tell which kinds of workflow can be used here, with what, and why others cannot."""
        kinds = kinds_here.kinds(self._parts.procedures, self._parts.codes)
        return Listing(data=kinds, meta=KindsMeta(total=len(kinds)))

    @rpc(errors=CREATE_ERRORS, lane="proc", deadline_s=60.0)
    def create_relax(self, params: CreateRelaxParams, call: Call) -> CreateResult:
        """Relax atoms and cell, and compare the symmetry before and after. It runs at once."""
        return self._create("relax", params, params.options.model_dump(mode="json"), call)

    @rpc(errors=CREATE_ERRORS, lane="proc", deadline_s=60.0)
    def create_eos(self, params: CreateEosParams, call: Call) -> CreateResult:
        """Compute an equation of state. It runs at once.

        The structure is relaxed, strained to several volumes and relaxed at each; to the energies
        third-order Birch-Murnaghan is fitted, with other forms beside it.
        """
        return self._create("eos", params, params.options.model_dump(mode="json"), call)

    @rpc(errors=CREATE_ERRORS, lane="proc", deadline_s=60.0)
    def create_bands(self, params: CreateBandsParams, call: Call) -> CreateResult:
        """Compute bands and density of states. It runs at once.

        The standard primitive cell is computed along the path that belongs to it, and on a mesh
        that is denser than that of the SCF; edges and gap are those of both.
        """
        return self._create("bands", params, params.options.model_dump(mode="json"), call)

    @rpc(errors=CREATE_ERRORS, lane="proc", deadline_s=60.0)
    def create_convergence(self, params: CreateConvergenceParams, call: Call) -> CreateResult:
        """Find how fine a parameter must be: one calculation for each of its values.

        The finest one is the reference. Converged is the first value from which all finer ones stay
        within the tolerance; meshes of odd and even size are series of their own. It runs at once.
        """
        return self._create("convergence", params, params.options.model_dump(mode="json"), call)

    @rpc(errors=CREATE_ERRORS, lane="proc", deadline_s=60.0)
    def create_md(self, params: CreateMdParams, call: Call) -> CreateResult:
        """Move atoms in time, and average after the start. It runs at once.

        Velocity Verlet at constant energy; Langevin at constant temperature, or temperature and
        pressure.
        """
        return self._create("md", params, params.options.model_dump(mode="json"), call)

    @rpc(errors=(*CREATE_ERRORS, AnalysisRefused), lane="proc", deadline_s=120.0)
    def create_phonon(self, params: CreatePhononParams, call: Call) -> CreateResult:
        """Compute phonons: bands, density of states, thermodynamic functions. It runs at once.

        The structure is relaxed, and atoms of a supercell are displaced, as few as the symmetry
        allows; from the forces come force constants and everything else.
        """
        return self._create("phonon", params, params.options.model_dump(mode="json"), call)

    @rpc(errors=CREATE_ERRORS, lane="proc", deadline_s=60.0)
    def create_elastic(self, params: CreateElasticParams, call: Call) -> CreateResult:
        """Compute elastic constants. It runs at once.

        The structure is relaxed and strained, as little as the symmetry allows; atoms are relaxed
        in each strained cell, and the constants are fitted to the stresses.
        """
        return self._create("elastic", params, params.options.model_dump(mode="json"), call)

    @rpc(errors=(DatabaseError,), read_only=True)
    def list(self, params: ListWorkflowsParams) -> Listing[WorkflowSummary, WorkflowsMeta]:
        """List workflows, the newest first."""
        asked = params.state
        states = (asked,) if isinstance(asked, str) else tuple(asked or ())
        page = self._store.page(states, params.kind, params.limit + 1, params.after)
        rows = page.rows[: params.limit]
        more = len(page.rows) > params.limit
        return Listing(
            data=[view.summary(row) for row in rows],
            meta=WorkflowsMeta(rev=page.rev, total=page.total, next=rows[-1].id if more else None),
        )

    @rpc(errors=(NotFound, DatabaseError), read_only=True)
    def get(self, params: WorkflowIdParams) -> Workflow:
        """Tell everything about one workflow: its steps, and its results when it is done."""
        record = self._store.workflow(params.id)
        steps = self._store.steps(params.id)
        results = self._results.document(record)
        return view.whole(record, steps, results, self._progress(steps))

    @rpc(errors=RESULT_ERRORS, lane="proc", read_only=True, deadline_s=60.0)
    def plot(self, params: PlotParams) -> WorkflowPlot:
        """Draw a plot of the results: a picture, or text for a terminal."""
        return self._results.plot(params)

    @rpc(errors=RESULT_ERRORS, lane="proc", read_only=True, deadline_s=60.0)
    def export(self, params: ExportWorkflowParams) -> ExportResult:
        """Make files of the results: JSON, CSV, and what phonopy and pymatgen read."""
        return self._results.export(params)

    @rpc(errors=CHANGE_ERRORS)
    def cancel(self, params: WorkflowIdParams) -> WorkflowResult:
        """End a workflow, with the jobs of it that run.

        One that waits because a step failed is then FAILED. `workflows.resume` takes it up again.
        """
        record = self._store.workflow(params.id)
        if record.state not in ("RUNNING", "WAITING"):
            raise IllegalTransition(
                f"workflow {params.id} has already ended: it is {record.state}",
                hint="there is nothing to cancel",
            )
        message = "cancel asked by the user"
        if record.state == "WAITING":
            message = f"ended by the user; {record.message}"
        if not self._store.ask_cancel(record.id, record.state, message, self._parts.clock()):
            raise _moved(params.id)
        return self._changed(params.id)

    @rpc(errors=CHANGE_ERRORS)
    def resume(self, params: WorkflowIdParams) -> WorkflowResult:
        """Go on with a workflow that waits or was cancelled: every step that can be retried is.

        What its steps have computed is kept.
        """
        record = self._store.workflow(params.id)
        if record.state == "COMPLETED":
            raise IllegalTransition(
                f"workflow {params.id} is COMPLETED", hint="there is nothing to resume"
            )
        stopped = [s for s in self._store.steps(params.id) if s.state in STOPPED]
        if record.state == "RUNNING" and not record.cancel_asked and not stopped:
            return WorkflowResult(workflow=view.summary(record))
        for step in stopped:
            _refuse_final(step)
        self._again(params.id, [step.name for step in stopped])
        return self._changed(params.id)

    @rpc(errors=CHANGE_ERRORS)
    def retry(self, params: RetryParams) -> WorkflowResult:
        """Run one step again that did not complete; what waits for it goes on after it.

        Its job goes on where the one before stopped, if that is possible.
        """
        self._store.workflow(params.id)
        steps = {step.name: step for step in self._store.steps(params.id)}
        step = steps.get(params.step)
        if step is None:
            raise NotFound(
                f"workflow {params.id} has no step {params.step!r}",
                hint=f"it has: {', '.join(steps)}"[:400],
                field="step",
            )
        if step.state not in STOPPED:
            raise IllegalTransition(
                f"step {step.name} is {step.state}",
                hint="a step can be retried when it has failed, or its job was cancelled",
            )
        _refuse_final(step)
        self._again(params.id, [step.name])
        return self._changed(params.id)

    def _again(self, workflow_id: int, names: Sequence[str]) -> None:
        if not self._store.again(workflow_id, names):
            raise _moved(workflow_id)

    def _changed(self, workflow_id: int) -> WorkflowResult:
        self._parts.wake(workflow_id)
        return WorkflowResult(workflow=view.summary(self._store.workflow(workflow_id)))

    def _progress(self, steps: Sequence[StepRecord]) -> dict[int, str]:
        running = [s.jobs[-1] for s in steps if s.state == "RUNNING" and s.jobs]
        found = {}
        for job_id in running:
            try:
                row = self._parts.jobs.row(job_id)
            except NotFound:
                continue
            found[job_id] = f"{row['state']}: {row['progress_text']}"
        return found

    def _create(
        self, kind: str, params: CreateParams, options: Mapping[str, Any], call: Call
    ) -> CreateResult:
        request_sha256 = fingerprint(params, kind=kind)
        if params.client_token is not None:
            known = self._store.by_token(params.client_token, request_sha256)
            if known is not None:
                row = self._store.workflow(known)
                return CreateResult(workflow=view.summary(row), repeated=True)
        new = self._new(kind, params, options, request_sha256)
        call.check()
        workflow_id, created = self._store.create(new)
        self._parts.wake(workflow_id)
        row = self._store.workflow(workflow_id)
        return CreateResult(workflow=view.summary(row), repeated=not created)

    def _new(
        self, kind: str, params: CreateParams, options: Mapping[str, Any], request_sha256: str
    ) -> NewWorkflow:
        procedure = self._parts.procedures[kind]
        code, engine = kinds_here.engine_of(params, procedure)
        wanted = params.structure or StructureIn(job=params.job)
        structure = self._parts.desk.structures.read(wanted)
        kinds_here.check_structure(procedure, structure)
        structure, told = settled_moments(kind, code, engine, params.inputs, structure)
        if kind in _MOVING:
            told = (*told, *natural_masses(structure.sites))
        bare = bare_structure(asdict(structure))
        options = kinds_here.settled(params, code, options, structure)
        doubts = self._looked_at(kind, bare, options)
        text = text_of(bare)
        plan = Plan(
            name=params.name or f"{procedure.title} of {structure.formula}"[:100],
            code=code,
            engine=engine,
            model=params.model,
            structure=hash_of(text),
            source=dict(structure.source),
            options=options,
            context={str(name): value for name, value in params.context.items()},
            resources=params.resources.model_dump(mode="json", exclude_unset=True),
            inputs=params.inputs,
            cluster=params.cluster,
        )
        steps = procedure.first_steps(plan)
        first = next((step.action for step in steps if step.kind == "job"), None)
        if first is None and isinstance(procedure, Tried):
            first = procedure.trial(plan)
        warnings = () if first is None else self._check_first(plan, first, structure)
        if steps[0].kind != "job" and isinstance(procedure, Standardised):
            warnings = ()
        return NewWorkflow(
            uuid=uuid.uuid4().hex,
            kind=kind,
            name=plan.name,
            engine=engine,
            model=params.model,
            formula=structure.formula,
            n_atoms=len(structure.symbols),
            spec=plan.document(),
            steps=steps,
            artefacts=(text,),
            created_at=self._parts.clock(),
            token=params.client_token,
            request_sha256=request_sha256,
            warnings=tuple(dict.fromkeys((*told, *warnings, *doubts))),
        )

    def _looked_at(
        self, kind: str, structure: Mapping[str, Any], options: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """Refuse now what the kind cannot make anything of; returns what is doubtful."""
        if kind not in CHECKS:
            return ()
        given = {"structure": structure, "options": options}
        try:
            return tuple(self._parts.compute(CHECKS[kind], given, CHECK_S)["warnings"])
        except (InputRejected, AnalysisRefused) as error:
            field = error.field or "structure"
            if field.partition(".")[0] in options:
                field = f"options.{field}"
            raise type(error)(error.message, hint=error.hint, field=field) from error

    def _check_first(
        self, plan: Plan, action: Mapping[str, Any], structure: StructureData
    ) -> tuple[str, ...]:
        """Refuse now what the first job would be refused for; returns what is doubtful.

        Where a computation comes first, a calculation of the same structure stands for that job.
        """
        submission = SubmitParams.model_validate({**action, "name": "the first step"})
        try:
            prepared = self._parts.desk.check(submission, structure=structure).prepared
            return calculations.told(plan, prepared.warnings)
        except InvalidParams as error:
            field, hint = error.field, error.hint
            name = (field or "").removeprefix("inputs.")
            varied = plan.options.get("parameter")
            if varied is not None and name in (varied, f"options.{varied}"):
                field = "options.values"
            elif name.split(".")[0] in plan.options:  # the kind has set it
                field = f"options.{name}"
                hint = (hint or "").replace("`inputs.", "`options.") or None
            raise InvalidParams(error.message, hint=hint, field=field) from error


def _refuse_final(step: StepRecord) -> None:
    if not step.facts.can_be_retried:
        raise IllegalTransition(
            f"step {step.name} would fail again: {step.message}",
            hint=step.hint or "start another workflow with what it needs changed",
        )


def _moved(workflow_id: int) -> IllegalTransition:
    return IllegalTransition(
        f"workflow {workflow_id} has moved on meanwhile", hint="look at it, then try again"
    )
